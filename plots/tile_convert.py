#!/usr/bin/env python3
"""SpGEMM: time to convert the operands from CSR to tiles, beside the time of one product (figure
12 of Niu et al.).

From the figure convert_ms in the stats of the algorithms that have it. With more matrices than
bars can show each is a dot, at the time of its product.
"""

import sys

import common
import drawing
import records

OP = "spgemm"
SINGLE = records.FIELDS
CONVERT = "convert_ms"
LINES = (1, 10)  # conversions of so many products
PALE = "#B8B8B8"  # of no algorithm


def times(rows):
    """{series: {matrix: (ms of the conversion, ms of a product)}}"""
    found = {}
    for row in rows:
        convert = records.number(row["stats"].get(CONVERT))
        if convert and convert > 0:
            found.setdefault(row["series"], {})[row["matrix"]] = (convert, row["ms"])
    return found


def dots(found, look):
    fig, ax = drawing.plt.subplots(figsize=(8, 5.6))
    every = [pair for of in found.values() for pair in of.values()]
    low, high = min(ms for _, ms in every), max(ms for _, ms in every)
    for name, of in found.items():
        convert, product = zip(*of.values())
        drawing.cloud(ax, product, convert, look[name], len(every) > drawing.DENSE, False, name)
    for factor in LINES:
        ax.plot([low, high], [factor * low, factor * high], color=drawing.GREY, linewidth=1.2,
                linestyle="-" if factor == 1 else "--", zorder=1,
                label="as long as %d product%s" % (factor, "s" * (factor > 1)))
    drawing.log_axis(ax.xaxis, low, high)
    drawing.log_axis(ax.yaxis, min(c for c, _ in every), 10 * high)
    ax.set_xlabel("one product (ms)")
    ax.set_ylabel("conversion of the operands (ms)")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9)
    return fig, ["Lines are running medians."] * (len(every) > drawing.DENSE)


def bars(found, look, facts):
    values, style = {}, {}
    for name, of in found.items():
        for i, what in enumerate(("conversion", "one product")):
            label = "%s: %s" % (name, what)
            values[label] = {m: pair[i] for m, pair in of.items()}
            style[label] = look[name] if i else {"colour": PALE, "hatch": look[name]["hatch"]}
    product = {m: pair[1] for of in found.values() for m, pair in of.items()}
    order = sorted(product, key=product.get)
    ticks = {m: drawing.tick(facts[m], None) for m in order}
    return drawing.bars(values, style, order, ticks, "ms", {})


def draw(selection):
    selection = common.without_curve(selection)
    found = times(selection.rows)
    if not found:
        raise records.NoData("no result has %s" % CONVERT)
    look = drawing.styles({name: selection.rows[:1] for name in found})
    facts = {row["matrix"]: row for row in selection.rows}
    most = max(len(of) for of in found.values())
    fig, notes = dots(found, look) if most > drawing.BARS_MOST else bars(found, look, facts)
    for name, of in found.items():
        ratio = [convert / product for convert, product in of.values()]
        notes.append("%s: a conversion takes %s products in the geometric mean, %s at most."
                     % (name, drawing.plain(common.geomean(ratio)), drawing.plain(max(ratio))))
    return drawing.finish(fig, "Conversion to tiles against one product", selection, notes)


if __name__ == "__main__":
    sys.exit(drawing.main(__file__, __doc__, SINGLE, draw, OP))
