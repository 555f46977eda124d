#!/usr/bin/env python3
"""Measured GFLOPS against the prediction of the algorithm's model, sorted by the prediction (figures 8,
9 and 12 of the paper that src/measure/tiled_model.h names).

The left panel has the algorithmic bound, the right panel the effective bound if every access misses.
The black line is the bound if only the first access to a cache line misses. A case above the line of
all misses reused data from a cache; a case far below the line did not wait for memory. A cross is the
same case without its long rows cut into segments, if the file has both. Each algorithm has a row of
panels; the note says how good the prediction is.
"""

import sys

import drawing
import predictions
import series

SORTS = ("algorithmic", "all_miss")
LABELS = {"algorithmic": "algorithmic bound", "all_miss": "effective bound, all miss"}

has = predictions.has


def panel(ax, rows, bound, style, before):
    """Draws one algorithm's cases in the order of a bound. before: {id of a row: row without
    segments}."""
    rows = sorted(rows, key=lambda row: predictions.predicted(row, bound))
    x = range(1, len(rows) + 1)
    for line, colour, label in ((bound, "#D55E00", "bound, sorted by it"),
                                ("cold_miss", "black", "bound if only first accesses miss")):
        if line == bound or bound != "algorithmic":
            ax.plot(x, [predictions.predicted(row, line) for row in rows], color=colour,
                    linewidth=1.4, zorder=4, label=label)
    edge = {"linewidths": 1.5} if style["marker"] in drawing.THIN else {"linewidths": 0}
    ax.scatter(x, [row["gflops"] for row in rows], s=26, color=style["colour"],
               marker=style["marker"], zorder=3, label="measured", **edge)
    crosses = [(at, before[id(row)]["gflops"]) for at, row in zip(x, rows) if id(row) in before]
    if crosses:
        ax.scatter(*zip(*crosses), s=22, color=drawing.GREY, marker="x", linewidths=1, zorder=3,
                   label="without segments")
    drawing.flag(ax, [(at, row["gflops"]) for at, row in zip(x, rows) if row["flagged"]],
                 said=False)
    ax.set_xlim(0, len(rows) + 1)
    ax.set_xlabel("matrices, by the " + LABELS[bound], fontsize=9)


def draw(selection):
    found = predictions.of_series(selection.rows)
    look = drawing.styles(selection.rows)
    before = {id(new): old for old, new in predictions.nearest(predictions.pairs(
        list(filter(has, selection.rows)), predictions.is_balanced))}
    fig, axes = drawing.subplots(len(found), 2, squeeze=False, sharey="row", size=(
        11, 3.6 * len(found)), gridspec_kw={"hspace": 0.45, "wspace": 0.06})
    notes = []
    for line, (name, cases) in zip(axes, found.items()):
        rows = list(cases.values())
        for ax, bound in zip(line, SORTS):
            panel(ax, rows, bound, look[name], before)
        values = [row["gflops"] for row in rows] + [
            predictions.predicted(row, bound) for row in rows for bound in predictions.BOUNDS]
        drawing.log_axis(line[0].yaxis, min(values), max(values))
        line[0].set_ylabel("GFLOPS", fontsize=9)
        line[0].set_title(look[name]["label"], loc="left", fontsize=10)
        drawing.flag_legend(line[1], sum(row["flagged"] for row in rows))
        drawing.legend_above(line[1])
        notes.append(predictions.quality(name, rows, "all_miss"))
    return drawing.finish(fig, "Measured against predicted GFLOPS", selection, notes,
                          series.members(found))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
