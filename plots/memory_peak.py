#!/usr/bin/env python3
"""SpGEMM: peak memory over that of cuSPARSE's default algorithm (figure 4 of Nagasaka et al.).

Peaks are of the device, operands and result included. The other algorithms of cuSPARSE are one
series, the one that takes least for each matrix. Where an algorithm failed its bar is a word that
says how. With more matrices than bars can show each is a dot, at what cuSPARSE takes.
"""

import sys

import common
import drawing
import records

OP = "spgemm"
SINGLE = records.FIELDS
BASE = common.VENDOR  # its default algorithm has no other name
LEAST = common.VENDOR + "-* (least)"


def ratios(rows):
    """({series: {matrix: peak over the base's}}, {matrix: the base's peak})"""
    base = {row["matrix"]: row["peak"] for row in rows if row["alg"] == BASE and row["peak"]}
    found = {}
    for row in rows:
        if row["alg"] == BASE or common.is_partial(row["alg"]):
            continue
        if row["matrix"] not in base or not row["peak"]:
            continue
        of = found.setdefault(LEAST if common.is_vendor(row["alg"]) else row["series"], {})
        ratio = row["peak"] / base[row["matrix"]]
        of[row["matrix"]] = min(ratio, of.get(row["matrix"], ratio))
    return common.in_order(found, OP), base


def dots(found, look, base):
    fig, ax = drawing.plt.subplots(figsize=(9, 5.2))
    for name, of in found.items():
        drawing.cloud(ax, [base[m] / 1e6 for m in of], list(of.values()), look[name], True, False,
                      name)
    peaks, every = [peak / 1e6 for peak in base.values()], [r for of in found.values()
                                                            for r in of.values()]
    drawing.log_axis(ax.xaxis, min(peaks), max(peaks))
    drawing.log_axis(ax.yaxis, min(every), max(every))
    ax.set_xlabel("peak memory of %s (MB)" % BASE)
    ax.set_ylabel("peak memory / that of " + BASE)
    drawing.legend_above(ax, len(found))
    return fig, ["%d matrices; lines are running medians." % len(base)]


def draw(selection):
    selection = common.without_curve(selection)
    found, base = ratios(selection.rows)
    if not found:
        raise records.NoData("no algorithm has a case in common with %s" % BASE)
    look = drawing.styles({name: selection.rows[:1] for name in found})
    words = common.failures(selection, found)
    means = {name: "%s  %.2f× (%d)" % (name, common.geomean(of.values()), len(of))
             for name, of in found.items()}
    words = {means[name]: words.get(name.replace(LEAST, common.VENDOR_BEST), {}) for name in found}
    found = {means[name]: of for name, of in found.items()}
    look = {means[name]: style for name, style in look.items()}
    if len(base) > drawing.BARS_MOST:
        fig, notes = dots(found, look, base)
    else:
        facts = {row["matrix"]: row for row in selection.rows if row["matrix"] in base}
        order = sorted(facts, key=lambda m: (facts[m]["row_mean"] or 0, m[0]))
        ticks = {m: drawing.tick(facts[m], base[m] / 1e6) for m in order}
        fig, notes = drawing.bars(found, look, order, ticks, "peak memory / %s" % BASE, words)
        notes.insert(0, "In parentheses: MB of %s." % BASE)
    for ax in fig.axes:
        ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=3)
    without = {row["matrix"] for row in selection.rows} - set(base)
    if without:
        notes.append("Not here, as %s has no result: %s." % (BASE, common.names_text(without)))
    notes.append("In the legend: geometric means, and of how many matrices.")
    return drawing.finish(fig, "Peak memory relative to " + BASE, selection, notes)


if __name__ == "__main__":
    sys.exit(drawing.main(__file__, __doc__, SINGLE, draw, OP))
