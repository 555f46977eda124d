"""Shared code of figures and tables: choosing cases, notes for the reader, and statistics.

Cases without a usable time are never drawn, but counted.
"""

import argparse
import fnmatch
import math
import re
import signal
import statistics
import sys
from collections import Counter
from types import SimpleNamespace

import marks
import precs
import records
import repeats
from records import NoData, axes_of
from series import UNSUPPORTED, asked, by_standing, comparable, fits, label_rows, name_of, vendor_of
from words import counted, visible

# Fields that identify a set of cases, before and after the axes of the operation.
BEFORE, AFTER = ("device", "op"), ("prec", "cache", "launch", "revision")
SERIES_MOST = 8  # series of a figure without -alg: more cannot be told apart
NAME = re.compile(r"\w[\w-]*")  # a name that can be an option
SCAN = 12  # sets that differ in one number alone, above which they are a scan
OF_SCAN = 3  # sets of a scan that are shown
WAYS_MOST = 3  # most sets of options of an algorithm in a figure of all algorithms
VALUES_MOST = 8  # values of a number axis above which a title has the ends alone
MEMBERS = 3  # generated matrices of a series that make an experiment of their own
ALL = SimpleNamespace(alg=[], matrix=[], mixed=False)  # the options of a command without any
NUMBERS = "numbers"  # in a script's MIXES: all axes whose values are numbers
AXIS = "axis "  # before an axis's name among the arguments


def axis_help(axis):
    """Returns the records' description of the axis, escaped for argparse."""
    return visible(str(axis.get("about") or "")).replace("%", "%%")


def name_list(text):
    """Returns the words of a list with commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def one_of(name, kind=str):
    """Returns a parser of an option that takes a single value per figure."""
    def read(text):
        if "," in text:
            raise argparse.ArgumentTypeError("%s: one value; run once per %s" % (text, name))
        return kind(text)
    read.__name__ = kind.__name__  # in the messages of argparse
    return read


def arguments(doc, more=None):
    """Parses the command line of a script. The help is the script's docstring. The axes of the
    operations in the given files are options."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter,
        conflict_handler="resolve", epilog="Each axis of the operations in RESULTS is an option, "
        "as in spbench itself; --help behind RESULTS shows them.")
    axes = {name: axis for name, axis in axes_of(sys.argv[1:]).items() if NAME.fullmatch(name)}
    for name, axis in axes.items():
        words = axis.get("words")
        parser.add_argument("-" + name, "--" + name, dest=AXIS + name, choices=words,
                            type=one_of(name, str if words else int),
                            help=axis_help(axis), metavar=None if words else "N")
    parser.add_argument("results", nargs="+", metavar="RESULTS", help="JSON Lines of spbench, plain or .gz")
    for name, about_it in (("device", "id or part of the name"), ("op", "operation"),
                           ("prec", ", ".join(precs.PRECISIONS)), ("cache", "warm or cold"),
                           ("launch", "graph or stream"), ("revision", "of the program")):
        parser.add_argument("-" + name, "--" + name, type=one_of(name), help=about_it)
    parser.add_argument("-alg", "--alg", type=name_list, default=[], metavar="NAMES",
                        help="algorithms, in this order: names, patterns, a vendor, or all "
                        "(default: the best %d, with a vendor's best)" % SERIES_MOST)
    parser.add_argument("-matrix", "--matrix", type=name_list, default=[], metavar="PATTERNS",
                        help="only these matrices: names, patterns such as 'fem*'")
    parser.add_argument("-mixed", "--mixed", action="store_true", help="cases of all revisions of the "
                        "program in one figure; of a case in several the newest")
    parser.add_argument("-time", "--time", choices=records.TIMES, default=records.SEPARATE,
                        help="of runs kept apart (default), or of runs that may overlap the next; "
                        "what has but one time has that one")
    if more:
        more(parser)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly if the reader of a pipe ends, as head does
    args, unknown = parser.parse_known_args()
    if unknown:
        parser.error("unrecognized arguments: %s (axes of the operations in RESULTS: %s)"
                     % (" ".join(unknown), ", ".join(axes) or "none"))
    return args


def wanted_from(args):
    """Returns {field: value} that the user asked for. None means any value."""
    return {name.replace(AXIS, ""): value for name, value in vars(args).items()
            if name in BEFORE + AFTER or name.startswith(AXIS)}


