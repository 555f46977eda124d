#!/usr/bin/env python3
"""Figures of the documents and of results/ against the kept records: results.py SPBENCH.

A claim is a table with a column of means, speed-ups or worst cases, or a line with a factor beside the name of
an algorithm, a library or a device. The block of a claim follows a line `<!-- figures of: COMMAND -->`. bash
runs the command in the root of the tree. One line of its output has all figures of a row, with their signs
"~". Rows follow the order of the output. The section of the claim repeats what the output says about its
times: words such as "busy", and "no time on 2 of 70".

A page of results/ has the headlines of its records, a caption counts the marks of its times, and an image of
speed-ups is what the command in the folder's README draws.
"""
import glob
import hashlib
import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "plots")]

import overview
import records
import words
from checks import check, end

# Exceptions: figures made before the rule, of the records with this digest. They end with these records.
# (page, heading): a section of a page; a path: a file or folder.
OLD_RECORDS = "22b45a2d3aa2b367"
OLD = {
    ("README.md", "spbench"), ("README.md", "How fast are the algorithms?"),
    ("docs/algorithms.md", "How fast are they?"),
    ("docs/algorithms.md", "SpMM"), ("docs/algorithms.md", "SDDMM"), ("docs/algorithms.md", "SpGEMM"),
    ("results/h100/README.md", "How fast is auto?"), ("results/h100/README.md", "How fast are the single algorithms?"),
    ("results/h100/README.md", "How good is the advice of `spbench advise`?"),
    ("results/zen5/README.md", "How fast are the algorithms?"),
    "results/h100/index.html", "results/h100/speedup.svg", "results/h100/figures",
    "results/zen5/index.html", "results/zen5/figures",
}

HEAD = re.compile(r"geometric mean|speed-?up|worst", re.I)
FACTOR = re.compile(r"(~?\d+(?:\.\d+)?) ?(?:x|×|times)(?= as\b| the time\b| faster\b| slower\b| `)|\bmean of (~?\d+(?:\.\d+)?)\b|"
                    r"(?:faster|fastest|slower)\b[^.]* on (~?\d+)(?: to \d+)? of \d+")
FIGURE = re.compile(r"\**(~?\d[\d.,]*)\**(?: \((\S+)\)| of \d+)?$")
COMMAND = re.compile(r"<!-- figures of: (\S.*) -->$")
WORDS = "fewer than 6 samples", "busy", "throttled", "not in order"

# rows: [figures that one line of the output has]; section: its text, without comments
Claim = namedtuple("Claim", "heading line command rows section")


def row_figures(line):
    """Returns the figures of a row of a table, with the matrix of a worst case: ["1.30", "0.50", "cnr-2000"]."""
    found = filter(None, (FIGURE.match(cell.strip()) for cell in line.strip().strip("|").split("|")))
    return [figure for match in found for figure in match.groups() if figure]


def sections(text):
    """Yields (heading, [(number, line)]) of a page."""
    heading, lines, fenced = "", [], False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.lstrip().startswith("```")
        if line.startswith("#") and not fenced:
            yield heading, lines
            heading, lines = line.lstrip("# "), []
        else:
            lines.append((number, line))
    yield heading, lines


def blocks(lines):
    """Yields [(number, line)] of each table, and of each block of other lines that are not blank."""
    block = []
    for number, line in [*lines, (0, "")]:
        if block and (not line.strip() or line.startswith("|") != block[0][1].startswith("|")):
            yield block
            block = []
        block += [(number, line)] * bool(line.strip())


def claims(text, names):
    """Yields the claims of a page. names: pattern of algorithms, libraries and devices."""
    for heading, lines in sections(text):
        said = " ".join(" ".join(line for _, line in lines if not COMMAND.match(line)).split())
        command = None
        for block in blocks(lines):
            mark = COMMAND.match(block[0][1])
            command = mark[1] if mark else command
            body = block[bool(mark):]
            if body and body[0][1].startswith("|") and HEAD.search(body[0][1]):
                rows = [row_figures(line) for _, line in body[2:]]
            else:
                rows = [[next(filter(None, match.groups())) for match in FACTOR.finditer(line)]
                        for _, line in body if names.search(line)]
                rows = list(filter(None, rows))
            if rows:
                yield Claim(heading, body[0][0], command, rows, said)
            command = command if not body else None  # a mark is for one block


def faults(claim, output):
    """Yields what is wrong with a claim, from the output of its command."""
    lines = iter([set(re.findall(r"[^\s,;()]+", line)) for line in output.split("\n")])
    for row in claim.rows:
        if not row:
            yield "a row without a figure"
        elif not any(set(row) <= line for line in lines):
            yield "no line of the output, behind those of the rows above, has %s" % ", ".join(row)
    about = [line for line in output.split("\n") if re.search(r"speedup over|best of|: .*\d+ of \d+ times", line)]
    for want in WORDS + tuple(re.findall(r"no time on \d+ of \d+", " ".join(about))):
        if any(want in line for line in about) and want not in claim.section:
            yield "the section does not say: %s" % want


