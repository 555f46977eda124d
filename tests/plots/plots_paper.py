"""Tests for test_plots.py: choice and look of series (-alg, -matrix, -mixed, -paper, colours), and
messages about figures that are not drawn."""

import json
import os
import re
from types import SimpleNamespace

from plots_general import PROGRAM, said_by_program
import common
import drawing
import gflops_compression
import importlib
import records
import series
import speedup_rowlength
import speedup_sorted
from plots_records import (GPU, M1, M2, SPGEMM, SPMM, algorithm, environment, gpu_records, product, result,
                           rows_of, write)
from plots_run import fails

INCH_DPI, WIDTH, LETTERS = 300, 3.35, 8  # of an image for a paper


def asked(alg="", matrix="", mixed=False):
    return SimpleNamespace(alg=[*filter(None, alg.split(","))], matrix=[*filter(None, matrix.split(","))], mixed=mixed)


def names_of(selection):
    return list(series.series(selection.rows))


def test_choice(check):
    """-alg gives the series and their order, -matrix the matrices; the baseline is of all rows."""
    rows = rows_of(SPMM, *(result(alg, m, ms) for m in (M1, M2) for alg, ms in (
        ("merge", 1.0), ("sellp", 2.0), ("rowsplit", 4.0), ("cusparse", 8.0), ("cusparse-csr2", 3.0),
        ("cusparse-csr3", 6.0))))
    for alg, want in (("sellp,merge", ["sellp", "merge"]),
                      ("cusparse-csr2,r*,m*", ["cusparse-csr2", "rowsplit", "merge"]),
                      ("cuSPARSE,merge", ["cuSPARSE (best)", "merge"]), ("cusparse*", ["cuSPARSE (best)"]),
                      ("cusparse-csr3,cusparse*", ["cusparse-csr3", "cuSPARSE (best)"]),
                      ("cusparse-csr*", ["cusparse-csr* (best)"]),
                      ("all", ["rowsplit", "merge", "sellp", "cuSPARSE (best)"])):
        found = names_of(common.choose(rows, asked(alg)))
        check(found == want, "-alg %s: %s" % (alg, found))
    said = fails(common.choose, rows, asked("merg"))
    check(said.startswith("-alg merg: there is none; there are cusparse, "), said)
    selection = common.choose(rows, asked("cusparse-csr3,merge", "tw*"))
    check({row["name"] for row in selection.rows} == {"two"}, "-matrix by a pattern")
    check(fails(common.choose, rows, asked("", "twos")) == "-matrix twos: there is none", "no such matrix")
    fig = speedup_rowlength.draw(common.choose(rows, asked("sellp")))
    legend = [text.get_text() for text in fig.axes[0].get_legend().get_texts()]
    check(legend == ["sellp  1.50×"], "over the best of all of a vendor: %s" % legend)
    found = series.series(common.choose(rows, asked("cusparse-csr*")).rows)
    check({row["ms"] for row in found["cusparse-csr* (best)"].values()} == {3.0}, "the best of these")


def test_most(folder, check, run):
    """Eight series, by standing; a vendor's is among them; the others are named."""
    env = environment((SPMM[0], SPMM[1] + [algorithm("own-%d" % i) for i in range(10)]), roof=GPU)
    made = [result("own-%d" % i, m, 1.0 + (7 * i) % 10) for i in range(10) for m in (M1, M2)]
    made += [result("cusparse", m, 99.0) for m in (M1, M2)]
    made += [result("rowsplit", m, 1.0, status="unsupported") for m in (M1, M2)]
    made += [result("sellp", m, 1.0, status="oom") for m in (M1, M2)]
    path = write(os.path.join(folder, "eleven.jsonl"), [env] + made)
    from records import read
    selection = common.choose(read([path]))
    check(names_of(selection) == ["own-0", "own-2", "own-3", "own-5", "own-6", "own-8", "own-9", "cuSPARSE (best)"],
          "the best eight: %s" % names_of(selection))
    note = "Not drawn, as not among the best 8: own-1, own-4, own-7, sellp."
    check(note in selection.notes, "the others: %s" % selection.notes)
    out = os.path.join(folder, "eleven.svg")
    for more, said in (((), "gflops_bars: 4 more series: choose with -alg\n"), (("-alg", "all"), "")):
        status, _, errors = run("gflops_bars.py", path, "-o", out, *more)
        check(status == 0 and errors == said, "%s: %s" % (more, errors))
        with open(out[:-4] + ".txt", encoding="utf-8") as file:
            check((note in file.read()) == bool(said), "the caption names them: %s" % (more,))


