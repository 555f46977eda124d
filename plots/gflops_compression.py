#!/usr/bin/env python3
"""GFLOPS against the compression, a figure that operations with a sparse result have: products over
nonzeros of the result. With a line of least squares for each algorithm (figure 6 of Niu et al.).

Both axes are logarithmic, and so are the lines: GFLOPS = c * compression^slope. A vendor's
algorithms are one series, the best of them for each matrix. A hollow mark at the foot is a case
without a usable result, at the compression that other algorithms found.
"""

import math
import statistics
import sys

import drawing
import records
import series
import words

FIGURE = "compression"
STRIP, STRIPS = 0.03, 0.35  # height of a row of hollow marks, and of all at most, of the axes'


def regression(x, y):
    """Returns (c, b) of y = c x^b by least squares of the logarithms; None without two different x."""
    logs, values = list(map(math.log, x)), list(map(math.log, y))
    if len(set(logs)) < 2:
        return None
    mean_x, mean_y = statistics.fmean(logs), statistics.fmean(values)
    slope = math.fsum((l - mean_x) * (v - mean_y) for l, v in zip(logs, values)) / \
        math.fsum((l - mean_x) ** 2 for l in logs)
    return math.exp(mean_y - slope * mean_x), slope


def foot(ax, why, compression, look, low, high):
    """Draws a row of hollow marks for each series with failures. The rows are on a grey strip
    without scale, below the axes. Returns (number marked, number without a place, because no
    algorithm has a result)."""
    rows = {name: [compression[m] for m in of if m in compression] for name, of in why.items()}
    rows = {name: x for name, x in rows.items() if x}
    strip = min(STRIP, STRIPS / (len(rows) + 1))
    share = strip * (len(rows) + 1)
    ax.set_ylim(low * (low / high) ** (share / (1 - share)), high)
    if rows:
        ax.set_yticks([y for y in ax.get_yticks() if low <= y <= high])
        ax.yaxis.set_minor_locator(drawing.matplotlib.ticker.NullLocator())
    for i, (name, x) in enumerate(rows.items()):
        face = {} if look[name]["marker"] in drawing.THIN else {"facecolors": "none"}
        ax.scatter(x, [strip * (i + 0.7)] * len(x), s=22, marker=look[name]["marker"],
                   color=look[name]["colour"], linewidths=1, clip_on=False, zorder=3,
                   transform=ax.get_xaxis_transform(), **face)
    if rows:
        ax.add_patch(drawing.plt.Rectangle((0, 0), 1, strip * (len(rows) + 0.4), color="#EEEEEE",
                                           linewidth=0, transform=ax.transAxes, zorder=1))
    marked = sum(map(len, rows.values()))
    return marked, sum(map(len, why.values())) - marked


def has(row):
    return row["figures"].get(FIGURE)


def draw(selection):
    rows = list(filter(has, selection.rows))
    if not rows:
        raise records.NoData("no result has a " + FIGURE)
    found = series.series(rows)
    why = series.failures(selection, found)
    found = series.with_failures(found, why, selection.rows + selection.left)
    look = drawing.styles(selection.rows + selection.left)
    y = [row["gflops"] for row in rows]  # and where the lines end
    dense = max(len(cases) for cases in found.values()) > drawing.DENSE
    fig, ax = drawing.subplots()
    for name, cases in found.items():
        if not cases:
            continue
        x = [has(row) for row in cases.values()]
        here = [row["gflops"] for row in cases.values()]
        style = look[name]
        ax.scatter(x, here, s=9 if dense else 30, color=style["colour"], marker=style["marker"],
                   linewidths=0.8 if style["marker"] in drawing.THIN else 0,
                   alpha=0.4 if dense else 0.9, rasterized=dense, clip_on=False, zorder=3)
        line, label = regression(x, here), style["label"]
        if line:
            ends = [min(x), max(x)]
            fitted = [line[0] * end ** line[1] for end in ends]
            y += fitted
            ax.plot(ends, fitted, color="white", linewidth=4, zorder=4 if dense else 1)
            ax.plot(ends, fitted, color=style["colour"], linewidth=2, linestyle=style["line"],
                    zorder=5 if dense else 2)
            label = "%s  %.2f (%d)" % (label, line[1], len(x))
        ax.plot([], [], color=style["colour"], marker=style["marker"], linewidth=2,
                linestyle=style["line"], label=label)
    drawing.flag(ax, [(has(row), row["gflops"]) for cases in found.values()
                      for row in cases.values() if row["flagged"]], dense)
    compression = {row["matrix"]: has(row) for cases in found.values() for row in cases.values()}
    drawing.log_axis(ax.xaxis, min(compression.values()), max(compression.values()))
    drawing.log_axis(ax.yaxis, min(y), max(y))
    marked, placeless = foot(ax, {} if dense else why, compression, look, min(y) / 1.3, max(y) * 1.3)
    about = records.named(rows[0]["env"], "figures")[FIGURE].get("about") or ""
    ax.set_xlabel(FIGURE + (" (%s)" % drawing.shown(about, 60) if about else ""))
    ax.set_ylabel("GFLOPS")
    drawing.legend_beside(ax, "slope of the line\n(matrices)")
    notes = [words.counted(len(compression), "matrix", many="matrices") + "."]
    if why and dense:
        notes.append("%s not marked." % words.counted(
            sum(map(len, why.values())), "case without a usable result is",
            many="cases without a usable result are"))
    if marked:
        notes.append("On grey, at the foot: no usable result.")
    if placeless:
        notes.append("%d more are not here: no algorithm found the %s." % (placeless, FIGURE))
    return drawing.finish(fig, "GFLOPS by " + FIGURE, selection, notes,
                          series.members(found))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
