#!/usr/bin/env python3
"""SpGEMM: GFLOPS against the compression, products of C over nonzeros of C, with a line of least
squares for each algorithm (figure 6 of Niu et al.).

The lines are of GFLOPS on the logarithm of the compression: their slopes are what ten times the
compression brings. The algorithms of cuSPARSE are one series, the best of them for each matrix.
"""

import math
import statistics
import sys

import common
import drawing
import records

OP = "spgemm"
SINGLE = records.FIELDS


def regression(x, y):
    """(a, b) of y = a + b log10(x) by least squares; None without two different x."""
    logs = [math.log10(each) for each in x]
    if len(set(logs)) < 2:
        return None
    mean_x, mean_y = statistics.fmean(logs), statistics.fmean(y)
    slope = math.fsum((l - mean_x) * (v - mean_y) for l, v in zip(logs, y)) / \
        math.fsum((l - mean_x) ** 2 for l in logs)
    return mean_y - slope * mean_x, slope


def draw(selection):
    rows = [row for row in selection.rows if row["compression"]]
    if not rows:
        raise records.NoData("no result has a compression")
    found = common.series(rows)
    look = drawing.styles(found)
    dense = max(len(cases) for cases in found.values()) > drawing.DENSE
    fig, ax = drawing.plt.subplots(figsize=(9, 5.4))
    for name, cases in found.items():
        x = [row["compression"] for row in cases.values()]
        y = [row["gflops"] for row in cases.values()]
        style = look[name]
        ax.scatter(x, y, s=9 if dense else 30, color=style["colour"], marker=style["marker"],
                   linewidths=0.8 if style["marker"] == "x" else 0, alpha=0.4 if dense else 0.9,
                   rasterized=dense, clip_on=False, zorder=3)
        line, label = regression(x, y), name
        if line:
            ends = [min(x), max(x)]
            fitted = [line[0] + line[1] * math.log10(end) for end in ends]
            ax.plot(ends, fitted, color="white", linewidth=4, zorder=4 if dense else 1)
            ax.plot(ends, fitted, color=style["colour"], linewidth=2, zorder=5 if dense else 2)
            label = "%s  %+.3g" % (name, line[1])
        ax.plot([], [], color=style["colour"], marker=style["marker"], linewidth=2, label=label)
    rows = [row for cases in found.values() for row in cases.values()]
    x = [row["compression"] for row in rows]
    drawing.log_axis(ax.xaxis, min(x), max(x))
    drawing.plain_ticks(ax.yaxis)
    ax.set_ylim(0, max(row["gflops"] for row in rows) * 1.05)
    ax.set_xlabel("compression (products / nonzeros of C)")
    ax.set_ylabel("GFLOPS")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9,
              title="GFLOPS for ten\ntimes the compression", alignment="left")
    return drawing.finish(fig, "GFLOPS by compression", selection,
                          ["%d matrices." % len({row["matrix"] for row in rows})])


if __name__ == "__main__":
    sys.exit(drawing.main(__file__, __doc__, SINGLE, draw, OP))
