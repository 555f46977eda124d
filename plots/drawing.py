"""Shared code of figures: colours, titles, footnotes, and main() from a file of records to an image.

A text from the records is drawn through shown() or labels(). finish() does the
same with its texts: no formula, one line, only characters that the fonts have.
"""

import functools
import importlib
import io
import os
import shutil
import subprocess
import sys
import textwrap
import zlib

import captions
import common
import records
import series
import words

matplotlib = plt = None  # until load()
PAPER = False  # -paper: for a column of a paper, see fit_paper()

# Okabe and Ito's colours, which colour-blind readers can tell apart; grey is a vendor's.
COLOURS = ("#E69F00", "#0072B2", "#D55E00", "#CC79A7", "#009E73", "#56B4E9")
GREY = "#4D4D4D"
# Colours of families: SALT and the name of a family give the place. With this SALT no two families of an
# operation of the program have one colour; tests/plots/plots_general.py looks at `spbench list`.
FAMILIES = ("#56B4E9", "#332288", "#CC79A7", "#882255", "#0072B2", "#009E73", "#86BC25", "#999933",
            "#E69F00", "#6B4226", "#D55E00", "#AA4499", "#117733", "#DDCC77")
SALT = 45047083
MARKERS = "os^Dv<>8"  # markers by colour
THIN = "x+1234|_"  # markers of vendors
RINGS = "osDh"  # markers of algorithms that pick another: points below stay visible
VARIANTS = "PXd*ph"  # markers of the second and later series of a colour
HATCHES = ("", "///", "...", "xxx")
LINES = ("-", (0, (5, 1.5)), ":", "-.")
LABEL_MOST = 40  # most characters of a name
HOLLOW = {"facecolors": "white", "edgecolors": "black", "zorder": 6, "clip_on": False}
FLAGGED = "busy or throttled (%d)"
FLAG_SIZE = 5  # the marks of a series are larger: their colour is seen around it
FORMATS = ("png", "svg", "pdf")  # formats of an image, chosen by the ending of its name
DENSE = 100  # with more points than this a series gets small dots and a running median

LOOK = {"font.size": 10, "axes.grid": True, "grid.color": "#DDDDDD", "grid.linewidth": 0.6,
        "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
        "svg.fonttype": "none", "pdf.fonttype": 42, "hatch.linewidth": 0.6, "hatch.color": "white"}

WIDTH, LETTERS = 3.35, 8  # figure for a paper: inches, points
LETTERS_WIDE, EDGE = 15, 0.02  # letters in an inch; inches around what is drawn
SMALLER, PAPER_DPI = 0.75, 300  # marks and resolution of a figure for a paper
PAPER_SPAN = 100  # with -paper an axis has as few labels as an axis of this many times its range
LEAST_HIGH = 1.5  # least inches of a row of panels
PAPER_LOOK = {"font.size": LETTERS, **dict.fromkeys((
    "axes.labelsize", "axes.titlesize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize",
    "legend.title_fontsize"), LETTERS)}
AGAIN = "SPBENCH_PLOTS_PYTHON"  # set if a script runs a second time, with another Python


def load(paper=False):
    """Imports matplotlib, which help and text do not need. If matplotlib is missing, runs the script again
    with the Python of other_python()."""
    global matplotlib, plt, PAPER
    PAPER = paper
    try:
        matplotlib = importlib.import_module("matplotlib")
        matplotlib.use("Agg")
        plt = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        other = None if AGAIN in os.environ else other_python()
        if not other:
            sys.exit("plots: matplotlib is missing (apt install python3-matplotlib)")
        os.environ[AGAIN] = other
        os.execv(other, [other] + sys.argv)
    plt.rcParams.update({**matplotlib.rcParamsDefault, "backend": "Agg", **LOOK, **(PAPER_LOOK if paper else {})})


def other_python():
    """The path of a Python that has matplotlib, or None: /usr/bin/python3, or the first of PATH."""
    found = (shutil.which("python3", path=folder) for folder in
             ["/usr/bin"] + os.environ.get("PATH", "").split(os.pathsep))
    return next((path for path in dict.fromkeys(filter(None, found)) if subprocess.run(
        [path, "-c", "import matplotlib"], stderr=subprocess.DEVNULL, check=False).returncode == 0), None)


