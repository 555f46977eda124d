"""Series: what has one name, one colour and one place in the order of a figure or a table.

A series is an algorithm, with its options and library where these differ within it. Every algorithm
of a vendor's library is one series, the fastest of them case by case, over every version of the
library: that is the fair baseline. Algorithms that do a part of the operation, and those that take A as
a dense matrix, are in no series. The environment records have the facts of an algorithm.
"""

import fnmatch
import math
import statistics

from records import NoData, option_text, parts

BEST = "%s (best)"
UNSUPPORTED = "unsupported"  # the status of what an algorithm cannot do


def is_partial(row):
    return bool(row["facts"].get("partial"))


def is_dense(row):
    """True of an algorithm that multiplies the zeros of A as well."""
    return bool(row["facts"].get("dense"))


def is_aside(row):
    """True of an algorithm that is in no series: its time does not compare with theirs."""
    return is_partial(row) or is_dense(row)


def vendor_of(row):
    """The vendor whose library the algorithm is of; None without one, and of an algorithm in no
    series."""
    return None if is_aside(row) else row["facts"].get("vendor")


def differing(every):
    """The names of the options that are not the same in every one of these sets of them."""
    names = {name for options in every for name in options}
    return {name for name in names
            if len({str(options.get(name, NoData)) for options in every}) > 1}


def agreed(every):
    """{option: value} of those that have one value in all of these sets that have them: a revision of
    the program may know an option that another does not."""
    values = {}
    for options in every:
        for name, x in options.items():
            values.setdefault(name, {})[str(x)] = x
    return {name: list(of.values())[0] for name, of in values.items() if len(of) == 1}


def told_options(rows):
    """{algorithm: function of a set of options that leaves those that tell it from the others of the
    algorithm}: from what it has where nobody asked for options, as far as that is agreed."""
    every, plain = {}, {}
    for row in rows:
        every.setdefault(row["alg"], []).append(row["options"])
        if row["defaults"]:
            plain.setdefault(row["alg"], []).append(row["options"])

    def teller(alg):
        names, base = differing(every[alg]), agreed(plain.get(alg, []))
        return lambda options: {name: x for name, x in options.items()
                                if name in names and str(base.get(name, NoData)) != str(x)}

    return {alg: teller(alg) for alg in every}


def label_rows(rows):
    """Names the algorithm of each row, with the options and the library that differ within it."""
    libraries = {}
    for row in rows:
        libraries.setdefault(row["alg"], {None}).add(row["library"])
    told = told_options(rows)
    for row in rows:
        row["series"] = row["alg"]
        options = told[row["alg"]](row["options"])
        if options:
            row["series"] += " " + option_text(options)
        if len(libraries[row["alg"]]) > 2 and row["library"]:
            row["series"] += " with " + row["library"]


def name_of(row):
    """The series of a row: its group from asked(), else the best of its vendor, else its own."""
    return row.get("group") or (BEST % vendor_of(row) if vendor_of(row) else row["series"])


def fits(row, pattern):
    """True if a word of -alg means the algorithm of the row: its name, a pattern, its vendor, or all."""
    return pattern in ("all", vendor_of(row)) or any(
        fnmatch.fnmatchcase(row[name], pattern) for name in ("alg", "series"))


def group_of(vendor, pattern, fit, rows):
    """The name of the series of those algorithms of a vendor that one word of -alg means."""
    here, every = ({row["alg"] for row in of if vendor_of(row) == vendor} for of in (fit, rows))
    names = {row["series"] for row in fit if vendor_of(row) == vendor}
    return BEST % vendor if here == every else names.pop() if len(names) == 1 else BEST % pattern


def asked(rows, patterns):
    """Copies of the rows of the algorithms that these words of -alg mean, with the place of their word.
    The algorithms of a vendor that one word means are one series."""
    found, seen = [], set()
    for place, pattern in enumerate(patterns):
        fit = [row for row in rows if fits(row, pattern)]
        if not fit:
            raise NoData("-alg %s: there is none; there are %s" % (
                pattern, ", ".join(sorted({row["alg"] for row in rows}))))
        groups = {vendor: group_of(vendor, pattern, fit, rows)
                  for vendor in set(map(vendor_of, fit)) - {None}}
        for row in fit:
            group = groups.get(vendor_of(row))
            if (id(row), group) not in seen:
                seen.add((id(row), group))
                found.append({**row, "group": group, "place": place})
    return found


def by_standing(rows):
    """The series of these rows, the best first: by the geometric mean of time / least time of the case.
    Series with few cases come last."""
    cases, behind = {}, {}
    for row in rows:
        if not is_aside(row):
            of = cases.setdefault((row["matrix"], *row["axes"].values(), row["prec"]), {})
            of[name_of(row)] = min(row["ms"], of.get(name_of(row), row["ms"]))
    for of in cases.values():
        for name, ms in of.items():
            behind.setdefault(name, []).append(math.log(ms / min(of.values())))
    most = max(map(len, behind.values()), default=0)
    return sorted(behind, key=lambda name: (2 * len(behind[name]) < most, statistics.fmean(behind[name])))


