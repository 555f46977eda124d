#!/usr/bin/env python3
"""GFLOPS by matrix, a bar for each algorithm (figure 5 of Yang, Buluc and Owens, figures 2 and 3 of
Nagasaka et al., figure 7 of Niu et al.).

Matrices are in the order of their mean row length. The algorithms of cuSPARSE are one bar, the
best of them for each matrix. Where an algorithm failed its bar is a word that says how. GFLOPS that
span a wide range are on a logarithmic axis. With more matrices than bars can show, all are drawn as
dots in the order of the baseline's GFLOPS, with running medians.
"""

import sys

import common
import drawing
import records

SINGLE = records.FIELDS


def dots(found, order):
    """Every matrix a dot for each algorithm, over the matrices sorted by the baseline."""
    base = common.VENDOR_BEST if common.VENDOR_BEST in found else next(iter(found))
    order = sorted(order, key=lambda m: found[base][m]["gflops"] if m in found[base] else 0)
    place = {m: i + 1 for i, m in enumerate(order)}
    fig, ax = drawing.plt.subplots(figsize=(10, 5.2))
    look = drawing.styles(found)
    for name, cases in found.items():
        drawing.cloud(ax, [place[m] for m in cases], [row["gflops"] for row in cases.values()],
                      look[name], True, drawing.picks(cases), name)
    values = [row["gflops"] for cases in found.values() for row in cases.values()]
    drawing.log_axis(ax.yaxis, min(values), max(values))
    ax.set_xlim(0, len(order) + 1)
    ax.set_xlabel("matrices, in the order of the GFLOPS of " + base)
    ax.set_ylabel("GFLOPS")
    drawing.legend_above(ax, len(found))
    notes = ["%d matrices; lines are running medians." % len(order)]
    if len(found[base]) < len(order):
        notes.append("The first %d have no result of %s." % (len(order) - len(found[base]), base))
    return fig, notes


def draw(selection):
    selection = common.without_curve(selection)
    found = common.series(selection.rows)
    words = common.failures(selection, found)
    facts = common.facts(selection, found, words)
    order = sorted(facts, key=lambda m: (facts[m]["row_mean"] or 0, m[0]))
    if len(order) > drawing.BARS_MOST:
        fig, notes = dots(found, [m for m in order if any(m in of for of in found.values())])
    else:
        found = common.in_order({**dict.fromkeys(words, {}), **found}, selection.rows[0]["op"])
        values = {name: {m: row["gflops"] for m, row in cases.items()}
                  for name, cases in found.items()}
        ticks = {m: drawing.tick(row, row["row_mean"]) for m, row in facts.items()}
        fig, notes = drawing.bars(values, drawing.styles(found), order, ticks, "GFLOPS", words)
        notes.insert(0, "In parentheses: mean row length.")
    return drawing.finish(fig, "GFLOPS by matrix", selection, notes)


if __name__ == "__main__":
    sys.exit(drawing.main(__file__, __doc__, SINGLE, draw))
