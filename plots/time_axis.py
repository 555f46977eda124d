#!/usr/bin/env python3
"""Time of a run against an axis of numbers, such as the columns of the dense matrices from 1 to 256, a
panel for each matrix: where a little more work takes much more time.

A line is an algorithm; a vendor's algorithms are one line, the fastest at each value. Points are marked
on lines with few points. With more than 64 values a line is the least of eight neighbours, and its band
reaches to the most of them. The axis is logarithmic if the values grow by a factor.

A step of 1 along the axis is a cliff if the time grows by more than 15 % beyond the expected growth.
The highest cliffs have a triangle. If whole rows of the dense matrix are fetched, the expected growth
is that of the lines of memory of a row (64 bytes), else that of the axis. A step is no cliff if the
intervals of both times allow less. The matrices with most values are drawn.
"""

import statistics
import sys

import common
import drawing
import ends
import precs
import records
import series
import words

MIXES = (common.NUMBERS,)
VALUES_LEAST = 8  # least values of the axis for a curve
MATRICES_MOST = 6
STEP = 1.15  # growth from one value to the next that is a cliff
VALUES_PLAIN = 64  # values of a line above which it has a band
WINDOW = 8  # neighbours of a band
SPARSE, FEW = 0.1, 16  # a line is marked with less than this share of the values, or with so few
LINE = 64  # bytes of a memory access: a line of a CPU, two sectors of a GPU
CLIFFS_SAID = 6


def axis_of(rows):
    """Returns the axis of numbers with most values. Raises NoData if no axis has enough values for
    a curve."""
    values = {name: {row["axes"][name] for row in rows if row["axes"].get(name) is not None}
              for name in common.number_axes(rows)}
    best = max(values, key=lambda name: len(values[name]), default=None)
    if best is None or len(values[best]) < VALUES_LEAST:
        raise records.NoData("a curve takes %d values of an axis of numbers at least" % VALUES_LEAST)
    return best


def is_geometric(values):
    """Returns True if the factors from one value to the next differ less than the steps do."""
    values = sorted(set(values))

    def uneven(steps):
        return statistics.pstdev(steps) / statistics.fmean(steps)

    pairs = list(zip(values, values[1:]))
    return len(pairs) > 1 and values[0] > 0 and \
        uneven([high / low for low, high in pairs]) < uneven([high - low for low, high in pairs])


