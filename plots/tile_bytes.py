#!/usr/bin/env python3
"""SpGEMM: bytes of the tile format over those of CSR (figure 11 of Niu et al.).

From the figures tile_bytes and csr_bytes in the stats of the algorithms that have them. With more
matrices than bars can show each is a dot, at its bytes in CSR.
"""

import sys

import common
import drawing
import records

OP = "spgemm"
SINGLE = records.FIELDS
TILE, CSR = "tile_bytes", "csr_bytes"
LABEL = "bytes in tiles / in CSR"


def sizes(rows):
    """{series: {matrix: (bytes of tiles, bytes of CSR)}}; algorithms that share a format share its
    bytes, and these are told once."""
    found = {}
    for row in rows:
        pair = tuple(records.number(row["stats"].get(name)) for name in (TILE, CSR))
        if all(pair) and not any(of.get(row["matrix"]) == pair for of in found.values()):
            found.setdefault(row["series"], {})[row["matrix"]] = pair
    return found


def dots(found, look):
    fig, ax = drawing.plt.subplots(figsize=(9, 5.2))
    every = [pair for of in found.values() for pair in of.values()]
    x, y = [csr / 1e6 for _, csr in every], [tile / csr for tile, csr in every]
    for name, of in found.items():
        drawing.cloud(ax, [csr / 1e6 for _, csr in of.values()],
                      [tile / csr for tile, csr in of.values()], look[name], len(x) > drawing.DENSE,
                      False, name)
    drawing.log_axis(ax.xaxis, min(x), max(x))
    drawing.log_axis(ax.yaxis, min(y), max(y))
    ax.set_xlabel("bytes in CSR (MB)")
    ax.set_ylabel(LABEL)
    drawing.legend_above(ax, len(found))
    return fig, ["Lines are running medians."] * (len(x) > drawing.DENSE)


def draw(selection):
    selection = common.without_curve(selection)
    found = sizes(selection.rows)
    if not found:
        raise records.NoData("no result has %s and %s" % (TILE, CSR))
    look = drawing.styles({name: selection.rows[:1] for name in found})
    facts = {row["matrix"]: row for row in selection.rows}
    ratio = {name: {m: tile / csr for m, (tile, csr) in of.items()} for name, of in found.items()}
    csr = {m: pair[1] / 1e6 for of in found.values() for m, pair in of.items()}
    if len(csr) > drawing.BARS_MOST:
        fig, notes = dots(found, look)
    else:
        order = sorted(csr, key=lambda m: min(of[m] for of in ratio.values() if m in of))
        ticks = {m: drawing.tick(facts[m], csr[m]) for m in order}
        fig, notes = drawing.bars(ratio, look, order, ticks, LABEL, {})
        notes.insert(0, "In parentheses: MB in CSR.")
    for ax in fig.axes:
        ax.axhline(1, color=drawing.GREY, linewidth=1.2, zorder=3)
    notes += ["%s: %.2f in the geometric mean, %d of %d matrices are smaller in tiles."
              % (name, common.geomean(of.values()), sum(r < 1 for r in of.values()), len(of))
              for name, of in ratio.items()]
    return drawing.finish(fig, "Bytes of the tile format", selection, notes)


if __name__ == "__main__":
    sys.exit(drawing.main(__file__, __doc__, SINGLE, draw, OP))