def value_of(row, field):
    """Returns the value of a field or axis; None if the row's operation lacks the axis."""
    return row[field] if field in BEFORE + AFTER else row["axes"].get(field)


def fields_of(rows, mixes=(), mixed=False):
    """Returns the fields that have one value in a set of cases. A figure has all values of the
    fields in `mixes`. `mixed`: a set has all revisions."""
    axes = dict.fromkeys(name for row in rows for name in row["axes"])
    every = BEFORE + tuple(axes) + AFTER[:len(AFTER) - mixed]
    several = {*mixes, *(number_axes(rows) if NUMBERS in mixes else ())}
    return tuple(name for name in every if name not in several)


def number_axes(rows):
    """Returns the names of the axes whose values are numbers."""
    return list(dict.fromkeys(name for row in rows for name, value in row["axes"].items()
                              if isinstance(value, int)))


def matches(row, wanted):
    """Returns True if the row has the values that the user asked for."""
    for name, value in wanted.items():
        if value is None:
            continue
        if name == "device":
            if value not in (row["id"], row["id"].split(":")[0]) and \
                    value.lower() not in row["device"].lower():
                return False
        elif value_of(row, name) != value:
            return False
    return True


def groups(rows, fields):
    """Returns {values of these fields: rows}, in the order of the file."""
    found = {}
    for row in rows:
        found.setdefault(tuple(value_of(row, name) for name in fields), []).append(row)
    return found


def revision_dates(rows):
    """{revision: date of its newest row}."""
    dates = {}
    for row in rows:
        dates[row["revision"]] = max(dates.get(row["revision"], ""), row["date"])
    return dates


def wanted_rows(rows, args):
    """Returns the rows that fit the options of the command line. Raises NoData if there are none."""
    wanted = wanted_from(args)
    fit = [row for row in rows if matches(row, wanted)]
    if not fit:
        asked = ", ".join("-%s %s" % item for item in wanted.items() if item[1] is not None)
        raise NoData("no results for %s" % asked)
    names = {row["name"] for row in fit}
    for pattern in args.matrix:
        if not fnmatch.filter(names, pattern):
            raise NoData("-matrix %s: there is none" % visible(pattern))
    if args.mixed:
        fit = [of[-1] for of in repeats.cases_of(fit, mixed=True)]
    return [row for row in fit if not args.matrix or any(
        fnmatch.fnmatchcase(row["name"], pattern) for pattern in args.matrix)]


def choose(rows, args=ALL, mixes=(), has=None):
    """Returns the selection of the set that rank() puts first among the sets that fit, with the
    series for a figure."""
    fit = wanted_rows(rows, args)
    found = groups(fit, fields_of(fit, mixes, args.mixed))

    def wanted(row):
        return (not has or has(row)) and (not args.alg or any(fits(row, word) for word in args.alg))

    group = max(found.values(), key=lambda group: rank(group, wanted))
    return pick(select(group, len(found) - 1), args, has)


def pick(selection, args, has=None):
    """Returns the selection with the series of -alg. Without -alg: the SERIES_MOST best with the
    data of the figure, including a vendor. The baseline is from `every`, which keeps all rows."""
    rows = selection.rows + selection.left
    parts = {**vars(selection), "named": bool(args.matrix)}
    if args.alg:
        rows = asked(rows, args.alg)
    else:
        ranked = by_standing(general(only(selection, has or bool)).rows)
        ranked += [name for name in dict.fromkeys(
            name_of(row) for row in selection.left if row["status"] != UNSUPPORTED)
                   if name not in set(map(name_of, selection.rows))]
        vendors = {name_of(row) for row in rows if vendor_of(row)}
        ours = [name for name in ranked if name not in vendors]
        out = set(ours[max(0, SERIES_MOST - len(vendors)):])
        rows = [row for row in rows if name_of(row) not in out]
        parts["more"] = [name for name in ours if name in out]
        if out:
            parts["notes"] = selection.notes + ["Not drawn, as not among the best %d: %s." % (
                SERIES_MOST, ", ".join(parts["more"]))]
    parts["rows"] = [row for row in rows if row["status"] == "ok"]
    parts["left"] = [row for row in rows if row["status"] != "ok"]
    if not parts["rows"]:
        raise NoData("no usable results of -alg %s (%s)" % (",".join(args.alg), count_text(rows)))
    return SimpleNamespace(**parts)