def test_mixed(check):
    """-mixed: of a case in two revisions the newer; the foot says so."""
    # Without -opt in the command: defaults that changed make no other case.
    env = {**environment(roof=GPU), "command": ["spbench"]}
    from records import row_from
    rows = [row_from(record, {**env, "revision": revision, "date": date}) for revision, date, record in (
        ("aaa", "2026-11-20", result("merge", M1, 1.0, options={"a": 1})),
        ("aaa", "2026-11-20", result("cusparse", M1, 4.0)),
        ("bbb", "2026-11-21", result("merge", M1, 2.0, options={"a": 2})),
        ("bbb", "2026-11-21", result("sellp", M1, 3.0)))]
    one, both = common.choose(rows), common.choose(rows, asked(mixed=True))
    check({row["revision"] for row in one.rows} == {"bbb"} and one.others == 1, "one revision")
    check(sorted((row["series"], row["ms"]) for row in both.rows) == [
        ("cusparse", 4.0), ("merge", 2.0), ("sellp", 3.0)], "all revisions: %s" % names_of(both))
    check("Mixed: 2 revisions (bbb: 2, aaa: 1)." in common.footnotes(both), "%s" % common.footnotes(both))


def texts_of(fig):
    """Returns the visible texts of a figure that is already drawn."""
    return [text for text in fig.findobj(drawing.matplotlib.text.Text)
            if text.get_visible() and text.get_text().strip()]


def test_paper(folder, check, run, made):
    """A figure for a paper: its width, its letters, neither title nor foot; a caption beside it. made: [files]."""
    out = os.path.join(folder, "paper.png")
    status, _, errors = run("speedup_rowlength.py", made[0], "-paper", "-o", out)
    check(status == 0 and os.path.exists(out[:-4] + ".txt"), "an image and its caption: " + errors)
    with open(out, "rb") as file:
        width = int.from_bytes(file.read(20)[16:], "big")
    check(abs(width - WIDTH * INCH_DPI) <= 1, "%d pixels wide" % width)
    status, _, errors = run("speedup_rowlength.py", made[0], "-paper", "-o", out[:-4] + ".pdf")
    with open(out[:-4] + ".pdf", "rb") as file:
        box = re.search(rb"/MediaBox *\[ *0 0 ([0-9.]+)", file.read())
    check(status == 0 and abs(float(box.group(1)) - 72 * WIDTH) < 0.1, "points wide: %s %s" % (box.group(1), errors))
    drawing.load(paper=True)
    drawn = set()
    for path in made:
        rows = records.read([path])
        for name, script in importlib.import_module("all").scripts().items():
            try:
                fig = script.draw(common.choose(rows, common.ALL, getattr(script, "MIXES", ()),
                                                getattr(script, "has", None)))
            except records.NoData:
                continue
            drawn.add(name)
            box = drawing.extent_of(fig)
            texts = texts_of(fig)
            odd = {(text.get_text(), text.get_fontsize()) for text in texts if text.get_fontsize() != LETTERS}
            check(not odd, "%s: letters of %s" % (name, sorted(odd)[:3]))
            check(-0.01 < box.x0 and box.x1 < WIDTH + 0.01, "%s: from %.2f to %.2f in" % (name, box.x0, box.x1))
            said = " ".join(text.get_text() for text in texts)
            check(fig.said["title"] not in said and "2026-11-20" not in said, "%s: a title: %s" % (name, said))
            drawing.plt.close(fig)
    check(len(drawn) > 15, "figures for a paper: %s" % sorted(drawn))
    drawing.load()
    check(drawing.plt.rcParams["font.size"] == drawing.LOOK["font.size"] != LETTERS, "and back")