def subplots(high=1, wide=1, size=(9, 5.4), **more):
    """Returns a figure and its panels. With -paper the figure is as wide as a column."""
    if PAPER:
        size = WIDTH, max(size[1] * WIDTH / size[0], LEAST_HIGH * high) + 0.6
    return plt.subplots(high, wide, figsize=size, **more)


def side_by_side(columns):
    """The number of panels side by side: `columns`, or 1 with -paper."""
    return 1 if PAPER else columns


@functools.lru_cache(None)
def has_glyph(c):
    """Returns True if the fonts of texts and of titles have this character."""
    fonts = matplotlib.font_manager
    found = [fonts.findfont(fonts.FontProperties(weight=weight)) for weight in ("normal", "bold")]
    return all(fonts.get_font(path).get_char_index(ord(c)) for path in found)


def no_formula(text):
    """Returns the text escaped for matplotlib, which reads text between dollars as a formula and
    hides labels that begin with _."""
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def shown(text, most=None):
    """Returns the text as it is drawn, of at most `most` characters."""
    return no_formula(words.visible(text, most, has_glyph))


def labels(names, most=LABEL_MOST):
    """Returns {key: name as it is drawn} of {key: name}. The names are short and distinct."""
    return {key: no_formula(text) for key, text in words.distinct(names, most, has_glyph).items()}


