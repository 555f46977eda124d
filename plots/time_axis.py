#!/usr/bin/env python3
"""Time of a run against an axis of numbers, such as the columns of the dense matrices from 1 to 256, a
panel for each matrix: where a little more work takes much more time.

A step from one value to the next is a cliff if the time grows by more than 15 % beyond what it must,
and has a triangle. Where whole rows of the dense matrix are fetched it must grow as the lines of
memory of a row do (64 bytes); where rows are in pieces as the axis does. A step whose intervals
leave room for less is not marked. A vendor's algorithms are one line each; those without a cliff
that are nowhere the fastest of the vendor's are left out. The matrices are those with most values.
"""

import sys

import common
import drawing
import records
import series
import words

MIXES = common.NUMBERS
VALUES_LEAST = 8  # of the axis, for a curve
MATRICES_MOST = 6
STEP = 1.15  # growth from one value to the next that is a cliff
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


def curves(rows, axis):
    """{matrix: {series: {value: row}}}, matrices with most values first."""
    found = {}
    for row in rows:
        if not series.is_partial(row):
            found.setdefault(row["matrix"], {}).setdefault(row["series"], {})[
                row["axes"][axis]] = row
    most = sorted(found, key=lambda m: (-max(map(len, found[m].values())), m[3] or 0, m[0]))
    return {m: {name: dict(sorted(of.items())) for name, of in found[m].items()}
            for m in most if max(map(len, found[m].values())) >= VALUES_LEAST}


def kept(of):
    """The curves of a matrix without those of a vendor that are nowhere its fastest."""
    best = {}
    for name, curve in of.items():
        for value, row in curve.items():
            key = series.vendor_of(row), value
            if key not in best or row["ms"] < best[key][0]:
                best[key] = row["ms"], name
    names = {name for _, name in best.values()}
    return {name: curve for name, curve in of.items()
            if name in names or not any(map(series.vendor_of, curve.values())) or cliffs(curve)}


def styles(rows, names):
    """Each algorithm of a vendor has a line of its own, in grey."""
    look = drawing.styles(rows)
    vendors = [name for name in names if name not in look]
    for i, name in enumerate(vendors):
        look[name] = {"colour": drawing.GREY, "marker": "", "hatch": "",
                      "line": drawing.LINES[i % len(drawing.LINES)]}
    return drawing.labelled({name: look[name] for name in names})


def panel(ax, of, look):
    """Draws the curves of a matrix; returns {series: cliffs}."""
    found = {name: cliffs(curve) for name, curve in of.items()}
    for name, curve in of.items():
        ax.plot(list(curve), [row["ms"] for row in curve.values()], color=look[name]["colour"],
                linestyle=look[name]["line"], linewidth=1.3, label=look[name]["label"])
        at = [value for value, _ in found[name]]
        ax.scatter(at, [curve[value]["ms"] for value in at], s=30, marker="^", zorder=7,
                   color=look[name]["colour"], linewidths=0)
    drawing.flag(ax, [(value, row["ms"]) for curve in of.values() for value, row in curve.items()
                      if row["flagged"]], dense=True, said=False)
    values = [row["ms"] for curve in of.values() for row in curve.values()]
    drawing.log_axis(ax.yaxis, min(values), max(values))
    return found


def said_of(found):
    """A sentence on the highest cliffs of {matrix: {series: cliffs}}."""
    every = [(ratio, name, value, m) for m, of in found.items() for name, steps in of.items()
             for value, ratio in steps]
    if not every:
        return "No cliff."
    every.sort(key=lambda cliff: (-cliff[0], cliff[2]))
    return "%s (▲), the highest: %s." % (words.counted(len(every), "cliff"), ", ".join(
        "%s at %d on %s %.2f×" % (name, value, words.visible(m[0], 30), ratio)
        for ratio, name, value, m in every[:CLIFFS_SAID]))


def draw(selection):
    axis = axis_of(selection.rows)
    every = curves(selection.rows, axis)
    if not every:
        raise records.NoData("no matrix has %d values of %s" % (VALUES_LEAST, axis))
    chosen = {m: kept(every[m]) for m in list(every)[:MATRICES_MOST]}
    rows = [row for of in chosen.values() for curve in of.values() for row in curve.values()]
    look = styles(rows, series.in_order({row["series"]: None for row in rows}, rows))
    columns = min(2, len(chosen))
    count = -(-len(chosen) // columns)
    fig, axes = drawing.plt.subplots(count, columns, squeeze=False, figsize=(6.2 * columns, 3.5 * count),
                                     gridspec_kw={"hspace": 0.42, "wspace": 0.2})
    titles = drawing.labels({m: m[0] for m in chosen})
    found = {}
    for ax, (m, of) in zip(axes.flat, chosen.items()):
        found[m] = panel(ax, of, look)
        ax.set_title(titles[m], loc="left", fontsize=9, weight="bold")
        ax.set_xlabel(drawing.shown(axis, 40), fontsize=9)
        ax.set_ylabel("ms", fontsize=9)
    for ax in axes.flat[len(chosen):]:
        ax.set_visible(False)
    handles = {name: drawing.plt.Line2D([], [], color=style["colour"], linestyle=style["line"],
                                        label=style["label"]) for name, style in look.items()}
    axes[0, -1].legend(handles=list(handles.values()), loc="upper left", bbox_to_anchor=(1.01, 1),
                       frameon=False, fontsize=9)
    notes = [said_of(found)]
    if not any(row["interval"] for row in rows):
        notes.append("No time has an interval: a step may be noise.")
    if len(every) > len(chosen):
        notes.append("%s not here." % words.counted(len(every) - len(chosen), "matrix",
                                                    many="matrices"))
    return drawing.finish(fig, "Time against " + axis, selection, notes, rows)


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
