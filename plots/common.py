"""What the figures and tables share: choosing cases, and the numbers computed from them.

Every algorithm of the vendor's library is one series here, the fastest of them case by case,
because that is the fair baseline. Cases without a usable time are never drawn, but counted.
"""

import argparse
import math
import os
import re
import statistics
from collections import Counter
from types import SimpleNamespace

from records import FIELDS, NoData, last_of_each, option_text

VENDOR = "cusparse"  # the prefix of the vendor's algorithms
VENDOR_BEST = VENDOR + "* (best)"
PARTIAL = "-reuse"  # ends the names of those that repeat a product whose structure is known, which
# is less work than the others do: they are in no figure and no comparison


def arguments(doc, argv=None, more=None):
    """The command line of a script; its help is the script's docstring."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULTS", help="JSON Lines of spbench")
    for name, about in (("device", "id or part of the name"), ("op", "operation"),
                        ("mul", "aa or aat"), ("k", "columns of the dense operands"),
                        ("prec", "f32 or f64"), ("layout", "row or col"),
                        ("cache", "warm or cold")):
        parser.add_argument("-" + name, "--" + name, type=int if name == "k" else str, help=about)
    if more:
        more(parser)
    return parser.parse_args(argv)


def matches(row, wanted):
    """Does the row fit what the user asked for (a dict of FIELDS; None is anything)?"""
    for name, value in wanted.items():
        if value is None:
            continue
        if name == "device":
            ident = str(row["id"])
            if value not in (ident, ident.split(":")[0]) and \
                    value.lower() not in row["device"].lower():
                return False
        elif row[name] != value:
            return False
    return True


def wanted_from(args):
    return {name: getattr(args, name) for name in FIELDS}


def groups(rows, single):
    """The rows by their values of the fields in `single`, in the order of the file."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in single), []).append(row)
    return found


def choose(rows, wanted, single):
    """One set of cases that agree in `single`: of those that fit, the one with most results."""
    fit = [row for row in rows if matches(row, wanted)]
    if not fit:
        asked = ", ".join("-%s %s" % item for item in wanted.items() if item[1] is not None)
        raise NoData("no results for %s" % asked)
    found = groups(fit, single)
    best = max(found.values(), key=lambda group: sum(row["status"] == "ok" for row in group))
    return select(best, len(found) - 1)


def select(rows, others=0):
    """A selection: the usable rows, the others, and what its title says."""
    label_rows(rows)
    ok = [row for row in rows if row["status"] == "ok"]
    left = [row for row in rows if row["status"] != "ok"]
    if not ok:
        raise NoData("no usable results (%d records: %s)" % (len(rows), count_text(left)))
    return SimpleNamespace(rows=ok, left=left, others=others, notes=[], about=about(ok))


def mixed(rows):
    """Sentences that say where these rows are not of one measurement of one program."""
    found = []
    for what, name in (("revisions of the program", "revision"), ("machines", "host")):
        values = Counter(str(row["env"][name]) for row in rows if row["env"].get(name))
        if len(values) > 1:
            found.append("Mixed: %d %s (%s)." % (len(values), what, ", ".join(
                "%s: %d" % item for item in values.most_common())))
    return found


def footnotes(selection, left=True):
    """What a reader has to know about the rows that are drawn and, if `left`, about the others."""
    found = mixed(selection.rows + selection.left)
    if left and selection.left:
        found.append("Left out: %s." % count_text(selection.left))
    throttled = sum(row["throttled"] for row in selection.rows)
    if throttled:
        found.append("%d measured while the clocks were held down." % throttled)
    return found + selection.notes


def narrow(selection, curve):
    """The selection with the gen:aspect matrices alone, or with all others alone."""
    parts = vars(selection).copy()
    for name in ("rows", "left"):
        parts[name] = [row for row in parts[name] if bool(row["curve"]) == curve]
    return SimpleNamespace(**parts)


def without_curve(selection):
    """The selection without the gen:aspect matrices, which are one experiment with a figure of its
    own and would weigh too much in a mean; all of it if there are no other matrices."""
    rest = narrow(selection, False)
    count = len(selection.rows) - len(rest.rows)
    if not count or not rest.rows:
        return selection
    rest.notes = selection.notes + ["%d results of gen:aspect matrices are in the figure of the "
                                    "aspect ratio only." % count]
    return rest


def count_text(rows):
    """"12 unsupported (sellp), 1 wrong (merge)": the rows by status."""
    by_status = {}
    for row in rows:
        by_status.setdefault(row["status"], Counter())[row["alg"]] += 1
    texts = []
    for status, algs in sorted(by_status.items(), key=lambda item: -sum(item[1].values())):
        names = [name for name, _ in algs.most_common(3)]
        more = " and %d more" % (len(algs) - 3) if len(algs) > 3 else ""
        texts.append("%d %s (%s%s)" % (sum(algs.values()), status, ", ".join(names), more))
    return ", ".join(texts)


def names_text(matrices, most=6):
    """"a, b, c and 12 more": the names of these matrices, by the alphabet."""
    names = sorted((m[0] for m in matrices), key=str.lower)
    more = " and %d more" % (len(names) - most) if len(names) > most + 1 else ""
    return ", ".join(names[:most] if more else names) + more


