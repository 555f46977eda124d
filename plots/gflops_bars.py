#!/usr/bin/env python3
"""GFLOPS by matrix, a bar for each algorithm (figure 5 of Yang, Buluc and Owens, figures 2 and 3 of
Nagasaka et al., figure 7 of Niu et al.).

Matrices are in the order of their mean row length. A vendor's algorithms are one bar, the best of
them for each matrix. Where an algorithm failed its bar is a word that says how. GFLOPS that span a
wide range are on a logarithmic axis. With more matrices than bars can show, all are drawn as dots
in the order of the baseline's GFLOPS, with running medians.
"""

import sys

import common
import drawing
import series


def dots(found, look, order):
    """Every matrix a dot for each algorithm, over the matrices sorted by the baseline."""
    base = series.vendor_in(found) or next(iter(found))
    order = sorted(order, key=lambda m: found[base][m]["gflops"] if m in found[base] else 0)
    place = {m: i + 1 for i, m in enumerate(order)}
    points = {name: ([place[m] for m in cases], [row["gflops"] for row in cases.values()])
              for name, cases in found.items()}
    hollow = [name for name, cases in found.items() if drawing.picks(cases)]
    fig, notes = drawing.dots(points, look, "matrices, in the order of the GFLOPS of " + base,
                              "GFLOPS", hollow, log_x=False)
    fig.axes[0].set_xlim(0, len(order) + 1)
    notes.insert(0, "%d matrices." % len(order))
    if len(found[base]) < len(order):
        notes.append("The first %d have no result of %s." % (len(order) - len(found[base]), base))
    return fig, notes


def draw(selection):
    selection = common.without_curve(selection)
    found = series.series(selection.rows)
    words = series.failures(selection, found)
    rows = selection.rows + selection.left
    look = drawing.styles(rows)
    order = common.matrices_of(selection, found, words)
    if len(order) > drawing.BARS_MOST:
        fig, notes = dots(found, look, common.matrices_of(selection, found))
    else:
        values = {name: {m: row["gflops"] for m, row in cases.items()}
                  for name, cases in series.with_failures(found, words, rows).items()}
        ticks = {m: drawing.tick(row, row["row_mean"]) for m, row in order.items()}
        fig, notes = drawing.bars(values, look, list(order), ticks, "GFLOPS", words)
        notes.insert(0, "In parentheses: mean row length.")
    return drawing.finish(fig, "GFLOPS by matrix", selection, notes)


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
