"""The tables of the index page, as data. Tables are: the fastest algorithm of each matrix, the
ranking of an operation, and those of a set of cases.

A table has a head, lines of cells, and sentences that belong below it. A cell is text as it is, or a
number with the text that stands for it. A ranking has a column for each set of cases and a line for each
algorithm. All its numbers are over the matrices that all lines share in all columns.
"""

import re
from collections import Counter, namedtuple

import common
import marks
import precs
import records
import series
import words
from words import times

Table = namedtuple("Table", "title text head lines said")  # `text`: number of columns with words
Cell = namedtuple("Cell", "text number best", defaults=(None, False))
WORDS = ("not ok", "baseline")  # heads of columns without numbers

# `table` has the fastest form of each algorithm, `variants` the other forms.
Ranking = namedtuple("Ranking", "revision date table variants")


def ratio_cell(ratio):
    return Cell(times(ratio), ratio)


def ms_text(ms):
    return marks.sign(ms) + ("%.4g" % ms if ms < 1000 else "{:,.0f}".format(ms))


def figure_text(x):
    return "" if x is None else "{:,.0f}".format(x) if x == int(x) else "%.2f" % x


def median_text(values, text=times):
    """Returns "1.21 [1.05, 1.40]": the median, and its 95 % interval by order statistics for six
    values or more."""
    values = sorted(values)
    ends = common.median_interval(values)
    return text(common.median(values)) + (" [%s, %s]" % tuple(map(text, ends)) if ends else "")


def failed_of(selection, found):
    """Returns {series: number of cases without a usable result}, with a vendor's best as a series."""
    count = Counter(row["series"] for row in selection.left)
    count.update({name: len(of) for name, of in series.failures(selection, found).items()
                  if name not in count})
    return count


def about_base(selection, found, base):
    """Returns sentences on the base of the speed-ups: its times and, for a vendor, the fastest
    algorithms, the versions of its library, and matrices on which not all were tried."""
    said = [base_text(base, found[base])]
    if base == series.vendor_in(found):
        said += about_vendor(selection, found, base)
    return said


def base_text(base, cases):
    """Returns a sentence on the times of the base of the speed-ups."""
    ms = [row["ms"] for row in cases.values()]
    marked = marks.counts_text(list(cases.values()))
    return "Speed-ups are over %s: %s to %s ms, median %s on %s%s." % (
        base, ms_text(min(ms)), ms_text(max(ms)), median_text(ms, ms_text),
        words.counted(len(ms), "matrix", many="matrices"), marked and "; " + marked)


def about_vendor(selection, found, base):
    best = Counter(row["series"] for row in found[base].values())
    said = ["The best is %s." % ", ".join("%s (%d)" % item for item in best.most_common())]
    libraries = sorted({row["library"] for row in selection.rows
                        if series.name_of(row) == base and row["library"]})
    if libraries:
        said.append("Measured: %s." % ", ".join(libraries))
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


def memory(selection):
    """Returns the table of peaks over the leanest of the vendors' algorithms, and over each of
    them; None without one."""
    rows = [row for row in selection.rows if row["peak"]]
    peaks = {name: {m: row["peak"] for m, row in cases.items()}
             for name, cases in series.by_algorithm(rows).items()}
    vendors = {row["series"]: series.vendor_of(row) for row in rows if series.vendor_of(row)}
    bases = {name: of for name, of in peaks.items() if name in vendors}
    if not bases:
        return None
    least = {m: min(of[m] for of in bases.values() if m in of)
             for m in set().union(*bases.values())}
    bases = {"the leanest of " + ", ".join(sorted(set(vendors.values()))): least, **bases}
    lines = []
    for name, of in peaks.items():
        ratios = [{m: peak / base[m] for m, peak in of.items() if m in base and base is not of}
                  for base in bases.values()]
        lines.append((name, *map(mean, ratios)))
    return Table("Peak memory", 1, ("peak memory over", *bases), lines,
                 ["Geometric means, and of how many matrices."])


def mean(ratios):
    """Returns "0.54 (19)": geometric mean of {matrix: ratio}, and the number of matrices."""
    if not ratios:
        return ""
    value = common.geomean(ratios.values())
    return Cell("%s (%d)" % (times(value), len(ratios)), value)


