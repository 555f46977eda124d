"""Tests of figures of many matrices and algorithms, and of times that may be too long, for
test_plots.py: nothing is left out without a word."""

import aspect
import bars
import common
import drawing
import format_bytes
import format_convert
import gflops_bars
import gflops_compression
import memory_timeline
import phases
import roofline
import speedup_rowlength
from plots_records import (GPU, M1, M2, SPGEMM, SPMM, algorithm, environment, product, result,
                           rows_of)


def notes_of(fig):
    return " ".join(" ".join(text.get_text() for text in fig.texts).split())


def legend_of(fig):
    return [text.get_text() for ax in fig.axes if ax.get_legend()
            for text in ax.get_legend().get_texts()]


def many(matrices, algs, of=SPGEMM):
    op = of[0], of[1] + [algorithm("more-%d" % i) for i in range(algs)]
    rows = rows_of(op, *(product(alg, ("m%04d" % i, 100, 500 + i, 9000 + i, 900), ms)
                         for i in range(matrices)
                         for alg, ms in [("cusparse", 4.0)] +
                         [("more-%d" % j, 1.0 + (i == j) * 99) for j in range(algs)]))
    return rows


def test_many(check):
    rows = many(200, 12)
    fig = phases.draw(common.select(rows))
    check("12 bars are cut off, the longest at 25×" in notes_of(fig),
          "bars that are cut: %s" % notes_of(fig))
    marks = sum(len(dots.get_offsets()) for ax in fig.axes for dots in ax.collections)
    check(marks == 12, "each has a mark: %d" % marks)
    rows = many(300, 1)
    fig = phases.draw(common.select(rows))
    check("50 matrices with fewer FLOPs not here" in notes_of(fig) and
          fig.axes[0].get_xlim()[1] < 251, "matrices without room: %s" % notes_of(fig))
    check(bars.too_many(51, 1) and bars.too_many(33, 20) and not bars.too_many(50, 12), "too many")
    fig = gflops_bars.draw(common.select(many(33, 20)))
    check("33 matrices." in notes_of(fig) and len(fig.axes) == 1, "dots: %s" % notes_of(fig))
    lost = rows_of(SPGEMM, *(product("hash", ("m%04d" % i, 100, 500 + i, 9000 + i, 900), 1.0,
                                     status="oom") for i in range(3)))
    fig = gflops_compression.draw(common.select(many(120, 1) + lost))
    check("3 cases without a usable result are not marked." in notes_of(fig),
          "failures among many: %s" % notes_of(fig))
    rows = rows_of(SPGEMM, product("cusparse", M1, 1.0), *(
        product(alg, M1, 1.0, status="failed", options={"o": i})
        for alg in ("hash", "esc", "tile", "tile-csr") for i in range(4)))
    fig = memory_timeline.draw(common.select(rows))
    said = fig.axes[0].texts[0].get_text()
    check(said.startswith("16 failed: ") and said.endswith(" …") and said.count("\n") == 1,
          "what failed is cut to its room: %r" % said)


def test_order(check):
    """A matrix that the baseline has no result of is where the median of the others is."""
    rows = many(60, 3)
    out = [row for row in rows if not (row["name"] == "m0030" and row["alg"] == "cusparse")]
    for row in out:
        row["gflops"] = row["matrix"][3] - 499 + (row["alg"] != "cusparse")
    fig = gflops_bars.draw(common.select(out))
    points = [tuple(point) for dots in fig.axes[0].collections for point in dots.get_offsets()]
    check((31.0, 32.0) in points or (32.0, 32.0) in points, "place: %s" % sorted(points)[:9])
    check("1 has no result" in notes_of(fig), "and said: %s" % notes_of(fig))


def test_one(check):
    rows = rows_of(SPMM, result("merge", M1, 1.0, formats=[("sellp", 1.5, 1, 1)]))
    check(" 1 case." in notes_of(roofline.draw(common.select(rows))), "one case")
    check("on 1 shared matrix: sellp 1.5, below 1 on 0 of 1." in notes_of(format_bytes.draw(common.select(rows))),
          "one matrix")


