"""Grouped bars by matrix in several panels, with the names of the matrices below them."""

import drawing

MATRICES_MOST = 50  # of a figure with bars; with more matrices bars become dots
# Most bars of a figure (more become dots); most matrices and bars of a panel. PAPER_LIMITS: for a paper.
LIMITS, PAPER_LIMITS = (640, 50, 96), (192, 18, 48)
FAILED = "×"  # replaces a word with -paper
WORD_MOST = 14  # characters of a word
NAME_MOST = 22  # characters of a name below bars
WIDE = 100  # the range of numbers from which an axis is logarithmic
BLANK = ["Neither bar nor word: not measured."]
SPAN_LEAST = 0.04  # least width of a drawn interval, as a part of the number
SPANS = ["Lines at the ends of bars: 95 %% intervals wider than %g %%." % (100 * SPAN_LEAST)]


def limits():
    return PAPER_LIMITS if drawing.PAPER else LIMITS


def too_many(matrices, each):
    """Returns True if `matrices` groups of `each` bars would be too many to distinguish."""
    return matrices > MATRICES_MOST or matrices * each > limits()[0]


def ticks(rows, numbers=None):
    """Returns {matrix: its name and its number} of {matrix: row}, short enough for a label below
    bars."""
    names = drawing.labels({m: row["name"] for m, row in rows.items()}, NAME_MOST)
    return {m: name if numbers is None or numbers[m] is None
            else "%s (%s)" % (name, drawing.plain(numbers[m])) for m, name in names.items()}


def panels(order, each, high=3.3):
    """Returns a figure and [(panel, its matrices)]. The panels are below each other and have `each`
    bars per matrix."""
    count = -(-len(order) // max(2, min(limits()[1], limits()[2] // each)))
    wide = max(0.36, 0.144 * each)
    share = -(-len(order) // count)
    fig, axes = drawing.subplots(count, squeeze=False, gridspec_kw={"hspace": 0.75},
                                 size=(max(6.5, 1.6 + wide * share), high * count))
    parts = [order[at * share:(at + 1) * share] for at in range(count)]
    for ax in axes[:, 0]:
        ax.set_xlim(-0.6, share - 0.4)
        ax.grid(False, axis="x")
    return fig, list(zip(axes[:, 0], parts))


def name_ticks(ax, names):
    ax.set_xticks(range(len(names)))
    ax.set_xticklabels(names, rotation=35, ha="right", rotation_mode="anchor", fontsize=8)


def scale(ax, numbers, label):
    """Scales the axis for bars of these numbers. Returns the foot of the bars: 0, or the lower end
    of a logarithmic axis if the range is wide."""
    low, high = min(numbers), max(numbers)
    drawing.plain_ticks(ax.yaxis)
    if high <= WIDE * low:
        ax.set_ylim(0, 1.05 * high)
        ax.set_ylabel(label, fontsize=9)
        return 0
    drawing.log_axis(ax.yaxis, low, high)
    ax.set_ylim(low / 2, high * 1.3)
    ax.set_ylabel(label + " (log)", fontsize=9)
    return low / 2


def say_words(ax, places, words, width, colour):
    """Writes words in place of missing bars of this width, upwards from the foot of the axis."""
    inch = ax.get_window_extent().width / ax.figure.dpi / (ax.get_xlim()[1] - ax.get_xlim()[0])
    size = max(4, min(7, 0.8 * 72 * width * inch))
    for x, word in zip(places, words):
        word = FAILED if drawing.PAPER else drawing.shown(word, WORD_MOST)
        ax.text(x, 0.02, word, rotation=90, ha="center", va="bottom",
                fontsize=size, color=colour, weight="bold", zorder=5,
                transform=ax.get_xaxis_transform(),
                bbox={"facecolor": "white", "linewidth": 0, "pad": 0.2})


def words_note(said):
    """Returns the note on words in place of bars, if there are any."""
    return ["%s no usable result%s." % (("%s for a bar:" % FAILED, "") if drawing.PAPER else
                                        ("A word for a bar:", ", and why"))] * said


def ends(ax, x, here, numbers, flagged, spans):
    """Draws flags and intervals at the ends of the bars at x. `here`: the matrices of this panel."""
    drawing.flag(ax, [(at, numbers[m]) for at, m in zip(x, here) if m in flagged], said=False)
    for at, m in zip(x, here):
        if m in spans:
            ax.plot([at, at], spans[m], color="black", linewidth=0.8, zorder=4)


def grouped(values, look, order, names, label, words, *, flagged=None, spans=None):
    """Draws grouped bars of {series: {matrix: number}} in several panels with one scale. A missing
    bar shows its word of {series: {matrix: word}}. flagged: {series: matrices whose times may be
    too long}; spans: {series: {matrix: (low, high)}}. Returns the figure and its notes."""
    flagged, spans = flagged or {}, spans or {}
    fig, parts = panels(order, len(values))
    width = 0.84 / len(values)
    numbers = [number for of in values.values() for number in of.values()]
    numbers += [end for of in spans.values() for span in of.values() for end in span]
    said = blank = False
    for ax, here in parts:
        foot = scale(ax, numbers, label)
        for i, (name, of) in enumerate(values.items()):
            x = [j + (i - (len(values) - 1) / 2) * width for j in range(len(here))]
            ax.bar(x, [of.get(m, foot) - foot for m in here], width, foot,
                   color=look[name]["colour"], hatch=look[name]["hatch"],
                   edgecolor="white", linewidth=0.3, label=look[name]["label"])
            ends(ax, x, here, of, flagged.get(name, ()), spans.get(name, {}))
            none = {m: xj for xj, m in zip(x, here) if m not in of}
            why = {m: words[name][m] for m in none if m in words.get(name, {})}
            say_words(ax, [none[m] for m in why], why.values(), width, look[name]["colour"])
            said, blank = said or bool(why), blank or len(why) < len(none)
        name_ticks(ax, [names[m] for m in here])
    drawing.flag_legend(parts[0][0], sum(map(len, flagged.values())))
    drawing.legend_above(parts[0][0])
    return fig, words_note(said) + BLANK * blank + SPANS * any(spans.values())
