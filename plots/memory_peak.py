#!/usr/bin/env python3
"""Peak memory, where each run makes its result, over that of a vendor's first algorithm (figure 4
of Nagasaka et al.); without a vendor over that of the reference.

Peaks are of the device, operands and result included. The other algorithms of a vendor are one
series, the one that takes least for each matrix. Where an algorithm failed its bar is a word that
says how. With more matrices than bars can show each is a dot, at what the first one takes.
"""

import sys

import common
import drawing
import records
import series

LEAST = "other %s (least)"


def has(row):
    return row["made"] and row["peak"]


def base_of(rows):
    """The algorithm that the others are compared with."""
    facts = {row["alg"]: row["facts"] for row in rows if not series.is_partial(row)}
    listed = [name for name in series.listed(rows) if name in facts]
    for fact in ("vendor", "reference"):
        for name in listed:
            if facts[name].get(fact):
                return name
    raise records.NoData("no results of a vendor's library and none of the reference")


def ratios(rows, base):
    """({series: {matrix: peak over the base's}}, {matrix: the base's peak}); of several versions of
    the base the one that takes least."""
    peaks, found = {}, {}
    for row in rows:
        if row["alg"] == base:
            peaks[row["matrix"]] = min(row["peak"], peaks.get(row["matrix"], row["peak"]))
    for row in rows:
        if row["alg"] == base or series.is_partial(row) or row["matrix"] not in peaks:
            continue
        vendor = series.vendor_of(row)
        of = found.setdefault(LEAST % vendor if vendor else row["series"], {})
        ratio = row["peak"] / peaks[row["matrix"]]
        of[row["matrix"]] = min(ratio, of.get(row["matrix"], ratio))
    return series.in_order(found, rows), peaks


def styles(rows):
    look = drawing.styles(rows)
    return {**look, **{LEAST % vendor: look[series.BEST % vendor]
                       for vendor in set(map(series.vendor_of, rows)) - {None}}}


def draw(selection):
    selection = common.without_curve(selection)
    rows = list(filter(has, selection.rows))
    if not rows:
        raise records.NoData("no run that makes its result has a peak of memory")
    base = base_of(rows)
    found, peaks = ratios(rows, base)
    if not found:
        raise records.NoData("no algorithm has a case in common with " + base)
    words = series.failures(selection, series.series(rows))
    means = {name: "%s  %.2f× (%d)" % (name, common.geomean(of.values()), len(of))
             for name, of in found.items()}
    look = {means[name]: style for name, style in styles(rows).items() if name in means}
    words = {means[name]: words.get(name, {}) for name in found}
    found = {means[name]: of for name, of in found.items()}
    label = "peak memory / " + base
    if len(peaks) > drawing.BARS_MOST:
        points = {name: ([peaks[m] / 1e6 for m in of], list(of.values()))
                  for name, of in found.items()}
        fig, notes = drawing.dots(points, look, "peak memory of %s (MB)" % base, label)
        notes.insert(0, "%d matrices." % len(peaks))
    else:
        order = common.matrices_of(selection, {base: peaks})
        ticks = {m: drawing.tick(row, peaks[m] / 1e6) for m, row in order.items()}
        fig, notes = drawing.bars(found, look, list(order), ticks, label, words)
        notes.insert(0, "In parentheses: MB of %s." % base)
    for ax in fig.axes:
        ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=3)
    without = {row["matrix"] for row in selection.rows} - set(peaks)
    if without:
        notes.append("Not here, as %s has no result: %s." % (base, common.names_text(without)))
    notes.append("In the legend: geometric means, and of how many matrices.")
    return drawing.finish(fig, "Peak memory relative to " + base, selection, notes)


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
