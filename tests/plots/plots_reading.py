"""Tests of reading records, for test_plots.py: what tells cases apart, cases that are there twice,
lines that are no records."""

import gzip
import json
import os
import threading

import words
import common
import records
import repeats
import roofline
import series
from plots_records import GPU, SPMM, environment, result, rows_of, write
from plots_run import told


def test_again(folder, check):
    """A case that was measured again: the last record counts, and stderr says so."""
    m1, m2 = ("one", 100, 500), ("two", 100, 2000)

    def repeats_then_series(rows):
        return series.series(repeats.settled(rows))

    rows = rows_of(SPMM, result("merge", m1, 1.0), result("merge", m2, 4.0),
                   result("merge", m1, 2.0), result("cusparse", m1, 1.0),
                   result("cusparse", m1, 4.0), result("cusparse-csr2", m1, 3.0),
                   result("merge", m2, 4.1))
    found, said = told(repeats_then_series, rows)
    check([row["ms"] for row in found["merge"].values()] == [2.0, 4.1],
          "the last of each case, not the fastest: %s" % found["merge"])
    check([row["ms"] for row in found["cuSPARSE (best)"].values()] == [3.0],
          "the best of the vendor's last ones: %s" % found["cuSPARSE (best)"])
    check(said == "3 cases were measured more than once, the last record counts; furthest apart: "
          "cusparse of one, 4 ms, before 1 ms\n", "stderr says so: %r" % said)
    check(told(repeats_then_series, rows[:2])[1] == "", "nothing to say of cases that are there once")
    path = write(os.path.join(folder, "again.jsonl"), [
        environment(roof=GPU), result("merge", m1, 1.0), result("merge", m2, 1.0),
        result("merge", m1, 1.0, status="oom")])
    rows, said = told(records.read, [path])
    check([row["status"] for row in rows] == ["ok", "oom"], "a case that came to fail has failed")
    check("1 case was measured more than once" in said and "oom, before 1 ms" in said, said)
    check(told(records.read, [path, path])[1].startswith("2 cases"), "a file that is read twice")
    two = environment(roof=GPU)
    two["devices"] = [{**two["devices"][1], "id": "cuda:%d" % i} for i in (0, 1)]
    path = write(os.path.join(folder, "devices.jsonl"), [
        two, result("merge", m1, 1.0), result("merge", m1, 2.0, device="cuda:1")])
    rows, said = told(records.read, [path])
    check([row["device"] for row in rows] == ["NVIDIA H200 (cuda:0)", "NVIDIA H200 (cuda:1)"] and
          not said, "two devices of one name are two sets: %s %s" % (rows, said))


def test_doctor(folder, check):
    """What the doctor found may stand between results, and nothing is said of it."""
    path = write(os.path.join(folder, "doctor.jsonl"), [
        {"schema": "spbench/1", "kind": "doctor"}, environment(roof=GPU),
        result("merge", ("one", 100, 500), 1.0)])
    rows, said = told(records.read, [path])
    check(len(rows) == 1 and not said, "one row, %r" % said)


def test_reading(folder, check):
    path = os.path.join(folder, "odd.jsonl")
    m = ("one", 100, 500)
    lost = [result(alg, ("lost", 0, 0), 1.0, status="failed") for alg in ("merge", "sellp")]
    for record in lost:
        record["matrix"].update(dict.fromkeys(("rows", "cols", "nnz", "row_mean")))
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(environment(roof=GPU)) + "\n\n")
        file.write(json.dumps(result("merge", m, 2.0)) + "\n")
        file.write(json.dumps(result("merge", m, 1.0)) + "\n[1]\n")
        file.write(json.dumps(result("merge", m, 9.0))[:200])
    rows, said = told(records.read, [path])
    check("2 lines, the first is line 5: no spbench/1 record" in said, "warning: " + said)
    check("1 case was measured more than once" in said, "and: " + said)
    check(len(rows) == 1 and rows[0]["ms"] == 1.0, "the last record of a case counts")
    check(rows[0]["device"] == "NVIDIA H200", "device name: %s" % rows[0]["device"])
    title = common.about(rows)
    for text in ("spmm", "k = 64", "f32", "layout = row", "NVIDIA H200", "2026-11-20"):
        check(text in title, "title %r has %r" % (title, text))
    other = [{**rows[0], "revision": "abc", "env": {"date": "2026-11-2%dT10:00:00Z" % i, "host": "h%d" % i}}
             for i in (3, 1, 2, 1)]
    check(common.about(other).endswith(" · revision abc · 2026-11-21 to 2026-11-23"), common.about(other))
    check(common.mixed(other) == ["Mixed: 3 machines (h1: 2, h3: 1, h2: 1)."],
          "machines: %s" % common.mixed(other))
    check(common.footnotes(common.select(other)) == common.mixed(other), "in the footnotes")
    write(path, [environment(roof=GPU), result("merge", m, 1.0)] + lost)
    rows, said = told(records.read, [path])
    check([row["name"] for row in rows] == ["one"], "a matrix that could not be read is in no row")
    check(said.endswith("could not be read, left out: lost\n"), said)
    test_keys(check, m)


