"""Tests of precisions and of measured dense products, for test_plots.py: one list of precisions, no figure
and no table over two of them, 16 bits over 32 bits, and a precision that no script knows."""

import os
import random

import captions
import common
import dense
import drawing
import halves
import index
import overview
import precs
import records
import roofline
import series
import tables
import time_axis
import words
from plots_records import GPU, M1, M2, SPMM, environment, gpu_records, matrices, result, rows_of, write
from plots_run import fails

FIGURES = ("halves",)
M3 = ("three", 100, 900)
UNKNOWN = "x7"


def notes_of(fig):
    return " ".join(" ".join(text.get_text() for text in fig.texts).split())


def precision_records(count):
    """Results in several precisions, and dense products of a series of densities."""
    yield from gpu_records(count, [(64, prec) for prec in ("f32", "f16", "bf16-f32", "f64")])
    rng = random.Random(7)
    for per_row in (4, 16, 64, 256, 1024):
        matrix = ("uniform:4096:%d" % per_row, 4096, 4096 * per_row)
        for prec, ms in (("f32", 0.2), ("f16", 0.05)):
            yield result("full", matrix, ms, prec=prec)
            for alg, cost in (("rowsplit", 1e-6), ("merge", 1.3e-6), ("cusparse", 1.6e-6)):
                yield result(alg, matrix, (0.003 + cost * matrix[2]) * ms / 0.2 * rng.uniform(1, 1.2), prec=prec)


def unknown_records(count):
    """The same algorithms in a precision that is in no list."""
    yield environment(roof=GPU)
    for matrix in matrices(count, random.Random(8)):
        for prec in ("f32", UNKNOWN):
            for alg in ("merge", "rowsplit", "cusparse", "full"):
                yield result(alg, matrix, 1.0, prec=prec)


def test_facts(check):
    """plots/precs.py has what src/base/precs.def has."""
    want = {"f32": (4, 4, "f32"), "f64": (8, 8, "f64"), "f16": (2, 2, "f32"), "bf16": (2, 2, "f32"),
            "f16-f32": (2, 4, "f32"), "bf16-f32": (2, 4, "f32")}
    check({name: tuple(of[1:]) for name, of in precs.PRECISIONS.items()} == want, "precisions: %s" % precs.PRECISIONS)
    check([name for name in want if precs.is_narrow(name)] == ["f16", "bf16", "f16-f32", "bf16-f32"], "narrow ones")
    check(tuple(precs.facts(UNKNOWN)) == (UNKNOWN, None, None, None) and not precs.is_narrow(UNKNOWN),
          "an unknown precision")
    check(sorted(["bf16", UNKNOWN, "f64", "f32", "a"], key=precs.place) == ["f32", "f64", "bf16", "a", UNKNOWN],
          "their order")


