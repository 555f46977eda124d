#!/usr/bin/env python3
"""Prints what a report on results needs, as Markdown, for each set of cases (device, operation, its
axes, precision, cache).

- Speed-up of each algorithm over a vendor's best case by case (over the reference where there is
  none): number of matrices, geometric mean, least and greatest, and on how many it is faster.
  Where algorithms have different matrices, the mean over the shared ones as well.
- With --peers FILE the same over measurements of other codes, where these passed their check.
- Where each run makes its result: geometric mean of the peak memory over that of each algorithm of
  a vendor, and of the leanest.
- What has no usable result, with reasons.
- With --matrices the median of each algorithm in ms, the fastest in bold.

Records of several devices are never in one table; where a table mixes revisions of the program or
machines, a line above it says so. What does a part of the operation is compared with nothing. A
FILE of peers has tab-separated columns op, matrix, precision, code, ms, check, and one for each
axis of numbers, by its name.
"""

import re
import sys
from collections import Counter

import common
import peers
import records
import series
import words


def escaped(cell):
    """In a table a bar ends the cell, and a backslash takes the meaning from what follows."""
    text = str(cell)
    return (words.visible(text) if text.strip() else text).replace("\\", "\\\\").replace("|", "\\|")


def line(*cells):
    print("| " + " | ".join(map(escaped, cells)) + " |")


def head(*cells, text=1):
    """A table's first two lines; so many columns are text, the others numbers. "of" is text."""
    line(*cells)
    line(*("---" if i < text or cell in ("of", "not ok") else "---:"
           for i, cell in enumerate(cells)))


def times(ratio):
    return "%.2f" % ratio if ratio >= 0.1 else "%.2g" % ratio


def mean(ratios):
    """"0.54 (19)": geometric mean of {matrix: ratio}, and of how many."""
    return "%s (%d)" % (times(common.geomean(ratios.values())), len(ratios)) if ratios else ""


def spread(ratios):
    """Cells: how many, geometric mean, least, of which matrix, greatest, of which matrix, how
    often above 1."""
    least, most = min(ratios, key=ratios.get), max(ratios, key=ratios.get)
    return (len(ratios), times(common.geomean(ratios.values())), times(ratios[least]), least[0],
            times(ratios[most]), most[0], sum(ratio > 1 for ratio in ratios.values()))


def print_speedups(selection, found):
    base = series.baseline(found)
    every = {**found, **series.by_algorithm(selection.rows)}
    speeds = {name: series.speedups(cases, found[base])
              for name, cases in every.items() if name != base}
    shared = set.intersection(*(set(found[name]) for name in found))
    uneven = any(len(cases) > len(shared) for cases in found.values()) and shared
    cells = ["× on the %d shared" % len(shared)] if uneven else []
    head("algorithm", "matrices", "× " + base, "least", "of", "greatest", "of", "faster", *cells)
    for name, speed in speeds.items():
        if speed:
            on_shared = [speed[m] for m in shared] if shared <= set(speed) else []
            cells = [times(common.geomean(on_shared)) if on_shared else ""] if uneven else []
            line(name, *spread(speed), *cells)
    if base == series.vendor_in(found):
        print("\n" + " ".join(about_vendor(selection, found, base)))


def about_vendor(selection, found, base):
    """Sentences: which of the vendor's algorithms are the best, of which versions of its library,
    and where not all were tried."""
    best = Counter(row["series"] for row in found[base].values())
    said = ["The best is %s." % ", ".join("%s (%d)" % item for item in best.most_common())]
    versions = sorted({row["library"] for row in selection.rows
                       if series.name_of(row) == base and row["library"]})
    if versions:
        said.append("Measured: %s." % ", ".join(versions))
    without = {m for cases in found.values() for m in cases} - set(found[base])
    if without:
        said.append("No time of any on %s." % common.names_text(without))
    tried = {}
    for row in selection.rows + selection.left:
        if series.name_of(row) == base:
            tried.setdefault(row["matrix"], set()).add(row["series"])
    every = set().union(*tried.values())
    partly = [m for m, names in tried.items() if names != every]
    if partly:
        said.append("Not all of them were tried on %s." % common.names_text(partly))
    return said


def print_peers(found, codes, names, one):
    """Every algorithm over every code, in a table; with `one` every matrix over that."""
    codes = {code: of for code, of in sorted(codes.items()) if one in (None, code)}
    matrices = {m for cases in found.values() for m in cases}
    print()
    if not any(names.ratios(cases, of) for of in codes.values() for cases in found.values()):
        print("No other code was measured on these matrices in such cases.")
        return
    head("over", "algorithm", "matrices", "×", "least", "of", "greatest", "of", "faster", text=2)
    for code, of in codes.items():
        for name, cases in found.items():
            ratios = names.ratios(cases, of)
            if ratios:
                line(code, name, *spread(ratios))
    said = ["%s has no right result on %s." % (code, common.names_text(bad)) for code, of in
            codes.items() for bad in [names.failed(matrices, of)] if bad]
    unknown = set().union(*(names.unknown(matrices, of) for of in codes.values()))
    if unknown:
        said.append("Theirs, and not among these (see --map): %s." %
                    common.names_text((name,) for name in unknown))
    if said:
        print("\n" + " ".join(said))
    if one:
        print_peer(found, one, codes[one], names)


def print_peer(found, code, of, names):
    """Every matrix against one code."""
    by_name = {name: names.ratios(cases, of) for name, cases in found.items()}
    print()
    head("× " + code, *found)
    for m in sorted({m for r in by_name.values() for m in r}, key=lambda m: m[0].lower()):
        line(m[0], *(times(r[m]) if m in r else "" for r in by_name.values()))


