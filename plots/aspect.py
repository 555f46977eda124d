#!/usr/bin/env python3
"""GFLOPS against the number of rows at a fixed number of nonzeros (figures 1 and 4 of Yang, Buluc
and Owens): the matrices gen:aspect:ROWS:NONZEROS, from few long rows to many short ones.

A vendor's algorithms are one line, the best of them for each matrix.
"""

import sys
from collections import Counter

import common
import drawing
import records
import series


def has(row):
    return row["curve"] and row["rows"] and row["row_mean"]


def draw(selection):
    selection = common.restrict(selection, True)
    rows = list(filter(has, selection.rows))
    if not rows:
        raise records.NoData("no gen:aspect matrices among the results")
    sizes = Counter(row["curve"] for row in rows)
    nonzeros = sizes.most_common(1)[0][0]
    rows = [row for row in rows if row["curve"] == nonzeros]
    if len({row["rows"] for row in rows}) < 2:
        raise records.NoData("a curve takes gen:aspect matrices of two numbers of rows at least")
    found = series.series(rows)
    look = drawing.styles(rows)
    fig, ax = drawing.subplots(size=(8, 4.8))
    for name, cases in found.items():
        points = sorted((row["rows"], row["gflops"]) for row in cases.values())
        style = look[name]
        ax.plot(*zip(*points), color=style["colour"], label=style["label"],
                **drawing.line_marks(cases, style))
    drawing.flag(ax, [(row["rows"], row["gflops"]) for cases in found.values()
                      for row in cases.values() if row["flagged"]])
    ax.set_xscale("log", base=2)
    ax.set_ylim(bottom=0)
    exact = sum(row["row_mean"] * row["rows"] for row in rows) / len(rows)
    top = ax.secondary_xaxis("top", functions=(lambda m: exact / m, lambda d: exact / d))
    top.set_xscale("log", base=2)
    top.set_xlabel("row length")
    ax.set_xlabel("rows ({:,.0f} nonzeros in all)".format(exact))
    drawing.plain_ticks(ax.yaxis)
    ax.set_ylabel("GFLOPS")
    drawing.legend_beside(ax)
    others = sorted(set(sizes) - {nonzeros})
    notes = ["Not in this curve: matrices of %s nonzeros." % ", ".join(others)] if others else []
    return drawing.finish(fig, "GFLOPS by aspect ratio", selection, notes,
                          series.members(found))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