def rank(rows, has=None):
    """Returns the sort key of a set: its numbers of matrices and of algorithms, then its date. Only
    usable results with `has` count."""
    ok = [row for row in rows if row["status"] == "ok" and (not has or has(row))]
    return (len({row["matrix"] for row in ok}), len({(row["alg"], row["library"]) for row in ok}),
            max((row["date"] for row in ok), default=""))


def select(rows, others=0):
    """Returns a selection: the usable rows, the other rows, and the title text."""
    label_rows(rows)
    ok = [row for row in rows if row["status"] == "ok"]
    left = [row for row in rows if row["status"] != "ok"]
    if not ok:
        raise NoData("no usable results (%s: %s)" % (counted(len(rows), "record"),
                                                     count_text(left)))
    return SimpleNamespace(rows=ok, left=left, every=ok, others=others, notes=[], more=[], named=False,
                           about=about(ok))


def mixed(rows):
    """Returns sentences that say if the rows are from several machines, revisions or library
    versions."""
    found = []
    libraries = {}
    for row in rows:
        libraries.setdefault(row["alg"], set()).add(row["library"])
    for what, of in (
            ("machines", [row["env"].get("host") for row in rows]),
            ("revisions", [row["revision"] for row in rows]),
            ("versions", [row["library"] for row in rows if len(libraries[row["alg"]]) > 1])):
        values = Counter(str(value) for value in of if value)
        if len(values) > 1:
            found.append("Mixed: %d %s (%s)." % (len(values), what, ", ".join(
                "%s: %d" % item for item in values.most_common())))
    return found


def footnotes(selection, left=True):
    """Returns notes on the drawn rows and, if `left`, on the rows left out."""
    found = mixed(selection.rows + selection.left)
    if left and selection.left:
        found.append("Left out: %s." % count_text(selection.left))
    marked = marks.counts_text(selection.rows, 3)
    found += ["%s: %s." % (marks.SIGN, marked)] * bool(marked)
    return found + runs_text(selection.rows) + selection.notes


def runs_text(rows):
    """A sentence on times that are medians of several runs, if there are any."""
    runs = Counter(row["runs"] for row in rows if row["runs"] > 1)
    return ["%s the median of %s runs." % (
        counted(sum(runs.values()), "time is", many="times are"),
        " to ".join(str(x) for x in sorted({min(runs), max(runs)})))] if runs else []


def thinned(found, fields):
    """Returns {values of these fields: rows} without the smaller sets of scans, and the number of
    sets removed."""
    scans = {}
    for values in found:
        for at, value in enumerate(values):
            if isinstance(value, int) and not isinstance(value, bool):
                scans.setdefault((at, values[:at] + values[at + 1:]), []).append(values)
    out = set()
    for (at, _), every in scans.items():
        if len(every) > SCAN:
            out.update(sorted(every, key=lambda of: (-len(found[of]), -of[at]))[OF_SCAN:])
    return {values: rows for values, rows in found.items() if values not in out}, len(out)


def restrict(selection, curve):
    """Returns the selection with the gen:aspect matrices alone, or with all others alone."""
    return only(selection, lambda row: bool(row["curve"]) == curve)


def only(selection, true):
    """Returns the selection with the rows for which `true` is true."""
    parts = vars(selection).copy()
    for name in ("rows", "left", "every"):
        parts[name] = [row for row in parts[name] if true(row)]
    return SimpleNamespace(**parts)


def without_curve(selection):
    """Returns the selection without gen:aspect matrices and other generated series. These have
    figures of their own and would dominate a mean. If there are no other matrices, returns the
    whole selection."""
    members = {}
    for row in selection.rows + selection.left:
        if records.series_of(row):
            members.setdefault(records.series_of(row), set()).add(row["matrix"])
    out = {of for of, matrices in members.items() if of[0] == "aspect" or len(matrices) >= MEMBERS}
    rest = only(selection, lambda row: records.series_of(row) not in out)
    count = len(selection.rows) - len(rest.rows)
    if not count or not rest.rows:
        return selection
    kinds = ", ".join("gen:" + kind for kind in sorted({of[0] for of in out}))
    rest.notes = selection.notes + [
        "%s of %s matrices, a series, %s in figures of %s own only."
        % (counted(count, "result"), kinds, *(("is", "its") if count == 1 else ("are", "their")))]
    return rest


