#!/usr/bin/env python3
"""Where the time of a run goes, a panel for each algorithm (figures 5 and 6 of Nagasaka et al.,
figure 10 of Niu et al.).

A bar is the time of one run over that of a vendor's best; without a vendor over that of the fastest
algorithm. It is divided in the proportions of the phases, which come from a run of their
own that waits at each boundary. Where an algorithm failed its bar is a word that says how. Matrices
are in the order of their mean row length.
"""

import statistics
import sys

import common
import drawing
import records
import series

GAP = 0.28  # between panels, of their height


def baselines(found):
    """({matrix: ms}, matrices that the vendor has no time of)"""
    vendor = found.get(series.vendor_in(found), {})
    best = {}
    for cases in found.values():
        for m, row in cases.items():
            best[m] = min(row["ms"], best.get(m, row["ms"]))
    without = [m for m in best if m not in vendor]
    return {m: vendor[m]["ms"] if m in vendor else ms for m, ms in best.items()}, without


def heights(row, base_ms):
    """{phase: height of its part}: together the row's time over the base's."""
    total = sum(row["phases"].values())
    return {name: ms / total * row["ms"] / base_ms for name, ms in row["phases"].items() if total}


def styles(parts):
    """{phase: (colour, hatch)} in the order of the phases: within an algorithm the colours differ,
    beyond it the hatches."""
    phases = [list(dict.fromkeys(name for of in each for name in of)) for each in parts.values()]
    place = {name: statistics.fmean(each.index(name) / len(each) for each in phases if name in each)
             for name in dict.fromkeys(name for each in phases for name in each)}
    found = {}
    for name in sorted(place, key=place.get):
        beside = {found[other][0] for each in phases if name in each
                  for other in each if other in found}
        free = [colour for colour in drawing.COLOURS if colour not in beside] or drawing.COLOURS
        used = sum(colour == free[0] for colour, _ in found.values())
        found[name] = free[0], drawing.HATCHES[used % len(drawing.HATCHES)]
    return found


def stack(ax, parts, look, top):
    """A bar for each {phase: height}; what is above `top` is cut off and says how high it is."""
    for x, of in enumerate(parts):
        bottom = 0
        for name, height in of.items():
            ax.bar(x, height, 0.8 if len(parts) <= drawing.BARS_MOST else 1, bottom=bottom,
                   color=look[name][0], hatch=look[name][1], edgecolor="white",
                   linewidth=0.3 if len(parts) <= drawing.BARS_MOST else 0)
            bottom += height
        if bottom > top and len(parts) <= drawing.BARS_MOST:
            ax.text(x, top, drawing.plain(float("%.2g" % bottom)) + "×", ha="center", va="bottom",
                    fontsize=7)
    ax.axhline(1, color="black", linewidth=1)
    ax.set_ylim(0, top)


def legend(ax, parts, look):
    """The phases of one algorithm beside its panel, the last on top as in the bars."""
    for name in reversed(list(dict.fromkeys(name for of in parts for name in of))):
        ax.bar(0, 0, color=look[name][0], hatch=look[name][1], label=name)
    ax.legend(loc="center left", bbox_to_anchor=(1.005, 0.5), frameon=False, fontsize=8,
              labelspacing=0.3)


def has(row):
    return row["phases"]


def draw(selection):
    selection = common.without_curve(selection)
    found = series.series(selection.rows)
    base, without = baselines(found)
    words = series.failures(selection, found)
    order = common.matrices_of(selection, found, words)
    parts = {name: [heights(cases[m], base[m]) if m in cases else {} for m in order]
             for name, cases in found.items()}
    parts = {name: each for name, each in parts.items() if any(each)}
    if not parts:
        raise records.NoData("no result has phases")
    look = styles(parts)
    many = len(order) > drawing.BARS_MOST
    vendor = series.vendor_in(found)
    without = without if vendor else []
    fig, axes = drawing.plt.subplots(
        len(parts), 1, sharex=True, squeeze=False, gridspec_kw={"hspace": GAP},
        figsize=(11 if many else max(6.5, 1.6 + 0.36 * len(order)), 0.4 + 1.75 * len(parts)))
    said = blank = False
    for ax, (name, each) in zip(axes[:, 0], parts.items()):
        totals = [sum(of.values()) for of in each if of]
        stack(ax, each, look, max(1.1, min(1.05 * max(totals), 3 * statistics.median(totals))))
        ax.set_title(name, loc="left", fontsize=9, weight="bold", pad=11)
        ax.set_xlim(-0.6, len(order) - 0.4)
        ax.set_ylabel("time /\n" + (vendor or "the fastest"), fontsize=8)
        drawing.plain_ticks(ax.yaxis)
        ax.grid(False, axis="x")
        why = {x: words[name][m] for x, m in enumerate(order) if m in words.get(name, {})}
        if not many:
            drawing.say_words(ax, why, why.values(), 0.8, "black")
            said = said or bool(why)
            blank = blank or any(not of and x not in why for x, of in enumerate(each))
        legend(ax, each, look)
    low = axes[-1, 0]
    if many:
        low.set_xlabel("matrices, in the order of their mean row length")
    else:
        drawing.name_ticks(low, [drawing.tick(row, None) + "*" * (m in without)
                                 for m, row in order.items()])
    notes = drawing.WORD * said + drawing.BLANK * blank
    if without:
        notes.append("Without a time of %s%s, so that the fastest is 1: %s."
                     % (vendor, "" if many else " (*)", common.names_text(without)))
    return drawing.finish(fig, "Phases of a run", selection, notes)


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