def styles(rows):
    """Returns {series: label, colour, marker, ring, hatch, line} of these rows. An algorithm has
    one colour in every figure. A tuned form has the colour of its algorithm."""
    family, found, used = series.families(rows), {}, set()
    for name, row in series.in_order({series.name_of(row): row for row in rows}, rows).items():
        vendor = bool(series.vendor_of(row))
        first, variant = family.get(row["alg"], (row["alg"], 0))
        at = 0 if vendor else zlib.crc32(("%d %s" % (SALT, first)).encode("utf-8", "replace")) % len(FAMILIES)
        while (vendor, at, variant) in used:
            variant += 1
        used.add((vendor, at, variant))
        markers = THIN if vendor else MARKERS[at % len(MARKERS)] + VARIANTS
        found[name] = {"colour": GREY if vendor else FAMILIES[at],
                       "marker": markers[variant % len(markers)],
                       "ring": RINGS[at // len(COLOURS) % len(RINGS)],
                       "hatch": HATCHES[(2 * (at // len(COLOURS)) + variant) % len(HATCHES)],
                       "line": LINES[(2 * (at // len(COLOURS)) + variant) % len(LINES)]}
    return labelled(found)


def labelled(look):
    label = labels({name: name for name in look})
    return {name: {**style, "label": label[name]} for name, style in look.items()}


def palette(names):
    """Returns styles() of names that are no algorithms."""
    found = {}
    for i, name in enumerate(names):
        again = i // len(COLOURS)
        found[name] = {"colour": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)],
                       "ring": RINGS[again % len(RINGS)],
                       "hatch": HATCHES[again % len(HATCHES)], "line": LINES[again % len(LINES)]}
    return labelled(found)


def pale(colour):
    return tuple(0.4 * part + 0.6 for part in matplotlib.colors.to_rgb(colour))


def picks(cases):
    """Returns True if the algorithm of these cases runs another one. Its points lie on those of the
    other."""
    return any(row["facts"].get("picks") for row in cases.values())


def flag(ax, points, dense=False, said=True):
    """Draws a hollow middle on the (x, y) of times that may be too long. Adds a line to the legend."""
    if points:
        ax.scatter(*zip(*points), s=3 if dense else FLAG_SIZE, linewidths=0.4 if dense else 0.7, **HOLLOW)
    if said:
        flag_legend(ax, len(points))


def flag_legend(ax, count):
    if count:
        ax.scatter([], [], s=FLAG_SIZE, linewidths=0.7, label=FLAGGED % count, **HOLLOW)


def cloud(ax, x, y, style, dense, hollow, label):
    """Draws a series of points: markers for few points; dots and a running median for many.

    Points below a hollow series stay visible: few points are rings, many are only the median.
    """
    colour, marker = style["colour"], style["marker"]
    mx, my = common.running_median(x, y) if dense else ([], [])
    if hollow and not dense:
        ax.scatter(x, y, s=110, facecolors="none", edgecolors=colour, linewidths=1.5, zorder=3,
                   marker=style["ring"])
    elif not (hollow and mx):
        edge = {"linewidths": 0.6 if dense else 1.5} if marker in THIN else {"linewidths": 0}
        ax.scatter(x, y, s=6 if dense else 34, color=colour, marker=marker, zorder=2,
                   alpha=max(0.08, min(0.35, 1000 / len(x))) if dense else 0.9, rasterized=dense,
                   **edge)
    ax.plot(mx, my, color="white", linewidth=4, zorder=3)
    ax.plot(mx, my, color=colour, linewidth=2, linestyle=style["line"], zorder=4)
    # The legend shows full markers for all series.
    ring = {"marker": style["ring"], "markerfacecolor": "none", "markersize": 9,
            "markeredgewidth": 1.5}
    ax.plot([], [], color=colour, linewidth=2, linestyle=style["line"] if mx else "none",
            label=label, **(ring if hollow else {"marker": marker, "markersize": 6}))


def dots(points, look, x_label, y_label, hollow=(), flagged=(), log_x=True):
    """Draws {series: (x, y)} for cases that are too many for bars. Returns the figure and its
    notes. flagged: (x, y) of times that may be too long."""
    fig, ax = subplots(size=(10, 5.2))
    every_x, every_y = ([v for pair in points.values() for v in pair[i]] for i in (0, 1))
    dense = len(every_x) > DENSE
    for name, (x, y) in points.items():
        cloud(ax, x, y, look[name], dense, name in hollow, look[name]["label"])
    flag(ax, flagged, dense)
    if log_x:
        log_axis(ax.xaxis, min(every_x), max(every_x))
    log_axis(ax.yaxis, min(every_y), max(every_y))
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    legend_above(ax)
    return fig, ["Lines are running medians."] * dense


def line_marks(cases, style):
    """Returns the style of a line. A line that lies on another is dashed, with large rings."""
    if picks(cases):
        return {"linestyle": "--", "linewidth": 1.4, "marker": "o", "markersize": 10,
                "markerfacecolor": "none"}
    return {"linestyle": style["line"], "linewidth": 1.6, "marker": style["marker"],
            "markersize": 5}


def plain(x):
    """Returns the number without an exponent: 0.5, 2, 10,000."""
    return "{:,.0f}".format(x) if abs(x) >= 1000 else "%.3g" % x


def plain_ticks(axis):
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: plain(x)))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def log_axis(axis, low, high):
    """Makes the axis logarithmic, with enough labels for a range from half a decade to six."""
    axis.axes.set_xscale("log") if axis.axis_name == "x" else axis.axes.set_yscale("log")
    span = high / low * (PAPER_SPAN if PAPER else 1)
    subs = (1, 1.5, 2, 3, 5, 7) if span < 8 else (1, 2, 5) if span < 2000 else \
        (1, 3) if span < 1e5 else (1,)
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=subs, numticks=20))
    plain_ticks(axis)


def whole_ticks(axis):
    """Sets ticks at whole numbers only."""
    axis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))


def legend_beside(ax, title=None, handles=None):
    """Draws a legend at the right of the axes, with these handles or with those of the axes."""
    more = {"handles": handles} if handles else {}
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9, title=title, **more)


def legend_above(ax):
    """Draws a legend on top of the axes, at the right, in as many rows as needed; flags last."""
    of = sorted(zip(*ax.get_legend_handles_labels()), key=lambda mark: mark[1].startswith(FLAGGED[:-4]))
    inches = [0.6 + 0.075 * max(map(len, label.split("\n"))) for _, label in of]
    wide = ax.figure.get_figwidth()
    columns = len(inches) if sum(inches) < wide else int(wide / max(inches, default=wide))
    ax.legend(*zip(*of), loc="lower right", bbox_to_anchor=(1, 1), ncol=max(1, columns),
              frameon=False, fontsize=9, borderaxespad=0.2, columnspacing=1.2)


