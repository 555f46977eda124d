#!/usr/bin/env python3
"""GFLOPS by matrix, a bar for each algorithm (figure 5 of Yang, Buluc and Owens).

Matrices are in the order of their mean row length. The algorithms of cuSPARSE are one bar, the
best of them for each matrix. A panel whose GFLOPS span a wide range is logarithmic. With more
matrices than bars can show, all are drawn as dots in the order of the baseline's GFLOPS, with
running medians.
"""

import sys

import common
import drawing
import records

SINGLE = records.FIELDS
BARS_MOST = 50  # matrices, above which bars become dots
PANEL_MOST = 16  # matrices side by side
WIDE = 100  # the range of GFLOPS from which a panel is logarithmic


def bars(found, order, facts):
    """Grouped bars, in as many panels below each other as it takes."""
    panels = -(-len(order) // PANEL_MOST)
    share = -(-len(order) // panels)
    fig, axes = drawing.plt.subplots(panels, 1, squeeze=False, gridspec_kw={"hspace": 0.75},
                                     figsize=(max(6.5, 1.6 + 0.72 * share), 3.3 * panels))
    look = drawing.styles(found)
    width = 0.84 / len(found)
    missing = False
    for at, ax in enumerate(axes[:, 0]):
        here = order[at * share:(at + 1) * share]
        for i, (name, cases) in enumerate(found.items()):
            x = [j + (i - (len(found) - 1) / 2) * width for j in range(len(here))]
            y = [cases[m]["gflops"] if m in cases else 0 for m in here]
            ax.bar(x, y, width, color=look[name]["colour"], hatch=look[name]["hatch"], label=name,
                   edgecolor="white", linewidth=0.3)
            none = [xj for xj, m in zip(x, here) if m not in cases]
            ax.plot(none, [0.02] * len(none), "x", color=look[name]["colour"], markersize=4,
                    transform=ax.get_xaxis_transform(), zorder=5)
            missing = missing or bool(none)
        ax.set_xticks(range(len(here)))
        ax.set_xticklabels([tick(facts[m]) for m in here], rotation=35, ha="right",
                           rotation_mode="anchor", fontsize=8)
        ax.set_xlim(-0.6, share - 0.4)
        ax.set_ylabel("GFLOPS")
        drawing.plain_ticks(ax.yaxis)
        values = [cases[m]["gflops"] for cases in found.values() for m in here if m in cases]
        if max(values) > WIDE * min(values):
            drawing.log_axis(ax.yaxis, min(values), max(values))
            ax.set_ylim(min(values) / 2, max(values) * 1.3)
            ax.set_ylabel("GFLOPS (logarithmic)")
        ax.grid(False, axis="x")
    axes[0, 0].legend(loc="lower right", bbox_to_anchor=(1, 1.0), ncol=min(len(found), 6),
                      frameon=False, fontsize=9, borderaxespad=0.2, columnspacing=1.2)
    return fig, ["In parentheses: mean row length."] + ["× : no usable result."] * missing


def tick(row):
    name = row["name"] if len(row["name"]) <= 22 else row["name"][:11] + "…" + row["name"][-10:]
    return name if row["row_mean"] is None else "%s (%s)" % (name, drawing.plain(row["row_mean"]))


def dots(found, order):
    """Every matrix a dot for each algorithm, over the matrices sorted by the baseline."""
    base = common.VENDOR_BEST if common.VENDOR_BEST in found else next(iter(found))
    order = sorted(order, key=lambda m: found[base][m]["gflops"] if m in found[base] else 0)
    place = {m: i + 1 for i, m in enumerate(order)}
    fig, ax = drawing.plt.subplots(figsize=(10, 5.2))
    look = drawing.styles(found)
    for name, cases in found.items():
        drawing.cloud(ax, [place[m] for m in cases], [row["gflops"] for row in cases.values()],
                      look[name], True, drawing.picks(cases), name)
    values = [row["gflops"] for cases in found.values() for row in cases.values()]
    drawing.log_axis(ax.yaxis, min(values), max(values))
    ax.set_xlim(0, len(order) + 1)
    ax.set_xlabel("matrices, in the order of the GFLOPS of " + base)
    ax.set_ylabel("GFLOPS")
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1.0), ncol=min(len(found), 6), frameon=False,
              fontsize=9, borderaxespad=0.2, columnspacing=1.2)
    return fig, ["%d matrices; lines are running medians." % len(order)]


def draw(selection):
    selection = common.without_curve(selection)
    found = common.series(selection.rows)
    facts = {row["matrix"]: row for row in selection.rows}
    order = sorted(facts, key=lambda m: (facts[m]["row_mean"] or 0, m[0]))
    fig, notes = bars(found, order, facts) if len(order) <= BARS_MOST else dots(found, order)
    return drawing.finish(fig, "GFLOPS by matrix", selection, notes)


if __name__ == "__main__":
    sys.exit(drawing.main(__file__, __doc__, SINGLE, draw))
