#!/usr/bin/env python3
"""GFLOPS against the nonzeros in a column segment, random matrices gen:sparse2d:ROWS:COLUMNS:NONZEROS
of one size (figure 5 of Hong et al., Adaptive Sparse Tiling).

A column segment is the part of a column within a panel of -panel rows. The mean segment has
panel * nonzeros / (rows * columns) nonzeros. Two lines cross at the density from which one way to
compute a panel is faster. A vendor's algorithms are one line, the best of them for each matrix.
"""

import sys
from collections import Counter

import drawing
import records
import series

KIND = "sparse2d", 3
PANEL = 512  # rows, as in the paper


def more(parser):
    parser.add_argument("-panel", "--panel", type=int, default=PANEL, metavar="ROWS",
                        help="rows of a panel (default: %d)" % PANEL)


def has(row):
    return records.generated(row, *KIND) is not None


def size_of(row):
    return tuple(records.generated(row, *KIND)[:2])


def in_segment(row, panel):
    """Returns the mean number of nonzeros of a column segment."""
    _, rows, cols, nnz = row["matrix"]
    return panel * nnz / (rows * cols)


def draw(selection, args=None):
    panel = args.panel if args else PANEL
    rows = list(filter(has, selection.rows))
    size = Counter(map(size_of, rows)).most_common(1)[0][0] if rows else None
    rows = [row for row in rows if size_of(row) == size]
    if len({row["matrix"] for row in rows}) < 3:
        raise records.NoData("a curve takes three gen:sparse2d matrices of one size at least")
    if panel < 1:
        raise records.NoData("-panel %d: a panel has a row at least" % panel)
    found = series.series(rows)
    look = drawing.styles(rows)
    fig, ax = drawing.subplots(size=(8, 4.8))
    for name, cases in found.items():
        points = sorted((in_segment(row, panel), row["gflops"]) for row in cases.values())
        ax.plot(*zip(*points), color=look[name]["colour"], label=look[name]["label"],
                **drawing.line_marks(cases, look[name]))
    drawing.flag(ax, [(in_segment(row, panel), row["gflops"]) for cases in found.values()
                      for row in cases.values() if row["flagged"]])
    x = [in_segment(row, panel) for row in rows]
    drawing.log_axis(ax.xaxis, min(x), max(x))
    ax.set_ylim(bottom=0)
    drawing.plain_ticks(ax.yaxis)
    ax.set_xlabel("nonzeros in a column segment of {:,.0f} rows ({:,.0f} x {:,.0f})".format(
        panel, *size))
    ax.set_ylabel("GFLOPS")
    drawing.legend_beside(ax)
    return drawing.finish(fig, "GFLOPS by nonzeros in a column segment", selection, [],
                          series.members(found))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
