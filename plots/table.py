#!/usr/bin/env python3
"""Prints Markdown tables: each algorithm against the best cuSPARSE, and against other codes.

For each k and precision: cases, geometric mean of the speed-up over the best cuSPARSE (over the
reference where there is none), wins (cases faster than that) and the worst case. With --peers FILE
also against measurements of other codes on the same matrices: a table of tab-separated values with
the columns op, matrix, k, precision, code, ms, check; lines that begin with # are comments. The
matrices' names match if they agree in letters and digits, apart from a leading "gen"; --map helps
where they do not. Ratios are theirs over ours: above 1 is faster than theirs.
"""

import csv
import re
import sys

import common
import records


def plain(name):
    """A matrix's name without what people write differently."""
    name = re.sub(r"(?<=\d)x(?=\d)", "", name.lower())
    return re.sub(r"^gen", "", re.sub(r"[^a-z0-9]", "", name))


def read_peers(path):
    """{(op, k, precision): {code: {plain matrix name: ms}}} of the rows that passed their check."""
    found = {}
    with open(path, encoding="utf-8", newline="") as file:
        lines = (line for line in file if line.strip() and not line.startswith("#"))
        for row in csv.DictReader(lines, delimiter="\t"):
            try:
                good, ms = row["check"] == "ok", float(row["ms"])
                k = int(row["k"]) if row["k"].isdigit() else None
                key = (row["op"], k, row["precision"])
            except (KeyError, TypeError, ValueError):
                continue
            if good and ms > 0:
                codes = found.setdefault(key, {})
                codes.setdefault(row["code"].split(":")[0], {})[plain(row["matrix"])] = ms
    if not found:
        raise records.NoData("%s: no rows with op, matrix, k, precision, code, ms, check" % path)
    return found


def line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def ratios(cases, theirs, renamed):
    """{matrix's name: their time / ours}"""
    found = {}
    for case, row in cases.items():
        name = plain(renamed.get(row["name"], row["name"]))
        if name in theirs:
            found[case[0]] = theirs[name] / row["ms"]
    return found


def times(ratio):
    return "%.2f" % ratio if ratio >= 0.1 else "%.2g" % ratio


def print_speedups(found):
    base = common.baseline(found)
    line("algorithm", "cases", "× " + base, "wins", "worst", "of matrix")
    line("---", "---:", "---:", "---:", "---:", "---")
    for name, cases in found.items():
        speed = common.speedups(cases, found[base])
        if name == base:
            line(name, len(cases), "1.00", "", "", "")
        elif speed:
            worst = min(speed, key=speed.get)
            line(name, len(speed), times(common.geomean(speed.values())),
                 sum(s > 1 for s in speed.values()), times(speed[worst]), worst[0])


def print_peers(found, codes, renamed):
    """The geometric mean of every algorithm over every code, in a table."""
    rows = {code: {name: ratios(cases, theirs, renamed) for name, cases in found.items()}
            for code, theirs in codes.items()}
    rows = {code: by_name for code, by_name in rows.items() if any(by_name.values())}
    print()
    if not rows:
        print("No other code was measured on these matrices with this k and precision.")
        return
    line("other code", *found)
    line("---", *["---:"] * len(found))
    for code, by_name in sorted(rows.items()):
        line(code, *("%s (%d)" % (times(common.geomean(r.values())), len(r)) if r else ""
                     for r in by_name.values()))


def print_peer(found, code, theirs, renamed):
    """Every matrix against one code."""
    by_name = {name: ratios(cases, theirs, renamed) for name, cases in found.items()}
    print()
    line("× " + code, *found)
    line("---", *["---:"] * len(found))
    for matrix in sorted({m for r in by_name.values() for m in r}, key=str.lower):
        line(matrix, *(times(r[matrix]) if matrix in r else "" for r in by_name.values()))
    line("geometric mean", *(times(common.geomean(r.values())) if r else ""
                             for r in by_name.values()))


def more(parser):
    parser.add_argument("--peers", metavar="FILE.tsv", help="measurements of other codes")
    parser.add_argument("--code", help="one of those codes: every matrix against it")
    parser.add_argument("--map", action="append", default=[], metavar="OURS=THEIRS",
                        help="a matrix that is called THEIRS there; may be repeated")


def print_all(args):
    renamed = dict(pair.split("=", 1) for pair in args.map if "=" in pair)
    peers = read_peers(args.peers) if args.peers else {}
    if args.code and not any(args.code in codes for codes in peers.values()):
        raise records.NoData("%s: no code %s" % (args.peers or "--code needs --peers", args.code))
    wanted = common.wanted_from(args)
    rows = [row for row in records.read(args.results) if common.matches(row, wanted)]
    why = "no results for what was asked"
    printed = 0
    for group in common.groups(rows, records.FIELDS).values():
        try:
            selection = common.without_curve(common.select(group))
            found = common.series(selection.rows, partial=True)
            common.baseline(found)
        except records.NoData as error:
            why = error
            continue
        print("%s### %s\n" % ("\n" if printed else "", selection.about))
        print_speedups(found)
        one = group[0]
        op = "-".join(word for word in (one["op"], one["mul"]) if word)
        codes = peers.get((op, one["k"], one["prec"]), {})
        if args.code in codes:
            print_peer(found, args.code, codes[args.code], renamed)
        elif args.peers and not args.code:
            print_peers(found, codes, renamed)
        if common.footnotes(selection):
            print("\n" + " ".join(common.footnotes(selection)))
        printed += 1
    if not printed:
        raise records.NoData("%s: %s" % (", ".join(args.results), why))


if __name__ == "__main__":
    try:
        print_all(common.arguments(__doc__, more=more))
    except (records.NoData, OSError) as failure:
        print("table: %s" % failure, file=sys.stderr)
        sys.exit(1)
