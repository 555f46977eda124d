"""Tests of what holds for any operation and library, for test_plots.py: an operation that no script
knows, several versions of a vendor's library, tuned forms, and that no script names what the
program lists."""

import json
import os
import re
import subprocess
from types import SimpleNamespace

from plots_records import M1, M2, OLD, SPMM, blend_records, result, rows_of, write

HERE = os.path.dirname(os.path.abspath(__file__))
PLOTS = os.path.join(HERE, "..", "..", "plots")
PROGRAM = os.path.join(HERE, "..", "..", "build", "cpu", "spbench")


def test_numbers(check):
    import common
    import drawing
    import series
    rows = rows_of(
        SPMM, result("merge-tuned", M1, 1.0), result("merge", M1, 1.0), result("sellp", M1, 1.0),
        result("cusparse", M1, 4.0), result("cusparse", M1, 3.0, library=OLD),
        result("cusparse", M2, 5.0), result("cusparse-csr2", M2, 6.0))
    selection = common.select(rows)
    found = series.series(selection.rows)
    check(list(found) == ["merge", "merge-tuned", "sellp", "cuSPARSE (best)"],
          "a tuned form is beside its algorithm: %s" % list(found))
    best = [(m[0], row["library"], row["ms"]) for m, row in found["cuSPARSE (best)"].items()]
    check(best == [("one", OLD, 3.0), ("two", "cuSPARSE 12.6.3", 5.0)],
          "the best of every version: %s" % best)
    each = [name for name in series.by_algorithm(rows) if name.startswith("cusparse")]
    check(each == ["cusparse with cuSPARSE 12.5.1", "cusparse with cuSPARSE 12.6.3",
                   "cusparse-csr2"], "each version by itself: %s" % each)
    check("Mixed: 2 versions (cuSPARSE 12.6.3: 2, cuSPARSE 12.5.1: 1)." in common.mixed(rows),
          "what is mixed: %s" % common.mixed(rows))
    look = drawing.styles(rows)
    merge, tuned = look["merge"], look["merge-tuned"]
    check(merge["colour"] == tuned["colour"] != look["sellp"]["colour"] and
          all(merge[name] != tuned[name] for name in ("marker", "hatch", "line")),
          "a tuned form has the colour of its algorithm, and nothing else: %s" % look)
    check(drawing.styles(rows[:1])["merge-tuned"] == tuned and
          drawing.styles(rows[2:3])["sellp"] == look["sellp"], "the same look in each figure")
    sets = common.groups(rows, common.fields_of(rows))
    check(list(sets) == [("NVIDIA H200", "spmm", 64, "row", "f32", "warm", "graph", None)], "sets: %s" % sets)
    check(common.fields_of(rows, mixes=(common.NUMBERS,)) == ("device", "op", "layout", "prec", "cache", "launch",
                                                 "revision"), "mixed axes of numbers")
    again = [{**row, "launch": "stream", "busy": True, "flagged": True} for row in rows[:2]]
    sets = common.groups(rows + again, common.fields_of(rows))
    check([key[-2] for key in sets] == ["graph", "stream"], "launched otherwise: %s" % list(sets))
    check(common.about(again).endswith("f32 · stream launches · NVIDIA H200 · 2026-11-20"),
          common.about(again))
    notes = common.footnotes(SimpleNamespace(rows=rows + again, left=[], notes=[]))
    check("~: 2 of %d times busy." % len(rows + again) in notes, "footnotes: %s" % notes)
    other = {**rows[0]["env"], "algorithms": SPMM[1][::-1] + [{"name": "new", "device": "cuda"}]}
    rows.append({**rows[2], "env": other})
    check(list(series.listed(rows))[-1] == "new", "lists that differ: what is new comes last")


def test_scripts(folder, check, run, picture):
    path = write(os.path.join(folder, "blend.jsonl"), blend_records(6))
    out = os.path.join(folder, "blend")
    status, text, errors = run("all.py", path, "-o", out, "-depth", "3", "-mode", "soft")
    drawn = os.path.join(out, "figures")
    made = sorted(name for name in os.listdir(drawn) if name.endswith(".png"))
    want = ["aspect", "format_bytes", "format_convert", "gflops_bars", "gflops_compression",
            "memory_peak", "memory_timeline", "phases", "roofline", "speedup_rowlength"]
    check(status == 0 and made == ["%s-blend%s-f64.png" % (name, "-depth3" * (name != "roofline"))
                                   for name in want], "every figure of it: %s %s" % (made, errors))
    left = re.findall(r"^left out: ([a-z_]+)", text, re.M)
    check(left == ["band", "colseg", "dense", "gather", "gflops_nonzeros", "halves", "predicted",
                   "predicted_roofline", "reordering", "roofline_counters", "speedup_sorted",
                   "time_axis"],
          "only what older records lack: %s" % text)
    for name in made:
        wrong = picture(os.path.join(drawn, name), 3000)
        check(wrong is None, "%s: %s" % (name, wrong))
    status, text, _ = run("gflops_bars.py", path, "--help")
    check(status == 0 and "-depth" in text and "{soft,hard}" in text,
          "its axes in the help: " + text)


def said_by_program(*args):
    return subprocess.run([PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False).stdout


def names_listed():
    """Names of operations, algorithms and axes, as the program says; None if it is not built."""
    if not os.path.exists(PROGRAM):
        return None
    found = set()
    for op in re.findall(r"-op (\w+):", said_by_program("list", "algorithms")):
        env = json.loads(said_by_program("-q", "-op", op, "-o", "-", os.devnull).splitlines()[0])
        found |= {op} | {item["name"] for item in env["operation"]["axes"] + env["algorithms"]}
    return found


def test_names(check):
    names = names_listed()
    if names is None:
        print("skipped: plots name no algorithm: build/cpu/spbench is not there")
        return False
    check(len(names) > 20 and {"k", "spmm", "merge"} <= names, "names: %s" % sorted(names))
    names -= {"reference", "dense"}  # facts of an algorithm, too
    for script in sorted(os.listdir(PLOTS)):
        if script.endswith(".py"):
            with open(os.path.join(PLOTS, script), encoding="utf-8") as file:
                words = set(re.findall(r"[\w-]+", file.read().lower()))
            words |= {word.lstrip("-") for word in words} | \
                {part for word in words for part in word.split("-")}
            check(not names & words, "%s names %s" % (script, sorted(names & words)))
    return True
