#!/usr/bin/env python3
"""Speed-up over the best cuSPARSE against mean row length (figure 6 of Yang, Buluc and Owens).

Without cuSPARSE results the speed-up is over the reference algorithm. An algorithm that picks
another one (its records have stats.picked) gets its threshold as a vertical line, and how often it
picked the faster one. The legend has the geometric means, and of how many matrices.
"""

import sys

import common
import drawing
import records

SINGLE = records.FIELDS
CANDIDATES = ("merge", "rowsplit")  # what the figure's heuristic chooses between
THRESHOLD = "threshold"  # its option, or figure in stats


def thresholds(rows):
    """The thresholds that the picking algorithm ran with."""
    found = set()
    for row in rows:
        if "picked" in row["stats"]:
            found.add(records.number(row["options"].get(THRESHOLD, row["stats"].get(THRESHOLD))))
    return sorted(found - {None})


def oracle(found, base):
    """{case: speed-up} of the faster candidate, where all of them ran."""
    of = [common.speedups(found.get(name, {}), base) for name in CANDIDATES]
    return {case: max(each[case] for each in of)
            for case in of[0] if all(case in each for each in of)}


def picks_texts(found, cases, base):
    """The heuristic against the oracle, in lines for the legend; none where it cannot be told."""
    picked = {m: row["stats"]["picked"] for m, row in cases.items() if "picked" in row["stats"]}
    times = {name: {m: row["ms"] for m, row in found.get(name, {}).items()}
             for name in CANDIDATES}
    right, count = common.accuracy(picked, times)
    if not count:
        return []
    texts = ["picks the faster in %.1f %% of %s" % (100 * right / count, count)]
    best = common.geomean(oracle(found, base).values())
    return texts if best is None else texts + ["an oracle would reach %.2f×" % best]


def draw(selection):
    selection = common.without_curve(selection)
    found = common.series(selection.rows)
    base = found[common.baseline(found)]
    look = drawing.styles(found)
    dense = max(len(cases) for cases in found.values()) > drawing.DENSE
    fig, ax = drawing.plt.subplots(figsize=(9, 5.4))
    notes, values, lengths, without = [], [], [], 0
    for name, cases in found.items():
        if cases is base:
            continue
        without += sum(m not in base for m in cases)
        speed = {m: s for m, s in common.speedups(cases, base).items() if cases[m]["row_mean"]}
        if not speed:
            continue
        x = [cases[m]["row_mean"] for m in speed]
        drawing.cloud(ax, x, list(speed.values()), look[name], dense, drawing.picks(cases),
                      "%s  %.2f× (%d)" % (name, common.geomean(speed.values()), len(speed)))
        for text in picks_texts(found, cases, base):
            ax.plot([], [], " ", label=text)
        values += speed.values()
        lengths += x
    if not values:
        drawing.plt.close(fig)
        raise records.NoData("no algorithm has a case in common with %s" % common.baseline(found))
    ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=1)
    for at in thresholds(selection.rows):
        ax.axvline(at, color=drawing.GREY, linewidth=1.2, linestyle="--", zorder=1)
        ax.annotate("%s %g" % (THRESHOLD, at), (at, 1), xycoords=("data", "axes fraction"),
                    xytext=(4, -3), textcoords="offset points", va="top", fontsize=8,
                    color=drawing.GREY)
    drawing.log_axis(ax.xaxis, min(lengths), max(lengths))
    drawing.log_axis(ax.yaxis, min(values), max(values))
    ax.set_xlabel("mean row length (nonzeros per row)")
    vendor = common.baseline(found) == common.VENDOR_BEST
    over = "the best " + common.VENDOR if vendor else "the reference"
    ax.set_ylabel("speed-up over %s (×)" % over)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9,
              title="geometric mean (matrices)")
    if without:
        notes.append("%d results are of matrices without a time of %s." % (without, over))
    if dense:
        notes.append("Lines are running medians.")
    return drawing.finish(fig, "Speed-up over %s by mean row length" % over, selection, notes)


if __name__ == "__main__":
    sys.exit(drawing.main(__file__, __doc__, SINGLE, draw))
