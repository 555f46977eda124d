"""Tests of captions and of the index page, for test_plots.py: what they say is what the records have;
the page is whole, its links lead somewhere, and hostile names are text on it. In a browser, where
there is one, its heads sort and its field finds."""

import glob
import html.parser
import json
import os
import re
import shutil
import subprocess
from urllib.parse import unquote

from plots_names import NASTY, bad_records
from plots_records import GPU, M1, M2, environment, product_records, result, write

BROWSERS = "chromium", "chromium-browser", "google-chrome"
VOID = {"meta", "input", "img", "br", "link"}


class Page(html.parser.HTMLParser):
    """The page as tables of texts, links, and what is wrong with it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.links, self.images = [], [], [], []
        self.cases, self.tables, self.scripts, self.captions, self.texts = [], [], 0, 0, []
        self.cell = None
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.links += [attrs[name] for name in ("href", "src") if name in attrs]
        self.images += [attrs["src"]] if tag == "img" else []
        self.cases += [int(attrs["data-cases"])] if "data-cases" in attrs else []
        self.scripts += tag == "script"
        self.captions += tag == "figcaption"
        self.wrong += [name for name in attrs if name.startswith("on")]
        if tag == "table":
            self.tables.append((attrs.get("class"), []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("/" + tag)
        if tag in ("td", "th"):
            self.tables[-1][1][-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        if "script" not in self.open and "style" not in self.open:
            self.texts.append(data)


def test_caption(check):
    import captions
    import common
    import gflops_bars
    env = {**environment(roof=GPU), "revision": "abc"}
    made = [result("merge", M1, 1.0), result("merge", M2, 2.0), result("cusparse", M1, 4.0),
            result("cusparse-csr2", M1, 5.0), {**result("sellp", M2, 1.0, status="oom"),
                                               "reason": "wants 7 bytes"}]
    made[0]["time_ms"].update(busy=True, launch="graph")
    made[1]["time_ms"].update(throttled=True)
    from records import row_from
    rows = [{**row_from(record, env), "source": "here.jsonl"} for record in made]
    caption = captions.of(gflops_bars, gflops_bars.draw(common.select(rows)).said)
    for heading, want in (
            ("Figure", "GFLOPS by matrix. spmm · k = 64 · layout = row · f32 · NVIDIA H200"),
            ("What it shows", "GFLOPS by matrix, a bar for each algorithm"),
            ("Matrices", "2 matrices, 500 to 2,000 nonzeros: one, two"),
            ("Algorithms", "merge (2), cuSPARSE (best) (1)"),
            ("Left out", "1 oom, of sellp (wants 7 bytes); 1 usable result of a vendor's algorithms"),
            ("Device", "NVIDIA H200"), ("Libraries", "cuSPARSE 12.6.3 (1)"),
            ("Measured", "2026-11-20 10:00 (UTC), by revision abc (3)"),
            ("Times", "3 times are of one run. Cache warm (3); launched one by one (2), as a graph (1)"),
            ("Marks", "1 of 3 times busy, 1 throttled"),
            ("Checked", "full (3)"), ("Files", "here.jsonl (3)")):
        check(want in caption[heading], "caption, %s: %s" % (heading, caption[heading]))


def hostile_page(folder, run):
    """(page, its folder, records): of names that are as bad as names can be."""
    made = list(bad_records(product_records(len(NASTY) // 2)))
    path = write(os.path.join(folder, "page.jsonl"), made)
    out = os.path.join(folder, "page #1 & <b>")
    status, text, errors = run("all.py", path, "-o", out, "--format", "svg")
    return out, made, (status, text, errors)


def test_page(folder, check, run):
    """False if there is no browser to try the page in."""
    out, made, (status, said, errors) = hostile_page(folder, run)
    check(status == 0 and errors == "", "all.py: %d %s" % (status, errors))
    with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
        text = file.read()
    page = Page(text)
    check(not page.wrong, "the page is well-formed: %s" % page.wrong[:3])
    loaded = text.replace('xmlns="http://www.w3.org/2000/svg"', "")  # a name, nothing is loaded from there
    check(page.scripts == 1 and "http://" not in loaded and "https://" not in loaded,
          "one script, its own, and nothing from elsewhere: %d" % page.scripts)
    for link in page.links:
        there = link.startswith("#") or os.path.exists(os.path.join(out, unquote(link)))
        check(there, "a link leads nowhere: %s" % link)
    drawn = os.path.join(out, "figures")
    images = {name for name in os.listdir(drawn) if name.endswith(".svg")}
    check({unquote(link) for link in page.images} == {"figures/" + name for name in images} and len(page.images) == len(images) ==
          page.captions == said.count(".svg\n"), "every figure once: %d, %d" % (
              len(page.images), len(images)))
    count = sum(record["kind"] == "result" for record in made)
    check(sum(page.cases) == count, "every case is counted: %s of %d" % (page.cases, count))
    every = {record["matrix"]["name"] for record in made if record["kind"] == "result"}
    tables = [rows for kind, rows in page.tables if kind.endswith(" matrices")]
    check([len(rows) - 1 for rows in tables] == [len(every)] * len(page.cases),
          "a row for each matrix: %s" % [len(rows) for rows in tables])
    check(all(len(row) == len(rows[0]) for _, rows in page.tables for row in rows),
          "a row has as many cells as there are heads")
    shown = {row[0] for rows in tables for row in rows}
    check({"<b>&amp;</b>1", r"\x001", r"\ud8001"} <= shown, "names are text: %s" % shown)
    for name in images:
        with open(os.path.join(drawn, name[:-4] + ".txt"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        check(len(lines) == 13 and lines[2].startswith("Matrices: "), "caption of %s: %s" % (name, lines))
    test_numbers(folder, check, run)
    return test_browser(folder, check)


def test_numbers(folder, check, run):
    """Several files are one page beside them; its numbers are those of the records."""
    beside = os.path.join(folder, "beside")
    os.makedirs(beside)
    names = [write(os.path.join(beside, name), records) for name, records in (
        ("a.jsonl", [environment(roof=GPU), result("merge", M1, 1.0), result("cusparse", M1, 4.0)]),
        ("b.jsonl", [environment(roof=GPU), result("merge", M2, 8.0), result("cusparse", M2, 4.0),
                     result("sellp", M1, 1.0, status="failed")]))]
    status, said, errors = run("all.py", *names, "--format", "svg")
    check(status == 0 and "page: " + os.path.join(beside, "index.html") in said.splitlines() and
          os.path.exists(os.path.join(beside, "figures", "gflops_bars-spmm-f32.txt".replace(
              "spmm-", "spmm-k64-"))), "places: %s %s" % (said, errors))
    with open(os.path.join(beside, "index.html"), encoding="utf-8") as file:
        page = Page(file.read())
    found = {rows[0][0]: rows for _, rows in page.tables}
    check(found["ms"] == [["ms", "nonzeros", "merge", "sellp", "cuSPARSE (best)"],
                          ["one", "500", "1", "failed", "4"], ["two", "2,000", "8", "", "4"]],
          "times: %s" % found["ms"])
    speedups = [rows for _, rows in page.tables if rows[0][0] == "algorithm" and len(rows[0]) == 2]
    check(speedups[0][1] == ["merge", "1.41 (0.50 to 4.00)"], "speed-ups: %s" % speedups)
    check("figures/gflops_bars-spmm-k64-f32.svg" in page.links, "links: %s" % page.links)
    check("a.jsonl, b.jsonl" in " ".join(page.texts), "files")


def test_kept(check):
    """The page of a results folder names all of its files, and its links lead somewhere."""
    results = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "results")
    pages = sorted(glob.glob(os.path.join(results, "*", "index.html")))
    check(pages, "results/ has pages")
    for path in pages:
        folder, at = os.path.split(path)[0], os.path.relpath(path, results)
        with open(path, encoding="utf-8") as file:
            page = Page(file.read())
        check(not page.wrong, "%s is well-formed: %s" % (at, page.wrong[:3]))
        lost = [link for link in page.links if not link.startswith("#") and
                not os.path.exists(os.path.join(folder, unquote(link)))]
        check(not lost, "%s: links lead nowhere: %s" % (at, lost[:3]))
        images = [name for name in os.listdir(os.path.join(folder, "figures")) if name.endswith(".png")]
        check(len(page.images) == len(images) > 0, "%s: every kept figure: %d of %d" % (
            at, len(page.images), len(images)))
        files = sorted(name for name in os.listdir(folder) if name.endswith(".jsonl.gz"))
        check("Files: %s." % ", ".join(files) in " ".join(page.texts), "%s is not of all files" % at)


CLICKS = """<script>
const heads = document.querySelectorAll("table.matrices th");
const column = at => Array.from(heads[at].closest("table").tBodies[0].rows,
                                row => row.cells[at].textContent);
