#!/usr/bin/env python3
"""Every case of a precision under the roofs of its device: GFLOPS against arithmetic intensity.

Intensity is FLOPs over compulsory bytes: each input read once and each output written once. The
roofs were measured by `spbench roof`: the bandwidth of memory, of the last cache if that is faster,
and the multiply-add rates. A case above the memory's bandwidth was served by a cache and has a black
ring. A case also above the cache's line was served by nearer caches, or the roof is wrong. Such a
case has a square.
"""

import sys

import common
import drawing
import precs
import records
import series
import words

MIXES = (common.NUMBERS,)


def roofs(rows):
    """Returns ({name: GB/s}, {type: GFLOPS}) of the rows' environments; the last counts. The rates
    are of multiply-adds in the types of the rows' sums."""
    bandwidths, rates = {}, {}
    sums = {precs.facts(row["prec"]).sums for row in rows}
    for env, ident in {id(row["env"]): (row["env"], row["id"]) for row in rows}.values():
        roof = records.part(records.device_facts(env, ident), "roof")
        # Some files lack memory_gb_s, and the cache may be slower than memory.
        memory = records.number(roof.get("memory_gb_s")) or records.number(roof.get("copy_gb_s"))
        cache = records.number(roof.get("cache_gb_s"))
        if memory:
            bandwidths = {"cache": cache} if cache and cache > memory else {}
            bandwidths["memory"] = memory
        for name, rate in records.part(roof, "fma_gflops").items():
            if records.number(rate) and name in sums:
                rates[name] = rate
    return bandwidths, rates


def with_best_vendor(rows):
    """Returns the rows of the series. A vendor has on each case the row of its fastest algorithm."""
    best = {}
    for row in rows:
        vendor = series.vendor_of(row)
        case = series.name_of(row), row["matrix"], *row["axes"].values()
        if vendor and (case not in best or row["ms"] < best[case]["ms"]):
            best[case] = row
    return [row for row in rows if not (series.vendor_of(row) or series.is_aside(row))] + \
        list(best.values())


def resident(row, bandwidth):
    """Returns True if the run is faster than memory could deliver the compulsory bytes."""
    return row["gflops"] > row["flops"] / row["bytes"] * bandwidth


def above(rows, bandwidths):
    """Returns [(marker, text of the legend, rows)] of the rows faster than memory, and of those
    faster than the cache."""
    cache = bandwidths.get("cache")
    memory = next((name for name in bandwidths if name != "cache"), None)
    over = [row for row in rows if memory and resident(row, bandwidths[memory])]
    parts = {True: [], False: []}
    for row in over:
        parts[bool(cache) and resident(row, cache)].append(row)
    kept = "out of a cache" if cache else "out of a cache, or a wrong roof"
    return [("o", "faster than the %s line:\n%s (%%s)" % (memory, kept), parts[False]),
            ("s", "faster than the cache line: kept in\nnearer caches, or a wrong roof (%s)",
             parts[True])]


def draw_roofs(ax, bandwidths, rates, low, high):
    """Draws sloped lines for bandwidths up to the highest rate, level lines for the rates."""
    ceiling = max(rates.values()) if rates else None
    for name, bandwidth in bandwidths.items():
        end = min(high, ceiling / bandwidth) if ceiling else high
        ax.plot([low, end], [low * bandwidth, end * bandwidth], color="black", linewidth=1.4,
                linestyle="-" if name == "memory" else ":", zorder=5,
                label="%s %s GB/s" % (name, drawing.plain(bandwidth)))
    knee = max(bandwidths.values()) if bandwidths else None
    for i, (name, rate) in enumerate(sorted(rates.items())):
        ax.plot([max(low, rate / knee) if knee else low, high], [rate, rate], color="black",
                linewidth=1.4, linestyle=("--", "-.")[i % 2], zorder=5,
                label="%s multiply-add %s GFLOPS" % (name, drawing.plain(rate)))


def has(row):
    return row["flops"] and row["bytes"]


def draw(selection, title="Roofline", per="compulsory byte"):
    selection = common.without_variants(selection)
    rows = list(filter(has, selection.rows))
    if not rows:
        raise records.NoData("no result has both flops and compulsory bytes")
    bandwidths, rates = roofs(rows)
    fig, ax = drawing.subplots(size=(9, 6))
    rows = with_best_vendor(rows)
    found = {}
    for row in rows:
        found.setdefault(series.name_of(row), []).append(row)
    dense = len(rows) > drawing.DENSE * len(found)
    look = drawing.styles(rows)
    found = series.in_order(found, rows)
    for name, cases in sorted(found.items(), key=lambda item: not series.vendor_of(item[1][0])):
        drawing.cloud(ax, [row["flops"] / row["bytes"] for row in cases],
                      [row["gflops"] for row in cases], look[name], dense,
                      drawing.picks({i: row for i, row in enumerate(cases)}), look[name]["label"])
    notes = [words.counted(len(rows), "case") + "; lines are running medians" * dense + "."]
    for marker, text, over in above(rows, bandwidths):
        if over:
            ax.scatter([row["flops"] / row["bytes"] for row in over],
                       [row["gflops"] for row in over], s=14 if dense else 70, marker=marker,
                       facecolors="none", edgecolors="black", linewidths=0.6, zorder=4,
                       rasterized=dense, label=text % drawing.plain(len(over)))
    drawing.flag(ax, [(row["flops"] / row["bytes"], row["gflops"]) for row in rows
                      if row["flagged"]], dense)
    x = [row["flops"] / row["bytes"] for row in rows]
    low, high = min(x) / 1.5, max(x) * 1.5
    if rates and bandwidths:
        high = max(high, 2 * max(rates.values()) / min(bandwidths.values()))
    draw_roofs(ax, bandwidths, rates, low, high)
    missing = [name for name, there in (("memory bandwidth", "memory" in bandwidths),
                                        ("multiply-add rate", rates)) if not there]
    if missing:
        notes.append("The file does not say the device's %s." % " and ".join(missing))
    top = max([row["gflops"] for row in rows] + list(rates.values()))
    bottom = min(row["gflops"] for row in rows)
    drawing.log_axis(ax.xaxis, low, high)
    drawing.log_axis(ax.yaxis, bottom, top)
    ax.set_xlim(low, high)
    ax.set_ylim(bottom / 1.6, top * 1.8)
    ax.set_xlabel("arithmetic intensity (FLOPs per %s)" % per)
    ax.set_ylabel("GFLOPS")
    drawing.legend_beside(ax)
    return drawing.finish(fig, title, selection, notes, rows)


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
