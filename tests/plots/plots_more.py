"""Tests of times against an axis, of the dense line, and of cases that were
measured in several runs, for test_plots.py: numbers computed by hand."""

import math
import os
import random
from types import SimpleNamespace

import common
import dense
import drawing
import ends
import gflops_nonzeros
import records
import roofline
import tables
import time_axis
from plots_records import GPU, M1, M2, OLD, SPMM, environment, matrices, result, rows_of, write
from plots_run import fails, told

FIGURES = ("time_axis", "dense")


def notes_of(fig):
    return " ".join(" ".join(text.get_text() for text in fig.texts).split())


def timed(record, low=None, high=None, **more):
    """The record with an interval, and with these."""
    if low:
        record["time_ms"].update(ci_lo=low, ci_hi=high)
    return {**record, **more}


def scan_records(count=40, seed=5):
    """Times of columns from 1 on; a cliff at each fourth."""
    rng = random.Random(seed)
    yield environment(roof=GPU)
    for matrix in matrices(2, rng):
        for alg, ms in (("merge", 1.0), ("rowsplit", 2.0), ("cusparse", 3.0), ("cusparse-csr2", 4.0)):
            for k in range(1, count + 1):
                yield result(alg, matrix, ms * (1 + 0.01 * k + 0.5 * (k % 4 == 0)), k)


def version_records(count=12, seed=6):
    rng = random.Random(seed)
    yield environment(roof=GPU)
    for matrix in matrices(count, rng):
        yield result("merge", matrix, 1.0)
        for alg in ("cusparse", "cusparse-csr2"):
            ms = 10 ** rng.uniform(-2, 0)
            yield result(alg, matrix, ms)
            yield result(alg, matrix, ms * rng.uniform(0.8, 2), library=OLD)


def test_axis(check):
    whole = {"gather_efficiency": 0.5}
    # f32: 16 columns are a line of 64 bytes.
    rows = rows_of(SPMM, *(timed(result("merge", M1, ms, k), **whole) for k, ms in (
        (1, 1.0), (2, 1.1), (3, 1.3), (4, 1.3), (5, 1.2), (6, 1.2), (15, 1.0), (16, 1.0), (17, 2.2),
        (18, 2.2), (32, 2.0), (33, 3.6), (40, 9.0))))
    curve = {row["axes"]["k"]: row for row in rows}
    found = [(k, round(ratio, 2)) for k, ratio in time_axis.cliffs(curve)]
    check(found == [(3, 1.18), (33, 1.8)], "cliffs, 17 is another line, 40 has none before: %s" % found)
    rows = rows_of(SPMM, *(result("merge", M1, ms, k) for k, ms in ((1, 1.0), (2, 2.2), (3, 4.0))))
    found = [k for k, _ in time_axis.cliffs({row["axes"]["k"]: row for row in rows})]
    check(found == [3], "rows in pieces grow with the axis: %s" % found)
    rows = rows_of(SPMM, timed(result("merge", M1, 1.0, 4), 0.5, 1.5, **whole),
                   timed(result("merge", M1, 1.6, 5), 1.5, 1.7, **whole))
    check(not time_axis.cliffs({row["axes"]["k"]: row for row in rows}), "no cliff by the intervals")
    made = rows_of(SPMM, *list(scan_records())[1:])
    fig = time_axis.draw(common.select(made))
    check(names_of(fig.axes[1]) == ["cuSPARSE (best)", "merge", "rowsplit"] and
          "cliffs, the highest (▲)" in notes_of(fig), "lines: %s %s" % (names_of(fig.axes[1]), notes_of(fig)))
    check("k = 1 to 40 (40 values)" in notes_of(fig), "title: " + notes_of(fig))
    away = rows_of(SPMM, *list(scan_records())[1:], result("sellp", ("far", 9, 9), 1.0))
    fig = time_axis.draw(common.select(away))
    check("No line, as not measured on these matrices: sellp." in notes_of(fig), notes_of(fig))
    steps = [1, 2, 4, 8, 16, 32, 64, 128]
    powers = rows_of(SPMM, *(result("merge", M1, float(k), k) for k in steps))
    even = rows_of(SPMM, *(result("merge", M1, float(k), k) for k in range(1, 257)),
                   *(result("sellp", M1, float(k), k) for k in (32, 128, 256)))
    for rows, scale, marked in ((powers, "log", [8]), (even, "linear", [3])):
        fig = time_axis.draw(common.select(rows))
        ax = fig.axes[0]
        check("cliff" not in notes_of(fig) or rows is even, "powers of two have no cliffs: " + notes_of(fig))
        found = [len(line.get_xdata()) for line in ax.lines if line.get_marker() not in (None, "None", "")]
        check(ax.get_xscale() == scale and found == marked, "%s: %s, marks on lines of %s points" % (
            scale, ax.get_xscale(), found))
    check(not time_axis.is_geometric([1] + list(range(8, 257, 8))) and time_axis.is_geometric([8, 16, 48, 128, 500]),
          "steps, factors")
    sets, out = common.thinned(common.groups(made, common.fields_of(made)), common.fields_of(made))
    check(out == 37 and [values[2] for values in sets] == [38, 39, 40], "sets of a scan: %s" % out)
    few = common.select([row for row in made if row["axes"]["k"] < 8])
    check("takes 8 values" in fails(time_axis.draw, few), "a curve of 7 values")
    drawing.plt.close("all")


