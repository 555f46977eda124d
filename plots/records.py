"""Reading JSON Lines of schema spbench/1 into flat rows.

A record becomes a dict (see `row_from`). Only a row that was checked and has a time keeps the status
"ok"; other rows are kept, so that they can be counted and named. The environment records describe the
axes and stats of an operation, and its algorithms. repeats.py reduces several rows of a case to
one.
"""

import gzip
import json
import math
import os
import re
import sys
import zlib

import marks
import repeats
from words import visible

SCHEMA = "spbench/1"
SEPARATE, BACK_TO_BACK = TIMES = "separate", "back-to-back"  # kinds of time: runs kept apart, or not
ENVIRONMENT, RESULT, DOCTOR = "environment", "result", "doctor"
GZIP = ".gz"  # ending of the name of a compressed file
BROKEN = gzip.BadGzipFile, EOFError, zlib.error  # errors of a truncated gzip file, or of a file that is not gzip
PLAIN = "csr"  # the format of csr_bytes in records


class NoData(Exception):
    """Nothing to draw or to print; the text says why, in one line."""


def open_text(path):
    """Opens a file as text; a name that ends with .gz is decompressed."""
    return (gzip.open if path.endswith(GZIP) else open)(
        path, "rt", encoding="utf-8", errors="replace")


def split_ending(path):
    """Returns ("a/x", ".jsonl") of a/x.jsonl and of a/x.jsonl.gz."""
    return os.path.splitext(path[:-len(GZIP)] if path.endswith(GZIP) else path)


def number(x):
    """Returns x as a finite float, else None."""
    if not isinstance(x, (int, float)) or isinstance(x, bool):
        return None
    try:
        return float(x) if math.isfinite(x) else None
    except OverflowError:
        return None


def text(x):
    """Returns x as text, or None for None."""
    return None if x is None else str(x)


def part(record, name):
    """Returns a sub-object of a record; {} if missing or null."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def parts(record, name):
    """Returns the objects of a list in a record; [] if missing or null."""
    value = record.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def numbers(values):
    """Returns the items of a dict that are numbers of at least 0."""
    found = {name: number(x) for name, x in values.items()}
    return {name: x for name, x in found.items() if x is not None and x >= 0}


def moments(timeline):
    """Returns [(ms, bytes)] of a timeline. Items that are no such pair are left out."""
    found = timeline if isinstance(timeline, list) else []
    pairs = [tuple(map(number, pair)) for pair in found if isinstance(pair, list)]
    return [pair for pair in pairs if len(pair) == 2 and None not in pair]


def named(env, what):
    """Returns {name: description} of the axes or of the stats of the environment's operation."""
    return {str(item["name"]): item for item in parts(part(env, "operation"), what)
            if "name" in item}


def interval(time, prefix=""):
    """Returns (low, high), the median's 95 % interval in ms; None if there were too few samples."""
    ends = number(time.get(prefix + "ci_lo")), number(time.get(prefix + "ci_hi"))
    return ends if all(ends) and 0 < ends[0] <= ends[1] else None


def median_of(time, which, in_order=True):
    """Returns (ms, interval, way_of() of the runs) for the requested kind of time, or for the only
    one. Runs that are not in order have their separate times only."""
    back = number(time.get("back_to_back"))
    if which == BACK_TO_BACK and back and in_order:
        return back, interval(time, "back_to_back_"), "back to back"
    return number(time.get("median")), interval(time), way_of(time)


def way_of(time):
    """Returns the distance of the runs of a sample: "one a sample", "back to back" or "kept apart";
    None if the record lacks it."""
    batch = number(time.get("batch"))
    if batch is None:
        return None
    return "one a sample" if batch == 1 else \
        "back to back" if number(time.get("separator")) is None else "kept apart"


def axis_value(x):
    """Returns x as a whole number if it is one, else as text."""
    return int(x) if number(x) is not None and x == int(x) else text(x)