const seen = {found: document.querySelectorAll("table.matrices tbody tr:not([hidden])").length,
              open: document.querySelectorAll("details.set[open]").length};
for (const times of [1, 2]) { heads[2].click(); seen["sorted" + times] = column(2); }
heads[0].click();
seen.names = column(0);
find("no such matrix");
seen.none = document.querySelectorAll("table.matrices tbody tr:not([hidden])").length;
document.title = JSON.stringify(seen);
</script></body>"""


def test_browser(folder, check):
    import index
    import records
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print("skipped: plots: the index page in a browser: no %s" % " or ".join(BROWSERS))
        return False
    times = {"alpha": 10.0, "beta": 9.0, "gamma": 1000.0, "alphabet": None}
    path = write(os.path.join(folder, "clicks.jsonl"), [environment(roof=GPU)] + [
        result("merge", (name, 100, 500), ms or 1.0, status="ok" if ms else "oom")
        for name, ms in times.items()] + [result("cusparse", ("alpha", 100, 500), 1.0)])
    clicked = os.path.join(folder, "clicked.html")
    index.write(clicked, records.read([path]), [])
    with open(clicked, encoding="utf-8") as file:
        text = file.read()
    with open(clicked, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", CLICKS))
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                           "--user-data-dir=" + os.path.join(folder, "browser"),
                           "file://%s#find=ALPHA" % os.path.abspath(clicked)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                          check=False)
    title = re.search("<title>(.*)</title>", done.stdout)
    try:
        seen = json.loads(html.unescape(title.group(1)))
    except (AttributeError, ValueError):
        check(False, "the browser says: %s %s" % (done.stdout[-300:], done.stderr[-300:]))
        return True
    check(seen == {"found": 2, "open": 1, "sorted1": ["9", "10", "1,000", "oom"],
                   "sorted2": ["1,000", "10", "9", "oom"],
                   "names": ["alpha", "alphabet", "beta", "gamma"], "none": 0},
          "sorted and found: %s" % seen)
    return True