def test_colours(check):
    """An algorithm has one colour, whatever the device, the operation and the list that it is in."""
    from records import row_from
    cpu = [row_from(result(alg, M1, 1.0, device="cpu"), environment(SPMM, "cpu"))
           for alg in ("sellp", "merge", "rowsplit")]
    lists = SPMM[1][::-1], [algorithm("new"), *SPMM[1]]
    gpu = [[row_from(result(alg, M1, 1.0), environment((SPMM[0], of), roof=GPU))
            for alg in ("merge", "merge-tuned", "sellp")] for of in lists]
    looks = [drawing.styles(rows) for rows in [cpu] + gpu]
    for name in ("merge", "sellp"):
        check(len({look[name]["colour"] for look in looks}) == 1, "colour of %s: %s" % (name, [
            look[name]["colour"] for look in looks]))
    check(looks[1]["merge-tuned"]["colour"] == looks[0]["merge"]["colour"] != looks[0]["sellp"]["colour"], "families")
    if not os.path.exists(PROGRAM):
        return
    for op in re.findall(r"-op (\w+):", said_by_program("list", "algorithms")):
        env = json.loads(said_by_program("-q", "-op", op, "-o", "-", os.devnull).splitlines()[0])
        names = {facts.get("tuned_of") or facts["name"] for facts in env["algorithms"] if not (
            facts.get("vendor") or "missing" in facts)}
        rows = [{"alg": name, "series": name, "facts": {}, "env": env} for name in names]
        look = drawing.styles(rows)
        check(len({look[name]["colour"] for name in names}) == len(names), "%s: two families of one colour: %s" % (
            op, sorted((look[name]["colour"], name) for name in names)))


def test_messages(folder, check, run):
    """Messages of one line: a device without results, the page, the chosen set, a list for one value."""
    path = write(os.path.join(folder, "empty-set.jsonl"), [
        environment(SPMM, "cpu", "A CPU"),
        *(result(alg, m, 1.0, k, device="cpu") for alg in ("merge", "reference") for m in (M1, M2) for k in (32, 64)),
        *({**result("heuristic", m, 1.0, k, status="unsupported"), "device": "cuda"}
          for m in (M1, M2) for k in (32, 64))])
    out = os.path.join(folder, "empty-set")
    status, text, errors = run("all.py", path, "-o", out, "-figures", "gflops_bars,gather")
    lines = text.splitlines()
    check("left out: cuda: no result of 4 cases (4 unsupported (heuristic))" in lines and
          sum("cuda" in line for line in lines) == 1, "a device without results: %s" % text)
    check(status == 0 and lines[-1] == "page: " + os.path.join(out, "index.html"),
          "the page: %s %s" % (lines[-1:], errors))
    status, _, errors = run("all.py", path, "-o", out, "-figures", "roofline", "-format", "pdf", "-paper")
    with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
        shown = file.read()
    check(status == 0 and '<a href="figures/roofline-spmm-f32.pdf">PDF</a>' in shown and "<img" not in shown,
          "a browser shows no PDF as an image: " + errors)
    _, _, errors = run("gflops_bars.py", path, "-o", os.path.join(folder, "set.svg"))
    check(errors.startswith("gflops_bars: drawn: spmm · k = ") and len(errors.splitlines()) == 1 and
          "other sets of cases: choose with -device -op -k" in errors, "the set that was drawn: " + errors)
    status, _, errors = run("gflops_bars.py", path, "-k", "64,32")
    check(status == 2 and "64,32: one value; run once per k" in errors, "a list of k: " + errors)


def test_legends(check):
    """Means side by side are over the same matrices. The foot speaks of what is there."""
    modelled = {"model": {"gflops": {"algorithmic": 1.0}}}
    made = [result(alg, m, ms, **modelled) for alg, ms in (("merge", 1.0), ("sellp", 2.0)) for m in (M1, M2)]
    three = "three", 9, 9
    made += [result("merge", three, 0.001, **modelled), *(result("cusparse", m, 4.0) for m in (M1, M2, three))]
    fig = speedup_sorted.draw(common.select(rows_of(SPMM, *made)))
    legend = fig.axes[0].get_legend()
    check([text.get_text() for text in legend.get_texts()] == ["merge  4.00×", "sellp  2.00×"] and
          legend.get_title().get_text() == "geometric mean on 2 shared matrices", "one count of matrices")
    rows = rows_of(SPGEMM, product("hash", M1, 1.0), product("hash", M2, 1.0),
                   product("esc", ("lost", 9, 9, 9, 9), 1.0, status="oom"))
    foot = " ".join(text.get_text() for text in gflops_compression.draw(common.select(rows)).texts)
    check("grey" not in foot and "1 more are not here" in foot, "nothing is grey: " + foot)


def test_all(folder, check, run, made):
    test_choice(check)
    test_most(folder, check, run)
    test_mixed(check)
    test_colours(check)
    test_messages(folder, check, run)
    test_legends(check)
    test_paper(folder, check, run, made)
    drawing.plt.close("all")