def names_of(ax):
    """The lines that are named beside the axes."""
    return sorted(text.get_text() for text in ax.texts)


def test_ends(check):
    """Names of lines are moved apart, no further than they must, and stay in order."""
    check(ends.spread([0.5, 0.1], 0.1) == [0.5, 0.1], "far apart: as they are")
    found = [round(x, 6) for x in ends.spread([0.5, 0.5, 0.5], 0.1)]
    check(sorted(found) == [0.4, 0.5, 0.6], "three at one place: %s" % found)
    found = [round(x, 6) for x in ends.spread([0.0, 0.08, 0.3, 0.32], 0.1)]
    check(found == [-0.01, 0.09, 0.26, 0.36], "two pairs: %s" % found)
    wanted = [random.Random(3 + i).random() for i in range(6)]
    found = ends.spread(wanted, 0.15)
    order = sorted(range(6), key=lambda i: wanted[i])
    check(all(found[b] - found[a] > 0.15 - 1e-9 for a, b in zip(order, order[1:])), "gaps: %s" % found)


def test_ticks(check):
    """A count has whole ticks; a line of many values has a band."""
    rng = random.Random(8)
    rows = rows_of(SPMM, *(result("merge", m, 1.0) for m in matrices(23, rng)))
    ax = gflops_nonzeros.draw(common.select(rows)).axes[0]
    check(all(x == int(x) for x in ax.get_xticks()), "ticks: %s" % list(ax.get_xticks()))
    check(time_axis.neighbours([5, 1, 4, 2, 3], min, 4) == [1, 1, 1, 1, 2], "the least of four neighbours")
    for count, bands in ((64, 0), (65, 3)):
        fig = time_axis.draw(common.select(rows_of(SPMM, *list(scan_records(count))[1:])))
        drawn = len([x for x in fig.axes[0].collections if hasattr(x, "get_paths") and len(x.get_paths()) and
                     len(x.get_paths()[0].vertices) > 50])
        check(drawn == bands and ("its band" in notes_of(fig)) == bool(bands), "%d values: %d bands" % (count, drawn))
    drawing.plt.close("all")