def row_from(record, env, which=SEPARATE):
    """Returns a result record as a flat row: the data for plots without the samples, with the kind
    of time `which`. Raises KeyError, TypeError or ValueError for other records."""
    time, check, memory = part(record, "time_ms"), part(record, "check"), part(record, "memory")
    facts = algorithm_facts(env, record["alg"], record["device"])
    if record["op"] != part(env, "operation").get("name"):
        raise ValueError("of another operation")
    matrix, axes = record["matrix"], named(env, "axes")
    row = {name: str(record[name]) for name in ("op", "alg", "prec", "cache", "status")}
    row["key"] = str(record["case"])
    row["axes"] = {name: axis_value(record[name]) for name, facts in axes.items()
                   if name in record or "standard" not in facts}
    row["reason"], row["library"] = text(record.get("reason")), text(record["library"])
    row["env"], row["id"], row["facts"] = env, str(record["device"]), facts
    row["run"], row["runs"] = text(record.get("run")), 1  # runs of which the time is the median
    row["date"], row["revision"] = text(env.get("date")) or "", text(env.get("revision"))
    row["defaults"] = no_options_asked(env.get("command"))
    row["device"] = device_name(env, row["id"])
    row["detail"] = text(device_facts(env, row["id"]).get("detail")) or ""
    row["source"] = ""  # the file, which rows_of() knows
    row["made"] = part(env, "operation").get("result") == "sparse"  # each run makes its result
    row["launch"] = text(record.get("launch")) or "graph"
    row["timed"] = text(time.get("launch"))  # how it was launched in fact
    row["method"] = text(check.get("method"))
    row["throttled"], row["busy"] = time.get("throttled") is True, time.get("busy") is True
    row["options"], row["stats"] = part(record, "options"), part(record, "stats")
    row["model"] = part(record, "model")
    row["series"] = row["alg"]  # until others say that it has variants
    row["name"], row["path"] = str(matrix["name"]), str(matrix.get("path"))
    row["content"] = text(matrix.get("content"))
    # Different groups of a collection use the same names, so the sizes belong to the identity.
    row["matrix"] = (row["name"],) + tuple(number(matrix[n]) for n in ("rows", "cols", "nnz"))
    row["curve"] = aspect_nonzeros(row)
    row["rows"], row["row_mean"] = number(matrix["rows"]), number(matrix.get("row_mean"))
    row["row_max"], row["row_cv"] = number(matrix.get("row_max")), number(matrix.get("row_cv"))
    row["in_order"] = check.get("in_order") is not False
    row["ms"], row["interval"], row["way"] = median_of(time, which, row["in_order"])
    row["samples"] = len(time.get("samples") or ())
    row["which"] = which
    # The record's rates are those of its median.
    faster = (number(time.get("median")) or row["ms"]) / row["ms"] if row["ms"] else 1
    row["gflops"] = scaled(number(record.get("gflops")), faster)
    row["flagged"] = True in (time.get("throttled"), time.get("busy"))  # may be too long
    row["flops"] = number(record.get("flops"))
    row["figures"] = {name: number(record.get(name)) for name in named(env, "figures")}
    row["phases"] = numbers(part(record, "phases_ms"))
    row["peak"], row["timeline"] = number(memory.get("peak_bytes")), moments(memory.get("timeline"))
    row["formats"] = [(str(item.get("format")), numbers(item)) for item in parts(record, "formats")]
    row["bytes"] = number(part(record, "bytes").get("compulsory"))
    row["gather"] = scaled(number(record.get("gather_efficiency")), faster)  # over 1: reused on chip
    row["moved"] = number(part(record, "counters").get("memory_bytes"))
    if row["status"] == "ok":
        if check.get("method") in (None, "off"):
            row["status"] = "unchecked"
        elif row["flops"] == 0:
            row["status"] = "empty"
        elif not (row["ms"] and row["ms"] > 0 and row["gflops"] and row["gflops"] > 0):
            row["status"] = "without a time"
    return row


def scaled(x, factor):
    return None if x is None else x * factor


def no_options_asked(command):
    """Returns True if the command leaves the options of its algorithms at their defaults, None if
    the command is unknown."""
    if not isinstance(command, list):
        return None
    return not any(word.lstrip("-").startswith("opt") and re.match("--?opt(=|$)", word)
                   for word in map(str, command))


def is_unread(record):
    """Returns True for a case whose matrix could not be loaded. The record has only its name."""
    return record.get("status") != "ok" and part(record, "matrix").get("rows") is None


def aspect_nonzeros(row):
    """Returns the nonzeros, as text, of a matrix gen:aspect:ROWS:NONZEROS; else None."""
    for spec in (row["name"], row["path"]):
        words = spec.split(":")
        words = words[1:] if words[0] == "gen" else words
        if words[0] == "aspect" and len(words) >= 3:
            return words[2]
    return None


