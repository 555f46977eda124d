#!/usr/bin/env python3
"""GFLOPS and arithmetic intensity against the width of a band: the matrices gen:band:ROWS:WIDTH of one
number of rows (figure 1 of Hong et al., Adaptive Sparse Tiling).

Intensity is FLOPs over the bytes of memory that a run moved, if the records have counters of these
bytes. The dashed line is FLOPs over compulsory bytes: an upper limit while no data stays in a cache
from the run before. A vendor's algorithms are one line, the best of them for each width.
"""

import sys
from collections import Counter

import drawing
import records
import series

KIND = "band", 2


def has(row):
    return records.generated(row, *KIND) is not None


def width_of(row):
    return records.generated(row, *KIND)[1]


def one_size(rows):
    """Returns the rows whose matrices have the most common number of rows."""
    sizes = Counter(records.generated(row, *KIND)[0] for row in rows)
    size = sizes.most_common(1)[0][0]
    return [row for row in rows if records.generated(row, *KIND)[0] == size]


def curve(ax, points, **marks):
    if points:
        ax.plot(*zip(*sorted(points)), **marks)


def draw(selection):
    rows = list(filter(has, selection.rows))
    rows = one_size(rows) if rows else rows
    if len({width_of(row) for row in rows}) < 3:
        raise records.NoData("a curve takes gen:band matrices of three widths at least")
    found = series.series(rows)
    look = drawing.styles(rows)
    fig, axes = drawing.subplots(2, size=(8, 6.4), sharex=True, gridspec_kw={"hspace": 0.12})
    for name, cases in found.items():
        marks = {"color": look[name]["colour"], **drawing.line_marks(cases, look[name])}
        curve(axes[0], [(width_of(row), row["gflops"]) for row in cases.values()],
              label=look[name]["label"], **marks)
        curve(axes[1], [(width_of(row), row["flops"] / row["moved"]) for row in cases.values()
                        if row["moved"]], **marks)
    drawing.flag(axes[0], [(width_of(row), row["gflops"]) for cases in found.values()
                           for row in cases.values() if row["flagged"]])
    whole = {width_of(row): row["flops"] / row["bytes"] for row in rows if row["bytes"]}
    curve(axes[1], whole.items(), color="black", linestyle="--", linewidth=1.2,
          label="compulsory bytes")
    axes[1].set_xscale("log", base=2)
    drawing.plain_ticks(axes[1].xaxis)
    for ax, label in zip(axes, ("GFLOPS", "FLOPs per byte of memory")):
        ax.set_ylim(bottom=0)
        drawing.plain_ticks(ax.yaxis)
        ax.set_ylabel(label)
    axes[1].set_xlabel("nonzeros in a row of the band ({:,.0f} rows)".format(
        records.generated(rows[0], *KIND)[0]))
    drawing.legend_beside(axes[0])
    if whole:
        drawing.legend_beside(axes[1])
    counted = sum(bool(row["moved"]) for cases in found.values() for row in cases.values())
    notes = [] if counted else ["No record has counters of the bytes that were moved."]
    return drawing.finish(fig, "GFLOPS and intensity by width of the band", selection, notes,
                          series.members(found))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
