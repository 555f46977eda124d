"""Reading JSON Lines of schema spbench/1 into flat rows.

A record becomes a dict (see `row_from`). Only a row that was checked and has a time keeps the
status "ok"; the others are kept too, so that they can be counted and named.
"""

import json
import math
import sys

SCHEMA = "spbench/1"

# What tells one set of cases from another; a figure says which of them it needs to be single.
FIELDS = ("device", "op", "mul", "k", "prec", "layout", "cache")


class NoData(Exception):
    """Nothing to draw or to print; the text says why, in one line."""


def number(x):
    """x as a finite float, else None."""
    if not isinstance(x, (int, float)) or isinstance(x, bool):
        return None
    try:
        return float(x) if math.isfinite(x) else None
    except OverflowError:
        return None


def text(x):
    """x as text, None where there is none."""
    return None if x is None else str(x)


def part(record, name):
    """A sub-object of a record; missing or null is empty."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def numbers(values):
    """The items of a dict that are numbers, and not below 0."""
    found = {name: number(x) for name, x in values.items()}
    return {name: x for name, x in found.items() if x is not None and x >= 0}


def moments(timeline):
    """[[ms, bytes], ...] as pairs of numbers; what is no such pair is left out."""
    found = timeline if isinstance(timeline, list) else []
    pairs = [tuple(map(number, pair)) for pair in found if isinstance(pair, list)]
    return [pair for pair in pairs if len(pair) == 2 and None not in pair]


def row_from(record, env):
    """A result record as a flat row: what the plots need, without the samples."""
    matrix, time, check = part(record, "matrix"), part(record, "time_ms"), part(record, "check")
    row = {name: text(record.get(name)) for name in ("op", "prec", "layout", "mul")}
    row["status"], row["alg"] = str(record.get("status")), str(record.get("alg"))
    row["reason"] = text(record.get("reason"))
    k = number(record.get("k"))
    row["k"] = None if k is None else int(k)
    row["env"], row["id"] = env, text(record.get("device"))
    row["device"] = device_name(env, row["id"])
    row["cache"] = text(time.get("cache"))
    row["throttled"] = time.get("throttled") is True
    row["options"], row["stats"] = part(record, "options"), part(record, "stats")
    row["series"] = row["alg"]  # until others say that it has variants
    row["name"] = str(matrix.get("name"))
    # Different groups of a collection use the same names, so the sizes belong to the identity.
    row["matrix"] = (row["name"],) + tuple(number(matrix.get(n)) for n in ("rows", "cols", "nnz"))
    row["path"] = str(matrix.get("path"))
    row["curve"] = aspect_nonzeros(row)
    row["rows"], row["row_mean"] = number(matrix.get("rows")), number(matrix.get("row_mean"))
    row["ms"], row["gflops"] = number(time.get("median")), number(record.get("gflops"))
    row["flops"] = number(record.get("flops"))
    row["compression"] = number(record.get("compression"))
    row["phases"] = numbers(part(record, "phases_ms"))
    row["peak"] = number(part(record, "memory").get("peak_bytes"))
    row["timeline"] = moments(part(record, "memory").get("timeline"))
    row["bytes"] = number(part(record, "bytes").get("compulsory"))
    if row["status"] == "ok":
        if check.get("method") in (None, "off"):
            row["status"] = "unchecked"
        elif row["flops"] == 0:
            row["status"] = "empty"
        elif not (row["ms"] and row["ms"] > 0 and row["gflops"] and row["gflops"] > 0):
            row["status"] = "without a time"
    return row


def is_unread(record):
    """Of a case whose matrix could not be loaded: nothing is known of it but its name."""
    return record.get("status") != "ok" and part(record, "matrix").get("rows") is None


def aspect_nonzeros(row):
    """The nonzeros, as text, that a matrix gen:aspect:ROWS:NONZEROS was asked for; else None."""
    for spec in (row["name"], row["path"]):
        words = spec.split(":")
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
        env, bad, unread = {}, [], {}
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
                    elif record.get("kind") == "result" and is_unread(record):
                        unread[str(part(record, "matrix").get("name"))] = True
                    elif record.get("kind") == "result":
                        rows.append(row_from(record, env))
        except OSError as error:
            raise NoData("%s: %s" % (path, error.strerror)) from error
        if bad:
            where = "line" if len(bad) == 1 else "%d lines, the first is line" % len(bad)
            print("%s: %s %d: no %s record, left out" % (path, where, bad[0], SCHEMA),
                  file=sys.stderr)
        if unread:
            print("%s: could not be read, left out: %s" % (path, ", ".join(unread)),
                  file=sys.stderr)
    if not rows:
        raise NoData("%s: no result records" % ", ".join(paths))
    fill_cache(rows)
    tell_apart(rows)
    return last_of_each(rows)


def fill_cache(rows):
    """A case without a time does not say how the cache was: as in the other cases of its run."""
    of_run = {}
    for row in rows:
        if row["cache"]:
            of_run[id(row["env"])] = row["cache"]
    for row in rows:
        row["cache"] = row["cache"] or of_run.get(id(row["env"]), "warm")


def tell_apart(rows):
    """Devices of the same name get their id behind it: they are two sets of cases, not one."""
    ids = {}
    for row in rows:
        ids.setdefault(row["device"], set()).add(row["id"])
    for row in rows:
        if len(ids[row["device"]]) > 1 and row["device"] != row["id"]:
            row["device"] = "%s (%s)" % (row["device"], row["id"])


def case_key(row):
    fixed = tuple(row[name] for name in FIELDS)
    return row["matrix"], row["alg"], option_text(row["options"]), fixed


def last_of_each(rows):
    """The rows, of a case that was measured again the last one alone.

    Whoever measures again means to replace what was there: after a change of the code the fastest
    would be of code that is gone, and a median of both of neither. An ok that became an oom is an
    oom. stderr says how many cases that were and how far their times are apart.
    """
    found, again = {}, {}
    for row in rows:
        key = case_key(row)
        if key in found:
            again.setdefault(key, []).append(found.pop(key))
        found[key] = row
    if again:
        worst = max(((row, found[key]) for key, old in again.items() for row in old),
                    key=lambda pair: apart(*pair))
        print("%d case%s measured more than once, the last record counts; furthest apart: %s of %s,"
              " %s, before %s" % (len(again), " was" if len(again) == 1 else "s were",
                                  worst[1]["alg"], worst[1]["name"], time_text(worst[1]),
                                  time_text(worst[0])), file=sys.stderr)
    return list(found.values())


def apart(old, new):
    """How far the second measurement of a case is from the first: a ratio, at least 1."""
    if old["status"] == new["status"] == "ok":
        return max(old["ms"] / new["ms"], new["ms"] / old["ms"])
    return 1.0 if old["status"] == new["status"] else math.inf


def time_text(row):
    return "%.4g ms" % row["ms"] if row["status"] == "ok" else row["status"]


def option_text(options):
    return " ".join("%s=%s" % item for item in sorted(options.items()))
