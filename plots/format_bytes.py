#!/usr/bin/env python3
"""Bytes of the sparse operands in the formats that algorithms take them in, over their bytes in CSR
(figure 11 of Niu et al.).

A format is one series for all its algorithms. If their options change the format, each algorithm
has a series. Operands of a case in the same format count together. If the matrices are too many for
bars, each is a dot at its bytes in CSR.
"""

import sys

import bars
import common
import drawing
import records
import series

LABEL = "bytes / bytes in CSR"


def has(row):
    """Returns {format: (bytes, bytes in CSR)} of the row, without CSR itself and without a dense
    matrix."""
    found = {}
    for name, of in [] if series.is_dense(row) else row["formats"]:
        if name != records.PLAIN and of.get("bytes") and of.get("csr_bytes"):
            before = found.get(name, (0, 0))
            found[name] = before[0] + of["bytes"], before[1] + of["csr_bytes"]
    return found


def sizes(rows):
    """Returns {format: {matrix: (bytes, bytes in CSR)}}. Algorithms with different sizes have a
    series each."""
    every, found = {}, {}
    for row in rows:
        for name, pair in has(row).items():
            every.setdefault(name, {}).setdefault(row["series"], {})[row["matrix"]] = pair
    for name, by_series in every.items():
        agreed = {}
        same = all(agreed.setdefault(m, pair) == pair
                   for of in by_series.values() for m, pair in of.items())
        found.update({name: agreed} if same else
                     {"%s of %s" % (name, owner): of for owner, of in by_series.items()})
    return found


def draw(selection):
    selection = common.general(selection)
    found = sizes(selection.rows)
    if not found:
        raise records.NoData("no result has a sparse operand in another format than "
                             + records.PLAIN)
    look = drawing.palette(found)
    ratio = {name: {m: pair[0] / pair[1] for m, pair in of.items()} for name, of in found.items()}
    plain = {m: pair[1] / 1e6 for of in found.values() for m, pair in of.items()}
    if bars.too_many(len(plain), len(ratio)):
        points = {name: ([plain[m] for m in of], list(of.values())) for name, of in ratio.items()}
        fig, notes = drawing.dots(points, look, "bytes in CSR (MB)", LABEL)
    else:
        order = sorted(plain, key=lambda m: min(of[m] for of in ratio.values() if m in of))
        rows = common.matrices_of(selection, found)
        fig, notes = bars.grouped(ratio, look, order, bars.ticks(rows, plain), LABEL, {})
        notes.insert(0, "In parentheses: MB in CSR.")
    for ax in fig.axes:
        ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=3)
    texts, title = common.means(ratio, "%.3g")
    notes.append("%s: %s." % (title.capitalize(), "; ".join("%s %s, below 1 on %d of %d" % (
        name, texts[name], sum(r < 1 for r in of.values()), len(of)) for name, of in ratio.items())))
    return drawing.finish(fig, "Bytes of the formats", selection, notes,
                          list(filter(has, selection.rows)))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
