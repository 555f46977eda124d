#!/usr/bin/env python3
"""Draws one image (SVG) of speed-ups over the best of a vendor's library: a panel for each operation,
a bar for each matrix.

A panel shows the algorithm that chooses another algorithm, else the fastest algorithm.
Without a vendor the baseline is the fastest other algorithm, else the reference. A panel is of
the set of cases that has, in this order: inputs as wide as the sums, a choosing algorithm, the most
matrices, the newest revision, the most algorithms. Bars are sorted. Each panel has its own
logarithmic axis with a line at 1, the geometric mean, the worst case and the number of matrices.
"""

import html
import math
import os
import sys
import textwrap
from collections import Counter, namedtuple
from types import SimpleNamespace

import common
import marks
import precs
import records
import series
import words

# found: {series: {matrix: row}}; speed: {matrix: speed-up} of `name` over `base`.
Panel = namedtuple("Panel", "device op rows found name base speed")

WIDE, HIGH, ACROSS = 800, 316, 3  # width of a row of panels in pixels; panels side by side
LEFT, RIGHT, TOP, FOOT = 40, 10, 128, 26  # around the bars of a panel without marks
LINE, CHARACTER = 14, 5.6  # of marks: height of a line, width of a character
FASTER, SLOWER = "#0072B2", "#D55E00"  # Okabe and Ito's colours
BARS_MOST = 300  # bars above which they are one shape, without names
NAME_MOST = 17  # characters of a matrix
TICKS = 7  # most labels of the axis
STYLE = "text{font-family:system-ui,sans-serif;font-size:12px;fill:#222}.said{fill:#555}" \
    ".title{font-size:15px}.name{font-size:17px;font-weight:bold}.mean{font-size:25px;font-weight:bold;fill:#0072B2}" \
    ".tick{font-size:11px;fill:#555}a:hover rect{fill:#000}"


def pair_of(found, algs=()):
    """Returns (name of the series to draw, name of its baseline), or None if there is nothing to
    compare. Draws the fastest series that picks another algorithm, else the fastest that is no
    vendor's and no reference."""
    base, own = series.baseline(found), series.own(found)
    ours = {name: cases for name, cases in own.items() if not algs or any(
        series.fits(row, word) for row in cases.values() for word in algs)}
    picking = {name: cases for name, cases in ours.items() if series.has_fact(cases, "picks")}
    if base in ours and not picking:  # no vendor: the fastest of all is the baseline of the others
        others = {name: cases for name, cases in own.items() if name != base}
        return (base, series.fastest(others)) if others else None
    rest = picking or {name: cases for name, cases in ours.items() if name != base}
    return (series.fastest(rest), base) if rest and list(rest) != [base] else None


def panel_of(rows, algs):
    """Returns the panel of one set of cases, or None."""
    try:
        selection = common.without_curve(common.select(rows))
        found = series.series(selection.rows)
        pair = pair_of(found, algs)
    except records.NoData:
        return None
    speed = series.speedups(*(found[name] for name in pair)) if pair else None
    return Panel(rows[0]["device"], rows[0]["op"], selection.rows, found, *pair, speed) if speed else None


def size_of(panel, dates):
    """Returns the sort key of the panels of an operation: inputs as wide as the sums, a series that
    picks, matrices, date of the revision, algorithms."""
    return (not precs.is_narrow(panel.rows[0]["prec"]), series.has_fact(panel.found[panel.name], "picks"),
            len(panel.speed), panel.rows[0]["revision"] and dates[panel.rows[0]["revision"]] or "",
            len(panel.found))


def panels_of(rows, algs=()):
    """Returns the best panel of each operation of each device; operations with most cases first.
    algs: words of -alg. A panel has the best algorithm that fits one of them."""
    best, dates = {}, common.revision_dates(rows)
    for group in common.groups(rows, common.fields_of(rows)).values():
        panel = panel_of(group, algs)
        if panel:
            best.setdefault((panel.device, panel.op), []).append(panel)
    cases = Counter((row["device"], row["op"]) for row in rows)
    return [max(best[of], key=lambda panel: size_of(panel, dates)) for of, _ in cases.most_common() if of in best]


def worst(panel):
    return min(panel.speed, key=panel.speed.get)


def ticks(low, high):
    """Returns round numbers from `low` to `high` for a logarithmic axis, 1 among them; at most
    TICKS."""
    steps = next((steps for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
                  if len(list(between(low, high, steps))) <= TICKS), (1,))
    return list(between(low, high, steps))


def between(low, high, steps):
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        yield from (step * 10.0 ** power for step in steps if low <= step * 10.0 ** power <= high)


def text(x, y, said, kind="", more=""):
    return '<text x="%.1f" y="%.1f" class="%s"%s>%s</text>' % (
        x, y, kind, more, html.escape(words.visible(said)))