def growth(row, low, high):
    """Returns the expected growth of the time between these values of the axis: the ratio of lines
    of a whole row for records with a bound without reuse, else the ratio of the work."""
    size = precs.facts(row["prec"]).bytes
    if row["gather"] is None or not size:
        return high / low
    return -(-high * size // LINE) / -(-low * size // LINE)


def cliffs(curve):
    """Returns [(value, ratio to the time at the value before)] of {value: row}, for the steps that
    are too long even at the ends of both intervals."""
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


def neighbours(values, which, window=WINDOW):
    """Returns which(), min or max, of `window` neighbours around each value."""
    half = window // 2
    return [which(values[max(0, at - half):at + window - half]) for at in range(len(values))]


def draw_line(ax, curve, style, count):
    """Draws a line and returns its end. count: number of values of the axis."""
    x, y = list(curve), [row["ms"] for row in curve.values()]
    least = y
    if len(x) > VALUES_PLAIN:
        least = neighbours(y, min)
        ax.fill_between(x, least, neighbours(y, max), color=style["colour"], alpha=0.18, linewidth=0)
    sparse = len(x) < SPARSE * count or len(x) <= FEW
    ax.plot(x, least, color=style["colour"], linestyle=style["line"], linewidth=1.5,
            marker=style["marker"] if sparse else None, markersize=4)
    return x[-1], least[-1]


def panel(ax, of, look, marked, values):
    """Draws the lines of a matrix: {name: curve}. marked: {name: values of cliffs}; values: those
    of the axis."""
    tips = {name: draw_line(ax, curve, look[name], len(values)) for name, curve in of.items()}
    for name, cliff in marked.items():
        ax.scatter(cliff, [of[name][value]["ms"] for value in cliff], s=34, marker="^", zorder=7,
                   color=look[name]["colour"], edgecolors="white", linewidths=0.6)
    few = {name: curve for name, curve in of.items() if len(curve) <= VALUES_PLAIN}
    drawing.flag(ax, [(value, row["ms"]) for curve in few.values() for value, row in curve.items()
                      if row["flagged"]], dense=True, said=False)
    times = [row["ms"] for curve in of.values() for row in curve.values()]
    drawing.log_axis(ax.yaxis, min(times), max(times))
    here = {value for curve in of.values() for value in curve}
    low, high = min(here), max(here)
    if is_geometric(values):
        drawing.log_axis(ax.xaxis, low, high)
        ax.set_xticks(sorted(here)[::1 + len(here) // 12])
        ax.xaxis.set_minor_locator(drawing.matplotlib.ticker.NullLocator())
        ax.set_xlim(low / 1.1, high * 1.1)
    else:
        drawing.whole_ticks(ax.xaxis)
        room = 0.02 * (high - low) or 0.5
        ax.set_xlim(low - room, high + room)
    ends.label(ax, [(*at, ends.shown(name), look[name]["colour"]) for name, at in tips.items()])


def highest(found):
    """Returns [(ratio, name, value, matrix)] of {matrix: {name: cliffs}}, the highest first."""
    every = [(ratio, name, value, m) for m, of in found.items() for name, steps in of.items()
             for value, ratio in steps]
    return sorted(every, key=lambda cliff: (-cliff[0], cliff[2]))


def said_of(every, steps):
    """Returns [a sentence on the highest cliffs], or ["No cliff."] if there are steps of 1, else
    []."""
    if not every:
        return ["No cliff."] * steps
    return ["%s, the highest (▲): %s." % (words.counted(len(every), "cliff"), ", ".join(
        "%s at %d on %s %s×" % (name, value, words.visible(m[0], 30), words.times(ratio))
        for ratio, name, value, m in every[:CLIFFS_SAID]))]


def curves(rows, axis):
    """Returns {matrix: {series: {value: row}}} of the matrices with a curve, ordered by value;
    matrices with most values first. A vendor's curve has its fastest algorithm at each value."""
    found = {}
    for row in rows:
        if not series.is_aside(row) and row["axes"].get(axis) is not None:
            curve = found.setdefault(row["matrix"], {}).setdefault(series.name_of(row), {})
            value = row["axes"][axis]
            curve[value] = min(row, curve.get(value, row), key=lambda row: row["ms"])
    most = sorted(found, key=lambda m: (-max(map(len, found[m].values())), m[3] or 0, m[0]))
    return {m: {name: dict(sorted(curve.items())) for name, curve in series.in_order(found[m], rows).items()}
            for m in most if max(map(len, found[m].values())) >= VALUES_LEAST}


def draw(selection):
    axis = axis_of(selection.rows)
    every = curves(selection.rows, axis)
    if not every:
        raise records.NoData("no matrix has %d values of %s" % (VALUES_LEAST, axis))
    chosen = {m: every[m] for m in list(every)[:MATRICES_MOST]}
    rows = [row for of in chosen.values() for curve in of.values() for row in curve.values()]
    values = {row["axes"][axis] for row in rows}
    look = drawing.styles(selection.rows)
    steps = highest({m: {name: cliffs(curve) for name, curve in of.items()}
                     for m, of in chosen.items()})
    marked = {}
    for _, name, value, m in steps[:CLIFFS_SAID]:
        marked.setdefault(m, {}).setdefault(name, []).append(value)
    columns = drawing.side_by_side(min(2, len(chosen)))
    count = -(-len(chosen) // columns)
    fig, axes = drawing.subplots(count, columns, squeeze=False, size=(7 * columns, 3.5 * count),
                                 gridspec_kw={"hspace": 0.42, "wspace": 0.5})
    titles = drawing.labels({m: m[0] for m in chosen})
    for ax, (m, of) in zip(axes.flat, chosen.items()):
        ax.set_title(titles[m], loc="left", fontsize=9, weight="bold")
        ax.set_xlabel(drawing.shown(axis, 40), fontsize=9)
        ax.set_ylabel("ms", fontsize=9)
        panel(ax, of, look, marked.get(m, {}), values)
    for ax in axes.flat[len(chosen):]:
        ax.remove()
    notes = said_of(steps, sum(value + 1 in values for value in values) > 1)
    lost = set(series.series(selection.rows)) - {name for of in chosen.values() for name in of}
    if lost:
        notes.append("No line, as not measured on these matrices: %s." % ", ".join(sorted(lost)))
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
