#!/usr/bin/env python3
"""Effect of reordering the rows, measured and predicted by the model (figure 14 of the paper that
src/measure/tiled_model.h names).

A matrix counts if an algorithm ran both with its rows in the order of A and reordered, by the stat
`reordered`. The speed-ups are measured, and predicted with all accesses missing. The note
has the number of matrices on which both agree that reordering is faster, or is not faster.
"""

import sys

import bars
import common
import drawing
import marks
import predictions
import records
import words

FIGURE = "reordered"
MEASURED, PREDICTED = "%s: measured", "%s: predicted"


def has(row):
    return predictions.has(row) and FIGURE in row["stats"]


def is_reordered(row):
    return bool(records.number(row["stats"][FIGURE]))


def effects(rows):
    """Returns {series: {matrix: (measured, predicted speed-up)}}."""
    found = {}
    for old, new in predictions.pairs(list(filter(has, rows)), is_reordered):
        model = predictions.predicted(new, "all_miss") / predictions.predicted(old, "all_miss")
        found.setdefault(new["series"], {})[new["matrix"]] = new["gflops"] / old["gflops"], model
    return found


def dots(found, look):
    """Draws the measured speed-up against the predicted one, for cases that are too many for bars."""
    points = {name: list(zip(*((model, measured) for measured, model in of.values())))
              for name, of in found.items()}
    return drawing.dots(points, look, "predicted speed-up (×)", "measured speed-up (×)")


def draw(selection):
    found = effects(selection.rows)
    if not found:
        raise records.NoData("no case that has a prediction was run with its rows reordered and "
                             "not reordered")
    look = drawing.palette(found)
    order = {row["matrix"]: row for row in selection.rows
             if any(row["matrix"] in of for of in found.values())}
    if bars.too_many(len(order), 2 * len(found)):
        fig, notes = dots(found, look)
    else:
        values, style = {}, {}
        for name, of in found.items():
            for i, label in enumerate((MEASURED, PREDICTED)):
                values[label % name] = {m: pair[i] for m, pair in of.items()}
                style[label % name] = {**look[name], "label": label % look[name]["label"]}
            style[PREDICTED % name]["colour"] = drawing.pale(look[name]["colour"])
        fig, notes = bars.grouped(values, style, sorted(order, key=lambda m: max(
            of[m][0] for of in found.values() if m in of)), bars.ticks(order), "speed-up (×)", {})
    for ax in fig.axes:
        ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=3)
    for name, of in found.items():
        pairs = list(of.values())
        notes.append("%s: %s× in the geometric mean of %d, faster on %s; the model agrees on %d." % (
            name, words.times(common.geomean(x for x, _ in pairs)), len(pairs), marks.count(x for x, _ in pairs if x > 1),
            sum((x > 1) == (model > 1) for x, model in pairs)))
    return drawing.finish(fig, "Rows reordered", selection, notes,
                          [row for row in selection.rows if has(row) and row["matrix"] in order])


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
