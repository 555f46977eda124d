"""Repeated measurements of a case, reduced to one row.

Records of two revisions of the program are two cases. Within a revision the last record counts; an ok
that became an oom is an oom. Several runs of a program, as `-runs` of a sweep makes them, are one case
with the median of their times. The runs must be of one build of a revision without local changes, on
one device of one machine, with one content of the matrix (old records lack the content). A case that
was wrong in any of these runs is wrong. An algorithm with default options is one case, also if the
defaults differ between records.
"""

import math
import statistics
import sys

from words import counted, visible

PROGRAM = "revision", "compiler", "flags", "host"
CHANGED = "-dirty"  # end of a revision with local changes


def program_of(row):
    """Returns the program, the device and the matrix of the row; None if the record does not
    identify the program."""
    found = [row["env"].get(name) for name in PROGRAM]
    known = row["run"] is not None and found[0] and not str(found[0]).endswith(CHANGED)
    return (row["device"], row["content"], *map(str, found)) if known else None


def runs_of(rows):
    """Returns the newest row of each run of the last row's program. `rows` are of one case, in
    order of time. Returns the last row alone if its program is not known."""
    program = program_of(rows[-1])
    if program is None:
        return rows[-1:]
    of_run = {}
    for row in rows:
        if program_of(row) == program:
            of_run.pop(row["run"], None)
            of_run[row["run"]] = row
    return list(of_run.values())


def median_row(rows):
    """Returns one row for several with times: the row of the middle run, with the median time and
    an interval that covers all runs."""
    ordered = sorted(rows, key=lambda row: row["ms"])
    middle = ordered[len(ordered) // 2]
    ms = statistics.median(row["ms"] for row in ordered)
    scale = middle["ms"] / ms
    spans = [row["interval"] or (row["ms"], row["ms"]) for row in ordered]
    moved = next((row["moved"] for row in [middle] + ordered if row["moved"]), None)
    return {**middle, "ms": ms, "moved": moved, "runs": len(ordered),
            "samples": sum(row["samples"] for row in ordered), "gflops": middle["gflops"] * scale,
            "gather": middle["gather"] and middle["gather"] * scale,
            "interval": (min(low for low, _ in spans), max(high for _, high in spans)),
            "flagged": 2 * sum(row["flagged"] for row in ordered) >= len(ordered)}


def one_of(runs):
    """Returns the row of a case from these runs of one program."""
    wrong = [row for row in runs if row["status"] == "wrong"]
    if wrong or runs[-1]["status"] != "ok":
        return (wrong or runs)[-1]
    ok = [row for row in runs if row["status"] == "ok"]
    return median_row(ok) if len(ok) > 1 else ok[0]


def cases_of(rows, mixed=False):
    """Returns [[rows of a case, in their order]], in the order of their last rows. `mixed`: over
    all revisions."""
    found, names = {}, {}
    for row in rows:
        revision = None if mixed else row["revision"]
        key = row["device"], revision, row["key"]
        if row["defaults"]:
            plain = [revision] + [row[name] for name in ("device", "op", "alg", "prec", "cache", "launch",
                                                         "library", "matrix")] + list(row["axes"].items())
            key = names.setdefault(tuple(plain), key)
        found[key] = found.pop(key, []) + [row]
    return found.values()


def settled(rows):
    """Returns one row for each case. Prints to stderr how many cases have several rows, and how far
    their times differ."""
    kept, replaced, medians = [], [], []
    for of in cases_of(rows):
        runs = runs_of(of)
        kept.append(one_of(runs))
        if len(runs) < len(of):
            replaced.append((max(of[:-1], key=lambda row: apart(row, of[-1])), of[-1]))
        if len(runs) > 1:
            medians.append((min(runs, key=time_of), max(runs, key=time_of)))
    say(replaced, "measured more than once, the last record counts", "before ")
    say(medians, "measured in several runs, their median counts", "and ")
    return kept


def say(pairs, what, between):
    if not pairs:
        return
    old, new = max(pairs, key=lambda pair: apart(*pair))
    print("%s %s %s; furthest apart: %s of %s, %s, %s%s" % (
        counted(len(pairs), "case"), "was" if len(pairs) == 1 else "were", what, new["alg"],
        visible(new["name"]), time_text(new), between, time_text(old)), file=sys.stderr)


def time_of(row):
    return row["ms"] if row["status"] == "ok" else math.inf


def apart(old, new):
    """Returns the ratio of two measurements of a case, at least 1."""
    if old["status"] == new["status"] == "ok":
        return max(old["ms"] / new["ms"], new["ms"] / old["ms"])
    return 1.0 if old["status"] == new["status"] else math.inf


def time_text(row):
    return "%.4g ms" % row["ms"] if row["status"] == "ok" else row["status"]