def test_apart(check):
    """A ranking, a chart and a set of cases are of one precision."""
    made = [result(alg, m, ms, prec="f32") for m in (M1, M2) for alg, ms in (
        ("merge", 2.0), ("sellp", 8.0), ("cusparse", 4.0))]
    made += [result(alg, m, ms, prec="f16") for m in (M1, M2, M3) for alg, ms in (("merge", 1.0), ("cusparse", 4.0))]
    rows = rows_of(SPMM, *made[::-1])
    sets = list(common.groups(rows, common.fields_of(rows)).values())
    found = [(ranking.table.head[1:], [(line[0], line[1].text) for line in ranking.table.lines])
             for ranking in tables.rankings(sets)]
    case = "k = 64, layout = row, %s precision"
    check(found == [((case % "single",), [("merge", "2.00 (2.00 to 2.00)"), ("cuSPARSE (best)", "1.00"),
                                          ("sellp", "0.50 (0.50 to 0.50)")]),
                    ((case % "half",), [("merge", "4.00 (4.00 to 4.00)"), ("cuSPARSE (best)", "1.00")])],
          "a ranking for each precision: %s" % found)
    lines = {tuple(cell if isinstance(cell, str) else cell.text for cell in line)[:6] for line in tables.winners(rows).lines}
    check(("three", "SpMM", "k = 64, layout = row, f16", "merge", "1", "4.00") in lines and len(lines) == 5,
          "the fastest of each matrix and precision: %s" % sorted(lines))
    order = sorted([(32, "bf16"), (32, "f64"), (None, "f32"), (8, "f16"), (32, "f32")], key=index.place)
    check(order == [(8, "f16"), (32, "f32"), (32, "f64"), (32, "bf16"), (None, "f32")], "sets: %s" % order)
    panel, = overview.panels_of(rows)
    check({row["prec"] for row in panel.rows} == {"f32"}, "the chart is of f32")
    panel, = overview.panels_of([row for row in rows if row["prec"] == "f16"])
    check(panel.speed[panel.rows[0]["matrix"]] == 4.0, "or of f16 alone")
    row = rows_of(SPMM, result("merge", M1, 1.0, prec="bf16-f32"))[0]
    check(words.case(row) == "k = 64, layout = row, bfloat16 to single precision", words.case(row))
    check(roofline.roofs([row])[1] == {"f32": GPU["f32"]}, "the rate of the sums: %s" % (roofline.roofs([row]),))
    check(roofline.roofs([{**row, "prec": UNKNOWN}])[1] == {}, "no rate of an unknown one")
    row["gather"] = 1.0
    check(time_axis.growth(row, 32, 33) == 2 and time_axis.growth({**row, "prec": "f32"}, 32, 33) == 1.5 and
          time_axis.growth({**row, "prec": UNKNOWN}, 32, 33) == 33 / 32, "lines of memory of a row")


def test_halves(check, near):
    made = [result("merge", M1, 4.0), result("merge", M2, 4.0), result("merge", M1, 1.0, prec="f16"),
            result("merge", M2, 8.0, prec="f16"), result("merge", M2, 2.0, prec="bf16"),
            result("cusparse", M1, 6.0), result("cusparse-csr2", M1, 5.0), result("cusparse", M1, 2.0, prec="f16"),
            result("cusparse-csr2", M1, 3.0, prec="f16"), result("sellp", M1, 1.0, prec="f16"),
            result("merge", M1, 1.0, prec="f64"), result("merge", M1, 1.0, prec=UNKNOWN)]
    rows = rows_of(SPMM, *made)
    check(common.fields_of(rows, halves.MIXES) == ("device", "op", "k", "layout", "cache", "launch", "revision"),
          "a set has all precisions")
    found = halves.gains_of(halves.cases_of(rows))
    ratios = {(prec, name, m[0]): x for prec, of in found.items() for name, speed in of.items()
              for m, x in speed.items()}
    check(ratios == {("f16", "merge", "one"): 4.0, ("f16", "merge", "two"): 0.5, ("bf16", "merge", "two"): 2.0,
                     ("f16", "cuSPARSE (best)", "one"): 2.5}, "over f32: %s" % ratios)
    fig = halves.draw(common.select(rows))
    check([ax.get_title(loc="left") for ax in fig.axes] == ["f16: half precision", "bf16: bfloat16"], "panels")
    said = notes_of(fig)
    check("f16, geometric mean on 1 shared matrix: merge 4.00×, slower on 1 of 2; cuSPARSE (best) 2.50×, "
          "slower on 0 of 1." in said and "bf16, f16, f32 · NVIDIA" in said, "notes: " + said)
    check(len(fig.said["rows"]) == 7, "what is drawn: %d" % len(fig.said["rows"]))
    flagged = [{**row, "flagged": row["prec"] == "f32"} for row in rows]
    labels = [text.get_text() for text in halves.draw(common.select(flagged)).axes[0].get_legend().get_texts()]
    check("busy or throttled (3)" in labels, "flags of either: %s" % labels)
    for some in (rows[:2], rows[2:5], [rows[0], rows[9]]):
        why = fails(halves.draw, common.select(some))
        check(why.startswith("no algorithm has a case both"), why)
    drawing.plt.close("all")


