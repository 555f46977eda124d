#!/usr/bin/env python3
"""Rate of each algorithm relative to the bound without reuse. The bound fetches a row of the dense
operand for each nonzero, at the rate measured for random rows.

Each algorithm has its matrices in the order of its own values. Below the line the algorithm fetches
slower than the device can. Above the line a fetched row serves several nonzeros. A vendor's
algorithms are one curve, the best of them for each matrix.
"""

import sys

import common
import drawing
import records
import series
import words


def has(row):
    return row["gather"]


def curves(rows):
    """Returns {series: {matrix: percent}, ascending}."""
    found = {name: {m: 100 * row["gather"] for m, row in cases.items() if has(row)}
             for name, cases in series.series(rows).items()}
    return {name: dict(sorted(of.items(), key=lambda item: item[1])) for name, of in found.items() if of}


def draw(selection):
    selection = common.general(selection)
    found = curves(selection.rows)
    if not found:
        raise records.NoData("no result has the bound without reuse (gather_efficiency)")
    look = drawing.styles(selection.rows)
    fig, ax = drawing.subplots(size=(9, 5.2))
    dense = max(map(len, found.values())) > drawing.DENSE
    for name, of in found.items():
        style = look[name]
        ax.plot(range(1, len(of) + 1), of.values(), color=style["colour"], linestyle=style["line"],
                linewidth=1.6, marker=None if dense else style["marker"], markersize=4,
                label=style["label"])
    ax.axhline(100, color="black", linewidth=1.2, linestyle="--", zorder=1)
    every = [value for of in found.values() for value in of.values()] + [100]
    drawing.log_axis(ax.yaxis, min(every), max(every))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("matrices, by algorithm in ascending order")
    ax.set_ylabel("% of the bound without reuse")
    drawing.legend_above(ax)
    texts, title = common.means(found, "%.3g %%")
    notes = ["%s: %s." % (title.capitalize(), ", ".join("%s %s" % item for item in texts.items()))]
    unknown = sum(not has(row) for row in selection.rows)
    if unknown:
        notes.append("%s no such bound." % words.counted(unknown, "case has", many="cases have"))
    return drawing.finish(fig, "Rows fetched, against fetching one for each nonzero", selection,
                          notes, list(filter(has, series.members(series.series(selection.rows)))))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
