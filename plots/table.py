#!/usr/bin/env python3
"""Prints what a report on results needs, as Markdown, for each set of cases (device, operation, its
axes, precision, cache, revision).

- Speed-up of each algorithm over a vendor's best, case by case. Without a vendor the baseline is the
  fastest algorithm that is no reference. Columns: number of matrices, geometric mean, least and
  greatest, numbers of matrices that are faster and slower, the median with its 95 % interval,
  failures, and the median time. A sentence has the times of the baseline. If algorithms have
  different matrices, a column has the mean over the shared matrices.
- Where there are several versions of a vendor's library: the newest over the oldest.
- With --peers FILE the same over measurements of other codes, where these passed their check.
- Where each run makes its result: geometric mean of the peak memory over that of each algorithm of
  a vendor, and of the leanest.
- What has no usable result, with reasons.
- With --classes the same by classes of matrices, and how near each comes to the gather bound.
- With --matrices the median of each algorithm in ms, the fastest in bold.

A table has records of one device and one revision of the program. If a table mixes machines, a line
above the table says so. Algorithms that do a part of the operation are compared with nothing. A
FILE of peers has tab-separated columns op, matrix, precision, code, ms, check, and one for each
axis of numbers, by its name.
"""

import sys

import classes
import common
import peers
import records
import series
import tables
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
    line(*("---" if i < text or cell in tables.WORDS else "---:"
           for i, cell in enumerate(cells)))


def plain(cell):
    """A cell as text, bold if it is the best."""
    if not isinstance(cell, tables.Cell):
        return cell
    return "**%s**" % cell.text if cell.best else cell.text


def print_peers(found, codes, names, one):
    """Every algorithm over every code, in a table; with `one` every matrix over that."""
    codes = {code: of for code, of in sorted(codes.items()) if one in (None, code)}
    matrices = {m for cases in found.values() for m in cases}
    print()
    if not any(names.ratios(cases, of) for of in codes.values() for cases in found.values()):
        print("No other code was measured on these matrices in such cases.")
        return
    head("over", "algorithm", "matrices", "geometric mean ×", *tables.SPREAD, text=2)
    for code, of in codes.items():
        for name, cases in found.items():
            ratios = names.ratios(cases, of)
            if ratios:
                line(code, name, *map(plain, tables.spread(ratios)))
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
        line(m[0], *(tables.times(r[m]) if m in r else "" for r in by_name.values()))


def print_table(table):
    """The table, its best cells in bold, and its sentences below it."""
    head(*table.head, text=table.text)
    for cells in table.lines:
        line(*map(plain, cells))
    if table.said:
        print("\n" + " ".join(table.said))


def print_set(selection, found, args, codes):
    """All tables of one set of cases."""
    notes = common.footnotes(selection, left=False)
    if notes:
        print(" ".join(notes) + "\n")
    try:
        print_table(tables.speedups(selection, found))
    except records.NoData as nothing:
        print("Speed-ups: %s." % nothing)
    if args.peers:
        ours = {row["name"] for row in selection.rows + selection.left}
        print_peers(found, codes, peers.Names(args.map, ours), args.code)
    of_sparse = tables.memory(selection) if selection.rows[0]["made"] else None
    for table in (classes.table(found) if args.classes else None,
                  tables.library_versions(selection), of_sparse, tables.failures(selection),
                  tables.matrices(selection) if args.matrices else None):
        if table:
            print()
            print_table(table)


def print_all(args):
    known = peers.read(args.peers) if args.peers else []
    if args.code and not any(args.code == line_.code for line_ in known):
        raise records.NoData("%s: no code %s" % (args.peers or "--code needs --peers", args.code))
    wanted = common.wanted_from(args)
    rows = [row for row in records.read(args.results, args.time) if common.matches(row, wanted)]
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
    parser.add_argument("--classes", action="store_true", help="by classes of matrices, too")
    parser.add_argument("--matrices", action="store_true", help="the times of every matrix, too")
    peers.add_options(parser)


if __name__ == "__main__":
    try:
        print_all(common.arguments(__doc__, more))
    except (records.NoData, OSError) as failure:
        print("table: %s" % failure, file=sys.stderr)
        sys.exit(1)
