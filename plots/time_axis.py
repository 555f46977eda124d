#!/usr/bin/env python3
"""Time of a run against an axis of numbers, such as the columns of the dense matrices from 1 to 256, a
panel for each matrix: where a little more work takes much more time.

A line is an algorithm: those of -alg, the best of a vendor's in each version of its library (the
fastest at each value), and the others that are the fastest somewhere; six at most. With more than 64
values it is the least of eight neighbours, and the band reaches to the most of them.

A step from one value to the next is a cliff if the time grows by more than 15 % beyond what it must;
the highest have a triangle. Where whole rows of the dense matrix are fetched it must grow as the
lines of memory of a row do (64 bytes); where rows are in pieces as the axis does. A step whose
intervals leave room for less is not one. The matrices are those with most values.
"""

import sys

import axis_lines
import common
import drawing
import ends
import records
import series
import words

MIXES = True
VALUES_LEAST = 8  # of the axis, for a curve
MATRICES_MOST = 6
STEP = 1.15  # growth from one value to the next that is a cliff
VALUES_PLAIN = 64  # of a line, above which it has a band
WINDOW = 8  # neighbours of a band
LINE = 64  # bytes that memory brings at once: a line of a CPU, two sectors of a GPU
CLIFFS_SAID = 6


def width(row):
    """Bytes of a number."""
    return int(row["prec"].lstrip("f")) // 8


def axis_of(rows):
    """The axis of numbers with most values, NoData without one that makes a curve."""
    values = {name: {row["axes"][name] for row in rows if row["axes"].get(name) is not None}
              for name in common.number_axes(rows)}
    best = max(values, key=lambda name: len(values[name]), default=None)
    if best is None or len(values[best]) < VALUES_LEAST:
        raise records.NoData("a curve takes %d values of an axis of numbers at least" % VALUES_LEAST)
    return best


