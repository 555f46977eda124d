"""Tests of the first screen of the index page, for test_plots.py: the chart of speed-ups, the rankings,
the fastest of each matrix. Tests of scripts without matplotlib."""

import os
import subprocess
import sys
import xml.etree.ElementTree
from types import SimpleNamespace

from plots_names import NASTY
import common
import marks
import overview
import records
import tables
from plots_records import (GPU, M1, M2, OLD, SPGEMM, SPMM, environment, gpu_records, product, result, rows_of, write)

HERE = os.path.dirname(os.path.abspath(__file__))
M3 = ("three", 100, 900)


def chosen(m, ms, name="merge", **more):
    return result("heuristic", m, ms, stats={"picked": name}, **more)


def test_panels(check, near):
    """A panel for each operation: its set of cases, its series, its baseline."""
    rows = rows_of(
        SPMM, chosen(M1, 1.0), chosen(M2, 2.0), result("merge", M1, 0.5), result("cusparse", M1, 4.0),
        result("cusparse", M2, 9.0), result("cusparse", M2, 2.0, library=OLD),
        result("heuristic", M1, 1.0, k=32), result("cusparse", M1, 9.0, k=32),
        *(result("merge", m, 1.0, k=16) for m in (M1, M2, M3)),
        *(result("cusparse", m, 1.0, k=16) for m in (M1, M2, M3)))
    panel, = overview.panels_of(rows)
    check((panel.name, panel.base) == ("heuristic", "cuSPARSE (best)") and
          {m[0]: x for m, x in panel.speed.items()} == {"one": 4.0, "two": 1.0},
          "what chooses, on the most matrices: %s %s" % (panel.name, panel.speed))
    check(overview.worst(panel)[0] == "two", "the worst case")
    near(common.geomean(panel.speed.values()), 2.0, "the mean")
    newer = [{**row, "revision": "bbb", "date": "2026-11-25", "env": row["env"]} for row in rows[:6]]
    panel, = overview.panels_of([{**row, "revision": "aaa"} for row in rows] + newer)
    check({row["revision"] for row in panel.rows} == {"bbb"}, "of the newest revision")
    panel, = overview.panels_of(rows_of(SPMM, result("merge", M1, 2.0), result("sellp", M1, 1.0),
                                        result("cusparse", M1, 4.0)))
    check((panel.name, panel.speed[panel.rows[0]["matrix"]]) == ("sellp", 4.0), "else the fastest")
    for device, of, want in (("cpu", ("merge", "sellp", "reference"), ("sellp", "merge", "the fastest other algorithm")),
                     ("cuda:0", ("merge", "heuristic"), ("heuristic", "merge", "the fastest other algorithm")),
                     ("cpu", ("merge", "reference"), ("merge", "reference", "the reference"))):
        panel, = overview.panels_of(rows_of(SPMM, *(
            result(alg, M1, 2.0 - at / 10, device=device) for at, alg in enumerate(of))))
        check((panel.name, panel.base, overview.over_text(panel)) == want, "without a vendor: %s %s" % (
            panel[5:], want))
    check(overview.panels_of(rows_of(SPMM, result("merge", M1, 1.0))) == [], "nothing to compare")


