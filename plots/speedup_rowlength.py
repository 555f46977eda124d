#!/usr/bin/env python3
"""Speed-up over a vendor's best against mean row length (figure 6 of Yang, Buluc and Owens).

Without results of a vendor the speed-up is over the fastest algorithm that is no reference. An
algorithm that chooses another algorithm gets its threshold as a vertical line, and the share of right
choices. The legend has the geometric means over the matrices that all share. The notes have the
medians with their 95 % intervals, and the numbers of matrices that are faster, slower, and without a
result.
"""

import sys

import common
import drawing
import marks
import records
import series
import tables
import words

THRESHOLD = "threshold"  # its option, or figure in stats


def thresholds(rows):
    """Returns the thresholds that the picking algorithm ran with."""
    found = set()
    for row in rows:
        if "picked" in row["stats"]:
            found.add(records.number(row["options"].get(THRESHOLD, row["stats"].get(THRESHOLD))))
    return sorted(found - {None})


def candidates(found, cases):
    """Returns {candidate: its cases} for the algorithms that the algorithm of these cases picks
    from."""
    names = next((row["facts"]["picks"] for row in cases.values() if row["facts"].get("picks")), [])
    return {name: found.get(name, {}) for name in names}


def best_choice(among, base):
    """Returns {case: speed-up} of the fastest candidate, for cases with all candidates."""
    of = [series.speedups(cases, base) for cases in among.values()]
    return {case: max(each[case] for each in of)
            for case in of[0] if all(case in each for each in of)}


def picks_texts(found, cases, base):
    """Returns lines for the legend: the share of right choices, and the mean of the best choice; []
    if unknown."""
    among = candidates(found, cases)
    picked = {m: row["stats"]["picked"] for m, row in cases.items() if "picked" in row["stats"]}
    right, count = common.accuracy(picked, {name: {m: row["ms"] for m, row in of.items()}
                                            for name, of in among.items()})
    if not count:
        return []
    texts = ["chose the fastest on %.1f %% of %s" % (100 * right / count, count)]
    best = common.geomean(best_choice(among, base).values())
    return texts if best is None else texts + ["always the fastest: %s×" % words.times(best)]


def said_of(name, speed, failed):
    """Returns "name 1.2 [1.0, 1.4], faster on 20, slower on 9, failed on 1", from {matrix:
    speed-up}."""
    return "%s %s, faster on %s, slower on %s%s" % (
        name, tables.median_text(speed.values()), marks.count(x for x in speed.values() if x > 1),
        marks.count(x for x in speed.values() if x < 1), ", failed on %d" % failed if failed else "")


def draw(selection):
    selection = common.general(selection)
    found = series.series(selection.rows)
    every = series.series(selection.every)
    over = series.baseline(every)
    base = every[over]
    look = drawing.styles(selection.every + selection.rows)
    dense = max(len(cases) for cases in found.values()) > drawing.DENSE
    fig, ax = drawing.subplots()
    notes, values, lengths, flagged, said = [], [], [], [], []
    failed = tables.failed_of(selection, found)
    others = {name: cases for name, cases in found.items() if name != over}
    without = sum(m not in base for cases in others.values() for m in cases)
    speeds = {name: {m: s for m, s in series.speedups(cases, base).items() if cases[m]["row_mean"]}
              for name, cases in others.items()}
    speeds = {name: speed for name, speed in speeds.items() if speed}
    texts, title = common.means(speeds)
    for name, speed in speeds.items():
        cases = found[name]
        x = [cases[m]["row_mean"] for m in speed]
        drawing.cloud(ax, x, list(speed.values()), look[name], dense, drawing.picks(cases),
                      "%s  %s" % (look[name]["label"], texts[name]))
        said.append(said_of(name, speed, failed[name]))
        choices = picks_texts(every, cases, base)
        if drawing.PAPER:  # no room in its legend
            notes += ["%s: %s." % (name, ", ".join(choices))] * bool(choices)
        else:
            for text in choices:
                ax.plot([], [], " ", label=text)
        flagged += [(cases[m]["row_mean"], x) for m, x in speed.items()
                    if cases[m]["flagged"] or base[m]["flagged"]]
        values += speed.values()
        lengths += x
    if not values:
        drawing.plt.close(fig)
        raise records.NoData("no algorithm has a case in common with %s" % over)
    drawing.flag(ax, flagged, dense)
    ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=1)
    for at in thresholds(selection.rows):
        ax.axvline(at, color=drawing.GREY, linewidth=1.2, linestyle="--", zorder=1)
        ax.annotate("%s %g" % (THRESHOLD, at), (at, 1), xycoords=("data", "axes fraction"),
                    xytext=(4, 1 if drawing.PAPER else -3), textcoords="offset points",
                    va="bottom" if drawing.PAPER else "top", fontsize=8, color=drawing.GREY)
    drawing.log_axis(ax.xaxis, min(lengths), max(lengths))
    drawing.log_axis(ax.yaxis, min(values), max(values))
    ax.set_xlabel("mean row length (nonzeros per row)")
    ax.set_ylabel("speed-up over %s (×)" % look[over]["label"])
    drawing.legend_beside(ax, title)
    notes.append("Medians: %s. %s" % ("; ".join(said), tables.base_text(over, base)))
    if without:
        notes.append("%s of matrices without a time of %s." % (
            words.counted(without, "result is", many="results are"), over))
    if dense:
        notes.append("Lines are running medians.")
    return drawing.finish(fig, "Speed-up over %s by mean row length" % over, selection, notes,
                          series.members(found))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