def series_of(row):
    """Returns (kind, the shared numbers) of the series of generated matrices that this matrix may
    be of, else None. Such a series is an experiment of its own."""
    if row["curve"]:
        return "aspect", row["curve"]
    for kind, count, same in (("band", 2, 1), ("sparse2d", 3, 2), ("uniform", 2, 1)):
        found = generated(row, kind, count)
        if found:
            return (kind,) + tuple(found[:same])
    return None


def generated(row, kind, count):
    """Returns the `count` numbers of the spec gen:KIND:N:N... of the matrix, else None."""
    for spec in (row["name"], row["path"]):
        words = spec.split(":")
        words = words[1:] if words[0] == "gen" else words
        if words[0] == kind and len(words) == count + 1 and all(map(str.isdecimal, words[1:])):
            return [int(word) for word in words[1:]]
    return None


def algorithm_facts(env, name, ident):
    """Returns the environment's description of the algorithm of this name on the device of this id."""
    for facts in parts(env, "algorithms"):
        if facts.get("name") == name and facts.get("device") == str(ident).split(":")[0]:
            return facts
    return {}


def device_facts(env, ident):
    """Returns the environment's description of the device of this id, as a dict with `roof`."""
    facts = {"id": ident, "roof": part(env, "roof")}
    for device in parts(env, "devices"):
        if device.get("id") == ident:
            facts.update((name, value) for name, value in device.items() if value is not None)
    return facts


def device_name(env, ident):
    return str(device_facts(env, ident).get("name") or ident)


def parse(line):
    """Returns the record of this line, or None if it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = isinstance(record, dict) and record.get("schema") == SCHEMA
    return record if known and record.get("kind") in (ENVIRONMENT, RESULT, DOCTOR) else None


def axes_of(paths):
    """Returns {name: description} of every axis of the operations in these files. Files that cannot be
    opened or read twice are skipped."""
    found = {}
    for path in filter(os.path.isfile, paths):
        try:
            with open_text(path) as lines:
                for line in lines:
                    env = parse(line) if ENVIRONMENT in line[:100] else None
                    found = {**named(env, "axes"), **found} if env else found
        except (OSError, *BROKEN):
            pass
    return found


def read(paths, which=SEPARATE):
    """Returns all rows of these files, with the kind of time `which`. Other lines are left out with
    a warning."""
    rows = []
    for path in paths:
        try:
            with open_text(path) as lines:
                rows += rows_of(path, lines, which)
        except BROKEN as error:
            raise NoData("%s: not a whole gzip file (%s)" % (path, error)) from error
        except OSError as error:
            raise NoData("%s: %s" % (path, error.strerror)) from error
    if not rows:
        raise NoData("%s: no result records" % ", ".join(paths))
    tell_apart(rows)
    # The later measurement counts, whatever the order of the files.
    return list(map(marks.mark, repeats.settled(sorted(rows, key=lambda row: row["date"]))))


def rows_of(path, lines, which=SEPARATE):
    """Returns the rows of a file. Runs may share the file, line by line. A result belongs to the
    environment of its run, or, without a run id, to the last environment without an id."""
    rows, envs, bad, unread = [], {}, [], {}
    for at, line in enumerate(lines, 1):
        record = parse(line)
        if record and record["kind"] == ENVIRONMENT:
            envs[text(record.get("run"))] = record
        elif record and record["kind"] == DOCTOR:
            continue
        elif record and is_unread(record):
            unread[str(part(record, "matrix").get("name"))] = True
        elif line.strip():
            try:
                row = row_from(record or {}, envs[text((record or {}).get("run"))], which)
                rows.append({**row, "source": os.path.basename(path)})
            except (KeyError, TypeError, ValueError):
                bad.append(at)
    if bad:
        where = "line" if len(bad) == 1 else "%d lines, the first is line" % len(bad)
        print("%s: %s %d: no %s record, or none of the operation of its environment, left out"
              % (visible(path), where, bad[0], SCHEMA), file=sys.stderr)
    if unread:
        print("%s: could not be read, left out: %s"
              % (visible(path), visible(", ".join(unread))), file=sys.stderr)
    return rows


def tell_apart(rows):
    """Appends the id to the names of devices that share a name, as they are different sets of
    cases."""
    ids = {}
    for row in rows:
        ids.setdefault(row["device"], set()).add(row["id"])
    for row in rows:
        if len(ids[row["device"]]) > 1 and row["device"] != row["id"]:
            row["device"] = "%s (%s)" % (row["device"], row["id"])


def option_text(options):
    return " ".join("%s=%s" % item for item in sorted(options.items()))
