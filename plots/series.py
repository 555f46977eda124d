"""Series: rows with one name, one colour and one place in the order of a figure or a table.

A series is an algorithm, with options and library if these differ within the algorithm. All
algorithms of a vendor's library are one series: the fastest for each case, over every version of the
library. This series is the baseline. Algorithms that do a part of the operation, or that take A as a
dense matrix, are in no series. The environment records describe an algorithm.
"""

import fnmatch
import math
import statistics

from records import NoData, option_text, parts

BEST = "%s (best)"
UNSUPPORTED = "unsupported"  # status of a case that an algorithm does not support


def is_partial(row):
    return bool(row["facts"].get("partial"))


def is_dense(row):
    """Returns True for an algorithm that also multiplies the zeros of A."""
    return bool(row["facts"].get("dense"))


def is_aside(row):
    """Returns True for an algorithm that is in no series, because its time does not compare."""
    return is_partial(row) or is_dense(row)


def vendor_of(row):
    """Returns the vendor of the library of the algorithm; None without a library, and for an
    algorithm in no series."""
    return None if is_aside(row) else row["facts"].get("vendor")


def differing(every):
    """Returns the names of the options that differ between these sets of options."""
    names = {name for options in every for name in options}
    return {name for name in names
            if len({str(options.get(name, NoData)) for options in every}) > 1}


def agreed(every):
    """Returns {option: value} of the options with a single value. A set may lack an option, because
    revisions of the program have different options."""
    values = {}
    for options in every:
        for name, x in options.items():
            values.setdefault(name, {})[str(x)] = x
    return {name: list(of.values())[0] for name, of in values.items() if len(of) == 1}


def told_options(rows):
    """Returns {algorithm: function}. The function reduces a set of options to those that
    distinguish it within the algorithm: options that vary and differ from the defaults."""
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
    """Sets the series of each row: the algorithm, with the options and the library that differ
    within it."""
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
    """Returns the series of a row: its group from asked(), else the best of its vendor, else its
    own."""
    return row.get("group") or (BEST % vendor_of(row) if vendor_of(row) else row["series"])


def fits(row, pattern):
    """Returns True if a word of -alg selects the algorithm of the row: its name, a pattern, its
    vendor, or all."""
    return pattern in ("all", vendor_of(row)) or any(
        fnmatch.fnmatchcase(row[name], pattern) for name in ("alg", "series"))


def group_of(vendor, pattern, fit, rows):
    """Returns the name of the series for a vendor's algorithms that one word of -alg selects."""
    here, every = ({row["alg"] for row in of if vendor_of(row) == vendor} for of in (fit, rows))
    names = {row["series"] for row in fit if vendor_of(row) == vendor}
    return BEST % vendor if here == every else names.pop() if len(names) == 1 else BEST % pattern


def asked(rows, patterns):
    """Returns copies of the rows that these words of -alg select, with the place of their word. A
    vendor's algorithms that one word selects are one series."""
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
    """Returns the series of these rows, the best first, by the geometric mean of time / least time
    of the case. Series with few cases come last."""
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
    """Returns {name: description} of the algorithms in the lists of these rows' environments, in their
    order. A tuned form follows its algorithm."""
    found = {}
    for env in {id(row["env"]): row["env"] for row in rows}.values():
        for facts in parts(env, "algorithms"):
            if "missing" not in facts:
                found.setdefault(str(facts.get("name")), facts)
    place = {name: at for at, name in enumerate(found)}
    return dict(sorted(found.items(), key=lambda item: place.get(
        item[1].get("tuned_of"), place[item[0]])))


def in_order(found, rows):
    """Returns {series: anything} in the order of -alg, else of the list of algorithms with vendors
    last."""
    place = {name: at for at, name in enumerate(listed(rows))}
    order = {}
    for row in rows:
        at = row.get("place", 0), bool(vendor_of(row)), place.get(row["alg"], len(place))
        for name in (row["series"], name_of(row)):
            order[name] = min(order.get(name, at), at)
    return dict(sorted(found.items(), key=lambda item: (order.get(item[0], (math.inf,)), item[0])))


