#!/usr/bin/env python3
"""The speed-up of inputs of 16 bits over inputs of the type of the sums, for each matrix, sorted.

A panel shows a precision: half precision or bfloat16, with a result of 16 or 32 bits. A line shows an
algorithm on the same matrices, cases and device in both precisions. A vendor has one line, the fastest
algorithm in each precision. The legend has the geometric means over the matrices that all lines share.
"""

import sys

import common
import drawing
import marks
import precs
import records
import series

MIXES = ("prec",)


def has(row):
    return precs.is_narrow(row["prec"])


def cases_of(rows):
    """Returns {precision: {series: {matrix: row}}}, in the order of the list of precisions."""
    every = sorted({row["prec"] for row in rows}, key=precs.place)
    return {prec: series.series([row for row in rows if row["prec"] == prec]) for prec in every}


def gains_of(found):
    """Returns {16-bit precision: {series: {matrix: speed-up over the precision of the sums}}} of
    cases_of()."""
    gains = {}
    for prec, cases in found.items():
        wide = found.get(precs.facts(prec).sums, {}) if precs.is_narrow(prec) else {}
        of = {name: series.speedups(cases[name], wide[name]) for name in cases if name in wide}
        gains[prec] = {name: speed for name, speed in of.items() if speed}
    return {prec: of for prec, of in gains.items() if of}


def panel(ax, speed, look, texts, flagged):
    """Draws {series: {matrix: speed-up}}. texts: the means; flagged: {series: matrices}."""
    marked = []
    for name, of in speed.items():
        order = sorted(of, key=of.get)
        x = [(i + 0.5) / len(order) * 100 for i in range(len(order))]
        label = look[name]["label"] if drawing.PAPER else "%s  %s" % (look[name]["label"], texts[name])
        ax.plot(x, [of[m] for m in order], color=look[name]["colour"], linewidth=1.4,
                linestyle=look[name]["line"], marker=look[name]["marker"], markersize=4, label=label)
        marked += [(at, of[m]) for at, m in zip(x, order) if m in flagged[name]]
    drawing.flag(ax, marked)
    ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=1)


def said_of(prec, speed, texts, title):
    """Returns "f16, geometric mean on 3 shared matrices: a 1.52×, slower on 1 of 3; ..."."""
    return "%s, %s: %s." % (prec, title, "; ".join("%s %s, slower on %s of %d" % (
        name, texts[name], marks.count(x for x in of.values() if x < 1), len(of)) for name, of in speed.items()))


def draw(selection):
    halves = {row["prec"] for row in selection.rows if has(row)}
    wide = {prec: precs.facts(prec).sums for prec in halves}
    selection = common.general(common.only(selection, lambda row: row["prec"] in {*wide, *wide.values()}))
    found = cases_of(selection.rows)
    gains = gains_of(found)
    if not gains:
        raise records.NoData("no algorithm has a case both with inputs of 16 bits and in the precision of its sums")
    selection.about = common.about(selection.rows)
    look = drawing.styles(selection.rows)
    fig, axes = drawing.subplots(len(gains), squeeze=False, sharex=True, sharey=True,
                                 size=(9, 1.4 + 2.8 * len(gains)))
    notes, drawn = [], {}
    for ax, (prec, speed) in zip(axes.flat, gains.items()):
        pairs = {name: {m: (found[prec][name][m], found[wide[prec]][name][m]) for m in of}
                 for name, of in speed.items()}
        drawn.update({id(row): row for of in pairs.values() for pair in of.values() for row in pair})
        flagged = {name: {m for m, pair in of.items() if any(row["flagged"] for row in pair)}
                   for name, of in pairs.items()}
        texts, title = common.means(speed)
        panel(ax, speed, look, texts, flagged)
        ax.set_title("%s: %s" % (prec, precs.facts(prec).words), loc="left", fontsize=9, weight="bold")
        ax.set_ylabel("speed-up over %s (×)" % wide[prec])
        drawing.legend_beside(ax, None if drawing.PAPER else title)
        notes.append(said_of(prec, speed, texts, title))
    ratios = [x for speed in gains.values() for of in speed.values() for x in of.values()]
    for ax in axes.flat:
        drawing.log_axis(ax.yaxis, min(ratios), max(ratios))
        ax.set_xlim(0, 100)
    axes.flat[-1].set_xlabel("share of the matrices (%)")
    return drawing.finish(fig, "16 bits over 32 bits", selection, notes, list(drawn.values()))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