def test_dense(check, near):
    env = environment(roof=GPU)
    env["devices"][1]["memory_bytes"] = 5e4
    rows = [records.row_from(record, env) for record in (
        result("merge", M1, 1e-3), result("cusparse", M1, 1e-7), result("merge", ("full", 100, 10000), 1e-3),
        result("merge", ("wide", 200, 400), 1e-3))]
    # One: 100 x 100, k = 64, 2 * 100 * 100 * 64 FLOPs; bytes 40,000 of A in full and 51,200 of B and C.
    near(dense.density(rows[0]), 0.05, "density")
    near(dense.dense_ms(rows[0], roofline.roofs(rows), 0), max(1.28e6 / 59000, 91200 / 4200) / 1e6,
         "the least time of the dense product")
    near(dense.dense_ms(rows[0], ({"memory": 1e9}, {"f32": 59000}), 0), 1.28e6 / 59000 / 1e6, "by rate")
    near(dense.dense_ms(rows[0], roofline.roofs(rows), 7.0), 7.0, "no less than the shortest run")
    check(dense.dense_ms(rows[0], ({}, {"f32": 1.0}), 0) is None and
          dense.dense_ms(rows[0], ({"memory": 1}, {"f64": 1.0}), 0) is None, "of unknown rates")
    check([dense.fits(row) for row in rows] == [True, True, True, False], "what fits")
    fig = dense.draw(common.select(rows))
    check("merge: slower on 3 of 3, from 0.01 on." in notes_of(fig) and
          "cuSPARSE (best): faster on all 1, up to 0.05." in notes_of(fig) and
          "1 mark is pale" in notes_of(fig) and "computed time is 1e-07 ms at least" in notes_of(fig) and
          "measured rates: 59,000 GFLOPS of multiply-adds in f32, 4,200 GB/s of memory." in notes_of(fig), "notes: " + notes_of(fig))
    drawing.plt.close("all")


def of_run(env, run, ms, status="ok", **more):
    return env, {**result("merge", M1, ms, status=status, **more), "run": run}


def read_back(folder, *parts):
    path, lines = os.path.join(folder, "again.jsonl"), []
    for env, record in parts:
        lines += [{**env, "run": record["run"]}, record]
    return told(records.read, [write(path, lines)])


def test_runs(folder, check, near):
    """Several runs of one program: their median. Of others: the last."""
    env = {**environment(roof=GPU), "revision": "aaa", "compiler": "cc", "flags": "-O", "host": "h"}
    dirty, newer = {**env, "revision": "aaa-dirty"}, {**env, "revision": "bbb", "date": "2026-11-30"}
    rows, said = read_back(folder, of_run(env, "1", 1.0), of_run(env, "2", 4.0), of_run(env, "3", 2.0))
    check(len(rows) == 1 and rows[0]["ms"] == 2.0 and rows[0]["runs"] == 3 and
          rows[0]["interval"] == (1.0, 4.0), "the median of three: %s" % rows[0]["ms"])
    check(said == "1 case was measured in several runs, their median counts; furthest apart: merge of "
          "one, 4 ms, and 1 ms\n", "and stderr says so: " + said)
    check("1 time is the median of 3 runs." in common.footnotes(common.select(rows)), "footnote")
    rows, _ = read_back(folder, of_run(env, "1", 1.0), of_run(env, "2", 3.0))
    near(rows[0]["ms"], 2.0, "of two their mean")
    near(rows[0]["gflops"], rows[0]["flops"] / 2.0 / 1e6, "and its rate")
    rows, _ = read_back(folder, of_run(env, "1", 1.0), of_run(env, "1", 3.0), of_run(env, "2", 5.0))
    near(rows[0]["ms"], 4.0, "of a run the last")
    for parts, want, what in (
            ((of_run(dirty, "1", 1.0), of_run(dirty, "2", 3.0)), 3.0, "changed code: the last"),
            ((of_run(env, "1", 1.0, "failed"), of_run(env, "2", 3.0)), 3.0, "tried again")):
        rows, _ = read_back(folder, *parts)
        check(rows[0]["ms"] == want and rows[0]["runs"] == 1, "%s: %s" % (what, rows[0]["ms"]))
    runs = [of_run(env, str(i), float(i)) for i in range(1, 4)]
    for (_, record), content in zip(runs, "aba"):
        record["matrix"] = {**record["matrix"], "content": content}
    rows, _ = read_back(folder, *runs)
    check(rows[0]["ms"] == 2.0 and rows[0]["runs"] == 2, "runs of another matrix: %s" % rows[0]["ms"])
    rows, _ = read_back(folder, *runs[:2])
    check(rows[0]["ms"] == 2.0 and rows[0]["runs"] == 1, "another matrix replaces: %s" % rows[0]["ms"])
    for status, want in (("wrong", "wrong"), ("oom", "ok")):
        rows, _ = read_back(folder, of_run(env, "1", 1.0), of_run(env, "2", 1.0, status),
                            of_run(env, "3", 1.0))
        check(rows[0]["status"] == want, "one run %s: %s" % (status, rows[0]["status"]))
    rows, _ = read_back(folder, of_run(env, "1", 1.0), of_run(env, "2", 1.0, "oom"))
    check(rows[0]["status"] == "oom", "the last run has none")
    rows, said = read_back(folder, of_run(env, "1", 1.0), of_run(newer, "2", 3.0))
    check([(row["revision"], row["ms"]) for row in rows] == [("aaa", 1.0), ("bbb", 3.0)] and not said,
          "two revisions are two cases: %s" % said)
    check(len(common.groups(rows, common.fields_of(rows))) == 2, "of two figures")
    check(common.choose(rows).rows[0]["revision"] == "bbb", "the newer one is drawn")
    late, early = ({**env, "revision": "aaa-dirty", "date": "2026-11-2%d" % day} for day in (2, 1))
    rows, _ = read_back(folder, of_run(late, "1", 7.0), of_run(early, "2", 3.0))
    check(rows[0]["ms"] == 7.0, "what was measured later, wherever it is in the files")
    test_defaults(folder, check, env)


