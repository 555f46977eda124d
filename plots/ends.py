"""Names of lines at their right ends, instead of a legend. A reader need not search for a colour, and
lines with a common end stay distinct.
"""

import drawing

SIZE = 8  # points of the letters
GAP = 1.3  # between two names, in heights of a letter


def spread(wanted, gap):
    """Returns the places moved apart: at least `gap` between two, in the same order, as close as
    possible to the wanted places."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups = []  # [places from .. on, gap apart, how many]
    for i in order:
        groups.append([wanted[i], [i]])
        while len(groups) > 1 and groups[-1][0] < groups[-2][0] + gap * len(groups[-2][1]):
            _, later = groups.pop()
            groups[-1][1] += later
            of = groups[-1][1]
            groups[-1][0] = sum(wanted[x] - at * gap for at, x in enumerate(of)) / len(of)
    found = [0.0] * len(wanted)
    for first, of in groups:
        for at, i in enumerate(of):
            found[i] = first + at * gap
    return found


def label(ax, lines):
    """Writes the names of lines at the right edge of the axes. lines: [(x, y, text, colour)], the
    ends of the lines. The limits of the axes must be final."""
    to_axes = ax.transAxes.inverted().transform
    at = [to_axes(ax.transData.transform((x, y))) for x, y, _, _ in lines]
    height = ax.get_position().height * ax.figure.get_figheight()
    places = spread([y for _, y in at], GAP * SIZE / 72 / height)
    for (x, y), place, (_, _, text, colour) in zip(at, places, lines):
        ax.plot([x, 1.015, 1.03], [y, place, place], transform=ax.transAxes, color=colour,
                linewidth=0.6, clip_on=False, zorder=1)
        ax.text(1.04, place, text, transform=ax.transAxes, color=colour, fontsize=SIZE, va="center")


def shown(name):
    return drawing.shown(name, 28)