def wrapped(text, width):
    """Returns the text as it is drawn, in lines of at most `width` characters."""
    return no_formula(textwrap.fill(words.visible(text, None, has_glyph), width))


def finish(fig, title, selection, notes, rows):
    """Adds the title above the figure and the notes below, both outside all panels. The texts are
    as in the records; `rows` are the drawn rows. The figure keeps the data of its caption."""
    fig.said = {"title": title, "selection": selection, "notes": notes, "rows": rows}
    if PAPER:
        return fit_paper(fig)
    boxes = [ax.get_tightbbox(fig.canvas.get_renderer()) for ax in fig.axes]
    to_fig = fig.transFigure.inverted().transform
    left, low = to_fig((min(box.x0 for box in boxes), min(box.y0 for box in boxes)))
    right, top = to_fig((max(box.x1 for box in boxes), max(box.y1 for box in boxes)))
    inch = 1 / fig.get_figheight()
    width = (right - left) * fig.get_figwidth()
    about = wrapped(selection.about, int(13 * width))
    fig.text(left, top + 0.12 * inch, about, va="bottom", fontsize=10, color="#444444")
    fig.text(left, top + (0.34 + 0.18 * about.count("\n")) * inch,
             wrapped(title, int(10 * width)), va="bottom", fontsize=12, weight="bold")
    notes = " ".join(common.footnotes(selection) + notes)
    foot = wrapped(notes, int(16 * width)) if notes else ""
    fig.text(left, low - 0.12 * inch, foot, va="top", fontsize=8, color="#555555")
    return fig


def fit_paper(fig):
    """Fits the figure to a column of a paper: text of LETTERS points, one legend on top, WIDTH wide.
    Returns the figure."""
    handles, title = {}, None
    fig.set_dpi(PAPER_DPI)
    for ax in fig.axes:
        legend = ax.get_legend()
        if legend:
            texts = [text.get_text() for text in legend.get_texts()]
            handles = {**dict(zip(texts, handles_of(legend))), **handles}
            title = title or legend.get_title().get_text() or None
            legend.remove()
    for text in fig.findobj(matplotlib.text.Text):
        text.set_fontsize(LETTERS)
    for marks in fig.findobj(matplotlib.collections.PathCollection):
        marks.set_sizes(marks.get_sizes() * SMALLER ** 2)
    for line in fig.findobj(matplotlib.lines.Line2D):
        line.set_markersize(line.get_markersize() * SMALLER)
    for ax in fig.axes:
        box, room = ax.get_position(), fig.subplotpars
        wide = box.width / (room.right - room.left) * (WIDTH - 0.7)
        for axis, inches in ((ax.xaxis, wide), (ax.yaxis, box.height * fig.get_figheight())):
            axis.set_label_text(textwrap.fill(axis.get_label_text(), int(LETTERS_WIDE * inches)))
    for _ in range(3):  # the labels of an axis change with its length
        box, room = extent_of(fig), fig.subplotpars
        right = room.right + 1 - (box.x1 + EDGE) / WIDTH
        fig.subplots_adjust(left=min(room.left - (box.x0 - EDGE) / WIDTH, right - 0.1), right=right)
    move_apart(fig)
    top = extent_of(fig).y1 / fig.get_figheight()
    for columns in range(min(4, len(handles)), 0, -1):
        legend = fig.legend(handles.values(), handles, loc="lower center", bbox_to_anchor=(0.5, top), title=title,
                            ncol=columns, frameon=False, columnspacing=1, handlelength=1.6, borderaxespad=0.2)
        if columns == 1 or legend.get_window_extent().width <= WIDTH * fig.dpi:
            return fig
        legend.remove()
    return fig


