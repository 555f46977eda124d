#!/usr/bin/env python3
"""Speed of the newest version of a vendor's library over the oldest, sorted, a line for each of its
algorithms and one for the best of them.

Both versions ran the same case. A record that does not say how runs were launched is not compared
with a record that does. Over 1 the newer version is faster. The legend has the geometric means over
the matrices that all lines share. The best of a version is of the algorithms that both versions have
on a matrix.
"""

import re
import sys
from types import SimpleNamespace

import common
import drawing
import records
import series
import words

BEST = "the best of each"


def order_of(library):
    """12.10 comes behind 12.9."""
    return [int(digits) for digits in re.findall(r"\d+", library)], library


def has(row):
    return series.vendor_of(row) and row["library"]


def compared(rows):
    """The oldest and the newest version, {algorithm: {matrix: (old row, new row)}}, and sentences on
    what is not in it."""
    rows = list(filter(has, rows))
    libraries = sorted({row["library"] for row in rows}, key=order_of)
    found = SimpleNamespace(old=libraries[0] if libraries else "", pairs={}, said=[],
                            new=libraries[-1] if libraries else "")
    if len(libraries) < 2:
        return found
    of_case = {}
    for row in rows:
        case = row["alg"], records.option_text(row["options"]), row["matrix"]
        of_case.setdefault(case, {})[row["library"]] = row
    apart = differ = 0
    for (alg, options, m), of in of_case.items():
        old, new = of.get(found.old), of.get(found.new)
        if old and new and (old["timed"] is None) == (new["timed"] is None):
            differ += old["timed"] != new["timed"]
            found.pairs.setdefault(" ".join(filter(None, (alg, options))), {})[m] = old, new
        else:
            apart += bool(old and new)
    if found.pairs:
        found.pairs[BEST] = best_of(found.pairs)
    found.said = ["%s a graph with one version alone." % words.counted(
        differ, "case was", many="cases were")] * bool(differ)
    found.said += ["%s not compared: timed in different ways." % words.counted(
        apart, "case is", many="cases are")] * bool(apart)
    found.said += ["Not in it: %s." % ", ".join(libraries[1:-1])] * (len(libraries) > 2)
    return found


def best_of(pairs):
    """{matrix: (old row, new row)}, of each version the fastest of those algorithms."""
    found = {}
    for of in pairs.values():
        for m, (old, new) in of.items():
            before = found.get(m, (old, new))
            found[m] = (min(before[0], old, key=lambda row: row["ms"]),
                        min(before[1], new, key=lambda row: row["ms"]))
    return found


def draw(selection):
    selection = common.without_curve(selection)
    found = compared(selection.rows)
    if not found.pairs:
        raise records.NoData(" ".join(found.said) or "no case of two versions of a vendor's library")
    look = drawing.palette([name for name in found.pairs if name != BEST])
    look.update(drawing.labelled({BEST: {"colour": "black", "marker": "", "line": "-"}}))
    fig, ax = drawing.plt.subplots(figsize=(9, 5.2))
    values, flagged = [], []
    texts, title = common.means({name: {m: old["ms"] / new["ms"] for m, (old, new) in of.items()}
                                 for name, of in found.pairs.items()})
    for name, of in found.pairs.items():
        order = sorted(of.values(), key=lambda pair: pair[0]["ms"] / pair[1]["ms"])
        y = [old["ms"] / new["ms"] for old, new in order]
        x = [(i + 0.5) / len(y) * 100 for i in range(len(y))]
        ax.plot(x, y, color=look[name]["colour"], linestyle=look[name]["line"],
                marker=look[name]["marker"], markersize=3.5, linewidth=2.2 if name == BEST else 1.3,
                label="%s  %s" % (look[name]["label"], texts[name]))
        flagged += [(at, ratio) for at, ratio, pair in zip(x, y, order)
                    if any(row["flagged"] for row in pair)]
        values += y
    drawing.flag(ax, flagged)
    ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=1)
    drawing.log_axis(ax.yaxis, min(values), max(values))
    ax.set_xlim(0, 100)
    ax.set_xlabel("share of the matrices (%)")
    ax.set_ylabel("time with %s /\ntime with %s" % (drawing.shown(found.old, 30),
                                                    drawing.shown(found.new, 30)))
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9,
              title=title)
    best = [old["ms"] / new["ms"] for old, new in found.pairs[BEST].values()]
    notes = ["The best: %s is faster on %d of %d, slower on %d." % (
        found.new, sum(x > 1 for x in best), len(best), sum(x < 1 for x in best))] + found.said
    rows = {id(row): row for of in found.pairs.values() for pair in of.values() for row in pair}
    return drawing.finish(fig, "%s over %s" % (found.new, found.old), selection, notes,
                          list(rows.values()))


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