def growth(row, low, high):
    """By what the time must grow between these values of the axis: by the lines of a whole row, which
    the records with a bound without reuse have; else by the work."""
    if row["gather"] is None:
        return high / low
    return -(-high * width(row) // LINE) / -(-low * width(row) // LINE)


def cliffs(curve):
    """[(value, how much longer than the value before it)] of {value: row}: the steps that are too
    long, as far as the intervals of both times say so."""
    found = []
    for high, row in curve.items():
        before = curve.get(high - 1)
        if not before:
            continue
        least = (row["interval"] or (row["ms"],))[0]
        most = (before["interval"] or (before["ms"],))[-1]
        if least > STEP * growth(row, high - 1, high) * most:
            found.append((high, row["ms"] / before["ms"]))
    return found


def styles(rows, lines):
    """An algorithm of ours as in other figures; each line of a vendor's in grey has a form of its
    own."""
    look, found, vendors = drawing.styles(rows), {}, 0
    for name, of in lines.items():
        row = next(iter(next(iter(of.values())).values()))
        if series.vendor_of(row):
            found[name] = {"colour": drawing.GREY, "line": drawing.LINES[vendors % len(drawing.LINES)]}
            vendors += 1
        else:
            found[name] = look[name]
    return found


def neighbours(values, which, window=WINDOW):
    """The least, or the most, of so many neighbours round each value."""
    half = window // 2
    return [which(values[max(0, at - half):at + window - half]) for at in range(len(values))]


def draw_line(ax, curve, style):
    """Draws it, and returns where it ends."""
    x, y = list(curve), [row["ms"] for row in curve.values()]
    least = y
    if len(x) > VALUES_PLAIN:
        least = neighbours(y, min)
        ax.fill_between(x, least, neighbours(y, max), color=style["colour"], alpha=0.18, linewidth=0)
    ax.plot(x, least, color=style["colour"], linestyle=style["line"], linewidth=1.5)
    return x[-1], least[-1]


def panel(ax, of, look, marked):
    """Draws the lines of a matrix: {name: curve}. marked: {name: values of cliffs}."""
    tips = {name: draw_line(ax, curve, look[name]) for name, curve in of.items()}
    for name, values in marked.items():
        ax.scatter(values, [of[name][value]["ms"] for value in values], s=34, marker="^", zorder=7,
                   color=look[name]["colour"], edgecolors="white", linewidths=0.6)
    few = {name: curve for name, curve in of.items() if len(curve) <= VALUES_PLAIN}
    drawing.flag(ax, [(value, row["ms"]) for curve in few.values() for value, row in curve.items()
                      if row["flagged"]], dense=True, said=False)
    values = [row["ms"] for curve in of.values() for row in curve.values()]
    drawing.log_axis(ax.yaxis, min(values), max(values))
    drawing.whole_ticks(ax.xaxis)
    ax.set_xlim(*span([value for curve in of.values() for value in curve]))
    ends.label(ax, [(*at, ends.shown(name), look[name]["colour"]) for name, at in tips.items()])


def span(values):
    """From the least to the largest, and a little room."""
    room = 0.02 * (max(values) - min(values)) or 0.5
    return min(values) - room, max(values) + room


def highest(found):
    """[(ratio, name, value, matrix)] of {matrix: {name: cliffs}}, the highest first."""
    every = [(ratio, name, value, m) for m, of in found.items() for name, steps in of.items()
             for value, ratio in steps]
    return sorted(every, key=lambda cliff: (-cliff[0], cliff[2]))


def said_of(every):
    """A sentence on the highest cliffs."""
    if not every:
        return "No cliff."
    return "%s, the highest (▲): %s." % (words.counted(len(every), "cliff"), ", ".join(
        "%s at %d on %s %.2f×" % (name, value, words.visible(m[0], 30), ratio)
        for ratio, name, value, m in every[:CLIFFS_SAID]))


def by_matrix(lines):
    """{matrix: {name: curve}}, matrices with most values first; those with a curve."""
    found = {}
    for name, of in lines.items():
        for m, curve in of.items():
            found.setdefault(m, {})[name] = dict(sorted(curve.items()))
    most = sorted(found, key=lambda m: (-max(map(len, found[m].values())), m[3] or 0, m[0]))
    return {m: found[m] for m in most if max(map(len, found[m].values())) >= VALUES_LEAST}


def more(parser):
    parser.add_argument("-alg", "--alg", metavar="NAMES", default="",
                        help="algorithms that have a line, by commas; patterns such as 'a*'")


def draw(selection, args=None):
    axis = axis_of(selection.rows)
    patterns = [word for word in args.alg.split(",") if word] if args else []
    lines, left = axis_lines.chosen(selection.rows, axis, patterns)
    every = by_matrix(lines)
    if not every:
        raise records.NoData("no matrix has %d values of %s" % (VALUES_LEAST, axis))
    chosen = {m: every[m] for m in list(every)[:MATRICES_MOST]}
    rows = [row for of in chosen.values() for curve in of.values() for row in curve.values()]
    look = styles(selection.rows, lines)
    steps = highest({m: {name: cliffs(curve) for name, curve in of.items()}
                     for m, of in chosen.items()})
    marked = {}
    for _, name, value, m in steps[:CLIFFS_SAID]:
        marked.setdefault(m, {}).setdefault(name, []).append(value)
    columns = min(2, len(chosen))
    count = -(-len(chosen) // columns)
    fig, axes = drawing.plt.subplots(count, columns, squeeze=False, figsize=(7 * columns, 3.5 * count),
                                     gridspec_kw={"hspace": 0.42, "wspace": 0.5})
    titles = drawing.labels({m: m[0] for m in chosen})
    for ax, (m, of) in zip(axes.flat, chosen.items()):
        ax.set_title(titles[m], loc="left", fontsize=9, weight="bold")
        ax.set_xlabel(drawing.shown(axis, 40), fontsize=9)
        ax.set_ylabel("ms", fontsize=9)
        panel(ax, of, look, marked.get(m, {}))
    for ax in axes.flat[len(chosen):]:
        ax.set_visible(False)
    notes = [said_of(steps)] + [left] * bool(left)
    if any(len(curve) > VALUES_PLAIN for of in chosen.values() for curve in of.values()):
        notes.append("A line is the least of %d neighbours, its band reaches to the most." % WINDOW)
    if not any(row["interval"] for row in rows):
        notes.append("No time has an interval: a step may be noise.")
    if len(every) > len(chosen):
        notes.append("%s not here." % words.counted(len(every) - len(chosen), "matrix",
                                                    many="matrices"))
    return drawing.finish(fig, "Time against " + axis, selection, notes, rows)


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