def move_apart(fig):
    """Increases the height until the names below a row of panels end above the next row."""
    grid = fig.axes[0].get_subplotspec().get_gridspec()
    if grid.nrows == 1:
        return
    boxes = [(ax.get_subplotspec(), ax.get_window_extent(), ax.get_tightbbox(fig.canvas.get_renderer()))
             for ax in fig.axes]
    gap = (max(inner.y0 - outer.y0 for at, inner, outer in boxes if not at.is_last_row()) +
           max(outer.y1 - inner.y1 for at, inner, outer in boxes if not at.is_first_row())) / fig.dpi + 4 * EDGE
    high = boxes[0][1].height / fig.dpi
    whole = grid.nrows * high + (grid.nrows - 1) * gap
    fig.set_size_inches(WIDTH, whole + 1)
    fig.subplots_adjust(bottom=0.5 / (whole + 1), top=1 - 0.5 / (whole + 1))
    grid.update(hspace=gap / high)


def handles_of(legend):
    """Returns the marks of a legend; their attribute was renamed in matplotlib 3.7."""
    return getattr(legend, "legend_handles", None) or legend.legendHandles


def extent_of(fig):
    """Returns the box of everything drawn, in inches."""
    fig.canvas.draw()
    return fig.get_tightbbox(fig.canvas.get_renderer())


def box_of(fig):
    """Returns arguments of savefig(): the figure is as wide as a column of a paper, else as its
    content."""
    if not PAPER:
        return {"dpi": 150, "bbox_inches": "tight", "pad_inches": 0.15}
    box = extent_of(fig)
    return {"dpi": PAPER_DPI, "pad_inches": 0, "bbox_inches": matplotlib.transforms.Bbox.from_extents(
        0, box.y0 - EDGE, WIDTH, box.y1 + EDGE)}


def write_png(fig, path):
    """Writes the image with a palette of 256 colours: a quarter of the bytes, no visible
    difference."""
    import PIL.Image  # a dependency of matplotlib
    whole = io.BytesIO()
    fig.savefig(whole, format="png", pil_kwargs={"compress_level": 1}, **box_of(fig))
    with PIL.Image.open(whole) as image:
        image.convert("RGB").quantize(256, PIL.Image.FASTOCTREE).save(path)


def save(fig, path, module):
    """Writes the image, and its caption beside it; returns the caption."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    if path.endswith(".png"):
        write_png(fig, path)
    else:
        fig.savefig(path, **box_of(fig))
    plt.close(fig)
    caption = captions.of(module, fig.said)
    captions.write(caption, captions.path_of(path))
    return caption


def add_options(parser):
    """Adds the options that concern images."""
    parser.add_argument("-format", "--format", choices=FORMATS, help="default: by FILE, else png")
    parser.add_argument("-paper", "--paper", action="store_true", help="for a column of a paper: %g in wide, "
                        "text of %d points, no title and no foot" % (WIDTH, LETTERS))


def main(module):
    """Runs a script. Returns 0, or 1 after one line with the reason why there is no figure.

    The script is a module with draw(selection). An optional has(row) says if a row has the data of
    the figure. A figure has all values of the fields in MIXES. An optional more(parser) adds
    options; draw() then also gets the options.
    """
    name = os.path.splitext(os.path.basename(module.__file__))[0]
    more, mixes = getattr(module, "more", None), getattr(module, "MIXES", ())

    def options(parser):
        parser.add_argument("-o", "--output", metavar="FILE", help="default: %s.png" % name)
        add_options(parser)
        if more:
            more(parser)

    args = common.arguments(module.__doc__, options)
    load(args.paper)
    path = args.output or "%s.%s" % (name, args.format or "png")
    if os.path.splitext(path)[1][1:] not in FORMATS:
        path += "." + (args.format or "png")
    try:
        rows = records.read(args.results, args.time)
        selection = common.choose(rows, args, mixes, getattr(module, "has", None))
        save(module.draw(selection, args) if more else module.draw(selection), path, module)
    except (records.NoData, OSError) as error:
        print("%s: %s" % (name, words.visible(str(error))), file=sys.stderr)
        return 1
    if selection.others:
        fields = " ".join("-" + field for field in common.fields_of(rows, mixes, args.mixed))
        print("%s: drawn: %s; %s of cases: choose with %s" % (name, words.visible(selection.about), words.counted(
            selection.others, "other set", many="other sets"), words.visible(fields)), file=sys.stderr)
    if selection.more:
        print("%s: %s: choose with -alg" % (name, words.counted(
            len(selection.more), "more series", many="more series")), file=sys.stderr)
    print(path)
    return 0