def failures(selection):
    """Returns the table of attempts: runs and usable results of each algorithm, and the reasons of
    the other statuses."""
    tried, lines = {}, []
    for row in selection.rows + selection.left:
        tried.setdefault(row["series"], []).append(row)
    for name, rows in series.in_order(tried, selection.rows + selection.left).items():
        kinds = {}
        for row in rows:
            if row["status"] != "ok":  # numbers in a reason do not make it another one
                reason = row["reason"] or ""
                kinds.setdefault((row["status"], re.sub(r"\d[\d,.]*", "0", reason)),
                                 []).append((row["matrix"], reason))
        lines.append((name, len(rows), sum(row["status"] == "ok" for row in rows), "; ".join(
            "%d %s on %s%s" % (len(bad), status, common.names_text(m for m, _ in bad),
                               reason and ": " + bad[0][1])
            for (status, reason), bad in sorted(kinds.items(), key=lambda item: -len(item[1])))))
    return Table("What was tried", 1, ("algorithm", "tried", "ok", "not ok"), lines, [])


def matrices(selection, found=None):
    """Returns the table of the stats and the times of every matrix; a word replaces a missing
    time. With {series: {matrix: row}} each series has a column, else each algorithm has one."""
    rows = selection.rows + selection.left
    name_of = series.name_of if found else lambda row: row["series"]
    by_matrix, figures = {}, {}
    for row in rows:
        of = by_matrix.setdefault(row["matrix"], {})
        if not found or row["status"] != "ok":
            of.setdefault(name_of(row), row)
        figures.setdefault(row["matrix"], {}).update(
            (name, x) for name, x in row["figures"].items() if x is not None)
    for name, cases in (found or {}).items():
        for m, row in cases.items():
            by_matrix[m][name] = row
    names = series.in_order({name: None for of in by_matrix.values() for name in of}, rows)
    told = list(dict.fromkeys(name for of in figures.values() for name in of))
    lines = []
    for m, cases in sorted(by_matrix.items(), key=lambda item: item[0][0].lower()):
        whole = [row["ms"] for row in cases.values()
                 if row["status"] == "ok" and not series.is_aside(row)]
        lines.append((m[0], Cell(figure_text(m[3]), m[3]),
                      *(Cell(figure_text(figures[m].get(name)), figures[m].get(name))
                        for name in told),
                      *(time_cell(cases.get(name), whole) for name in names)))
    return Table("Times of every matrix", 1, ("ms", "nonzeros", *told, *names), lines, [marks.LEGEND])


def time_cell(row, whole):
    """Returns a median, or the status if there is none. The least time of the whole operation is
    marked best."""
    if not row:
        return ""
    if row["status"] != "ok":
        return row["status"]
    best = bool(whole) and row["ms"] == min(whole) and not series.is_aside(row)
    return Cell(ms_text(row["ms"]), row["ms"], best)


def head_of(row):
    """Returns the name of a set of cases among the sets of its operation."""
    return words.case(row) + (", revision %s" % row["revision"] if row["revision"] else "")


def winners(rows):
    """Returns the table of the fastest algorithm of every matrix in every set of cases, beside the
    baseline."""
    lines = []
    several = len({row["revision"] for row in rows}) > 1
    for group in sorted(common.groups(rows, common.fields_of(rows)).values(), reverse=True,
                        key=lambda group: group[0]["date"]):
        try:
            selection = common.select(group)
        except records.NoData:
            continue
        whole = [row for row in selection.rows if not series.is_aside(row)]
        found = series.series(whole)
        try:
            base = found[series.baseline(found)]
        except records.NoData:
            base = {}
        best = {}
        for row in series.members(found):
            best[row["matrix"]] = min(best.get(row["matrix"], row), row, key=lambda row: row["ms"])
        lines += [winner(row, base.get(m), several) for m, row in best.items()]
    return Table(
        "The fastest of each matrix", 4,
        ("matrix", "operation", "case", "fastest", "ms", "× baseline", "baseline",
         "baseline ms", "nonzeros"), sorted(lines, key=lambda line: line[0].lower()), [marks.LEGEND])