def families(rows):
    """Returns {algorithm: (name of its family, its number there)} of the algorithms without a
    vendor. A family is an algorithm and its tuned forms."""
    found, sizes = {}, {}
    facts = {row["alg"]: row["facts"] for row in rows}
    for name, of in {**listed(rows), **facts}.items():
        if not of.get("vendor"):
            first = of.get("tuned_of") or name
            sizes[first] = sizes.get(first, -1) + 1
            found[name] = first, sizes[first]
    return found


def series(rows):
    """Returns {series: {matrix: row}} of rows with a time, in order. `rows` has one row for each
    algorithm and matrix."""
    found = {}
    for row in rows:
        if is_aside(row):
            continue
        cases = found.setdefault(name_of(row), {})
        if row["matrix"] not in cases or row["ms"] < cases[row["matrix"]]["ms"]:
            cases[row["matrix"]] = row
    return in_order(found, rows)


def by_algorithm(rows):
    """Returns the same as series(), with a series for each algorithm of a vendor."""
    found = {}
    for row in rows:
        if not is_aside(row):
            found.setdefault(row["series"], {})[row["matrix"]] = row
    return in_order(found, rows)


def members(found):
    """Returns the rows of {series: {matrix: row}}."""
    return [row for cases in found.values() for row in cases.values()]


def failures(selection, found):
    """Returns {series: {matrix: status}} of the cases that were tried without a usable result, in
    order. A vendor fails if all its algorithms do. An algorithm that the machine lacks was not
    tried. An algorithm unsupported on every matrix was not tried either."""
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
    """Returns the series, and series with failures alone as empty ones."""
    return in_order({**dict.fromkeys(words, {}), **found}, rows)


def first_that(found, true):
    """Returns the name of the first of these series with a row for which `true` is true, or None."""
    return next((name for name, cases in found.items() if any(map(true, cases.values()))), None)


def vendor_in(found):
    """Returns the series of the vendor's best, or None."""
    return first_that(found, vendor_of)


def has_fact(cases, name):
    """Returns True if the description of an algorithm of these cases has the field."""
    return any(row["facts"].get(name) for row in cases.values())


def comparable(found):
    """Returns (the series with at least half as many matrices as any other, the matrices that these
    series share). Means over the shared matrices compare."""
    most = max(map(len, found.values()), default=0)
    kept = {name: cases for name, cases in found.items() if cases and 2 * len(cases) >= most}
    return kept, set.intersection(*map(set, kept.values())) if kept else set()


def fastest(found):
    """Returns the name of the series with the least geometric mean of its times over the shared
    matrices."""
    kept, shared = comparable(found)
    return min(kept, key=lambda name: math.fsum(math.log(kept[name][m]["ms"]) for m in shared))


def own(found):
    """Returns the series without a vendor that are no reference."""
    return {name: cases for name, cases in found.items() if cases and not (
        has_fact(cases, "vendor") or has_fact(cases, "reference"))}


def baseline(found):
    """Returns the series that speed-ups are over: the vendor's best; else the fastest series that
    is no reference and picks no other, if there are several; else the reference."""
    ours = own(found)
    plain = {name: cases for name, cases in ours.items() if not has_fact(cases, "picks")}
    reference = first_that(found, lambda row: row["facts"].get("reference"))
    name = vendor_in(found) or (fastest(plain) if plain and len(ours) > 1 else reference)
    if name is None:
        raise NoData("no results of a vendor's library and none of the reference to compare with")
    return name


def speedups(cases, base):
    """Returns {case: time of the baseline / time} of the cases that both have."""
    return {case: base[case]["ms"] / row["ms"] for case, row in cases.items() if case in base}
