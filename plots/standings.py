"""Two tables of the index page: the fastest algorithm of each matrix, and the ranking of an operation.

A ranking has a column for each set of cases and a line for each algorithm. All numbers are over the
matrices that all lines share in all columns.
"""

from collections import namedtuple

import common
import records
import series
import tables
import words

# `table` has the fastest form of each algorithm, `variants` the other forms.
Ranking = namedtuple("Ranking", "revision date table variants")


def head_of(row):
    """The name of a set of cases among the sets of its operation."""
    return words.case(row) + (", revision %s" % row["revision"] if row["revision"] else "")


def winners(rows):
    """The table of the fastest algorithm of every matrix in every set of cases, beside the baseline."""
    lines = []
    several = len({row["revision"] for row in rows}) > 1
    for group in sorted(common.groups(rows, common.fields_of(rows)).values(), reverse=True,
                        key=lambda group: group[0]["date"]):
        try:
            selection = common.select(group)
        except records.NoData:
            continue
        whole = [row for row in selection.rows if not series.is_partial(row)]
        found = series.series(whole)
        try:
            base = found[series.baseline(found)]
        except records.NoData:
            base = {}
        best = {}
        for row in series.members(found):
            best[row["matrix"]] = min(best.get(row["matrix"], row), row, key=lambda row: row["ms"])
        lines += [winner(row, base.get(m), several) for m, row in best.items()]
    bases = {series.vendor_of(row) or "another" for row in rows if series.vendor_of(row)}
    over = bases.pop() if len(bases) == 1 else "the baseline"
    return tables.Table(
        "The fastest of each matrix", 4,
        ("matrix", "operation", "case", "fastest", "ms", "× " + over, "its fastest", "its ms",
         "nonzeros"), sorted(lines, key=lambda line: line[0].lower()), [])


def winner(row, other, several):
    """The line of a matrix: its fastest row, and `other`, the row of the baseline or None. `several`:
    the line names the revision."""
    ratio = other and other["ms"] / row["ms"]
    return (row["name"], words.operation(row["op"]),
            words.case(row, False) + (", %s" % row["revision"] if several else ""), row["series"],
            tables.Cell(tables.ms_text(row["ms"]), row["ms"]),
            tables.ratio_cell(ratio) if other else "", other["series"] if other else "none",
            tables.Cell(tables.ms_text(other["ms"]), other["ms"]) if other else "",
            tables.Cell(tables.figure_text(row["matrix"][3]), row["matrix"][3]))


def rankings(sets):
    """The rankings of these sets of cases of one operation of a device, the newest revision first. Sets
    of a ranking differ in numbers and precision alone."""
    of = {}
    for rows in sets:
        words_of = [(name, x) for name, x in rows[0]["axes"].items() if isinstance(x, str)]
        key = *(rows[0][name] for name in ("revision", "cache", "launch")), *words_of
        of.setdefault(key, []).append(rows)
    newest = sorted(of.values(), key=lambda sets: max(row["date"] for row in sets[0]), reverse=True)
    return [ranking for ranking in map(ranking_of, newest) if ranking]


def speeds_of(rows):
    """(base, {series: {matrix: speed-up over base}}) of a set. A vendor has a series of its best and a
    series for each of its algorithms."""
    selection = common.without_curve(common.select(rows))
    found = series.series(selection.rows)
    base = series.baseline(found)
    every = {**found, **series.by_algorithm(selection.rows)}
    return base, {name: series.speedups(cases, found[base]) for name, cases in every.items()}


def ranking_of(sets):
    """The ranking of these sets; None without a common baseline or without a shared matrix."""
    columns, bases = {}, set()
    for rows in sets:
        try:
            base, speeds = speeds_of(rows)
        except records.NoData:
            continue
        bases.add(base)
        columns[words.case(rows[0])] = {name: of for name, of in speeds.items() if of}
    if len(bases) != 1:
        return None
    every = [row for rows in sets for row in rows]
    base = bases.pop()
    names = set.intersection(*map(set, columns.values()))
    singles = {row["series"] for row in every if series.vendor_of(row)}
    whole = {name: {(m, head) for head, of in columns.items() for m in of[name]} for name in names}
    kept, _ = series.comparable({name: of for name, of in whole.items() if name not in singles})
    shared = set.intersection(*(set(of[name]) for of in columns.values() for name in kept))
    if not shared:
        return None
    full = {name for name in names if all(shared <= set(of[name]) for of in columns.values())}
    means = {name: {head: common.geomean(of[name][m] for m in shared) for head, of in columns.items()}
             for name in full}
    order = sorted(sorted(full), key=lambda name: -common.geomean(means[name].values()))
    first = first_of_families(order, every)
    return Ranking(
        every[0]["revision"], max(row["date"] for row in every)[:10],
        table_of("Speed-up over %s" % base, base, [name for name in order if name in first], columns, means,
                 shared, left_out(names - full - singles, columns, every)),
        table_of("Variants", base, [name for name in order if name not in first], columns, means, shared,
                 left_out(singles & names - full, columns, every)))


def first_of_families(order, rows):
    """The fastest of each family. A family is an algorithm, its tuned forms, and both with options. A
    vendor's family is the best of its algorithms."""
    family = series.families(rows)
    of = {row["series"]: row["alg"] for row in rows}
    single = {row["series"] for row in rows if series.vendor_of(row)}
    seen, first = set(), []
    for name in order:
        mine = family.get(of.get(name), (name,))[0]
        if name not in single and mine not in seen:
            seen.add(mine)
            first.append(name)
    return first


def left_out(names, columns, rows):
    """A sentence on algorithms that have a time on too few matrices."""
    if not names:
        return []
    return ["Left out, as not measured on all of these matrices: %s." % ", ".join("%s (%d)" % (
        name, min(len(of[name]) for of in columns.values()))
        for name in series.in_order(dict.fromkeys(names), rows))]


def table_of(title, base, names, columns, means, shared, said):
    """The table of these algorithms. The line of the base has no least and greatest: all are 1."""
    best = {head: max((means[name][head] for name in means), default=None) for head in columns}

    def cell(name, head):
        ratios = [columns[head][name][m] for m in shared]
        mean = means[name][head]
        ends = " (%s to %s)" % (words.times(min(ratios)), words.times(max(ratios)))
        return tables.Cell(words.times(mean) + ends * (name != base), mean, mean == best[head])

    return tables.Table(
        "%s, on %s" % (title, words.counted(len(shared), "matrix", many="matrices that all share")), 1,
        ("algorithm", *columns), [(name, *(cell(name, head) for head in columns)) for name in names],
        ["Geometric means, and from least to greatest."] + said)