def test_measured(check, near):
    """A dense product is in no series, and stands against every other algorithm of its case."""
    bands = [("d%d" % per, 100, 100 * per) for per in (1, 5, 20, 50)]
    times = {"merge": (1.0, 2.0, 6.0, 9.0), "cusparse": (2.0, 1.5, 7.0, 8.0), "full": (3.0, 3.0, 3.0, 9.0)}
    rows = rows_of(SPMM, *(result(alg, m, ms) for alg, of in times.items() for m, ms in zip(bands, of)),
                   result("full", bands[3], 4.0, library="cuBLAS 12.6"))
    selection = common.select(rows)
    found = series.series(rows)
    check(list(found) == ["merge", "cuSPARSE (best)"] and series.baseline(found) == "cuSPARSE (best)",
          "no series: %s" % list(found))
    check([line[3] for line in tables.winners(rows).lines] == ["merge", "merge", "cusparse", "cusparse"] and
          tables.winners(rows).head[5] == "× baseline", "not the fastest of a matrix")
    check(overview.panels_of(rows)[0].base == "cuSPARSE (best)", "no baseline")
    near(dense.products(rows)[rows[3]["matrix"]]["ms"], 4.0, "the fastest of two libraries")
    fig = dense.draw(selection)
    said = notes_of(fig)
    check("the dense product is faster than all algorithms here on 2 of 4 matrices, and on all from a density of "
          "0.2 on." in said and "Densities, measured: merge: slower on 2 of 4, from 0.2 on; faster up to 0.05. "
          "cuSPARSE (best): slower on 2 of 4" in said, "notes: " + said)
    check([ax.get_title(loc="left") for ax in fig.axes] == [dense.COMPUTED, dense.MEASURED], "two panels")
    ends = [max(y for dots in ax.collections for _, y in dots.get_offsets()) for ax in fig.axes]
    check(ends == [1.0, 3.0], "dense time over time: %s" % ends)
    check("5 usable results of dense products" not in captions.left_text(selection, fig.said["rows"]) and
          "5 usable results of dense products" in captions.left_text(selection, rows[:8]), "the caption")
    few = [row for row in rows if row["alg"] != "full" or row["name"] == "d1"]
    check("is faster than all algorithms here on 0 of 1 matrix, but not on the densest, 0.01." in
          notes_of(dense.draw(common.select(few))), "never faster: " + notes_of(dense.draw(common.select(few))))
    bare = [{**row, "env": {**row["env"], "devices": []}} for row in rows]
    check([ax.get_title(loc="left") for ax in dense.draw(common.select(bare)).axes] == [dense.MEASURED],
          "without rates what was measured")
    drawing.plt.close("all")


def test_all(check, near):
    test_facts(check)
    test_apart(check)
    test_halves(check, near)
    test_measured(check, near)


def test_scripts(folder, check, run, picture):
    path = write(os.path.join(folder, "precs.jsonl"), precision_records(8))
    out = os.path.join(folder, "precs")
    status, text, errors = run("all.py", path, "-o", out, "--all-sets", "--figures",
                               "halves,dense,roofline,gflops_bars,speedup_rowlength")
    check(status == 0 and errors == "", "precisions: %d %s" % (status, errors))
    made = sorted(name[:-4] for name in os.listdir(os.path.join(out, "figures")) if name.endswith(".png"))
    four = ("bf16_f32", "f16", "f32", "f64")
    check(made == sorted(["halves-spmm-k64"] + ["roofline-spmm-" + prec for prec in four] + [
        "%s-spmm-k64-%s" % (name, prec) for name in ("dense", "gflops_bars", "speedup_rowlength") for prec in four]),
          "a figure for each precision, and 16 over 32 bits: %s" % made)
    for name in made:
        wrong = picture(os.path.join(out, "figures", name + ".png"), 3000)
        check(wrong is None, "%s: %s" % (name, wrong))
    path = write(os.path.join(folder, "unknown.jsonl"), unknown_records(3))
    out = os.path.join(folder, "unknown")
    status, text, errors = run("all.py", path, "-o", out, "-prec", UNKNOWN)
    check(status == 0 and errors == "" and "left out: halves" in text, "an unknown precision: %d %s %s" % (
        status, text, errors))
    with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
        check("k = 64, layout = row, %s" % UNKNOWN in file.read(), "the page has its name")
    status, _, errors = run("all.py", path, "-o", out, "--all-sets")
    check(status == 0 and errors == "", "beside f32: %d %s" % (status, errors))
