#!/usr/bin/env python3
"""The time of a dense product over the time of each sparse run, by the density of the matrix. Below 1
the dense product is faster.

The panel "computed" shows a lower bound of the dense time: the larger of two times. The first time is
for all multiply-adds, zeros included, at the measured rate in the type of the sums. The second time is
for the bytes of dense A, the other operands and the result, at the measured bandwidth. The bound is
at least the time of the shortest run, as an estimate of a launch. The notes have both rates. Tensor
cores can be faster than this bound. A mark is pale if the dense matrix does not fit in the device's
memory. The panel "measured" appears if the records have a dense product. A vendor has one series, the
fastest algorithm for each matrix. Operations whose runs allocate a sparse result are not
shown.
"""

import sys

import common
import drawing
import precs
import records
import roofline
import series
import words

COMPUTED, MEASURED = "computed, the least time", "measured"  # titles of panels


def has(row):
    _, rows, cols, nnz = row["matrix"]
    return not row["made"] and row["flops"] and row["bytes"] and rows and cols and nnz and \
        csr_bytes(row) and precs.facts(row["prec"]).bytes and not series.is_aside(row)


def csr_bytes(row):
    return next((of["csr_bytes"] for _, of in row["formats"] if of.get("csr_bytes")), None)


def density(row):
    _, rows, cols, nnz = row["matrix"]
    return nnz / (rows * cols)


def full_bytes(row):
    """Returns the bytes of the matrix with all its zeros."""
    _, rows, cols, _ = row["matrix"]
    return rows * cols * precs.facts(row["prec"]).bytes


def dense_ms(row, roofs, start):
    """Returns a lower bound of the time of a dense product; None if the device's rates are unknown.
    roofs: bandwidths in GB/s and rates in GFLOPS; start: ms of the shortest run."""
    bandwidths, rates = roofs
    rate = rates.get(precs.facts(row["prec"]).sums)
    if not rate or "memory" not in bandwidths:
        return None
    rest = max(0, row["bytes"] - csr_bytes(row))  # the other operands and the result
    return max(start, row["flops"] / density(row) / rate / 1e6,
               (full_bytes(row) + rest) / bandwidths["memory"] / 1e6)


def rates_said(rows, roofs):
    """Returns a sentence on the rates of the computed dense product, with the dates of their
    measurement."""
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


def computed(cases, roofs, start):
    """Returns {matrix: lower bound of the dense time / time}, for matrices with both."""
    found = {m: dense_ms(row, roofs, start) for m, row in cases.items() if has(row)}
    return {m: ms / cases[m]["ms"] for m, ms in found.items() if ms}


def products(rows):
    """Returns {matrix: row} of the measured dense products, the fastest for each matrix."""
    found = {}
    for row in filter(series.is_dense, rows):
        found[row["matrix"]] = min(row, found.get(row["matrix"], row), key=lambda row: row["ms"])
    return found


def said_of(name, gain, cases):
    """Returns a sentence on the densities at which an algorithm is faster and slower than the dense
    product."""
    below = [density(cases[m]) for m, x in gain.items() if x < 1]
    above = [density(cases[m]) for m, x in gain.items() if x >= 1]
    if not below:
        return "%s: faster on all %d, up to %.2g." % (name, len(gain), max(above))
    return "%s: slower on %d of %d, from %.2g on%s." % (
        name, len(below), len(gain), min(below),
        "; faster up to %.2g" % max(above) if above else "")


def crossing(dense, cases):
    """Returns sentences on the measured dense products, with the least density from which they are
    faster than all of {series: {matrix: row}}."""
    least = {}
    for of in cases.values():
        for m, row in of.items():
            least[m] = min(row["ms"], least.get(m, row["ms"]))
    order = sorted(set(least) & set(dense), key=lambda m: -density(dense[m]))
    wins = [dense[m]["ms"] < least[m] for m in order]
    tail = (wins + [False]).index(False)
    name = " and ".join(sorted({row["library"] or row["series"] for row in dense.values()}))
    said = "Measured with %s: the dense product is faster than all algorithms here on %d of %s" % (
        name, sum(wins), words.counted(len(wins), "matrix", many="matrices"))
    return said + (", and on all from a density of %.2g on." % density(dense[order[tail - 1]]) if tail else
                   ", but not on the densest, %.2g." % density(dense[order[0]]))


