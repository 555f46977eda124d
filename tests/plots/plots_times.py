"""Tests of the two times of a case, for test_plots.py: of runs kept apart, and back to back."""

import math
import os
from types import SimpleNamespace

from plots_records import GPU, environment, result, write

M1, M2 = ("one", 100, 500), ("two", 100, 2000)


def overlapping(record, back, half=None):
    """The record with another time back to back, and its interval."""
    ms = record["time_ms"]["median"]
    ends = (back - half, back + half) if half else (None, None)
    record["time_ms"].update(batch=7, launch="graph", separator=0.001, ci_lo=ms - 0.5, ci_hi=ms + 0.5,
                             back_to_back=back, back_to_back_ci_lo=ends[0],
                             back_to_back_ci_hi=ends[1])
    return {**record, "gather_efficiency": 0.5}


def made_up():
    """Apart merge is twice as fast as cuSPARSE on each, back to back half as fast on one."""
    long = result("merge", M2, 100.0)
    long["time_ms"].update(batch=1, launch="stream", separator=None, back_to_back=None)
    stream = result("sellp", M1, 8.0)
    stream["time_ms"].update(batch=11, launch="stream", separator=None, back_to_back=None)
    return [environment(roof=GPU), overlapping(result("merge", M1, 4.0), 2.0, 0.25),
            overlapping(result("cusparse", M1, 8.0), 1.0), long, stream, result("cusparse", M2, 200.0)]


def test_rows(path, check):
    import records
    for which, ms, interval, gflops, way in (
            (records.SEPARATE, 4.0, (3.5, 4.5), 1, "kept apart"),
            (records.BACK_TO_BACK, 2.0, (1.75, 2.25), 2, "back to back")):
        rows = records.read([path], which)
        merge, cusparse, long, stream, unsaid = rows
        flops = 2 * 500 * 64
        check(merge["ms"] == ms and merge["interval"] == interval and merge["way"] == way,
              "%s: %s" % (which, [merge[name] for name in ("ms", "interval", "way")]))
        check(math.isclose(merge["gflops"], flops / ms / 1e6), "%s: GFLOPS %s" % (
            which, merge["gflops"]))
        check(merge["gather"] == 0.5 * gflops, "%s: gather %s" % (which, merge["gather"]))
        check((cusparse["interval"] is None) == (which == records.BACK_TO_BACK),
              "%s: too few samples: %s" % (which, cusparse["interval"]))
        check([row["ms"] for row in (long, stream, unsaid)] == [100.0, 8.0, 200.0] and
              [row["way"] for row in (long, stream, unsaid)] ==
              ["one a sample", "back to back", None], "%s: what has one time: %s" % (
                  which, [(row["ms"], row["way"]) for row in (long, stream, unsaid)]))


def test_order(folder, check):
    """What starts before the work ahead of it has ended has its time kept apart alone."""
    import records
    for in_order, ms, way in ((False, 4.0, "kept apart"), (True, 2.0, "back to back"),
                              (None, 2.0, "back to back")):
        made = overlapping(result("merge", M1, 4.0), 2.0, 0.25)
        made["check"] = {**(made.get("check") or {}), "in_order": in_order}
        path = write(os.path.join(folder, "order.jsonl"), [environment(roof=GPU), made])
        for which in records.TIMES:
            row = records.read([path], which)[0]
            want = (ms, way) if which == records.BACK_TO_BACK else (4.0, "kept apart")
            check((row["ms"], row["way"]) == want, "in_order %s, %s: %s ms, %s" % (
                in_order, which, row["ms"], row["way"]))


def test_scripts(path, folder, check, run):
    """Figures by either time say which one."""
    for args, speed, said in (((), "2.00", False), (("-time", "separate"), "2.00", False),
                              (("-time", "back-to-back"), "~1.00", True)):
        image = os.path.join(folder, "by_time.svg")
        status, _, errors = run("overview.py", path, "-o", image, *args)
        with open(image, encoding="utf-8") as file:
            check(status == 0 and ">%s×<" % speed in file.read(), "overview.py %s: %s" % (args, errors))
        status, _, errors = run("gflops_bars.py", path, "-o", image, *args)
        with open(os.path.splitext(image)[0] + ".txt", encoding="utf-8") as file:
            caption = file.read()
        ways = "runs back to back (3), one a sample (1)" if said else \
            "runs kept apart (2), one a sample (1), back to back (1)"
        check(status == 0 and ways in caption, "gflops_bars.py %s: %s %s" % (args, caption, errors))
        check(("H200 · 2026-11-20" in caption) and ("· runs back to back ·" in caption) == said,
              "gflops_bars.py %s: its title: %s" % (args, caption.splitlines()[0]))
    status, _, errors = run("overview.py", path, "-time", "apart")
    check(status == 2 and "invalid choice: 'apart'" in errors, "no such time: %s" % errors)


def test_names(check):
    """What is drawn of one time does not replace what is drawn of the other."""
    import all as every
    for results, time, want in (
            (["r/a.jsonl"], "separate", ("r/a/figures", "r/a/index.html")),
            (["r/a.jsonl"], "back-to-back",
             ("r/a/figures-back-to-back", "r/a/index-back-to-back.html")),
            (["r/a.jsonl", "b"], "separate", ("r/figures", "r/index.html")),
            (["r/a.jsonl", "b"], "back-to-back",
             ("r/figures-back-to-back", "r/index-back-to-back.html"))):
        got = every.places(SimpleNamespace(results=results, time=time, output=None))
        check(got == want, "places of %s, %s: %s" % (results, time, got))


def test_times(folder, check, run):
    path = write(os.path.join(folder, "times.jsonl"), made_up())
    test_rows(path, check)
    test_order(folder, check)
    test_scripts(path, folder, check, run)
    test_names(check)
