"""The tables of a set of cases, as data: table.py prints them as Markdown, index.py as HTML.

A table has a head, lines of cells, and sentences that belong below it. A cell is text as it is, or a
number with the text that stands for it.
"""

import re
import statistics
from collections import Counter, namedtuple

import common
import series
import versions
import words
from words import times

Table = namedtuple("Table", "title text head lines said")  # `text`: so many columns are words
Cell = namedtuple("Cell", "text number best", defaults=(None, False))
WORDS = ("of", "not ok", "its fastest", "median, 95 %")  # heads of columns that are no numbers


def ratio_cell(ratio):
    return Cell(times(ratio), ratio)


def ms_text(ms):
    return "%.4g" % ms if ms < 1000 else "{:,.0f}".format(ms)


def figure_text(x):
    return "" if x is None else "{:,.0f}".format(x) if x == int(x) else "%.2f" % x


def median_text(values, text=times):
    """"1.21 [1.05, 1.40]": the median, and its 95 % interval by order statistics if there are six."""
    values = sorted(values)
    ends = common.median_interval(values)
    return text(statistics.median(values)) + (" [%s, %s]" % tuple(map(text, ends)) if ends else "")


def spread(ratios):
    """Cells: how many, geometric mean, least, of which matrix, greatest, of which matrix, how
    often above 1, how often below, the median."""
    least, most = min(ratios, key=ratios.get), max(ratios, key=ratios.get)
    values = list(ratios.values())
    return (len(ratios), ratio_cell(common.geomean(values)), ratio_cell(ratios[least]), least[0],
            ratio_cell(ratios[most]), most[0], sum(x > 1 for x in values),
            sum(x < 1 for x in values), Cell(median_text(values), statistics.median(values)))


SPREAD = ("least", "of", "greatest", "of", "faster", "slower", "median, 95 %")


def failed_of(selection, found):
    """{series: how many cases have no usable result}, a vendor's best as well."""
    count = Counter(row["series"] for row in selection.left)
    count.update({name: len(of) for name, of in series.failures(selection, found).items()
                  if name not in count})
    return count


def speedups(selection, found):
    """Each algorithm over the baseline, case by case."""
    base = series.baseline(found)
    every = {**found, **series.by_algorithm(selection.rows)}
    speeds = {name: series.speedups(cases, found[base])
              for name, cases in every.items() if name != base}
    shared = set.intersection(*(set(found[name]) for name in found))
    uneven = any(len(cases) > len(shared) for cases in found.values()) and shared
    failed = failed_of(selection, found)
    lines = []
    for name, speed in speeds.items():
        if speed:
            ms = [every[name][m]["ms"] for m in speed]
            on_shared = [speed[m] for m in shared] if shared <= set(speed) else []
            cells = [ratio_cell(common.geomean(on_shared)) if on_shared else ""] if uneven else []
            lines.append((name, *spread(speed), Cell(str(failed[name]), failed[name]),
                          Cell(ms_text(statistics.median(ms)), statistics.median(ms)), *cells))
    head = ("algorithm", "matrices", "geometric mean × " + base, *SPREAD, "failed", "median ms",
            *(["geometric mean on the %d shared" % len(shared)] if uneven else []))
    return Table("Speed-up over " + base, 1, head, lines, about_base(selection, found, base))


def about_base(selection, found, base):
    """Sentences on what the speed-ups are over: its times; of a vendor which of its algorithms are
    the best, of which versions of its library, and where not all were tried."""
    said = [base_text(base, found[base])]
    if base == series.vendor_in(found):
        said += about_vendor(selection, found, base)
    return said


def base_text(base, cases):
    """A sentence on the times that speed-ups are over."""
    ms = [row["ms"] for row in cases.values()]
    return "Speed-ups are over %s: %s to %s ms, median %s on %s." % (
        base, ms_text(min(ms)), ms_text(max(ms)), median_text(ms, ms_text),
        words.counted(len(ms), "matrix", many="matrices"))


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


def library_versions(selection):
    """A vendor's algorithms with the newest version of their library over the oldest; None where
    there is but one version."""
    found = versions.compared(selection.rows)
    if not found.pairs:
        return None
    lines = [(name, *spread({m: old["ms"] / new["ms"] for m, (old, new) in of.items()}))
             for name, of in found.pairs.items()]
    head = ("algorithm", "matrices", "geometric mean × " + found.old, *SPREAD)
    return Table("%s over %s" % (found.new, found.old), 1, head, lines, found.said)


def memory(selection):
    """Peaks over those of the leanest of the vendors' algorithms, and of each; None without one."""
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
    """"0.54 (19)": geometric mean of {matrix: ratio}, and of how many."""
    if not ratios:
        return ""
    value = common.geomean(ratios.values())
    return Cell("%s (%d)" % (times(value), len(ratios)), value)


def failures(selection):
    """How often each algorithm was tried, how often with a usable result, and why not else."""
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
    """The figures and the times of every matrix; a word where there is no time. With {series:
    {matrix: row}} a column for each of these, else one for each algorithm."""
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
                 if row["status"] == "ok" and not series.is_partial(row)]
        lines.append((m[0], Cell(figure_text(m[3]), m[3]),
                      *(Cell(figure_text(figures[m].get(name)), figures[m].get(name))
                        for name in told),
                      *(time_cell(cases.get(name), whole) for name in names)))
    return Table("Times of every matrix", 1, ("ms", "nonzeros", *told, *names), lines, [])


def time_cell(row, whole):
    """A median, best if it is the least of those of the whole operation; or why there is none."""
    if not row:
        return ""
    if row["status"] != "ok":
        return row["status"]
    best = bool(whole) and row["ms"] == min(whole) and not series.is_partial(row)
    return Cell(ms_text(row["ms"]), row["ms"], best)
