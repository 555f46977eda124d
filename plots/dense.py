#!/usr/bin/env python3
"""The dense line: the least time that a dense product of the same size could take on the device, over
the time of each sparse run, against the density of the matrix. Below 1 sparse has stopped paying.

A dense product multiplies every element, zeros as well, at the measured rate of multiply-adds, and
reads or writes the matrix in full at the measured bandwidth of memory; whichever takes longer is its
time, but no less than the shortest run there is, as starting one takes that. Both rates are the
device's ceilings as spbench measured them, and the notes have them; no dense product was run. Nothing
is so fast, but for tensor cores, which have less precision: what is above 1 pays for certain. Where
the matrix in full is larger than the device's memory the mark is pale. A vendor's algorithms are one
series, the best of them for each matrix. Only of operations whose work is that of the nonzeros: a
dense result, or one on the pattern.
"""

import sys

import common
import drawing
import precs
import records
import roofline
import series
import words


def has(row):
    _, rows, cols, nnz = row["matrix"]
    return not row["made"] and row["flops"] and row["bytes"] and rows and cols and nnz and \
        csr_bytes(row) and precs.facts(row["prec"]).bytes


def csr_bytes(row):
    return next((of["csr_bytes"] for _, of in row["formats"] if of.get("csr_bytes")), None)


def density(row):
    _, rows, cols, nnz = row["matrix"]
    return nnz / (rows * cols)


def full_bytes(row):
    """Of the matrix with all of its zeros."""
    _, rows, cols, _ = row["matrix"]
    return rows * cols * precs.facts(row["prec"]).bytes


def dense_ms(row, roofs, start):
    """What a dense product takes at least; None where the device's rates are not known. roofs: the
    bandwidths in GB/s and the rates in GFLOPS; start: ms of the shortest run."""
    bandwidths, rates = roofs
    rate = rates.get(precs.facts(row["prec"]).sums)
    if not rate or "memory" not in bandwidths:
        return None
    rest = max(0, row["bytes"] - csr_bytes(row))  # the other operands and the result
    return max(start, row["flops"] / density(row) / rate / 1e6,
               (full_bytes(row) + rest) / bandwidths["memory"] / 1e6)


def rates_said(rows, roofs):
    """By which rates the dense product is reckoned, and when they were measured."""
    bandwidths, rates = roofs
    dates = sorted({str(roof["measured"])[:10] for roof in (
        records.part(records.device_facts(row["env"], row["id"]), "roof") for row in rows)
        if roof.get("measured")})
    return "The dense product by measured rates%s: %s GFLOPS of multiply-adds in %s, %s GB/s of memory." % (
        " (%s)" % " to ".join(dict.fromkeys(dates[:1] + dates[-1:])) if dates else "",
        " and ".join(map(drawing.plain, rates.values())), " and ".join(rates),
        drawing.plain(bandwidths["memory"]))


def fits(row):
    size = records.number(records.device_facts(row["env"], row["id"]).get("memory_bytes"))
    return not size or full_bytes(row) <= size


def gains(cases, roofs, start):
    """{matrix: dense time / time} of those with both."""
    found = {m: dense_ms(row, roofs, start) for m, row in cases.items() if has(row)}
    return {m: ms / cases[m]["ms"] for m, ms in found.items() if ms}


def said_of(name, gain, cases):
    """A sentence on where an algorithm stops paying."""
    below = [density(cases[m]) for m, x in gain.items() if x < 1]
    above = [density(cases[m]) for m, x in gain.items() if x >= 1]
    if not below:
        return "%s: pays on all %d, up to %.2g." % (name, len(gain), max(above))
    return "%s: does not on %d of %d, from %.2g on%s." % (
        name, len(below), len(gain), min(below),
        "; pays up to %.2g" % max(above) if above else "")


def draw(selection):
    selection = common.without_variants(selection)
    rows = list(filter(has, selection.rows))
    roofs = roofline.roofs(rows)
    cases = series.series(rows)
    start = min((row["ms"] for row in rows), default=0)
    found = {name: gains(of, roofs, start) for name, of in cases.items()}
    found = {name: of for name, of in found.items() if of}
    if not found:
        raise records.NoData("no result of an operation on the nonzeros alone, on a device whose "
                             "rates are known")
    look = drawing.styles(rows)
    fig, ax = drawing.subplots()
    points = []
    for name, of in found.items():
        for there, alpha in ((True, 0.9), (False, 0.25)):
            here = [m for m in of if fits(cases[name][m]) == there]
            edge = {"linewidths": 1.2} if look[name]["marker"] in drawing.THIN else {"linewidths": 0}
            ax.scatter([density(cases[name][m]) for m in here], [of[m] for m in here], s=24,
                       color=look[name]["colour"], marker=look[name]["marker"], alpha=alpha, zorder=3,
                       label=look[name]["label"] if there else None, **edge)
        points += [(density(cases[name][m]), x, cases[name][m]) for m, x in of.items()]
    mx, my = common.running_median([x for x, _, _ in points], [y for _, y, _ in points])
    ax.plot(mx, my, color="black", linewidth=1.6, zorder=4, label="running median" if mx else None)
    drawing.flag(ax, [(x, y) for x, y, row in points if row["flagged"]])
    ax.axhline(1, color=drawing.GREY, linewidth=1.2, linestyle="--", zorder=1)
    drawing.log_axis(ax.xaxis, *extent(x for x, _, _ in points))
    drawing.log_axis(ax.yaxis, *extent(y for _, y, _ in points))
    ax.set_xlabel("density (nonzeros / all elements)")
    ax.set_ylabel("least time of a dense product / time")
    drawing.legend_beside(ax)
    drawn = [row for _, _, row in points]
    small = sum(not fits(row) for row in drawn)
    notes = [rates_said(drawn, roofs), "It takes %.3g ms at least." % start, "Densities: " + " ".join(
        said_of(name, of, cases[name]) for name, of in found.items())]
    notes += ["%s pale: the matrix in full does not fit into the device's memory." % words.counted(
        small, "mark is", many="marks are")] * bool(small)
    return drawing.finish(fig, "Against a dense product of the same size", selection, notes, drawn)


def extent(values):
    values = list(values)
    return min(values), max(values)


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
