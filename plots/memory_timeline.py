#!/usr/bin/env python3
"""Memory in use over the time of one run that makes its result from nothing (figure 9 of Niu et
al.), a panel for each matrix, a line for each algorithm.

Every allocation and release is a step; the operands are included from the start. The run is a
separate one that waits between phases. The matrices are those of -matrix, else those with most
FLOPs. A vendor is the fastest of its algorithms. A line that takes much longer than the others is
cut off, with its end written beside. Memory is on a logarithmic axis if the peaks of a matrix differ
much. Algorithms without a usable result are named below the matrix, as far as there is room.
"""

import statistics
import sys
import textwrap

import drawing
import records
import series
import words

MOST = 6  # matrices, if none are chosen
PANELS_MOST = 30  # most chosen matrices
NAME_MOST = 36  # characters of a name above a panel
WHY_WIDE, WHY_LINES = 62, 2  # characters and lines of the text on failures
LONG = 4  # limit of a line, over the median of the ends: longer lines are cut off
LITTLE = 1.5  # unless the longest is within this factor of the limit
APART = 8  # ratio of the peaks of a matrix from which the axis is logarithmic


def steps(row):
    """Returns the row's moments as two lists, up to the end of its last phase."""
    ms, use = map(list, zip(*row["timeline"]))
    end = max(ms[-1], sum(row["phases"].values()))
    return ms + [end], use + use[-1:]


def choose(found, most):
    """Returns the matrices with most work."""
    facts = {m: row for cases in found.values() for m, row in cases.items()}
    return sorted(facts, key=lambda m: -(facts[m]["flops"] or 0))[:most]


def far_apart(lines):
    """Returns True if the peaks of {series: (ms, bytes)} differ so much that the least would look
    flat."""
    peaks = [max(use) for _, use in lines.values()]
    return max(peaks) > APART * min(peaks)


def panel(ax, lines, look, log):
    """Draws {series: (ms, bytes)} into one panel."""
    ends = {name: ms[-1] for name, (ms, _) in lines.items()}
    limit = LONG * statistics.median(ends.values())
    if max(ends.values()) <= LITTLE * limit:
        limit = max(ends.values())
    top = max(max(use) for _, use in lines.values())
    unit, text = (1e9, "GB") if top >= 1e9 else (1e6, "MB")
    for name, (ms, use) in lines.items():
        ax.step(ms, [x / unit for x in use], where="post", color=look[name]["colour"],
                linewidth=1.6, linestyle=look[name]["line"])
        if ends[name] <= limit:
            ax.plot(ms[-1], use[-1] / unit, look[name]["marker"], color=look[name]["colour"],
                    markersize=6)
        else:
            last = max(i for i, x in enumerate(ms) if x <= limit)
            ax.annotate("%s ms →" % drawing.plain(ends[name]), (limit, use[last] / unit),
                        xytext=(-2, 3), textcoords="offset points", ha="right", fontsize=8,
                        color=look[name]["colour"])
    ax.set_xlim(0, limit * 1.03)
    ax.locator_params(axis="x", nbins=5)
    drawing.plain_ticks(ax.xaxis)
    drawing.plain_ticks(ax.yaxis)
    if log:
        least = min(min(use) for _, use in lines.values())
        drawing.log_axis(ax.yaxis, least, top)
        ax.set_ylim(least / unit / 1.3, top / unit * 1.6)
    else:
        ax.set_ylim(0, top / unit * 1.08)
    ax.set_ylabel(text + " (log)" * log)


def failed_text(why, look, m):
    """Returns "oom: a, b; failed: c" of the failed cases of the matrix, cut to the room below it."""
    names = {}
    for name, of in why.items():
        if m in of:
            names.setdefault(of[m], []).append(look[name]["label"])
    text = "; ".join("%s: %s" % (drawing.shown(status), ", ".join(failed))
                     for status, failed in names.items())
    count = sum(map(len, names.values()))
    lines = textwrap.wrap(text, WHY_WIDE)
    if len(lines) > WHY_LINES:
        lines = textwrap.wrap("%d failed: %s" % (count, text), WHY_WIDE)[:WHY_LINES]
        lines[-1] += " …"
    return "\n".join(lines)


def has(row):
    return row["timeline"]


def draw(selection):
    rows = list(filter(has, selection.rows))
    found = series.series(rows)
    chosen = choose(found, PANELS_MOST if selection.named else MOST)
    if not chosen:
        raise records.NoData("no result has memory over time")
    why = series.failures(selection, found)
    look = drawing.styles(rows + selection.left)
    titles = drawing.labels({m: m[0] for m in chosen}, NAME_MOST)
    columns = drawing.side_by_side(min(len(chosen), 3 if len(chosen) > 4 else 2))
    count = -(-len(chosen) // columns)
    texts = {m: failed_text(why, look, m) for m in chosen}
    most = max(len(text.splitlines()) for text in texts.values())
    fig, axes = drawing.subplots(
        count, columns, squeeze=False, size=(max(6.5, 3.9 * columns), 2.9 * count),
        gridspec_kw={"hspace": 0.46 + 0.08 * most, "wspace": 0.36})
    drawn = set()
    lines = {m: {name: steps(cases[m]) for name, cases in found.items() if m in cases}
             for m in chosen}
    log = any(map(far_apart, lines.values()))
    for ax, m in zip(axes.flat, chosen):
        drawn |= set(lines[m])
        panel(ax, lines[m], look, log)
        ax.set_title(titles[m], fontsize=9, loc="left", pad=6 + 10 * len(texts[m].splitlines()))
        ax.text(0, 1.03, texts[m], fontsize=7, color=drawing.GREY, transform=ax.transAxes)
    for ax in axes.flat[len(chosen):]:
        ax.remove()
    for ax in fig.axes[-columns:]:
        ax.set_xlabel("ms")
    for name in [name for name in found if name in drawn]:
        axes[0, 0].plot([], [], color=look[name]["colour"], marker=look[name]["marker"],
                        linewidth=1.6, linestyle=look[name]["line"],
                        label=look[name]["label"])
    drawing.legend_beside(axes[0, columns - 1], handles=axes[0, 0].get_legend_handles_labels()[0])
    others = len({row["matrix"] for row in rows}) - len(chosen)
    notes = ["%s not here; choose with -matrix." % words.counted(
        others, "other matrix is", many="other matrices are")] if others else []
    return drawing.finish(fig, "Memory over the time of one run", selection, notes,
                          [row for row in series.members(found) if row["matrix"] in chosen])


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