def listed(rows):
    """{name: facts} of the algorithms in the lists of these rows' environments, in their order, a
    tuned form behind the algorithm that it is one of."""
    found = {}
    for env in {id(row["env"]): row["env"] for row in rows}.values():
        for facts in parts(env, "algorithms"):
            if "missing" not in facts:
                found.setdefault(str(facts.get("name")), facts)
    place = {name: at for at, name in enumerate(found)}
    return dict(sorted(found.items(), key=lambda item: place.get(
        item[1].get("tuned_of"), place[item[0]])))


def in_order(found, rows):
    """{series: anything} in the order of -alg, else of the list of algorithms, those of vendors at the end."""
    place = {name: at for at, name in enumerate(listed(rows))}
    order = {}
    for row in rows:
        at = row.get("place", 0), bool(vendor_of(row)), place.get(row["alg"], len(place))
        for name in (row["series"], name_of(row)):
            order[name] = min(order.get(name, at), at)
    return dict(sorted(found.items(), key=lambda item: (order.get(item[0], (math.inf,)), item[0])))


def families(rows):
    """{algorithm: (name of its family, its number there)} of those that are of no vendor. A family is an
    algorithm and its tuned forms."""
    found, sizes = {}, {}
    facts = {row["alg"]: row["facts"] for row in rows}
    for name, of in {**listed(rows), **facts}.items():
        if not of.get("vendor"):
            first = of.get("tuned_of") or name
            sizes[first] = sizes.get(first, -1) + 1
            found[name] = first, sizes[first]
    return found


def series(rows):
    """{series: {matrix: row}} of rows with a time, in order. Of an algorithm there is one row for
    each matrix, as rows that were read have it."""
    found = {}
    for row in rows:
        if is_aside(row):
            continue
        cases = found.setdefault(name_of(row), {})
        if row["matrix"] not in cases or row["ms"] < cases[row["matrix"]]["ms"]:
            cases[row["matrix"]] = row
    return in_order(found, rows)


def by_algorithm(rows):
    """The same with each algorithm of a vendor by itself."""
    found = {}
    for row in rows:
        if not is_aside(row):
            found.setdefault(row["series"], {})[row["matrix"]] = row
    return in_order(found, rows)


def members(found):
    """The rows of {series: {matrix: row}}."""
    return [row for cases in found.values() for row in cases.values()]


def failures(selection, found):
    """{series: {matrix: status}} of the cases that were tried and have no usable result, in order;
    of a vendor where none of its algorithms has one. What the machine does not have was not tried, nor what
    is unsupported on each."""
    words = {}
    for row in selection.left:
        name = name_of(row)
        if is_aside(row) or "missing" in row["facts"] or row["matrix"] in found.get(name, {}):
            continue
        of = words.setdefault(name, {})
        same = of.get(row["matrix"], row["status"]) == row["status"]
        of[row["matrix"]] = row["status"] if same else "failed"
    tried = {name: of for name, of in words.items() if found.get(name) or set(of.values()) != {UNSUPPORTED}}
    return in_order(tried, selection.rows + selection.left)


def with_failures(found, words, rows):
    """The series, and without a case those that have failures alone."""
    return in_order({**dict.fromkeys(words, {}), **found}, rows)


def first_that(found, true):
    """The name of the first of these series that holds rows of which something is true, or None."""
    return next((name for name, cases in found.items() if any(map(true, cases.values()))), None)


def vendor_in(found):
    """The series of the vendor's best, or None."""
    return first_that(found, vendor_of)


def has_fact(cases, name):
    """True if an algorithm of these cases has the fact."""
    return any(row["facts"].get(name) for row in cases.values())


def comparable(found):
    """(the series with at least half as many matrices as any other, the matrices that these series
    share). Means over the shared matrices compare."""
    most = max(map(len, found.values()), default=0)
    kept = {name: cases for name, cases in found.items() if cases and 2 * len(cases) >= most}
    return kept, set.intersection(*map(set, kept.values())) if kept else set()


def fastest(found):
    """The name of the series with the least geometric mean of its times over the shared matrices."""
    kept, shared = comparable(found)
    return min(kept, key=lambda name: math.fsum(math.log(kept[name][m]["ms"]) for m in shared))


def own(found):
    """The series that are no vendor's and no reference."""
    return {name: cases for name, cases in found.items() if cases and not (
        has_fact(cases, "vendor") or has_fact(cases, "reference"))}


def baseline(found):
    """The series that speed-ups are over: the vendor's best; else the fastest series that is no
    reference and picks no other, if there are several; else the reference."""
    ours = own(found)
    plain = {name: cases for name, cases in ours.items() if not has_fact(cases, "picks")}
    reference = first_that(found, lambda row: row["facts"].get("reference"))
    name = vendor_in(found) or (fastest(plain) if plain and len(ours) > 1 else reference)
    if name is None:
        raise NoData("no results of a vendor's library and none of the reference to compare with")
    return name


def speedups(cases, base):
    """{case: time of the baseline / time} where both have one."""
    return {case: base[case]["ms"] / row["ms"] for case, row in cases.items() if case in base}