def winner(row, other, several):
    """Returns the line of a matrix: its fastest row, and `other`, the row of the baseline or None.
    `several`: the line names the revision."""
    ratio = other and other["ms"] / row["ms"]
    return (row["name"], words.operation(row["op"]),
            words.case(row, False) + (", %s" % row["revision"] if several else ""), row["series"],
            Cell(ms_text(row["ms"]), row["ms"]),
            ratio_cell(ratio) if other else "", other["series"] if other else "none",
            Cell(ms_text(other["ms"]), other["ms"]) if other else "",
            Cell(figure_text(row["matrix"][3]), row["matrix"][3]))


def rankings(sets):
    """Returns the rankings of these sets of cases of one operation of a device, the newest revision
    first. Sets of a ranking differ in number axes alone."""
    of = {}
    for rows in sets:
        words_of = [(name, x) for name, x in rows[0]["axes"].items() if isinstance(x, str)]
        key = *(rows[0][name] for name in ("prec", "revision", "cache", "launch")), *words_of
        of.setdefault(key, []).append(rows)
    found = sorted(of.values(), key=lambda sets: precs.place(sets[0][0]["prec"]))
    dates = common.revision_dates([row for sets in found for rows in sets for row in rows])
    newest = sorted(found, key=lambda sets: dates[sets[0][0]["revision"]], reverse=True)
    return [ranking for ranking in map(ranking_of, newest) if ranking]


def speeds_of(rows):
    """Returns (base, {series: {matrix: speed-up over base}}) of a set. A vendor has a series of its
    best and a series for each of its algorithms."""
    selection = common.without_curve(common.select(rows))
    found = series.series(selection.rows)
    base = series.baseline(found)
    every = {**found, **series.by_algorithm(selection.rows)}
    return base, {name: series.speedups(cases, found[base]) for name, cases in every.items()}


def ranking_of(sets):
    """Returns the ranking of these sets; None without a common baseline or without a shared matrix."""
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
    ok = [row for row in every if row["status"] == "ok" and series.name_of(row) in kept]
    cases = {(row["matrix"], words.case(row)) for row in ok}
    marked, alone = marks.counts_text(ok), len(cases - whole[base])
    said = ["%s: %s." % (marks.SIGN, marked)] * bool(marked)
    said += ["No time of %s on %d of %d cases, which are left out." % (base, alone, len(cases))] * bool(alone)
    means = {name: {head: common.geomean(of[name][m] for m in shared) for head, of in columns.items()}
             for name in full}
    order = sorted(sorted(full), key=lambda name: -common.geomean(means[name].values()))
    first = first_of_families(order, every)
    return Ranking(
        every[0]["revision"], max(row["date"] for row in every)[:10],
        table_of("Speed-up over %s" % base, base, [name for name in order if name in first], columns, means,
                 shared, said + left_out(names - full - singles, columns, every)),
        table_of("Variants", base, [name for name in order if name not in first], columns, means, shared,
                 left_out(singles & names - full, columns, every)))


def first_of_families(order, rows):
    """Returns the fastest of each family. A family is an algorithm, its tuned forms, and both with
    options. A vendor's family is the best of its algorithms."""
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
    """Returns a sentence on algorithms that have a time on too few matrices."""
    if not names:
        return []
    return ["Left out, as not measured on all of these matrices: %s." % ", ".join("%s (%d)" % (
        name, min(len(of[name]) for of in columns.values()))
        for name in series.in_order(dict.fromkeys(names), rows))]


def table_of(title, base, names, columns, means, shared, said):
    """Returns the table of these algorithms. The line of the base has no least and greatest: all
    are 1."""
    best = {head: max((means[name][head] for name in means), default=None) for head in columns}

    def cell(name, head):
        ratios = [columns[head][name][m] for m in shared]
        mean = means[name][head]
        ends = " (%s to %s)" % (times(min(ratios)), times(max(ratios)))
        return Cell(times(mean) + ends * (name != base), mean, mean == best[head])

    return Table(
        "%s, on %s" % (title, words.counted(len(shared), "matrix", many="matrices that all share")), 1,
        ("algorithm", *columns), [(name, *(cell(name, head) for head in columns)) for name in names],
        ["Geometric means, and from least to greatest."] + said)