def points_of(gain, cases):
    """Returns [(density, ratio, row)] of {series: {matrix: ratio}}."""
    return [(density(cases[name][m]), x, cases[name][m]) for name, of in gain.items() for m, x in of.items()]


def panel(ax, gain, cases, look, dense):
    """Draws {series: {matrix: ratio}}. dense: {matrix: row} of the measured products, or empty."""
    for name, of in gain.items():
        for there, alpha in ((True, 0.9), (False, 0.25)):
            here = [m for m in of if fits(cases[name][m]) == there]
            edge = {"linewidths": 1.2} if look[name]["marker"] in drawing.THIN else {"linewidths": 0}
            ax.scatter([density(cases[name][m]) for m in here], [of[m] for m in here], s=24,
                       color=look[name]["colour"], marker=look[name]["marker"], alpha=alpha, zorder=3,
                       label=look[name]["label"] if there else None, **edge)
    points = points_of(gain, cases)
    mx, my = common.running_median([x for x, _, _ in points], [y for _, y, _ in points])
    ax.plot(mx, my, color="black", linewidth=1.6, zorder=4, label="running median" if mx else None)
    drawing.flag(ax, [(x, y) for x, y, row in points if row["flagged"] or (
        row["matrix"] in dense and dense[row["matrix"]]["flagged"])])
    ax.axhline(1, color=drawing.GREY, linewidth=1.2, linestyle="--", zorder=1)


def notes_of(gains, cases, dense, roofs, start):
    """Returns the notes on {panel: {series: {matrix: ratio}}}."""
    rows = list({id(row): row for gain in gains.values() for _, _, row in points_of(gain, cases)}.values())
    notes = []
    if COMPUTED in gains:
        notes += [rates_said(rows, roofs), "The computed time is %.3g ms at least." % start]
    if MEASURED in gains:
        notes.append(crossing(dense, cases))
    notes += ["Densities, %s: %s" % (kind, " ".join(said_of(name, of, cases[name]) for name, of in gain.items()))
              for kind, gain in gains.items()]
    small = sum(not fits(row) for row in rows)
    return notes + ["%s pale: the matrix in full does not fit into the device's memory." % words.counted(
        small, "mark is", many="marks are")] * bool(small)


def draw(selection):
    selection = common.without_variants(selection)
    rows = list(filter(has, selection.rows))
    roofs = roofline.roofs(rows)
    cases, dense = series.series(rows), products(selection.every)
    start = min((row["ms"] for row in rows), default=0)
    gains = {COMPUTED: {name: computed(of, roofs, start) for name, of in cases.items()},
             MEASURED: {name: series.speedups(of, dense) for name, of in cases.items()}}
    gains = {kind: {name: of for name, of in gain.items() if of} for kind, gain in gains.items()}
    gains = {kind: gain for kind, gain in gains.items() if gain}
    if not gains:
        raise records.NoData("no result has a measured dense product, or comes from a device with measured "
                             "rates; operations with a result made by each run are not shown")
    look = drawing.styles(rows)
    fig, axes = drawing.subplots(len(gains), squeeze=False, sharex=True, size=(9, 1.6 + 3.8 * len(gains)))
    marks, points = {}, []
    for ax, (kind, gain) in zip(axes.flat, gains.items()):
        panel(ax, gain, cases, look, dense if kind == MEASURED else {})
        ax.set_title(kind, loc="left", fontsize=9, weight="bold")
        ax.set_ylabel("time of a dense product / time")
        marks = {**dict(zip(*ax.get_legend_handles_labels()[::-1])), **marks}
        points += points_of(gain, cases)
        drawing.log_axis(ax.yaxis, *extent(x for of in gain.values() for x in of.values()))
    drawing.log_axis(axes.flat[-1].xaxis, *extent(x for x, _, _ in points))
    axes.flat[-1].set_xlabel("density (nonzeros / all elements)")
    drawing.legend_beside(axes.flat[0], handles=list(marks.values()))
    drawn = list({id(row): row for _, _, row in points}.values()) + list(
        dense.values() if MEASURED in gains else ())
    return drawing.finish(fig, "Against a dense product of the same size", selection,
                          notes_of(gains, cases, dense, roofs, start), drawn)


def extent(values):
    values = list(values)
    return min(values), max(values)


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