def print_memory(selection):
    """Peaks over those of the leanest of the vendors' algorithms, and of each."""
    rows = [row for row in selection.rows if row["peak"]]
    peaks = {name: {m: row["peak"] for m, row in cases.items()}
             for name, cases in series.by_algorithm(rows).items()}
    vendors = {row["series"]: series.vendor_of(row) for row in rows if series.vendor_of(row)}
    bases = {name: of for name, of in peaks.items() if name in vendors}
    if not bases:
        return
    least = {m: min(of[m] for of in bases.values() if m in of)
             for m in set().union(*bases.values())}
    bases = {"the leanest of " + ", ".join(sorted(set(vendors.values()))): least, **bases}
    print()
    head("peak memory over", *bases)
    for name, of in peaks.items():
        ratios = [{m: peak / base[m] for m, peak in of.items() if m in base and base is not of}
                  for base in bases.values()]
        line(name, *map(mean, ratios))


def print_failures(selection):
    """How often each algorithm was tried, how often with a usable result, and why not else."""
    print()
    head("algorithm", "tried", "ok", "not ok")
    tried = {}
    for row in selection.rows + selection.left:
        tried.setdefault(row["series"], []).append(row)
    for name, rows in series.in_order(tried, selection.rows + selection.left).items():
        kinds = {}
        for row in rows:
            if row["status"] != "ok":  # numbers in a reason do not make it another one
                reason = row["reason"] or ""
                kinds.setdefault((row["status"], re.sub(r"\d[\d,.]*", "0", reason)),
                                 []).append((row["matrix"], reason))
        line(name, len(rows), sum(row["status"] == "ok" for row in rows), "; ".join(
            "%d %s on %s%s" % (len(bad), status, common.names_text(m for m, _ in bad),
                               reason and ": " + bad[0][1])
            for (status, reason), bad in sorted(kinds.items(), key=lambda item: -len(item[1]))))


def figure_text(x):
    return "" if x is None else "{:,.0f}".format(x) if x == int(x) else "%.2f" % x


def ms_text(ms):
    return "%.4g" % ms if ms < 1000 else "{:,.0f}".format(ms)


def print_matrices(selection):
    """The figures and the times of every matrix; a word where there is no time."""
    by_matrix, figures = {}, {}
    rows = selection.rows + selection.left
    for row in rows:
        by_matrix.setdefault(row["matrix"], {})[row["series"]] = row
        figures.setdefault(row["matrix"], {}).update(
            (name, x) for name, x in row["figures"].items() if x is not None)
    names = series.in_order({row["series"]: None for row in rows}, rows)
    told = list(dict.fromkeys(name for of in figures.values() for name in of))
    print()
    head("ms", "nonzeros", *told, *names)
    for m, cases in sorted(by_matrix.items(), key=lambda item: item[0][0].lower()):
        whole = [row["ms"] for row in cases.values()
                 if row["status"] == "ok" and not series.is_partial(row)]
        cells = []
        for row in map(cases.get, names):
            ok = row and row["status"] == "ok"
            text = ms_text(row["ms"]) if ok else row["status"] if row else ""
            fastest = ok and whole and row["ms"] == min(whole) and not series.is_partial(row)
            cells.append("**%s**" % text if fastest else text)
        line(m[0], figure_text(m[3]), *(figure_text(figures[m].get(name)) for name in told), *cells)


def print_set(selection, found, args, codes):
    """All tables of one set of cases."""
    notes = common.footnotes(selection, left=False)
    revisions = {row["env"].get("revision") for row in selection.rows + selection.left}
    if len(revisions) == 1 and revisions != {None}:
        notes.insert(0, "Revision %s." % revisions.pop())
    if notes:
        print(" ".join(notes) + "\n")
    try:
        print_speedups(selection, found)
    except records.NoData as nothing:
        print("Speed-ups: %s." % nothing)
    if args.peers:
        ours = {row["name"] for row in selection.rows + selection.left}
        print_peers(found, codes, peers.Names(args.map, ours), args.code)
    if selection.rows[0]["made"]:
        print_memory(selection)
    print_failures(selection)
    if args.matrices:
        print_matrices(selection)


def print_all(args):
    known = peers.read(args.peers) if args.peers else []
    if args.code and not any(args.code == line_.code for line_ in known):
        raise records.NoData("%s: no code %s" % (args.peers or "--code needs --peers", args.code))
    wanted = common.wanted_from(args)
    rows = [row for row in records.read(args.results) if common.matches(row, wanted)]
    ours = {row["name"] for row in rows}
    for name, _ in args.map:
        if name not in ours:
            print("table: --map: no matrix %s among the results" % name, file=sys.stderr)
    why = "no results for what was asked"
    printed = 0
    for group in common.groups(rows, common.fields_of(rows)).values():
        try:
            selection = common.without_curve(common.select(group))
            found = series.series(selection.rows)
            if not (args.peers or args.matrices):
                series.baseline(found)
        except records.NoData as error:
            why = error
            continue
        print("%s### %s\n" % ("\n" if printed else "", selection.about))
        print_set(selection, found, args, peers.codes_of(known, group[0]))
        printed += 1
    if not printed:
        raise records.NoData("%s: %s" % (", ".join(args.results), why))


def more(parser):
    parser.add_argument("--matrices", action="store_true", help="the times of every matrix, too")
    peers.add_options(parser)


if __name__ == "__main__":
    try:
        print_all(common.arguments(__doc__, more))
    except (records.NoData, OSError) as failure:
        print("table: %s" % failure, file=sys.stderr)
        sys.exit(1)