def run(command, env):
    return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, text=True)


def page_faults(path, text, names, env):
    """Yields ((path, heading), fault) of the claims of a page."""
    for claim in claims(text, names):
        where = "%s:%d" % (path, claim.line)
        if not claim.command:
            yield (path, claim.heading), "%s: figures without <!-- figures of: COMMAND -->: %s" % (where, claim.rows[0])
            continue
        done = run(claim.command, env)
        if done.returncode:
            yield (path, claim.heading), "%s: %s: %s" % (where, claim.command, done.stdout[-300:])
        for fault in faults(claim, done.stdout):
            yield (path, claim.heading), "%s: %s" % (where, fault)


def headlines(rows):
    """Returns the phrases that the first screen of a page of these rows has."""
    found = []
    for panel in overview.panels_of(rows):
        found += ["%s is %s× as fast as" % (panel.name, words.times(overview.common.geomean(panel.speed.values()))),
                  *overview.marks_of(panel)]
    return found


def folder_faults(folder):
    """Yields (path, fault) of the page, the captions and the images of a folder with records."""
    at = os.path.relpath(folder, ROOT)
    page = os.path.join(folder, "index.html")
    if os.path.exists(page):
        with open(page, encoding="utf-8") as file:
            text = html.unescape(file.read())
        rows = records.read(sorted(glob.glob(os.path.join(folder, "*.jsonl.gz"))))
        for phrase in headlines(rows):
            if words.visible(phrase) not in text:
                yield at + "/index.html", "%s/index.html does not say: %s" % (at, phrase)
    for caption in sorted(glob.glob(os.path.join(folder, "figures", "*.txt"))):
        with open(caption, encoding="utf-8") as file:
            if not re.search("^Marks: ", file.read(), re.M):
                yield at + "/figures", "%s does not count marks" % os.path.relpath(caption, ROOT)
    for image in sorted(glob.glob(os.path.join(folder, "*.svg"))):
        path = os.path.relpath(image, ROOT)
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            command = re.search(r"^ *(plots/overview.py .*) -o %s$" % re.escape(path), file.read(), re.M)
        with tempfile.TemporaryDirectory() as scratch:
            drawn = os.path.join(scratch, "image.svg")
            done = run("%s -o %s" % (command[1], drawn), None) if command else None
            if not command or done.returncode or open(drawn, "rb").read() != open(image, "rb").read():
                yield path, "%s is not what a command in README.md draws" % path


def names_of(spbench):
    """Returns the pattern of the names of algorithms, in backticks, of libraries and of devices."""
    listed = subprocess.run([spbench, "list", "algorithms"], stdout=subprocess.PIPE, text=True, check=True).stdout
    algorithms = set(re.findall(r"^ {2,4}([a-z][\w-]+) ", listed, re.M))
    check({"merge", "graded", "cusparse"} <= algorithms, "spbench list has algorithms: %s" % sorted(algorithms)[:9])
    return re.compile(r"`(%s)`|\b[AH]\d00\b|EPYC|Xeon|cuSPARSE|MKL|cuBLAS|default call|dense matrix" % "|".join(algorithms))


def digest():
    whole = hashlib.sha256()
    for path in sorted(glob.glob(str(ROOT / "results" / "*" / "*.jsonl.gz"))):
        with open(path, "rb") as file:
            whole.update(file.read())
    return whole.hexdigest()[:16]


