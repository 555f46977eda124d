"""The lines of a figure of times against an axis of numbers: few enough to be told apart.

They are the algorithms that were asked for, the best of a vendor's in each version of its library,
and of the others those that are the fastest somewhere, most often first; six at most.
"""

import fnmatch
import math

import records
import series
import words

LINES_MOST = 6


def curves(rows, axis):
    """{matrix: {series: {value: row}}} of rows that do the whole operation."""
    found = {}
    for row in rows:
        if not series.is_partial(row):
            of = found.setdefault(row["matrix"], {}).setdefault(row["series"], {})
            of[row["axes"][axis]] = row
    return found


def best(every, name, is_of):
    """(its name, {matrix: {value: fastest row}}) of the rows that is_of is true of; the name is that
    of the series, where all are of one."""
    found, members = {}, set()
    for m, of in every.items():
        for member, curve in of.items():
            for value, row in curve.items():
                if not is_of(row):
                    continue
                members.add(member)
                there = found.setdefault(m, {})
                if value not in there or row["ms"] < there[value]["ms"]:
                    there[value] = row
    return (members.pop() if len(members) == 1 else name), found


def of_versions(every):
    """{name: {matrix: curve}} of each version of each vendor's library, in order."""
    versions = sorted({(series.vendor_of(row), row["library"] or "") for of in every.values()
                       for curve in of.values() for row in curve.values()
                       if series.vendor_of(row)})
    found = {}
    for vendor, library in versions:
        name, of = best(every, series.BEST % (library or vendor), lambda row: (
            series.vendor_of(row), row["library"] or "") == (vendor, library))
        found[name] = of
    return found


def one_by_one(every, true):
    """{series: {matrix: curve}} of those whose rows something is true of."""
    found = {}
    for m, of in every.items():
        for name, curve in of.items():
            if true(next(iter(curve.values()))):
                found.setdefault(name, {})[m] = curve
    return found


def by_wins(ours, others):
    """The names of ours that are the fastest of all somewhere, most often first. The first is there
    also if it never is."""
    wins, logs = dict.fromkeys(ours, 0), {name: [] for name in ours}
    cases = {}
    for name, of in {**others, **ours}.items():
        for m, curve in of.items():
            for value, row in curve.items():
                cases.setdefault((m, value), {})[name] = row["ms"]
    for times in cases.values():
        least = min(times.values())
        for name in set(times) & set(ours):
            wins[name] += times[name] == least
            logs[name].append(math.log(times[name] / least) if least > 0 else 0)
    order = sorted(ours, key=lambda name: (-wins[name], math.fsum(logs[name]) / len(logs[name])))
    return [name for name in order if wins[name]] or order[:1]


def wanted(rows, patterns):
    """Is a row's algorithm one of these, as -alg of spbench has them? NoData where none is."""
    names = {row["alg"] for row in rows}
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise records.NoData("-alg %s: there is none; there are %s" % (
                pattern, ", ".join(sorted(names))))
    return lambda row: any(fnmatch.fnmatchcase(row["alg"], pattern) for pattern in patterns)


def chosen(rows, axis, patterns=()):
    """({line: {matrix: {value: row}}}, a sentence on what is not there, or "")."""
    every = curves(rows, axis)
    asked = one_by_one(every, wanted(rows, patterns))
    versions = {name: of for name, of in of_versions(every).items() if name not in asked}
    ours = one_by_one(every, lambda row: not series.vendor_of(row))
    order = by_wins(ours, versions)
    fill = order if not asked else order[:1]
    # The best of ours has a place before the rest are filled in.
    names = list(asked) + [name for name in fill[:1] if name not in asked] + list(versions) + \
        [name for name in fill[1:]]
    of = {**ours, **asked, **versions}
    kept = names[:LINES_MOST]
    left = [name for name in {**ours, **asked, **versions} if name not in kept]
    found = {name: of[name] for name in kept}
    said = "%s not drawn: %s." % (words.counted(len(left), "line"), ", ".join(
        words.visible(name, 30) for name in left)) if left else ""
    return found, said