def test_above(check):
    """What is above memory's line, above the cache's as well, and where there is no cache."""
    rows = rows_of(SPMM, *(result("merge", m, 1.0) for m in (M1, M2, ("three", 9, 99))))
    for row, gb_s in zip(rows, (GPU["copy"] / 2, 5000, 20000)):
        row["gflops"] = row["flops"] / row["bytes"] * gb_s
    found = roofline.above(rows, {"copy": GPU["copy"], "cache": GPU["cache"]})
    check([[row["name"] for row in over] for _, _, over in found] == [["two"], ["three"]],
          "above lines: %s" % [len(over) for _, _, over in found])
    legend = legend_of(roofline.draw(common.select(rows)))
    for want in ("faster than the memory line:\nout of a cache (1)",
                 "faster than the cache line: kept in\nnearer caches, or a wrong roof (1)"):
        check(want in legend, "%r: %s" % (want, legend))
    for row in rows:
        row["env"] = environment(SPMM, roof={**GPU, "cache": None})
    legend = legend_of(roofline.draw(common.select(rows)))
    check("faster than the memory line:\nout of a cache, or a wrong roof (2)" in legend and
          not any(text.startswith("cache") for text in legend), "without a cache: %s" % legend)


def test_flags(check):
    """Times that may be too long are marked in every figure of times; no interval is no line."""
    made = [product("hash", M1, 1.0, formats=[("tile16", 0.5, 2.0, 1.0)]), product("hash", M2, 1.0),
            product("cusparse", M1, 4.0), product("cusparse", M2, 6.0)]
    made[0]["time_ms"].update(busy=True, ci_lo=None, ci_hi=None)
    made[1]["time_ms"].update(throttled=True, ci_lo=0.8, ci_hi=1.25)
    made[2]["time_ms"].update(ci_lo=3.95, ci_hi=4.05)
    rows = rows_of(SPGEMM, *made)
    check([row["flagged"] for row in rows] == [True, True, False, False], "flagged rows")
    check([row["interval"] for row in rows] == [None, (0.8, 1.25), (3.95, 4.05), (6.0, 6.0)], "intervals")
    for script, count in ((gflops_bars, 2), (speedup_rowlength, 2), (roofline, 2),
                          (gflops_compression, 2), (format_convert, 1)):
        fig = script.draw(common.select(rows))
        check(drawing.FLAGGED % count in legend_of(fig), "%s says what is flagged: %s"
              % (script.__name__, legend_of(fig)))
        marks = [len(dots.get_offsets()) for dots in fig.axes[0].collections if
                 len(dots.get_facecolors()) and tuple(dots.get_facecolors()[0]) == (1, 1, 1, 1)]
        check(sum(marks) == count, "%s marks them: %s" % (script.__name__, marks))
    fig = phases.draw(common.select(rows))
    check("○ busy or throttled (2)." in notes_of(fig), "phases: " + notes_of(fig))
    fig = gflops_bars.draw(common.select(rows))
    spans = [line.get_ydata() for line in fig.axes[0].lines]
    near = [rows[1]["gflops"] / 1.25, rows[1]["gflops"] / 0.8]
    check(len(spans) == 1 and all(abs(a - b) < 1e-9 for a, b in zip(spans[0], near)),
          "one line, of the one wide interval: %s" % spans)
    check("95 % intervals wider than 4 %" in notes_of(fig), "and a note: " + notes_of(fig))
    fig = gflops_bars.draw(common.select(rows[2:]))
    check("95 %" not in notes_of(fig) and not any("busy" in text for text in legend_of(fig)),
          "nothing to say of times without: " + notes_of(fig))
    curve = [result("merge", ("aspect:%d:64" % 2 ** i, 2 ** i, 64), 1.0) for i in (2, 3)]
    curve[0]["time_ms"]["busy"] = True
    check(drawing.FLAGGED % 1 in legend_of(aspect.draw(common.select(rows_of(SPMM, *curve)))),
          "aspect says what is flagged")


def test_all(check):
    drawing.plt.rcParams["figure.max_open_warning"] = 0
    test_many(check)
    test_order(check)
    test_one(check)
    test_above(check)
    test_flags(check)
    drawing.plt.close("all")
