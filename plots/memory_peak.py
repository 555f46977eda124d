#!/usr/bin/env python3
"""Peak memory, where each run makes its result, over that of a vendor's first algorithm (figure 4
of Nagasaka et al.); without a vendor over that of the reference.

Peaks are of the device, operands and result included. The other algorithms of a vendor are one
series, the one that takes least for each matrix. A failed algorithm has a word in place of its bar.
If the matrices are too many for bars, each is a dot at the peak of the first algorithm.
"""

import sys

import bars
import common
import drawing
import records
import series
import words

LEAST = "other %s (least)"


def has(row):
    return row["made"] and row["peak"]


def base_of(rows):
    """Returns the name of the algorithm that the others are compared with."""
    facts = {row["alg"]: row["facts"] for row in rows if not series.is_aside(row)}
    listed = [name for name in series.listed(rows) if name in facts]
    for fact in ("vendor", "reference"):
        for name in listed:
            if facts[name].get(fact):
                return name
    raise records.NoData("no results of a vendor's library and none of the reference")


def ratios(rows, every, base):
    """Returns ({series of these rows: {matrix: peak over the base's}}, {matrix: the base's peak}).
    The base is taken from `every`. Of several versions the base is the version with the least peak."""
    peaks, found = {}, {}
    for row in every:
        if row["alg"] == base:
            peaks[row["matrix"]] = min(row["peak"], peaks.get(row["matrix"], row["peak"]))
    for row in rows:
        if row["alg"] == base or series.is_aside(row) or row["matrix"] not in peaks:
            continue
        vendor = series.vendor_of(row)
        of = found.setdefault(LEAST % vendor if vendor and "group" not in row else series.name_of(row), {})
        ratio = row["peak"] / peaks[row["matrix"]]
        of[row["matrix"]] = min(ratio, of.get(row["matrix"], ratio))
    return series.in_order(found, rows), peaks


def styles(rows, found):
    """Returns the styles of these series, with their means in the labels."""
    look = drawing.styles(rows)
    look.update({LEAST % vendor: look[series.BEST % vendor]
                 for vendor in set(map(series.vendor_of, rows)) - {None} if series.BEST % vendor in look})
    look = drawing.labelled({name: look[name] for name in found})
    texts, _ = common.means(found)
    return {name: {**look[name], "label": "%s  %s" % (look[name]["label"], texts[name])}
            for name in found}


def draw(selection):
    selection = common.general(selection)
    every, rows = (list(filter(has, of)) for of in (selection.every, selection.rows))
    if not rows:
        raise records.NoData("no run that makes its result has a peak of memory")
    base = base_of(every)
    found, peaks = ratios(rows, every, base)
    if not found:
        raise records.NoData("no algorithm has a case in common with " + base)
    look = styles(rows, found)
    label = "peak memory / " + drawing.shown(base, drawing.LABEL_MOST)
    if bars.too_many(len(peaks), len(found)):
        points = {name: ([peaks[m] / 1e6 for m in of], list(of.values()))
                  for name, of in found.items()}
        fig, notes = drawing.dots(points, look, "peak memory of %s (MB)"
                                  % drawing.shown(base, drawing.LABEL_MOST), label)
        notes.insert(0, words.counted(len(peaks), "matrix", many="matrices") + ".")
    else:
        order = common.matrices_of(selection, {base: peaks})
        ticks = bars.ticks(order, {m: peaks[m] / 1e6 for m in order})
        why = series.failures(selection, series.series(rows))
        fig, notes = bars.grouped(found, look, list(order), ticks, label, why)
        notes.insert(0, "In parentheses: MB of %s." % base)
    for ax in fig.axes:
        ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=3)
    without = {row["matrix"] for row in selection.rows} - set(peaks)
    if without:
        notes.append("Not here, as %s has no result: %s." % (base, common.names_text(without)))
    notes.append("In the legend: %s." % common.means(found)[1])
    return drawing.finish(fig, "Peak memory relative to " + base, selection, notes,
                          [row for row in rows if row["matrix"] in peaks
                           and not series.is_aside(row)])


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
