#!/usr/bin/env python3
"""Time to convert the sparse operands into the formats that an algorithm takes them in, over the
time of one run (figure 13 of Hong et al., figure 12 of Niu et al.).

The first conversion includes loading and allocation of the device. The second is warm, and so is
the run. A vendor's algorithms are one series, the fastest of them for each matrix, if its format is
not CSR. If the matrices are too many for bars, each is a dot at the time of its run.
"""

import sys

import bars
import common
import drawing
import records
import series

AGAIN, FIRST = "%s: again", "%s: the first time"
LABEL = "conversion / one run"


def has(row):
    """Returns (ms of the first conversion, ms of the second) into formats other than CSR, or None."""
    found = [of for name, of in row["formats"] if name != records.PLAIN]
    both = [sum(of.get(name, 0) for of in found) for name in ("convert_ms", "convert_warm_ms")]
    return tuple(both) if all(both) else None


def multiples(cases):
    """Returns {series: {matrix: (first, second conversion over one run)}} of {series: {matrix:
    row}}."""
    found = {name: {m: tuple(ms / row["ms"] for ms in has(row))
                    for m, row in of.items() if has(row)}
             for name, of in cases.items()}
    return {name: of for name, of in found.items() if of}


def grouped(found, cases, look, run, rows):
    """Draws two bars for each series: the first conversion, pale, and the second."""
    values, style, flagged = {}, {}, {}
    for name, of in found.items():
        for i, label in enumerate((FIRST, AGAIN)):
            values[label % name] = {m: pair[i] for m, pair in of.items()}
            style[label % name] = {**look[name], "label": label % look[name]["label"]}
            if not i:
                style[label % name]["colour"] = drawing.pale(look[name]["colour"])
        flagged[AGAIN % name] = {m for m in of if cases[name][m]["flagged"]}
    fig, _ = bars.grouped(values, style, sorted(rows, key=run.get), bars.ticks(rows, run), LABEL,
                          {}, flagged=flagged)
    return fig, ["In parentheses: ms of one run."]


def draw(selection):
    selection = common.general(selection)
    cases = series.series(selection.rows)
    found = multiples(cases)
    if not found:
        raise records.NoData("no result has a conversion to another format than " + records.PLAIN)
    look = drawing.styles(selection.rows)
    run = {m: min(cases[name][m]["ms"] for name in found if m in cases[name])
           for of in found.values() for m in of}
    if bars.too_many(len(run), 2 * len(found)):
        points = {name: ([cases[name][m]["ms"] for m in of], [pair[1] for pair in of.values()])
                  for name, of in found.items()}
        flagged = [(cases[name][m]["ms"], of[m][1]) for name, of in found.items() for m in of
                   if cases[name][m]["flagged"]]
        fig, notes = drawing.dots(points, look, "one run (ms)", LABEL, flagged=flagged)
        notes.insert(0, "A dot is the second conversion.")
    else:
        rows = common.matrices_of(selection, found)
        fig, notes = grouped(found, cases, look, run, rows)
    for ax in fig.axes:
        ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=3)
    first, again = ({name: {m: pair[at] for m, pair in of.items()} for name, of in found.items()} for at in (0, 1))
    (texts, title), (texts_first, _) = common.means(again, "%.3g"), common.means(first, "%.3g")
    notes.append("%s, over one run: %s." % (title.capitalize(), "; ".join(
        "%s %s, at most %.3g, the first time %s" % (name, texts[name], max(of.values()), texts_first[name])
        for name, of in again.items())))
    return drawing.finish(fig, "Conversion against one run", selection, notes,
                          [row for row in series.members(cases) if has(row)])


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