def test_image(folder, check, run):
    """The image is XML and small, and names are text, not markup."""
    path = write(os.path.join(folder, "front.jsonl"), [
        *gpu_records(90, [(64, "f32")]), environment(SPGEMM, roof=GPU),
        *(product(alg, (name, 9, 99, 999, 99), ms) for name in NASTY for alg, ms in (
            ("hash", 1.0), ("cusparse", 2.0)))])
    out = os.path.join(folder, "front", "image.svg")
    status, text, errors = run("overview.py", path, "-o", out)
    check(status == 0 and text.strip() == out, "overview.py: %d %s" % (status, errors))
    root = xml.etree.ElementTree.parse(out).getroot()
    tag = "{http://www.w3.org/2000/svg}"
    said = " ".join(filter(None, (found.text for found in root.iter(tag + "text"))))
    for want in ("SpMM", "SpGEMM", "k = 64, layout = row, single precision", "geometric mean of",
                 "worst case", "cuSPARSE"):
        check(want in said, "the image says %r: %s" % (want, said))
    bars = list(root.iter(tag + "a"))
    check(len(bars) > 90 and all(bar[0].tag == tag + "title" for bar in bars), "%d bars" % len(bars))
    check(os.path.getsize(out) < 100_000, "%d bytes" % os.path.getsize(out))
    status, text, errors = run("overview.py", path, "-k", "64", "-mul", "aa", "-o", out[:-4])
    said = open(out, encoding="utf-8").read()
    check(status == 0 and text.strip() == out and "SpMM" in said and "SpGEMM" in said,
          "an axis counts for the operations that have it, and .svg is added: %d %s%s" % (status, text, errors))
    ways = [{**row, "axes": {**row["axes"], "trans": "copy"}} for row in rows_of(SPMM, result("merge", M1, 1.0))]
    rows = rows_of(SPMM, result("merge", M1, 1.0)) + ways
    args = SimpleNamespace(results=[path], device=None, op=None, prec=None, cache=None, launch=None, revision=None,
                           matrix=[], mixed=False, **{"axis trans": "copy"})
    check(overview.wanted_rows(rows, args) == ways, "an axis that only some cases have")
    status, _, errors = run("overview.py", path, "-k", "65", "-op", "spmm", "-o", out)
    check(status == 1 and "no results for -k 65, -op spmm" in errors, "overview.py -k 65: %d %s" % (status, errors))
    many = write(os.path.join(folder, "front-many.jsonl"), gpu_records(1000, [(64, "f32")]))
    status, _, errors = run("overview.py", many, "-o", out)
    check(status == 0 and not list(xml.etree.ElementTree.parse(out).getroot().iter(tag + "a")),
          "many bars have no names: " + errors)
    alone = write(os.path.join(folder, "front-alone.jsonl"), [environment(), result("merge", M1, 1.0)])
    status, _, errors = run("overview.py", alone, "-o", out)
    check(status == 1 and "nothing to compare" in errors, "one algorithm: %d %s" % (status, errors))


def texts(table):
    return [[cell if isinstance(cell, str) else cell.text for cell in line] for line in table.lines]


def test_rankings(check):
    """All numbers of a ranking are over the matrices that all of its lines share in all columns."""
    rows = rows_of(
        SPMM, *(result("cusparse", m, 4.0, k=n) for m in (M1, M2, M3) for n in (32, 64)),
        *(result("cusparse-csr2", m, 8.0, k=n) for m in (M1, M2) for n in (32, 64)),
        *(result("merge", m, ms, k=n) for m, ms in ((M1, 2.0), (M2, 8.0), (M3, 0.01)) for n in (32, 64)),
        *(result("merge-tuned", m, 1.0, k=n) for m in (M1, M2) for n in (32, 64)),
        *(result("sellp", m, 4.0, k=n) for m in (M1, M2) for n in (32, 64)), result("rowsplit", M1, 0.1),
        result("folded", M1, 0.1), result("folded", M1, 0.1, k=32))
    sets = list(common.groups(rows, common.fields_of(rows)).values())
    ranking, = tables.rankings(sets)
    check(ranking.table.title == "Speed-up over cuSPARSE (best), on 2 matrices that all share",
          ranking.table.title)
    check(texts(ranking.table) == [["merge-tuned"] + ["4.00 (4.00 to 4.00)"] * 2,
                                   ["cuSPARSE (best)"] + ["1.00"] * 2,
                                   ["sellp"] + ["1.00 (1.00 to 1.00)"] * 2],
          "the fastest form of each, by speed: %s" % texts(ranking.table))
    check([[cell.best for cell in line[1:]] for line in ranking.table.lines] ==
          [[True] * 2, [False] * 2, [False] * 2], "the winner is bold")
    check("Left out, as not measured on all of these matrices: folded (1)." in ranking.table.said,
          "of too few: %s" % ranking.table.said)
    check(texts(ranking.variants) == [["cusparse"] + ["1.00 (1.00 to 1.00)"] * 2,
                                      ["merge"] + ["1.00 (0.50 to 2.00)"] * 2,
                                      ["cusparse-csr2"] + ["0.50 (0.50 to 0.50)"] * 2],
          "the other forms, over the same: %s" % texts(ranking.variants))
    other = [{**row, "axes": {**row["axes"], "layout": "col"}} for row in rows]
    other += [{**row, "revision": "old", "date": "2026-01-01"} for row in rows]
    sets = list(common.groups(rows + other, common.fields_of(rows)).values())
    check([ranking.revision for ranking in tables.rankings(sets)] == [None, None, "old"],
          "one for each layout and revision, the newest first")
    table = tables.winners(rows_of(
        SPMM, result("merge", M1, 1.0), result("cusparse", M1, 4.0), result("cusparse-csr2", M1, 3.0),
        result("cusparse", M2, 2.0), result("merge", M2, 1.0, status="oom")))
    check(texts(table) == [
        ["one", "SpMM", "k = 64, layout = row, f32", "merge", "1", "3.00", "cusparse-csr2", "3", "500"],
        ["two", "SpMM", "k = 64, layout = row, f32", "cusparse", "2", "1.00", "cusparse", "2", "2,000"]],
        "the fastest, over the vendor's fastest: %s" % texts(table))


