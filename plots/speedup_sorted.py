#!/usr/bin/env python3
"""Speed-up over a vendor's best, sorted, of the algorithms with a model and of their tuned forms
(figure 13 and table 2 of the paper that src/measure/tiled_model.h names).

An algorithm with several sets of options has a line for each, which shows the effect of balancing.
The legend has the geometric mean over the matrices that all lines share, the notes have the least
and the largest speed-up. Without results of a vendor the speed-up is over the fastest algorithm that
is no reference.
"""

import math
import sys

import common
import drawing
import marks
import records
import series


def has(row):
    return bool(row["model"])


def summary(name, speeds):
    """Returns "name: 0.14 to 834, mean 19.2, slower on 9 of 188"."""
    ends = *(marks.sign(x) + "%.3g" % x for x in (min(speeds), max(speeds))), marks.sign(*speeds)
    return "%s: %s to %s, mean %s%.3g, slower on %s of %d" % (
        name, *ends, math.fsum(speeds) / len(speeds), marks.count(x for x in speeds if x < 1), len(speeds))


def draw(selection):
    found = series.series(selection.rows)
    names = {row["alg"] for row in selection.rows if has(row)}
    modelled = {name: cases for name, cases in found.items() if any(
        row["alg"] in names or row["facts"].get("tuned_of") in names for row in cases.values())}
    if not modelled:
        raise records.NoData("no algorithm has a model")
    every = series.series(selection.every)
    over = series.baseline(every)
    base = every[over]
    speed = {name: series.speedups(cases, base) for name, cases in modelled.items()}
    speed = {name: of for name, of in speed.items() if of and name != over}
    if not speed:
        raise records.NoData("no algorithm with a model has a case in common with %s" % over)
    look = drawing.styles(selection.every + selection.rows)
    texts, title = common.means(speed)
    fig, ax = drawing.subplots(size=(9, 5))
    flagged = []
    for name, of in speed.items():
        cases = sorted(of, key=of.get)
        x = [(i + 0.5) / len(cases) * 100 for i in range(len(cases))]
        ax.plot(x, [of[m] for m in cases], color=look[name]["colour"], linewidth=1.4,
                linestyle=look[name]["line"], marker=look[name]["marker"], markersize=4,
                label="%s  %s" % (look[name]["label"], texts[name]))
        flagged += [(at, of[m]) for at, m in zip(x, cases)
                    if modelled[name][m]["flagged"] or base[m]["flagged"]]
    drawing.flag(ax, flagged)
    ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=1)
    values = [x for of in speed.values() for x in of.values()]
    drawing.log_axis(ax.yaxis, min(values), max(values))
    ax.set_xlim(0, 100)
    ax.set_xlabel("share of the matrices (%)")
    ax.set_ylabel("speed-up over %s (×)" % look[over]["label"])
    drawing.legend_beside(ax, title)
    said = [summary(name, list(of.values())) for name, of in speed.items()]
    return drawing.finish(fig, "Speed-up over %s, sorted" % over, selection,
                          ["; ".join(said) + "."],
                          series.members({**modelled, over: base}))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