def test_runs(folder, check):
    """Runs that wrote into one file, line by line: each result has its own run's environment."""
    slow = {**GPU, "copy": 100.0}
    other = [{**facts, "vendor": "ACME"} if facts["name"] == "merge" else facts
             for facts in SPMM[1]]
    m1, m2, m3 = (("m%d" % i, 100, 500) for i in (1, 2, 3))

    def of(run, record):
        return {**record, "run": run}

    path = write(os.path.join(folder, "runs.jsonl"), [
        environment(roof={**GPU, "copy": 1.0}), result("merge", m3, 9.0),
        of("0a", environment(roof=GPU)), of("0b", environment((SPMM[0], other), roof=slow)),
        of("0a", result("merge", m1, 1.0)), of("0b", result("merge", m2, 2.0)),
        of("0a", result("rowsplit", m1, 3.0)), result("rowsplit", m3, 4.0),
        of("0c", result("merge", m1, 5.0)), of([], result("merge", m1, 6.0))])
    rows, said = told(records.read, [path])
    copies = [records.device_facts(row["env"], row["id"])["roof"]["memory_gb_s"] for row in rows]
    check(copies == [1.0, GPU["copy"], 100.0, GPU["copy"], 1.0], "roofs of the runs: %s" % copies)
    vendors = [row["facts"].get("vendor") for row in rows]
    check(vendors == [None, None, "ACME", None, None], "facts of the runs: %s" % vendors)
    check(roofline.roofs([rows[1]])[0]["memory"] == GPU["copy"], "the roofline's, too")
    check("2 lines, the first is line 9: no spbench/1 record" in said, "without its environment: " + said)


def test_visible(folder, check):
    """What is said about files and matrices is one line of harmless characters."""
    odd = "a\x1b[31m\nb\t\x9b\u202e\ud800|$\\é"
    check(words.visible(odd) == "a\\x1b[31m\\nb\\t\\x9b\\u202e\\ud800|$\\é",
          words.visible(odd))
    check(common.names_text([(odd,), ("z",)]) == words.visible(odd) + ", z", "lists of names")
    lost = result("merge", (odd, 0, 0), 1.0, status="failed")
    lost["matrix"].update(dict.fromkeys(("rows", "cols", "nnz", "row_mean")))
    path = write(os.path.join(folder, "vis\x1b\nible.jsonl"), [
        environment(roof=GPU), lost, result("merge", (odd, 9, 9), 1.0),
        result("merge", (odd, 9, 9), 2.0), {}])
    _, text = told(records.read, [path])
    check(len(text.splitlines()) == 3 and "\x1b" not in text and
          text.count(words.visible(odd)) == 2 and "vis\\x1b\\nible" in text, "said: %r" % text)


def test_keys(check, m):
    """A record's case is the key of its row; a record without a field of a case is none."""
    cold = result("cusparse", m, 1.0, cache="cold", status="oom", options={"b": 9.35, "a": 2})
    row, launched = rows_of(SPMM, {**cold, "case": "one"}, {**cold, "launch": "stream"})
    check(row["key"] == "one" and row["cache"] == "cold" and row["launch"] == "graph", "key: %s" % row["key"])
    check(launched["launch"] == "stream" and not row["busy"], "launch: %s" % launched["launch"])
    for name, value in (("matrix", None), ("op", "other"), ("layout", ...), ("case", ...), ("cache", ...),
                        ("library", ...)):
        odd = {**cold, name: value}
        if value is ...:
            del odd[name]
        try:
            rows_of(SPMM, odd)
            check(False, "%s: %s is no record" % (name, value))
        except (KeyError, TypeError, ValueError):
            check(True, "no record")
    check(records.axes_of([os.devnull, "/none"]) == {}, "no axes in files that have none")


def test_gzip(folder, check, run):
    """A .gz file is read like a plain file; a truncated or damaged file is an error of one line."""
    plain = write(os.path.join(folder, "packed.jsonl"), [
        environment(roof=GPU), result("merge", ("one", 100, 500), 1.0),
        result("cusparse", ("one", 100, 500), 2.0)])
    with open(plain, "rb") as file:
        data = file.read()
    packed = plain + ".gz"
    with gzip.open(packed, "wb") as file:
        file.write(data)
    made = []
    for path in (packed, plain):
        out = os.path.join(folder, os.path.basename(path) + ".svg")
        made.append((run("overview.py", path, "-k", "64", "-o", out)[0], open(out, encoding="utf-8").read()))
    check(made[0] == made[1] and made[0][0] == 0, "the same image, and the same axes")
    status, text, errors = run("all.py", packed, "--format", "svg")
    check(status == 0 and os.path.exists(os.path.join(folder, "packed", "index.html")),
          "the folder has the name without both endings: %s %s" % (text, errors))
    with open(packed, "rb") as file:
        whole = file.read()
    for name, broken in (("cut", whole[:-20]), ("none", data), ("bits", whole[:30] + bytes(40) + whole[70:])):
        path = os.path.join(folder, name + ".jsonl.gz")
        with open(path, "wb") as file:
            file.write(broken)
        for script in ("overview.py", "all.py", "gflops_bars.py"):
            status, text, errors = run(script, path)
            check(status == 1 and len(errors.splitlines()) == 1 and
                  name + ".jsonl.gz: not a whole gzip file" in errors,
                  "%s of a %s file: %d %s" % (script, name, status, errors))


def test_pipe(folder, check, run):
    """What comes out of a pipe is there once: it is not looked through for axes before."""
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=write, args=(pipe, [
        environment(roof=GPU), result("merge", ("one", 100, 500), 1.0),
        result("cusparse", ("one", 100, 500), 2.0)]))
    writer.start()
    status, text, errors = run("overview.py", pipe, "-o", os.path.join(folder, "pipe.svg"))
    writer.join()
    check(status == 0 and text.strip().endswith("pipe.svg"), "an image from a pipe: %s" % errors)
    os.remove(pipe)
