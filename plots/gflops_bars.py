#!/usr/bin/env python3
"""GFLOPS by matrix, a bar for each algorithm (figure 5 of Yang, Buluc and Owens, figures 2 and 3 of
Nagasaka et al., figure 7 of Niu et al.).

Matrices are in the order of their mean row length. A vendor's algorithms are one bar, the best of
them for each matrix. A failed algorithm has a word in place of its bar. GFLOPS with a wide range are
on a logarithmic axis. If the matrices are too many for bars, all are dots in the order of the
baseline's GFLOPS, with running medians. A matrix without a baseline result has the place that the
median of the other algorithms gives.
"""

import statistics
import sys

import bars
import common
import drawing
import series
import words


def dots(found, look, order):
    """Draws a dot for each matrix and algorithm, over the matrices sorted by the baseline."""
    base = series.vendor_in(found) or next(iter(found))
    by_base = {m: found[base][m]["gflops"] if m in found[base] else statistics.median(
        cases[m]["gflops"] for cases in found.values() if m in cases) for m in order}
    order = sorted(order, key=by_base.get)
    place = {m: i + 1 for i, m in enumerate(order)}
    points = {name: ([place[m] for m in cases], [row["gflops"] for row in cases.values()])
              for name, cases in found.items()}
    hollow = [name for name, cases in found.items() if drawing.picks(cases)]
    flagged = [(place[m], row["gflops"]) for cases in found.values() for m, row in cases.items()
               if row["flagged"]]
    label = "matrices, in the order of the GFLOPS of " + look[base]["label"]
    fig, notes = drawing.dots(points, look, label, "GFLOPS", hollow, flagged, log_x=False)
    fig.axes[0].set_xlim(0, len(order) + 1)
    notes.insert(0, words.counted(len(order), "matrix", many="matrices") + ".")
    if len(found[base]) < len(order):
        notes.append("%s no result of %s, and the place of the median of the others." % (
            words.counted(len(order) - len(found[base]), "has", many="have"), base))
    return fig, notes


def span(row):
    """Returns (low, high) of the GFLOPS by the interval of the time; None if the interval is short
    or missing."""
    low, high = row["interval"] or (row["ms"], row["ms"])
    wide = high - low > bars.SPAN_LEAST * row["ms"]
    return (row["gflops"] * row["ms"] / high, row["gflops"] * row["ms"] / low) if wide else None


def draw(selection):
    selection = common.general(selection)
    found = series.series(selection.rows)
    why = series.failures(selection, found)
    rows = selection.rows + selection.left
    look = drawing.styles(rows)
    order = common.matrices_of(selection, found, why)
    every = series.with_failures(found, why, rows)
    if bars.too_many(len(order), len(every)):
        fig, notes = dots(found, look, common.matrices_of(selection, found))
    else:
        values = {name: {m: row["gflops"] for m, row in cases.items()}
                  for name, cases in every.items()}
        flagged = {name: {m for m, row in cases.items() if row["flagged"]}
                   for name, cases in every.items()}
        spans = {name: {m: span(row) for m, row in cases.items() if span(row)}
                 for name, cases in every.items()}
        ticks = bars.ticks(order, {m: row["row_mean"] for m, row in order.items()})
        fig, notes = bars.grouped(values, look, list(order), ticks, "GFLOPS", why,
                                  flagged=flagged, spans=spans)
        notes.insert(0, "In parentheses: mean row length.")
    return drawing.finish(fig, "GFLOPS by matrix", selection, notes, series.members(found))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
