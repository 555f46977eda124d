#!/usr/bin/env python3
"""Where the time of a run goes, a panel for each algorithm (figures 5 and 6 of Nagasaka et al.,
figure 10 of Niu et al.).

A bar is the time of one run over the time of a vendor's best, or of the fastest algorithm without a
vendor. The bar is divided in the proportions of the phases, which a separate run measures with a wait
at each boundary. A failed algorithm has a word in place of its bar. Matrices are in the order of
their mean row length. A bar much longer than the others is cut off, and its length is written above.
If the bars are too many for names and words, a mark at the top replaces the length. If the matrices
are too many, those with most FLOPs are drawn.
"""

import statistics
import sys

import bars
import common
import drawing
import records
import series
import words

GAP = 0.28  # gap between panels, in heights of a panel
MATRICES_MOST = 250  # more bars would be too thin to see
OVER_MOST = 24  # characters of a name beside a panel
CUT = {"marker": 6, "s": 14, "color": "black", "linewidths": 0, "clip_on": False, "zorder": 5}


def baselines(found):
    """Returns ({matrix: ms}, matrices without a time of the vendor)."""
    vendor = found.get(series.vendor_in(found), {})
    best = {}
    for cases in found.values():
        for m, row in cases.items():
            best[m] = min(row["ms"], best.get(m, row["ms"]))
    without = [m for m in best if m not in vendor]
    return {m: vendor[m]["ms"] if m in vendor else ms for m, ms in best.items()}, without


def heights(row, base_ms):
    """Returns {phase: height of its part}. The sum is the row's time over the base's."""
    total = sum(row["phases"].values())
    return {name: ms / total * row["ms"] / base_ms for name, ms in row["phases"].items() if total}


def styles(parts):
    """Returns {phase: (colour, hatch)} in the order of the phases. Colours differ within an
    algorithm, hatches between algorithms."""
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


def stack(ax, parts, look, top, many):
    """Draws a bar for each {phase: height}. A bar above `top` is cut off; its height is written
    above or, with `many` bars, replaced by a mark. Returns the heights of the cut bars."""
    foot = [0] * len(parts)
    for name in dict.fromkeys(name for of in parts for name in of):
        here = [x for x, of in enumerate(parts) if name in of]
        heights_ = [parts[x][name] for x in here]
        ax.bar(here, heights_, 1 if many else 0.8, bottom=[foot[x] for x in here],
               color=look[name][0], hatch=look[name][1], edgecolor="white",
               linewidth=0 if many else 0.3)
        for x, height in zip(here, heights_):
            foot[x] += height
    cut = {x: height for x, height in enumerate(foot) if height > top}
    if many:
        ax.scatter(list(cut), [1.05 * top] * len(cut), **CUT)
    for x, height in cut.items() if not many else ():
        ax.text(x, top, drawing.plain(float("%.2g" % height)) + "×", ha="center", va="bottom",
                fontsize=7)
    ax.axhline(1, color="black", linewidth=1)
    ax.set_ylim(0, top)
    return cut.values()


def legend(ax, parts, look):
    """Draws the phases of one algorithm beside its panel, the last on top as in the bars."""
    names = list(dict.fromkeys(name for of in parts for name in of))
    label = drawing.labels({name: name for name in names})
    for name in reversed(names):
        ax.bar(0, 0, color=look[name][0], hatch=look[name][1], label=label[name])
    ax.legend(loc="center left", bbox_to_anchor=(1.005, 0.5), frameon=False, fontsize=8,
              labelspacing=0.3)


def fitting(order, parts):
    """Returns the matrices with most work that fit, their {series: parts}, and a sentence on the others."""
    notes = []
    if len(order) > MATRICES_MOST:
        by_work = sorted(order, key=lambda m: -(order[m]["flops"] or 0))[:MATRICES_MOST]
        keep = [i for i, m in enumerate(order) if m in set(by_work)]
        notes.append("%s with fewer FLOPs not here." % words.counted(
            len(order) - len(keep), "matrix", many="matrices"))
        order = {m: row for m, row in order.items() if m in set(by_work)}
        parts = {name: [each[i] for i in keep] for name, each in parts.items()}
    return order, parts, notes


def has(row):
    return row["phases"]


def draw(selection):
    selection = common.general(selection)
    found = series.series(selection.rows)
    base, without = baselines(series.series(selection.every))
    why = series.failures(selection, found)
    order = common.matrices_of(selection, found, why)
    parts = {name: [heights(cases[m], base[m]) if m in cases else {} for m in order]
             for name, cases in found.items()}
    parts = {name: each for name, each in parts.items() if any(each)}
    if not parts:
        raise records.NoData("no result has phases")
    order, parts, notes = fitting(order, parts)
    look = styles(parts)
    many = len(order) > bars.limits()[1]
    vendor = series.vendor_in(series.series(selection.every))
    without = [m for m in without if m in order] if vendor else []
    label = {name: style["label"] for name, style in drawing.styles(selection.rows).items()}
    fig, axes = drawing.subplots(
        len(parts), sharex=True, squeeze=False, gridspec_kw={"hspace": GAP},
        size=(11 if many else max(6.5, 1.6 + 0.36 * len(order)), 0.4 + 1.75 * len(parts)))
    said = blank = False
    flagged, cut = 0, []
    for ax, (name, each) in zip(axes[:, 0], parts.items()):
        totals = [sum(of.values()) for of in each if of]
        top = max(1.1, min(1.05 * max(totals), 3 * statistics.median(totals)))
        cut += stack(ax, each, look, top, many)
        points = [(x, min(sum(of.values()), 0.93 * top)) for x, (m, of) in enumerate(zip(order, each))
                  if of and found[name][m]["flagged"]]
        drawing.flag(ax, points, many, said=False)
        flagged += len(points)
        ax.set_title(label[name], loc="left", fontsize=9, weight="bold", pad=11)
        ax.set_xlim(-0.6, len(order) - 0.4)
        ax.set_ylabel("time /\n" + drawing.shown(vendor or "the fastest", OVER_MOST), fontsize=8)
        drawing.plain_ticks(ax.yaxis)
        ax.grid(False, axis="x")
        said_here = {x: why[name][m] for x, m in enumerate(order) if m in why.get(name, {})}
        if not many:
            bars.say_words(ax, said_here, said_here.values(), 0.8, "black")
            said = said or bool(said_here)
            blank = blank or any(not of and x not in said_here for x, of in enumerate(each))
        legend(ax, each, look)
    low = axes[-1, 0]
    low.set_xlim(-0.6, len(order) - 0.4)
    if many:
        low.set_xlabel("matrices, in the order of their mean row length")
    else:
        names = bars.ticks(order)
        bars.name_ticks(low, [names[m] + "*" * (m in without) for m in order])
    notes += bars.words_note(said) + bars.BLANK * blank
    if many:
        notes.append("%s. A gap: no usable result, or not measured." % words.counted(
            len(order), "matrix", many="matrices"))
    if many and cut:
        notes.append("▴ %s cut off, the longest at %s×." % (
            words.counted(len(cut), "bar is", many="bars are"), drawing.plain(max(cut))))
    if flagged:
        notes.append("○ %s" % drawing.FLAGGED % flagged + ".")
    if without:
        notes.append("Without a time of %s%s, so that the fastest is 1: %s."
                     % (vendor, "" if many else " (*)", common.names_text(without)))
    return drawing.finish(fig, "Phases of a run", selection, notes,
                          [found[name][m] for name in parts for m in order if m in found[name]])


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