def facts(selection, found, words):
    """{matrix: a row of it} of those that have a result in {series: {matrix: row}} or a word."""
    return {row["matrix"]: row for row in selection.left + selection.rows
            if any(row["matrix"] in of for of in (*found.values(), *words.values()))}


def about(rows):
    """Operation, k, precision, layout, device and dates of these rows, for a title."""
    def values(name):
        return sorted({row[name] for row in rows if row[name] is not None})

    texts = [" ".join(values("op") + values("mul"))]
    if values("k"):
        texts.append("k = " + ", ".join(str(k) for k in values("k")))
    texts += values("prec")
    texts += [layout + "-major" for layout in values("layout")]
    texts += [cache + " cache" for cache in values("cache") if cache != "warm"]
    texts += values("device")
    dates = sorted({str(row["env"]["date"])[:10] for row in rows if row["env"].get("date")})
    return " · ".join(texts + ([" to ".join(dates[:1] + dates[1:][-1:])] if dates else []))


def label_rows(rows):
    """Gives each row its series: the algorithm, with options where these differ within it."""
    variants = {}
    for row in rows:
        variants.setdefault(row["alg"], set()).add(option_text(row["options"]))
    for row in rows:
        several = len(variants[row["alg"]]) > 1 and row["options"]
        row["series"] = row["alg"] + (" " + option_text(row["options"]) if several else "")


def is_vendor(alg):
    return alg.startswith(VENDOR) and not is_partial(alg)


def op_of(found):
    """The operation of {series: rows}, which have one; None of nothing."""
    for cases in found.values():
        for row in cases.values() if isinstance(cases, dict) else cases:
            return row["op"]
    return None


def is_partial(alg):
    return alg.endswith(PARTIAL)


def series(rows):
    """{series: {matrix: row}}, the vendor's algorithms as one: the fastest for each matrix. Of
    others there is one row for each matrix, as rows that were read have it; should there be more,
    the last counts. Those that do a part of the work are in none."""
    found = {}
    for row in last_of_each(row for row in rows if not is_partial(row["alg"])):
        name = series_name(row)
        cases = found.setdefault(name, {})
        if row["matrix"] not in cases or row["ms"] < cases[row["matrix"]]["ms"]:
            cases[row["matrix"]] = row
    return in_order(found, op_of(found))


def series_name(row):
    return VENDOR_BEST if is_vendor(row["alg"]) else row["series"]


def in_order(found, op):
    """{series: anything} in the order of the list of algorithms, the vendor's at the end."""
    order = algorithm_order(op)
    return dict(sorted(found.items(), key=lambda item: (
        is_vendor(item[0]), order.get(item[0].split(" ")[0], len(order)), item[0])))


def failures(selection, found):
    """{series: {matrix: status}} of the cases that were tried and have no usable result, in order;
    of the vendor where none of its algorithms has one."""
    words = {}
    for row in selection.left:
        name = series_name(row)
        if is_partial(row["alg"]) or row["matrix"] in found.get(name, {}):
            continue
        of = words.setdefault(name, {})
        same = of.get(row["matrix"], row["status"]) == row["status"]
        of[row["matrix"]] = row["status"] if same else "failed"
    return in_order(words, selection.left[0]["op"]) if words else {}


def baseline(found):
    """The series that speed-ups are over: the vendor's best, else the reference."""
    plain = reference(op_of(found))
    for name in (VENDOR_BEST, plain):
        if name in found:
            return name
    raise NoData("no %s* and no %s results to compare with" % (VENDOR, plain))


def speedups(cases, base):
    """{case: time of the baseline / time} where both have one."""
    return {case: base[case]["ms"] / row["ms"] for case, row in cases.items() if case in base}


def geomean(values):
    """Geometric mean, None of nothing."""
    values = list(values)
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None


def accuracy(picked, times):
    """How often the picked candidate is the fastest one.

    picked: {case: name}; times: {name: {case: ms}}. Returns (right, cases), over the cases for
    which every candidate has a time. A tie is right.
    """
    right = cases = 0
    for case, name in picked.items():
        if name in times and all(case in of for of in times.values()):
            cases += 1
            right += times[name][case] <= min(of[case] for of in times.values())
    return right, cases


def running_median(x, y, windows=25):
    """Medians of y in overlapping windows of equal counts along x: two lists."""
    points = sorted(zip(x, y))
    if len(points) < 2 * windows:
        return [], []
    half = max(len(points) // windows, 10)
    centres = [round(i * (len(points) - 1) / (windows - 1)) for i in range(windows)]
    near = [points[max(0, c - half):c + half + 1] for c in centres]
    return ([statistics.median(p[0] for p in part_) for part_ in near],
            [statistics.median(p[1] for p in part_) for part_ in near])


def reference(op):
    """The plain reference of an operation: the first of it in the list of algorithms."""
    return next(iter(algorithm_order(op)), "reference")


def algorithm_order(op):
    """{name: place} as in the project's list of algorithms of this operation (None: of all),
    without the vendor's, so that a name has the same colour in every figure. Empty where the list
    is not there."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "algos", "algos.def")
    names = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                found = re.match(r"ALGO\((\w+),[^\"]*\"([^\"]+)\"", line)
                if found and op in (None, found.group(1)) and VENDOR not in found.group(2):
                    names.setdefault(found.group(2), len(names))
    except OSError:
        pass
    return names