def test_defaults(folder, check, env):
    """An algorithm whose options nobody asked for is one case and has a plain name."""
    changed = {"compiler": "another"}
    plain, asked = {"command": ["s", "-alg", "x"]}, {"command": ["s", "-opt", "a=2"]}
    rows, _ = read_back(folder, of_run({**env, **plain}, "1", 1.0, options={"a": 1}),
                        of_run({**env, **changed, **plain}, "2", 2.0, options={"b": 1}),
                        of_run({**env, **changed, **asked}, "3", 3.0, options={"b": 2}))
    common.select(rows)
    found = {row["series"]: row["ms"] for row in rows}
    check(found == {"merge": 2.0, "merge b=2": 3.0}, "by default, and asked for: %s" % found)


def test_medians(check):
    check(common.median_interval(list(range(5))) is None, "five have no interval")
    check(common.median_interval([1, 2, 3, 4, 5, 6]) == (1, 6), "six have all")
    values = list(range(1, 26))
    low, high = common.median_interval(values)
    check((low, high) == (8, 18), "25: %s" % ((low, high),))
    outside = 2 * sum(math.comb(25, i) for i in range(low)) / 2 ** 25
    check(outside <= 0.05, "it holds 95 %%: %g" % outside)
    check(tables.median_text([1, 2, 3, 4, 5, 6]) == "3.50 [1.00, 6.00]", "as text")


def test_series(check):
    """Three bands of one size are an experiment, two are matrices like others."""
    bands = [result("merge", ("band:1000:%d" % width, 1000, 1000 * width), 1.0) for width in (2, 4, 8)]
    for count, want in ((2, 3), (3, 1)):
        rest = common.without_curve(common.select(rows_of(SPMM, result("merge", M1, 1.0), *bands[:count])))
        check(len(rest.rows) == want, "%d bands: %d rows are left" % (count, len(rest.rows)))
    check("3 results of gen:band matrices, a series, are in figures of their own only." in rest.notes,
          str(rest.notes))


def test_scripts(folder, check, run, picture):
    scan = write(os.path.join(folder, "scan.jsonl"), scan_records())
    both = write(os.path.join(folder, "both.jsonl"), version_records())
    for script, path in (("time_axis", scan), ("dense", both)):
        out = os.path.join(folder, script + ".png")
        status, _, errors = run(script + ".py", path, "-o", out)
        check(status == 0 and "Traceback" not in errors, "%s: %s" % (script, errors))
        check(picture(out, 4000) is None, "%s: %s" % (script, picture(out, 4000)))