def test_page(folder, check, run):
    """The answer comes first, the file list last, and no word is internal to the program."""
    path = write(os.path.join(folder, "front-page.jsonl"), [
        {**environment(roof=GPU), "revision": "new"}, chosen(M1, 1.0), chosen(M2, 2.0),
        result("cusparse", M1, 4.0), result("cusparse", M2, 4.0), result("merge", M1, 9.0),
        {**environment(SPGEMM, roof=GPU), "revision": "new"}, product("hash", M1, 1.0),
        product("cusparse", M1, 3.0), {**environment(roof=GPU), "revision": "old"},
        result("sellp", M1, 1.0), result("cusparse", M1, 2.0)])
    out = os.path.join(folder, "front-page")
    status, _, errors = run("all.py", path, "--format", "svg")
    with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
        text = file.read()
    wanted = ["<h1>Which sparse kernel is the fastest on NVIDIA H200?",
              "<b>SpMM: heuristic is 2.83× as fast as the best algorithm of cuSPARSE</b> (geometric mean of "
              "2 matrices; k = 64, layout = row, single precision). Median 3.00×, least 2.00× (two), "
              "greatest 4.00× (one). heuristic chose merge (2).", "<b>SpGEMM: hash is 3.00×", "<svg",
              "Find a matrix", 'id="winners"', '<h2 id="spmm">SpMM: made up', "Speed-up over cuSPARSE (best)",
              "Measured with revision old (2026-11-20): k = 64, layout = row, single precision", "<h2>Figures</h2>", "<h2>About these results</h2>",
              "Revisions of spbench: new, old.", "Files: front-page.jsonl."]
    at = 0
    for want in wanted:
        check(want in text[at:], "the page has, in its order, %r: %s" % (want, errors))
        at = max(at, text.find(want, at))
    for word in ("set of cases", "sets of cases", "oracle", "picks"):
        check(word not in text, "the page says %r" % word)