def without_variants(selection):
    """Returns the selection without runs of non-default options, for algorithms with a default run
    and more than WAYS_MOST sets of options. More lines of one colour cannot be distinguished."""
    ways, plain = {}, set()
    for row in selection.rows:
        ways.setdefault(row["alg"], set()).add(str(sorted(row["options"].items())))
        plain |= {row["alg"]} if row["defaults"] else set()
    crowded = {alg for alg in plain if len(ways[alg]) > WAYS_MOST}
    rest = only(selection, lambda row: row["alg"] not in crowded or row["defaults"])
    count = len(selection.rows) - len(rest.rows)
    if count:
        rest.notes = selection.notes + ["%s of %s with options that were asked for not here." % (
            counted(count, "result"), ", ".join(sorted(crowded)))]
    return rest


def general(selection):
    """Returns the selection for a figure of all matrices and algorithms."""
    return without_variants(without_curve(selection))


def count_text(rows):
    """Returns "12 unsupported (this), 1 wrong (that)": the rows by status and algorithm."""
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
    """Returns "a, b, c and 12 more": the names of these matrices in alphabetical order."""
    names = sorted((visible(m[0]) for m in matrices), key=str.lower)
    more = " and %d more" % (len(names) - most) if len(names) > most + 1 else ""
    return ", ".join(names[:most] if more else names) + more


def matrices_of(selection, *found):
    """Returns {matrix: a row of it} for the matrices in any {series: {matrix: anything}}, ordered
    by mean row length."""
    there = {m for series in found for of in series.values() for m in of}
    rows = {row["matrix"]: row for row in selection.left + selection.rows if row["matrix"] in there}
    return dict(sorted(rows.items(), key=lambda item: (item[1]["row_mean"] or 0, item[0][0])))


def about(rows):
    """Returns operation, axes, precision, device, revision and dates of these rows, for a title."""
    def values(field):
        found = {value_of(row, field) for row in rows} - {None}
        found = sorted(found, key=lambda x: (isinstance(x, str), x))
        if len(found) > VALUES_MOST and not isinstance(found[-1], str):
            return "%s to %s (%d values)" % (found[0], found[-1], len(found))
        return ", ".join(map(str, found))

    texts = [values("op")]
    texts += ["%s = %s" % (name, values(name)) for name in fields_of(rows)[len(BEFORE):-len(AFTER)]]
    texts += [values("prec")] + [values("cache") + " cache"] * (values("cache") != "warm")
    texts += ["%s launches" % values("launch")] * (values("launch") != "graph")
    texts += ["runs back to back"] * any(row["which"] != records.SEPARATE for row in rows)
    texts += [values("device")] + ["revision " + values("revision")] * bool(values("revision"))
    dates = sorted({str(row["env"]["date"])[:10] for row in rows if row["env"].get("date")})
    return " · ".join(texts + ([" to ".join(dates[:1] + dates[1:][-1:])] if dates else []))


def geomean(values):
    """Returns the geometric mean, or None without values."""
    values = list(values)
    return marks.like(math.exp(math.fsum(map(math.log, values)) / len(values)), values) if values else None


def median(values):
    return marks.like(statistics.median(values), values)


def means(ratios, form="%.2f×"):
    """Returns ({name: geometric mean as text}, title) of {name: {matrix: ratio}}. All means are
    over the same matrices. A series on too few matrices has its number of matrices instead."""
    kept, shared = comparable(ratios)
    mean = {name: geomean(of[m] for m in shared) for name, of in kept.items()}
    return ({name: marks.sign(mean[name]) + form % mean[name] if name in kept and shared
             else "(%d only)" % len(of) for name, of in ratios.items()},
            "geometric mean on %s" % counted(len(shared), "shared matrix", many="shared matrices"))


def median_interval(values):
    """Returns (low, high), the 95 % interval of the median by order statistics, from sorted
    samples. Returns None for fewer than six samples."""
    count, tail = len(values), 0.0
    for at in range(count // 2):
        tail += math.comb(count, at) / 2 ** count
        if tail > 0.025:
            return (values[at - 1], values[count - at]) if at else None
    return None


def accuracy(picked, times):
    """Counts how often the picked candidate is the fastest one.

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
    """Returns two lists: medians of x and of y, in overlapping windows of equal counts along x."""
    points = sorted(zip(x, y))
    if len(points) < 2 * windows:
        return [], []
    half = max(len(points) // windows, 10)
    centres = [round(i * (len(points) - 1) / (windows - 1)) for i in range(windows)]
    near = [points[max(0, c - half):c + half + 1] for c in centres]
    return ([statistics.median(p[0] for p in part_) for part_ in near],
            [statistics.median(p[1] for p in part_) for part_ in near])