def test_itself(env, folder):
    """Synthetic records: a page with figures of them, and what is wrong with a page."""
    names = re.compile("`fast`|cuSPARSE")
    data = os.path.join(folder, "marks.jsonl")
    with open(ROOT / "tests" / "data" / "report.jsonl", encoding="utf-8") as file:
        text = file.read().replace('"samples":[1,1,1,1,1,1]', '"samples":[1]')
    for alg in "lib1", "lib2":  # no time on mesh
        text = re.sub(r'"status":"ok"(,"reason":null,"case":"made-up %s [^\n]* mesh"[^\n]*"time_ms":){[^}]*}' % alg,
                      r'"status":"failed"\1null', text)
    with open(data, "w", encoding="utf-8") as file:
        file.write(text)
    head = "# How fast?\n\n<!-- figures of: spbench report -alg fast %s -->\n| alg | matrices | geometric mean | worst |\n" \
        "| --- | --- | --- | --- |\n" % data
    about = "\n\nTimes with fewer than 6 samples have a sign. cuSPARSE has no time on 1 of 3 matrices.\n"
    for what, page, want in (
            ("right", head + "| `fast` | 2 | **~2.00** | ~2.00 (web) |" + about, None),
            ("without the sign", head + "| `fast` | 2 | 2.00 | ~2.00 (web) |" + about, "no line of the output"),
            ("another number", head + "| `fast` | 2 | ~2.01 | ~2.00 (web) |" + about, "no line of the output"),
            ("another matrix", head + "| `fast` | 2 | ~2.00 | ~2.00 (mesh) |" + about, "no line of the output"),
            ("not in order", head + ("| `fast` | 2 | ~2.00 | ~2.00 (web) |\n" * 2) + about, "behind those"),
            ("nothing to check", head + "| `fast` | ~2.00; ~2.00 |" + about, "without a figure"),
            ("no word on samples", head + "| `fast` | 2 | ~2.00 | ~2.00 (web) |" + about.replace("6", "9"), "fewer than 6 samples"),
            ("an opponent left out", head + "| `fast` | 2 | ~2.00 | ~2.00 (web) |" + about.replace("no time on", "times but for"),
             "no time on 1 of 3"),
            ("a bare table", head.replace("<!-- figures", "<!-- numbers") + "| `fast` | 2 | ~2.00 |", "without <!--"),
            ("a bare sentence", "# Speed\n\n`fast` is 2.0 x as fast.", "without <!--"),
            ("a count of wins", "# Speed\n\n`fast` is faster on 81 to 86 of 87 matrices.", "without <!--"),
            ("a sentence", "# Speed\n\n<!-- figures of: echo 2.0 -->\n`fast` is 2.0 times as fast.", None),
            ("a mark of another block", "# Speed\n\n<!-- figures of: echo 2.0 -->\nA line.\n\n`fast` is 2.0 x as fast.", "without <!--"),
            ("a command that fails", "# Speed\n\n<!-- figures of: echo 2.0; false -->\n`fast` is 2.0 x as fast.", "false"),
            ("no claim", "# Size\n\nTiles of 16 x 16 in `fast`.\nA run is repeated 20 times. `fast` is on 3 of 4 GPUs.", None)):
        found = [fault for _, fault in page_faults("page.md", page, names, env)]
        check(len(found) == 1 and want in found[0] if want else not found, "a page, %s: %s" % (what, found))


def test_headlines(folder):
    """A page without the marks of its records' headline, and a caption without its marks."""
    sys.path.append(str(ROOT / "tests" / "plots"))
    from plots_records import GPU, M1, M2, environment, result, write
    made = [result(alg, m, ms) for m in (M1, M2) for alg, ms in (("merge", 1.0), ("cusparse", 4.0))]
    made[0]["time_ms"]["samples"] = [1.0]
    made[3] = result("cusparse", M2, 4.0, status="unchecked")
    plain = write(os.path.join(folder, "few.jsonl"), [environment(roof=GPU), *made])
    subprocess.run(["gzip", plain], check=True)
    want = ["merge is ~4.00× as fast as", "~: 1 of 2 times with fewer than 6 samples",
            "no time of cuSPARSE (best) on 1 of 2 matrices, which are left out"]
    check(headlines(records.read([plain + ".gz"])) == want, "headlines: %s" % headlines(records.read([plain + ".gz"])))
    os.makedirs(os.path.join(folder, "figures"))
    for said, caption, count in ((want, "Marks: none", 0), (want[:2], "Marks: none", 1), (["merge is 4.00× as fast as"], "Busy: 1", 4)):
        for name, text in (("index.html", html.escape("; ".join(said))), ("figures/a.txt", caption + "\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        found = list(folder_faults(folder))
        check(len(found) == count, "a folder with %s, %s: %s" % (said, caption, found))


def main():
    spbench = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "spbench").resolve()
    old = digest() == OLD_RECORDS
    found = []
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(spbench, os.path.join(folder, "spbench"))
        env = {**os.environ, "PATH": "%s:%s" % (folder, os.environ["PATH"])}
        test_itself(env, folder)
        test_headlines(tempfile.mkdtemp(dir=folder))
        names = names_of(str(spbench))
        pages = ["README.md", "CHANGELOG.md", *sorted(glob.glob("docs/*.md", root_dir=ROOT)),
                 *sorted(glob.glob("results/**/*.md", root_dir=ROOT, recursive=True))]
        for page in pages:
            found += page_faults(page, (ROOT / page).read_text(encoding="utf-8"), names, env)
    for folder in sorted({os.path.dirname(path) for path in glob.glob(str(ROOT / "results" / "*" / "*.jsonl.gz"))}):
        found += folder_faults(folder)
    for where, fault in found:
        check(old and where in OLD, fault)
    for where in OLD if old else ():
        check(any(at == where for at, _ in found), "an exception that nothing needs: %s" % (where,))
    end()


if __name__ == "__main__":
    main()