def test_marks(folder, check, run):
    """Times of few samples, of a busy machine and out of order are counted in the sentence of the mean. Numbers
    made of them have the sign. Matrices without a time of the baseline are counted there too."""
    made = [result(alg, m, ms) for m in (M1, M2, M3) for alg, ms in (("merge", 1.0), ("cusparse", 4.0))]
    made[0]["time_ms"]["samples"] = [1.0] * 5
    made[2]["time_ms"]["busy"] = True
    made[3]["check"]["in_order"] = False
    made[5] = result("cusparse", M3, 4.0, status="unchecked")
    path = write(os.path.join(folder, "marks.jsonl"), [environment(roof=GPU), *made])
    rows = {(row["alg"], row["name"]): row for row in records.read([path])}
    check([(name, bool(marks.sign(row["ms"], row["gflops"]))) for (_, name), row in rows.items()] == [
        ("one", True), ("one", False), ("two", True), ("two", False), ("three", False), ("three", False)],
          "marked: %s" % {key: type(row["ms"]) for key, row in rows.items()})
    ms = rows["merge", "one"]["ms"]
    check([marks.sign(x) for x in (2 / ms, ms / 2, ms * ms, 2 * ms, common.geomean([ms, 1.0]), common.median([1.0, ms, 2.0]),
                                   common.geomean([1.0]))] == ["~"] * 6 + [""], "made of a marked time")
    check(marks.count([ms, 1.0]) == "~2" and marks.count([1.0]) == "1", "a number of wins")
    status, said, errors = run("all.py", path, "--format", "svg", "-figures", "speedup_rowlength")
    with open(os.path.join(folder, "marks", "index.html"), encoding="utf-8") as file:
        text = file.read()
    for want in (
            "<b>SpMM: merge is ~4.00× as fast as the best algorithm of cuSPARSE</b> (geometric mean of 2 matrices; k = 64, "
            "layout = row, single precision; ~: 1 of 4 times with fewer than 6 samples, 1 busy; cuSPARSE (best): 1 of 2 "
            "times not in order; no time of cuSPARSE (best) on 1 of 3 matrices, which are left out). Median ~4.00×",
            "<b>Other programs used the processors during 1 of 5 cases.</b>", "<code>-threads 1</code>",
            ">~4.00×<", "No time of cuSPARSE (best) on 1 of 3 cases, which are left out.", "<td>~1</td>", marks.LEGEND):
        check(want in text, "the page says %r: %d %s" % (want, status, errors))
    with open(os.path.join(folder, "marks", "figures", "speedup_rowlength-spmm-k64-f32.txt"), encoding="utf-8") as file:
        caption = file.read()
    check("Marks: 1 of 5 times with fewer than 6 samples, 1 busy, 1 not in order" in caption and "faster on ~2" in caption,
          "the caption: " + caption)


def test_light(folder, check, run):
    """Help and text need no matplotlib; a reader that has enough ends the script without a word."""
    path = write(os.path.join(folder, "light.jsonl"), [
        environment(roof=GPU), *(result(alg, (str(i), 9, 9 + i), 1.0) for i in range(3000)
                                 for alg in ("merge", "cusparse"))])
    without = os.path.join(folder, "without")
    os.makedirs(without)
    with open(os.path.join(without, "matplotlib.py"), "w", encoding="utf-8") as file:
        file.write("raise ImportError\n")
    env = dict(os.environ, PYTHONPATH=without, PYTHONDONTWRITEBYTECODE="1")
    env.pop("SPBENCH_PLOTS_PYTHON", None)

    def light(script, *args, code=""):
        command = [sys.executable, os.path.join(HERE, "..", "..", "plots", script), *args]
        done = subprocess.run(["bash", "-c", '"$@"' + code, "bash", *command], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout, done.stderr

    for script in ("roofline.py", "all.py", "overview.py"):
        status, text, errors = light(script, "-h")
        check(status == 0 and "RESULTS" in text and not errors, "%s -h: %s" % (script, errors))
    status, text, errors = light("overview.py", path, "-o", os.path.join(without, "image.svg"))
    check(status == 0 and not errors, "the image: " + errors)
    status, text, errors = light("roofline.py", path)
    check(status == 1 and errors == "plots: matplotlib is missing (apt install python3-matplotlib)\n",
          "a figure: " + errors)
    status, text, errors = light("roofline.py", "-h", code=" | head -n 1")
    check(status == 0 and text.startswith("usage:") and not errors, "into head: " + errors)
    # A Python without matplotlib: that of a virtual environment. The script goes on with another.
    bare = os.path.join(folder, "bare")
    os.makedirs(bare)
    with open(os.path.join(bare, "sitecustomize.py"), "w", encoding="utf-8") as file:
        file.write("import os, sys\nif 'SPBENCH_PLOTS_PYTHON' not in os.environ and 'roofline' in "
                   "''.join(sys.orig_argv):\n    sys.modules['matplotlib'] = None\n")
    env["PYTHONPATH"] = bare
    out = os.path.join(bare, "image.svg")
    status, text, errors = light("roofline.py", path, "-o", out)
    check(status == 0 and text.strip() == out and os.path.exists(out), "with another Python: %d %s" % (status, errors))
