#!/usr/bin/env python3
"""Every case under the roofs of its device at the intensity that its model predicts, before and after
long rows are cut into segments (figures 10 and 11 of the paper that src/measure/tiled_model.h names).

Intensity is the effective one where every access misses. If the file has a case with and without
segments, a line leads from a cross (without) to a mark (with). Crosses have a colour for each length
of segments, the figure `segment` in the stats of the case. A case above the memory's bandwidth reused
data from a cache.
"""

import sys

import common
import drawing
import predictions
import roofline
import words

BOUND = "all_miss"
CROSSES = (drawing.GREY, "black", "#CC79A7")


def has(row):
    return predictions.has(row) and predictions.predicted(row, BOUND, "intensity")


def point(row):
    return predictions.predicted(row, BOUND, "intensity"), row["gflops"]


def cut_of(row):
    """Returns the length of the segments from the algorithm's stats; the paper shows the length by
    colour."""
    return str(row["stats"].get("segment") or "")


def draw(selection):
    found = predictions.of_series(selection.rows, has)
    look = drawing.styles(selection.rows)
    pairs = predictions.nearest(predictions.pairs(list(filter(has, selection.rows)),
                                                  predictions.is_balanced))
    before = {id(old): old for old, _ in pairs}
    fig, ax = drawing.subplots(size=(9, 6))
    drawn = []
    for name, cases in found.items():
        rows = [row for row in cases.values() if id(row) not in before]
        drawn += rows
        if rows:
            drawing.cloud(ax, *zip(*map(point, rows)), look[name], False, False,
                          look[name]["label"])
    speeds = []
    for old, new in pairs:
        ax.annotate("", point(new), point(old), zorder=1, arrowprops={
            "arrowstyle": "-", "color": drawing.GREY, "linewidth": 0.6})
        speeds.append(old["ms"] / new["ms"])
    drawn += before.values()
    for kind, colour in zip(sorted({cut_of(new) for _, new in pairs}), CROSSES * len(pairs)):
        rows = {id(old): old for old, new in pairs if cut_of(new) == kind}.values()
        of = drawing.shown(" of " + kind, drawing.LABEL_MOST) if kind else ""
        ax.scatter(*zip(*map(point, rows)), s=30, marker="x", color=colour, linewidths=1.2,
                   zorder=3, label="before segments" + of)
    drawing.flag(ax, [point(row) for row in drawn if row["flagged"]])
    bandwidths, rates = roofline.roofs(drawn)
    bandwidths.pop("cache", None)
    x, y = zip(*map(point, drawn))
    low, high = min(x) / 1.5, max(x) * 1.5
    if rates and bandwidths:
        high = max(high, 2 * max(rates.values()) / min(bandwidths.values()))
    roofline.draw_roofs(ax, bandwidths, rates, low, high)
    drawing.log_axis(ax.xaxis, low, high)
    drawing.log_axis(ax.yaxis, min(y), max(y + tuple(rates.values())))
    ax.set_xlim(low, high)
    ax.set_ylim(min(y) / 1.6, max(y + tuple(rates.values())) * 1.8)
    ax.set_xlabel("predicted intensity (FLOPs per byte of memory, all accesses miss)")
    ax.set_ylabel("GFLOPS")
    drawing.legend_beside(ax)
    notes = [words.counted(len(drawn), "case") + "."]
    if speeds:
        notes.append("Segments: %s× in the geometric mean of %s." % (
            words.times(common.geomean(speeds)), words.counted(len(speeds), "case")))
    return drawing.finish(fig, "Roofline at the predicted intensity", selection, notes, drawn)


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
