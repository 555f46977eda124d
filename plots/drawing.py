"""What the figures share: colours, titles, footnotes, and a script's way from file to image."""

import os
import sys
import textwrap

import common
import records

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("plots: matplotlib is missing (apt install python3-matplotlib)")

# Okabe and Ito's colours, which colour-blind readers can tell apart; grey is the vendor's.
COLOURS = ("#E69F00", "#0072B2", "#D55E00", "#CC79A7", "#009E73", "#56B4E9")
GREY = "#4D4D4D"
MARKERS = "os^Dv<>P"
HATCHES = ("", "///", "...", "xxx")
DENSE = 100  # with more points than this a series gets small dots and a running median

plt.rcParams.update({
    "font.size": 10, "axes.grid": True, "grid.color": "#DDDDDD", "grid.linewidth": 0.6,
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "svg.fonttype": "none", "hatch.linewidth": 0.6, "hatch.color": "white"})


def styles(names):
    """{series: colour, marker, hatch}; an algorithm looks the same in every figure."""
    order = dict(common.algorithm_order())
    for name in sorted(names):
        if not common.is_vendor(name):
            order.setdefault(name.split(" ")[0], len(order))
    found, used = {}, {}
    for name in names:
        if common.is_vendor(name):
            found[name] = {"colour": GREY, "marker": "x", "hatch": ""}
            continue
        at = order[name.split(" ")[0]]
        variant = used[at] = used.get(at, -1) + 1
        found[name] = {"colour": COLOURS[at % len(COLOURS)],
                       "marker": MARKERS[(at + variant) % len(MARKERS)],
                       "hatch": HATCHES[(at // len(COLOURS) + variant) % len(HATCHES)]}
    return found


def picks(cases):
    """Does the algorithm of these cases run another one? Its points lie on those of the other."""
    return any("picked" in row["stats"] for row in cases.values())


def cloud(ax, x, y, style, dense, hollow, label):
    """A series of points: markers where they are few; dots and a running median where many.

    A hollow series lets the points below it be seen: rings where they are few, else the median.
    """
    colour, marker = style["colour"], style["marker"]
    mx, my = common.running_median(x, y) if dense else ([], [])
    if hollow and not dense:
        ax.scatter(x, y, s=110, facecolors="none", edgecolors=colour, linewidths=1.5, zorder=3)
    elif not (hollow and mx):
        edge = {"linewidths": 0.6 if dense else 1.5} if marker == "x" else {"linewidths": 0}
        ax.scatter(x, y, s=6 if dense else 34, color=colour, marker=marker, zorder=2,
                   alpha=max(0.08, min(0.35, 1000 / len(x))) if dense else 0.9, rasterized=dense,
                   **edge)
    ax.plot(mx, my, color="white", linewidth=4, zorder=3)
    ax.plot(mx, my, color=colour, linewidth=2, zorder=4)
    # The legend shows full markers whatever the points look like.
    ring = {"marker": "o", "markerfacecolor": "none", "markersize": 9, "markeredgewidth": 1.5}
    ax.plot([], [], color=colour, linewidth=2 if mx else 0, label=label,
            **(ring if hollow else {"marker": marker, "markersize": 6}))


def line_marks(cases, style):
    """How a line looks: one that lies on another is dashed, with large rings."""
    if picks(cases):
        return {"linestyle": "--", "linewidth": 1.4, "marker": "o", "markersize": 10,
                "markerfacecolor": "none"}
    return {"linewidth": 1.6, "marker": style["marker"], "markersize": 5}


def plain(x):
    """0.5, 2, 10,000: without exponents."""
    return "{:,.0f}".format(x) if abs(x) >= 1000 else "%.3g" % x


def plain_ticks(axis):
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: plain(x)))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def log_axis(axis, low, high):
    """A logarithmic axis with enough labels whether it spans half a decade or six."""
    axis.axes.set_xscale("log") if axis.axis_name == "x" else axis.axes.set_yscale("log")
    span = high / low
    subs = (1, 1.5, 2, 3, 5, 7) if span < 8 else (1, 2, 5) if span < 2000 else (1,)
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=subs, numticks=20))
    plain_ticks(axis)


def finish(fig, title, selection, notes):
    """Title on top, what was left out at the foot, both outside of everything that is there."""
    boxes = [ax.get_tightbbox(fig.canvas.get_renderer()) for ax in fig.axes]
    to_fig = fig.transFigure.inverted().transform
    left, low = to_fig((min(box.x0 for box in boxes), min(box.y0 for box in boxes)))
    right, top = to_fig((max(box.x1 for box in boxes), max(box.y1 for box in boxes)))
    inch = 1 / fig.get_figheight()
    width = (right - left) * fig.get_figwidth()
    about = textwrap.fill(selection.about, int(13 * width))
    fig.text(left, top + 0.12 * inch, about, va="bottom", fontsize=10, color="#444444")
    fig.text(left, top + (0.34 + 0.18 * about.count("\n")) * inch, title, va="bottom",
             fontsize=12, weight="bold")
    foot = textwrap.fill(" ".join(common.footnotes(selection) + notes), int(16 * width))
    fig.text(left, low - 0.12 * inch, foot, va="top", fontsize=8, color="#555555")
    return fig


def save(fig, path):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    fig.savefig(path, dpi=150, bbox_inches="tight", pad_inches=0.15)
    plt.close(fig)


def main(script, doc, single, draw):
    """The whole of a script: returns 0, or 1 with one line that says why there is no picture."""
    name = os.path.splitext(os.path.basename(script))[0]

    def more(parser):
        parser.add_argument("-o", "--output", metavar="FILE", help="default: %s.png" % name)
        parser.add_argument("--format", choices=("png", "svg"), help="default: by FILE, else png")

    args = common.arguments(doc, more=more)
    path = args.output or "%s.%s" % (name, args.format or "png")
    if os.path.splitext(path)[1] not in (".png", ".svg"):
        path += "." + (args.format or "png")
    try:
        selection = common.choose(records.read(args.results), common.wanted_from(args), single)
        save(draw(selection), path)
    except (records.NoData, OSError) as error:
        print("%s: %s" % (name, error), file=sys.stderr)
        return 1
    if selection.others:
        print("%s: %d other sets of cases in the file; choose with %s"
              % (name, selection.others, " ".join("-" + field for field in single)),
              file=sys.stderr)
    print(path)
    return 0
