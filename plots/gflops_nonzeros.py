#!/usr/bin/env python3
"""GFLOPS over the matrices sorted by their nonzeros, a running mean of ten (figures 9 to 12 of Hong et
al., Adaptive Sparse Tiling).

A dot is a matrix, a line the mean of ten neighbours. A vendor's algorithms are one series, the best
of them for each matrix. Takes 20 matrices.
"""

import math
import sys

import common
import drawing
import records
import series
import words

WINDOW = 10
NONZEROS = 3  # index in row["matrix"]
DOTS_MOST = 200  # matrices, above which dots would hide the lines


def running_mean(values, window=WINDOW):
    """Returns means of `window` neighbours, one for each place of the window."""
    return [math.fsum(values[at:at + window]) / window for at in range(len(values) - window + 1)]


def draw(selection):
    selection = common.general(selection)
    found = {name: cases for name, cases in series.series(selection.rows).items()
             if len(cases) >= WINDOW}
    order = sorted({m for cases in found.values() for m in cases},
                   key=lambda m: (m[NONZEROS] or 0, m[0]))
    if len(order) < 2 * WINDOW:
        raise records.NoData("a running mean of %d takes %d matrices" % (WINDOW, 2 * WINDOW))
    place = {m: at + 1 for at, m in enumerate(order)}
    look = drawing.styles(selection.rows)
    fig, ax = drawing.subplots(size=(10, 5.2))
    for name, cases in found.items():
        here = [m for m in order if m in cases]
        y, style = [cases[m]["gflops"] for m in here], look[name]
        if len(order) <= DOTS_MOST:
            ax.scatter([place[m] for m in here], y, s=8, color=style["colour"], linewidths=0,
                       alpha=0.5, zorder=2)
        x = running_mean([place[m] for m in here])
        ax.plot(x, running_mean(y), color=style["colour"], linestyle=style["line"], linewidth=1.8,
                zorder=3, label=style["label"])
    values = [cases[m]["gflops"] for cases in found.values() for m in cases]
    drawing.log_axis(ax.yaxis, min(values), max(values))
    ax.set_xlim(0, len(order) + 1)
    drawing.whole_ticks(ax.xaxis)
    ax.set_xlabel("matrices, from {:,.0f} to {:,.0f} nonzeros".format(
        order[0][NONZEROS] or 0, order[-1][NONZEROS] or 0))
    ax.set_ylabel("GFLOPS")
    drawing.legend_above(ax)
    notes = ["%s; a line is the mean of %d neighbours." % (
        words.counted(len(order), "matrix", many="matrices"), WINDOW)]
    return drawing.finish(fig, "GFLOPS by nonzeros", selection, notes, series.members(found))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