def bars(panel, left, width, place):
    """Returns the bars, from 1 up or down. Each bar is a link to its matrix on the index page."""
    order = sorted(panel.speed, key=panel.speed.get)
    step = width / len(order)
    for at, m in enumerate(order):
        ratio = panel.speed[m]
        top, low = sorted((place(ratio), place(1)))
        shape = 'x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (
            left + at * step, top, max(0.8 * step, step - 1, 0.3), max(low - top, 0.6),
            FASTER if ratio >= 1 else SLOWER)
        if len(order) > BARS_MOST:
            yield "<rect " + shape
        else:
            yield '<a href="#find=%s"><title>%s: %s×</title><rect %s</a>' % (
                html.escape(words.quoted(m[0])), html.escape(words.visible(m[0])), words.times(ratio), shape)


def marks_of(panel):
    """Returns phrases on times with marks, and on matrices without a time of the baseline."""
    return marks.pair_texts(panel.found[panel.name], panel.found[panel.base], panel.base)


def mark_lines(panel, width):
    """Returns the phrases as lines for a panel `width` wide."""
    most = int((width - LEFT - RIGHT) / CHARACTER)
    return [line for said in marks_of(panel) for line in textwrap.wrap(said, most)]


def panel_svg(panel, left, top, width, more):
    """Returns the lines of a panel, in a row of panels `width` wide, at (left, top). `more`: pixels for the marks."""
    ends = min(*panel.speed.values(), 1) / 1.1, max(*panel.speed.values(), 1) * 1.1
    low, high = map(math.log, ends)
    inner, foot = width - LEFT - RIGHT, HIGH + more - FOOT

    def place(ratio):
        return foot - (math.log(ratio) - low) / (high - low) * (foot - TOP - more)

    yield '<g transform="translate(%.1f %.1f)">' % (left, top)
    yield text(LEFT, 22, words.operation(panel.op), "name")
    yield text(LEFT, 40, words.case(panel.rows[0]), "said")
    yield text(LEFT, 70, "%s×" % words.times(common.geomean(panel.speed.values())), "mean")
    yield text(LEFT, 87, "%s over %s" % (panel.name, over_text(panel)), "said")
    yield text(LEFT, 103, "geometric mean of %s" % words.counted(
        len(panel.speed), "matrix", many="matrices"), "said")
    yield text(LEFT, 119, "worst case %s× (%s)" % (words.times(panel.speed[worst(panel)]), words.visible(
        worst(panel)[0], NAME_MOST)), "said")
    for at, line in enumerate(mark_lines(panel, width)):
        yield text(LEFT, 119 + LINE * (at + 1), line, "tick")
    for at in ticks(*ends):
        yield '<path d="M%d %.1fh%.1f" stroke="%s"/>' % (LEFT, place(at), inner, "#222" if at == 1 else "#ddd")
        yield text(LEFT - 5, place(at) + 4, "%g×" % at, "tick", ' text-anchor="end"')
    yield from bars(panel, LEFT, inner, place)
    yield text(LEFT, HIGH + more - 10, "matrices, sorted (1×: equal speed)", "tick")
    yield "</g>"


def over_text(panel):
    """Returns the baseline of a panel, in words."""
    base = panel.found[panel.base]
    vendor = series.vendor_of(next(iter(base.values())))
    return "the best algorithm of %s" % vendor if vendor else \
        "the reference" if series.has_fact(base, "reference") else "the fastest other algorithm"


def title_of(panels):
    """Returns the title of the image: the devices of the bars."""
    return "%s: speed-up, matrix by matrix" % " / ".join(dict.fromkeys(panel.device for panel in panels))


def svg(panels):
    """Returns the image as text."""
    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    more = LINE * max(len(mark_lines(panel, WIDE / across)) for panel in panels)
    high = down * (HIGH + more) + 36
    yield '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family=' \
        '"sans-serif"><style>%s</style><rect width="100%%" height="100%%" fill="#fff"/>' % (WIDE, high, STYLE)
    yield text(LEFT, 24, title_of(panels), "title")
    for at, panel in enumerate(panels):
        yield from panel_svg(panel, at % across * WIDE / across, 36 + at // across * (HIGH + more),
                             WIDE / across, more)
    yield "</svg>"


def wanted_rows(rows, args):
    """Returns the rows that fit the command line. An axis counts for the operations that have it."""
    found = []
    for group in common.groups(rows, ["op"]).values():
        axes = {name for row in group for name in row["axes"]}
        lacking = {name: None for name in vars(args) if name.startswith(common.AXIS)
                   and name[len(common.AXIS):] not in axes}
        try:
            found += common.wanted_rows(group, SimpleNamespace(**{**vars(args), **lacking}))
        except records.NoData:
            pass  # of another operation
    return found or common.wanted_rows(rows, args)


def main():
    args = common.arguments(__doc__, lambda parser: parser.add_argument(
        "-o", "--output", metavar="FILE", default="overview.svg", help=".svg is added if missing; default: overview.svg"))
    if not args.output.endswith(".svg"):
        args.output += ".svg"
    try:
        panels = panels_of(wanted_rows(records.read(args.results, args.time), args), args.alg)
        if not panels:
            raise records.NoData("nothing to compare in %s" % ", ".join(args.results))
        os.makedirs(os.path.dirname(args.output) or ".", exist_ok=True)
        with open(args.output, "w", encoding="utf-8") as file:
            file.write("\n".join(svg(panels)) + "\n")
    except (records.NoData, OSError) as error:
        print("overview: %s" % words.visible(str(error)), file=sys.stderr)
        return 1
    print(args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
