"""What the plots share: reading JSON Lines, choosing cases, and the figures computed from them.

A record becomes a flat row (see `row_from`). Only rows of status "ok" that were checked have a time;
all others are counted and named in a footnote. Every algorithm of the vendor's library is one
series here, the fastest of them case by case, because that is the fair baseline.
"""

import argparse
import json
import math
import os
import re
import statistics
import sys
from collections import Counter
from types import SimpleNamespace

SCHEMA = "spbench/1"
VENDOR = "cusparse"  # the prefix of the vendor's algorithms
VENDOR_BEST = VENDOR + "* (best)"
REFERENCE = "reference"  # the baseline where the vendor has no results

# What tells one set of cases from another; a figure says which of them it needs to be single.
FIELDS = ("device", "op", "mul", "k", "prec", "layout", "cache")


class NoData(Exception):
    """Nothing to draw or to print; the text says why, in one line."""


def number(x):
    """x as a finite float, else None."""
    good = isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)
    return float(x) if good else None


def part(record, name):
    """A sub-object of a record; missing or null is empty."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def row_from(record, env):
    """A result record as a flat row: what the plots need, without the samples."""
    matrix, time, check = part(record, "matrix"), part(record, "time_ms"), part(record, "check")
    row = {name: record.get(name) for name in ("status", "op", "alg", "prec", "k", "layout", "mul")}
    row["env"] = env
    row["id"] = record.get("device")
    row["device"] = device_name(env, record.get("device"))
    row["cache"] = time.get("cache")
    row["throttled"] = time.get("throttled") is True
    row["options"], row["stats"] = part(record, "options"), part(record, "stats")
    row["name"] = str(matrix.get("name"))
    # Different groups of a collection use the same names, so the sizes belong to the identity.
    row["matrix"] = (row["name"], matrix.get("rows"), matrix.get("cols"), matrix.get("nnz"))
    row["path"] = str(matrix.get("path"))
    row["curve"] = aspect_nonzeros(row)
    row["rows"], row["row_mean"] = number(matrix.get("rows")), number(matrix.get("row_mean"))
    row["ms"], row["gflops"] = number(time.get("median")), number(record.get("gflops"))
    row["flops"] = number(record.get("flops"))
    row["bytes"] = number(part(record, "bytes").get("compulsory"))
    if row["status"] == "ok":
        if check.get("method") in (None, "off"):
            row["status"] = "unchecked"
        elif row["flops"] == 0:
            row["status"] = "empty"
        elif not (row["ms"] and row["ms"] > 0 and row["gflops"] and row["gflops"] > 0):
            row["status"] = "without a time"
    return row


def aspect_nonzeros(row):
    """The nonzeros, as text, that a matrix gen:aspect:ROWS:NONZEROS was asked for; else None."""
    for text in (row["name"], row["path"]):
        words = text.split(":")
        words = words[1:] if words[0] == "gen" else words
        if words[0] == "aspect" and len(words) >= 3:
            return words[2]
    return None


def device_facts(env, ident):
    """What the environment says of the device of this id, as a dict with `roof`."""
    facts = {"id": ident, "roof": part(env, "roof")}
    listed = env.get("devices") if isinstance(env.get("devices"), list) else []
    for device in listed:
        if isinstance(device, dict) and device.get("id") == ident:
            facts.update((name, value) for name, value in device.items() if value is not None)
    return facts


def device_name(env, ident):
    return str(device_facts(env, ident).get("name") or ident)


def read(paths):
    """All rows of these files. Lines that are no records are left out with a warning."""
    rows = []
    for path in paths:
        env, bad = {}, []
        try:
            with open(path, encoding="utf-8", errors="replace") as lines:
                for at, line in enumerate(lines, 1):
                    if not line.strip():
                        continue
                    try:
                        record = json.loads(line)
                    except (ValueError, RecursionError):
                        record = None
                    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
                        bad.append(at)
                    elif record.get("kind") == "environment":
                        env = record
                    elif record.get("kind") == "result":
                        rows.append(row_from(record, env))
        except OSError as error:
            raise NoData("%s: %s" % (path, error.strerror)) from error
        if bad:
            where = "line" if len(bad) == 1 else "%d lines, the first is line" % len(bad)
            print("%s: %s %d: no %s record, left out" % (path, where, bad[0], SCHEMA),
                  file=sys.stderr)
    if not rows:
        raise NoData("%s: no result records" % ", ".join(paths))
    fill_cache(rows)
    return list({case_key(row): row for row in rows}.values())  # measured again: the last counts


def fill_cache(rows):
    """A case without a time does not say how the cache was: as in the other cases of its run."""
    of_run = {}
    for row in rows:
        if row["cache"]:
            of_run[id(row["env"])] = row["cache"]
    for row in rows:
        row["cache"] = row["cache"] or of_run.get(id(row["env"]), "warm")


def case_key(row):
    fixed = tuple(row[name] for name in FIELDS)
    return row["matrix"], row["alg"], row["id"], option_text(row["options"]), fixed


def option_text(options):
    return " ".join("%s=%s" % item for item in sorted(options.items()))


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
    """A selection: its usable rows, why the rest is left out, and what its title says."""
    ok = [row for row in rows if row["status"] == "ok"]
    left = Counter((row["status"], row["alg"]) for row in rows if row["status"] != "ok")
    if not ok:
        raise NoData("no usable results (%d records: %s)" % (len(rows), count_text(left)))
    notes = []
    if left:
        notes.append("Left out: %s." % count_text(left))
    throttled = sum(row["throttled"] for row in ok)
    if throttled:
        notes.append("%d measured while the clocks were held down." % throttled)
    return SimpleNamespace(rows=ok, left=left, notes=notes, others=others,
                           env=ok[-1]["env"], about=about(ok))


def without_curve(selection):
    """The rows without the gen:aspect matrices, which are one experiment with a figure of its own
    and would weigh too much in a mean; all rows if there are no others."""
    rows = [row for row in selection.rows if not row["curve"]]
    if rows and len(rows) < len(selection.rows):
        selection.notes.append("%d results of gen:aspect matrices are in the figure of the aspect "
                               "ratio only." % (len(selection.rows) - len(rows)))
    return rows or selection.rows


def count_text(left):
    """"12 unsupported (sellp), 1 wrong (merge)" from counts by (status, algorithm)."""
    by_status = {}
    for (status, alg), count in left.items():
        by_status.setdefault(status, Counter())[str(alg)] += count
    texts = []
    for status, algs in sorted(by_status.items(), key=lambda item: -sum(item[1].values())):
        names = [name for name, _ in algs.most_common(3)]
        more = " and %d more" % (len(algs) - 3) if len(algs) > 3 else ""
        texts.append("%d %s (%s%s)" % (sum(algs.values()), status, ", ".join(names), more))
    return ", ".join(texts)


def about(rows):
    """Operation, k, precision, layout, device and date of these rows, for a title."""
    def values(name):
        return sorted({row[name] for row in rows if row[name] is not None})

    texts = [" ".join(values("op") + values("mul"))]
    if values("k"):
        texts.append("k = " + ", ".join(str(k) for k in values("k")))
    texts += values("prec")
    texts += [layout + "-major" for layout in values("layout")]
    texts += [cache + " cache" for cache in values("cache") if cache != "warm"]
    texts += values("device")
    date = str(rows[-1]["env"].get("date") or "")[:10]
    return " · ".join(texts + ([date] if date else []))


def label_rows(rows):
    """Gives each row its series: the algorithm, with options where these differ within it."""
    variants = {}
    for row in rows:
        variants.setdefault(row["alg"], set()).add(option_text(row["options"]))
    for row in rows:
        several = len(variants[row["alg"]]) > 1 and row["options"]
        row["series"] = row["alg"] + (" " + option_text(row["options"]) if several else "")


def is_vendor(alg):
    return str(alg).startswith(VENDOR)


def series(rows, key=lambda row: row["matrix"]):
    """{series: {case: row}}, the vendor's algorithms as one: the fastest for each case."""
    label_rows(rows)
    found = {}
    for row in rows:
        name = VENDOR_BEST if is_vendor(row["alg"]) else row["series"]
        cases = found.setdefault(name, {})
        if key(row) not in cases or row["ms"] < cases[key(row)]["ms"]:
            cases[key(row)] = row
    order = algorithm_order()
    last = len(order)
    return dict(sorted(found.items(), key=lambda item: (
        item[0] == VENDOR_BEST, order.get(item[0].split(" ")[0], last), item[0])))


def baseline(found):
    """The series that speed-ups are over: the vendor's best, else the reference."""
    for name in (VENDOR_BEST, REFERENCE):
        if name in found:
            return name
    raise NoData("no %s* and no %s results to compare with" % (VENDOR, REFERENCE))


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


def algorithm_order():
    """{name: place} as in the project's list of algorithms, without the vendor's, so that a name
    has the same colour in every figure. Empty where the list is not there."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "algos.def")
    names = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                found = re.match(r"ALGO\(\w+,\s*(\w+)", line)
                if found and not is_vendor(found.group(1)):
                    names.setdefault(found.group(1).replace("_", "-"), len(names))
    except OSError:
        pass
    return names
