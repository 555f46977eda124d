#!/usr/bin/env python3
"""Plug-ins: test_plugin.py [BUILD [EMULATED_PROGRAM]].

Right plug-ins are measured like own algorithms; bad endings and wrong clocks are a record each; wrong
fields of a description are one line each; the parent never loads a file.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from checks import check, end, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/cpu").resolve()
PROGRAM = BUILD / "spbench"
EMULATED = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
RIGHT, BAD, FIELDS, NO_SYMBOL = (BUILD / "tests/plugin" / (name + ".so")
                                 for name in ("right", "bad_endings", "bad_fields", "no_symbol"))
QUICK = ["-device", "cpu", "-threads", "1", "-reps", "2", "-warmup", "1"]
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Variables of the make that calls this test are not those of a plug-in's make.
for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARCH"):
    os.environ.pop(name, None)


def spbench(*words, env=None, cwd=None, program=PROGRAM, timeout=120):
    return subprocess.run([str(program), *map(str, words)], text=True, capture_output=True, cwd=cwd,
                          stdin=subprocess.DEVNULL, timeout=timeout, env={**os.environ, **(env or {})})


def ran(run, status, what):
    check(run.returncode == status, "%s: exit status %d, not %d: %s" %
          (what, run.returncode, status, run.stderr[-500:]))


def results(path):
    records = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    return [r for r in records if r["kind"] == "result"]


def valid(path):
    run = subprocess.run([sys.executable, str(ROOT / "tests/records/check_records.py"), str(path)],
                         capture_output=True, text=True)
    check(run.returncode == 0, "%s: %s" % (path, run.stdout[-500:]))


def test_list():
    run = spbench("list", "-plugin", RIGHT, "mine")
    ran(run, 0, "list")
    sha256 = hashlib.sha256(RIGHT.read_bytes()).hexdigest()
    for text in ("mine: -op spmm", "mine: -op sddmm", "mine: -op spgemm", "blocks=4  from 1 to 64, whole",
                 "version 1.0, SHA-256 " + sha256):
        check(text in run.stdout, "list: no '%s' in: %s" % (text, run.stdout))
    run = spbench("list", "-plugin", RIGHT)
    check("a dense row of sums" in run.stdout, "list: %s" % run.stdout)


def test_run(folder):
    sha256 = hashlib.sha256(RIGHT.read_bytes()).hexdigest()
    for op, others in (("spmm", "rowsplit"), ("sddmm", "balanced"), ("spgemm", "hash")):
        file = folder / (op + ".jsonl")
        opt = ["-opt", "blocks=2,8"] if op == "spmm" else []
        run = spbench("run", "-plugin", RIGHT, "-op", op, "-alg", "mine," + others, *opt, *QUICK,
                      "-prec", "f32,f64", "-o", file, "gen:stencil:5", "gen:band:30:3")
        ran(run, 0, op)
        valid(file)
        own = [r for r in results(file) if r["alg"] == "mine"]
        check(len(own) == (8 if opt else 4), "%s: %d cases" % (op, len(own)))
        for r in own:
            check(r["status"] == "ok" and r["time_ms"], "%s: %s, %s" % (r["case"], r["status"], r["reason"]))
            check(r["plugin"] == {"file": str(RIGHT), "version": "1.0", "sha256": sha256, "libraries": []},
                  "plugin: %s" % r.get("plugin"))
            check("1.0-sha256:" + sha256[:16] in r["case"], "the key: %s" % r["case"])
        check(all("plugin" not in r for r in results(file) if r["alg"] == others), "plugin of " + others)
        check("mine" in run.stderr and others in run.stderr, "%s: table: %s" % (op, run.stderr))
        if op == "spgemm":
            check({"count", "compute"} == set(own[0]["phases_ms"]), "phases: %s" % own[0]["phases_ms"])
            check("columns" in own[0]["stats"], "stats: %s" % own[0]["stats"])
    run = spbench("run", "-plugin", RIGHT, "-alg", "mine", *QUICK, "gen:band:30:3")
    ran(run, 0, "records on stdout")
    check(len(run.stdout.splitlines()) == 2, "records on stdout: %s" % run.stdout)
    run = spbench("run", "-plugin", RIGHT, "-alg", "mine", *QUICK, "-append", "-o", folder / "spmm.jsonl",
                  "gen:band:31:3")
    check(len(results(folder / "spmm.jsonl")) == 13, "-append: %d" % len(results(folder / "spmm.jsonl")))


def test_sweep(folder):
    file, library = folder / "sweep.jsonl", folder / "moving.so"
    shutil.copy(RIGHT, library)
    words = ["sweep", "-plugin", library, "-alg", "mine,rowsplit", *QUICK, "-o", file, "gen:stencil:4",
             "gen:band:20:3"]
    ran(spbench(*words), 0, "sweep")
    check(len(results(file)) == 4, "sweep: %d cases" % len(results(file)))
    ran(spbench(*words), 0, "sweep again")
    check(len(results(file)) == 4, "sweep: cases of the same file are measured again")
    library.write_bytes(RIGHT.read_bytes() + b"\0")
    ran(spbench(*words), 0, "sweep of another file")
    check(len(results(file)) == 6, "sweep: a changed file has %d cases" % len(results(file)))
    run = spbench("report", file)
    check(run.stdout.count("sha256:") >= 2, "report: %s" % run.stdout)


def test_compare(folder):
    run = spbench("compare", "-ab", PROGRAM, "-plugin", RIGHT, "-alg", "mine,rowsplit", "-runs", "2", *QUICK,
                  "-keep", folder / "ab", "gen:band:30:3")
    check(run.returncode in (0, 1, 3), "compare: %d, %s" % (run.returncode, run.stderr))
    for side in ("old", "new"):
        algs = {r["alg"] for r in results(folder / ("ab.%s.jsonl" % side))}
        check(algs == {"mine", "rowsplit"}, "compare: %s has %s" % (side, algs))


def test_bad_endings(folder):
    file = folder / "bad.jsonl"
    run = spbench("run", "-plugin", BAD, "-alg", "p-*", "-device", "cpu", "-k", "16", "-time-limit", "1",
                  "-timeout", "6", "-mem-limit", "400M", "-o", file, "gen:band:2000:5")
    ran(run, 1, "bad endings")
    valid(file)
    wanted = {"p-right": ("ok", ""), "p-crash": ("crashed", "it said: p-crash: before the crash"),
              "p-exit": ("crashed", "exit status 7"), "p-term": ("crashed", "by signal 15 (Terminated)"),
              "p-int": ("crashed", "by signal 2 (Interrupt)"), "p-130": ("crashed", "exit status 130"),
              "p-hang": ("timeout", "took over 6 s (-timeout)"),
              "p-eat": ("oom", "over -mem-limit"), "p-fail": ("failed", "the analysis found a loop"),
              "p-refuse": ("unsupported", "only square matrices"), "p-alloc": ("failed", "run() called alloc()"),
              "p-free": ("failed", "run() called free()"), "p-stray": ("failed", "alloc() did not return"),
              "p-many": ("failed", "stat 'figure32': more than 32 stats"),
              "p-long": ("failed", "stat 'a-name-of-thirty-two-letters----'"),
              "p-zero": ("wrong", "should be"), "p-clock": ("failed", "its clock is wrong"),
              "p-lag": ("failed", "samples took another time"), "p-idle": ("failed", "scheduling policy 5"),
              "p-follow": ("ok", ""), "p-last": ("ok", ""), "p-kept": ("wrong", "")}
    if os.uname().machine != "x86_64":
        del wanted["p-clock"], wanted["p-lag"]
        skip("no patched clock on %s" % os.uname().machine)
    found = {r["alg"]: (r["status"], r["reason"] or "") for r in results(file)}
    for alg, (status, reason) in wanted.items():
        got = found.get(alg, ("missing", ""))
        check(got[0] == status and reason in got[1], "%s: %s, %s" % (alg, *got))
        check("\n  " + alg in run.stderr, "no line of %s in the table" % alg)


def test_phases(folder):
    """A 9th phase is a failure of the case."""
    file = folder / "phases.jsonl"
    diagonal = folder / "diagonal.mtx"
    diagonal.write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 2 3\n3 3 4\n")
    run = spbench("run", "-plugin", BAD, "-op", "spgemm", "-alg", "p-phases", *QUICK, "-o", file, diagonal)
    ran(run, 1, "nine phases")
    found = [(r["status"], r["reason"]) for r in results(file)]
    check(found and all(s == "failed" and "phase 'phase8'" in why for s, why in found), "nine phases: %s" % found)


def test_interrupt(folder):
    """Ctrl-C: the records that are there, and their table."""
    file = folder / "interrupt.jsonl"
    words = [str(PROGRAM), "run", "-plugin", str(BAD), "-alg", "p-right,p-hang", "-device", "cpu", "-k", "16", "-reps",
             "3", "-o", str(file), "gen:band:2000:5"]
    parent = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(200):
        time.sleep(0.1)
        if file.exists() and len(file.read_text().splitlines()) == 2:
            break
    parent.send_signal(signal.SIGINT)
    told = parent.communicate()[1]
    check(parent.returncode == 130 and "p-right" in told and "interrupted" in told, "Ctrl-C: %d, %s" %
          (parent.returncode, told))
    check([r["alg"] for r in results(file)] == ["p-right"], "Ctrl-C: %s" % results(file))


def test_next_case(folder):
    """A failed run leaves the operands of the next case as they were."""
    file = folder / "next.jsonl"
    run = spbench("run", "-plugin", BAD, "-alg", "p-alloc,p-right,p-zero,p-last", *QUICK, "-k", "16", "-o", file,
                  "gen:band:200:5")
    ran(run, 1, "next case")
    found = [(r["alg"], r["status"]) for r in results(file)]
    check(found == [("p-alloc", "failed"), ("p-right", "ok"), ("p-zero", "wrong"), ("p-last", "ok")],
          "next case: %s" % found)


def test_bad_files(folder):
    text = folder / "text.so"
    text.write_text("no library\n")
    for words, wanted in ((["-plugin", folder / "none.so"], "No such file"),
                          (["-plugin", text], "text.so"), (["-plugin", folder], "-plugin"),
                          (["-plugin", NO_SYMBOL], "exports no spbench_plugin_v1"),
                          (["-plugin", "%s,%s" % (RIGHT, RIGHT)], "there is an algorithm of this name")):
        run = spbench("list", *words)
        ran(run, 2, "list %s" % words)
        check(wanted in run.stderr and len(run.stderr.splitlines()) == 1, "%s: %s" % (words, run.stderr))
    run = spbench("run", "-plugin", RIGHT, "-alg", "mine", "-profile", "gen:band:30:3")
    ran(run, 2, "-profile")


def test_bad_fields():
    source = (ROOT / "tests/plugin/bad_fields.c").read_text()
    fields = [line.split('"')[1] for line in source.splitlines() if line.startswith('    IF("')]
    texts = {"device": "`device` of fields is 3, not SPBENCH_ON_CPU or SPBENCH_ON_CUDA",
             "operation": "`operation` of fields is 4, not SPBENCH_SPMM",
             "precisions": "is 64, not a sum of those of enum spbench_precision"}
    ran(spbench("list", "-plugin", FIELDS, "fields"), 0, "no bad field")
    for field in fields:
        run = spbench("list", "-plugin", FIELDS, "fields", env={"SPBENCH_TEST_FIELD": field})
        ran(run, 2, field)
        check(len(run.stderr.splitlines()) == 1 and "bad_fields.so" in run.stderr and texts.get(field, "") in run.stderr,
              "%s: %s" % (field, run.stderr))
    check(len(fields) == 31, "%d fields" % len(fields))


def write_cubin(place, op, module, **changes):
    """Writes and builds a plug-in of a compiled kernel, with other values of its constants."""
    ran(spbench("new-kernel", op, "cub_" + op, "-cubin", module, cwd=place), 0, "new-kernel -cubin")
    source = place / ("cub_%s.c" % op)
    text = source.read_text()
    check(len(text.splitlines()) < 60, "%s: 60 lines or more" % source.name)
    for name, value in changes.items():
        text = re.sub(r"(#define %s +)\S+" % name, r"\g<1>" + value, text)
    source.write_text(text)
    make = subprocess.run(["make", "CFLAGS=-O2 -Wall -Wextra -Wshadow -Werror", "cub_%s.so" % op], cwd=place,
                          text=True, capture_output=True)
    check(make.returncode == 0, "make of a compiled kernel: %s" % make.stderr)
    return place / ("cub_%s.so" % op)


def test_cubin(folder):
    """Written plug-ins of a compiled kernel, launched by a fake driver."""
    place = folder / "cubin"
    place.mkdir()
    for name, text in (("spmm.cubin", "a module"), ("sddmm.ptx", "a module"), ("text.cubin", "no")):
        (place / name).write_text(text)
    plugins = [write_cubin(place, "spmm", "spmm.cubin"), write_cubin(place, "sddmm", place / "sddmm.ptx")]
    if not EMULATED or not EMULATED.exists():
        skip("compiled kernels: there is no emulated build")
        return
    (place / "libcuda.so.1").symlink_to(BUILD / "tests/plugin/fake_cuda.so")
    env = {"LD_LIBRARY_PATH": str(place)}
    # The driver of this test runs a kernel at once, outside of the stream. Two traps find that.
    wanted = {"exact": "ok", "nonfinite": "ok", "denormal": "ok", "repeat": "ok", "chain": "no order", "graph": "WRONG"}
    for plugin in plugins:
        run, rows = conform("-plugin", plugin, program=EMULATED, env=env, timeout=600)
        ran(run, 1, "conform of %s" % plugin.stem)
        row = next(iter(rows.values()), None)
        found = {t["name"]: t["result"] for t in row["traps"]} if row else {}
        check(wanted.items() <= found.items() and row["cases"]["wrong"] == 0, "%s: %s" % (plugin.stem, found))
    # Errors of the driver: 200, no module; 500, no such kernel; 1, too much shared memory.
    for module, changes, reason in (("spmm.cubin", {"SHARED": "60000"}, None), ("text.cubin", {}, "CUDA error 200"),
                                    ("spmm.cubin", {"NAME": '"other"'}, "kernel other: CUDA error 500"),
                                    ("spmm.cubin", {"SHARED": "240000"}, "CUDA error 1 ")):
        (place / "cub_spmm.c").unlink()
        plugin = write_cubin(place, "spmm", module, **changes)
        run = spbench("run", "-plugin", plugin, "-alg", "cub_spmm", "-launch", "stream", "-device", "cuda", "-reps",
                      "2", "-warmup", "1", "-o", folder / "cubin.jsonl", "gen:band:30:3", program=EMULATED, env=env,
                      timeout=600)
        found = [(r["status"], r["reason"] or "") for r in results(folder / "cubin.jsonl")]
        check(len(found) == 1 and found[0][0] == ("failed" if reason else "ok") and (reason or "") in found[0][1],
              "%s, %s: %s" % (module, changes, found))


def test_cuda(folder):
    """The CUDA templates on the GPU of this machine."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc or "cuda:0" not in spbench("list", "devices").stdout:
        skip("CUDA plug-ins: no nvcc, or no GPU that this build uses")
        return
    place = folder / "cuda"
    place.mkdir()
    for op in ("spmm", "sddmm", "spgemm"):
        ran(spbench("new-kernel", op, "gpu_" + op, "-cuda", cwd=place), 0, "new-kernel -cuda")
    page = (ROOT / "docs/plugins.md").read_text()
    (place / "mine.txt").write_text(page.split("```cuda\n")[1].split("```")[0])
    build = subprocess.run([nvcc, "-cubin", "-arch=native", "-x", "cu", "-o", "mine.cubin", "mine.txt"], cwd=place,
                           text=True, capture_output=True)
    check(build.returncode == 0, "nvcc -cubin: %s" % build.stderr)
    plugin = write_cubin(place, "spmm", "mine.cubin")
    run = spbench("run", "-plugin", plugin, "-alg", "cub_spmm,cusparse", "-time-limit", "0.2", "gen:stencil:100")
    ran(run, 0, "a compiled kernel on the GPU")
    make = subprocess.run(["make", "test", "NVCC=" + nvcc, "SPBENCH=" + str(PROGRAM)], cwd=place, text=True,
                          capture_output=True)
    check(make.returncode == 0 and is_right(make), "make test: %s%s" % (make.stdout, make.stderr))
    for op in ("spmm", "sddmm", "spgemm"):
        file = folder / ("cuda-%s.jsonl" % op)
        run = spbench("run", "-plugin", place / ("gpu_%s.so" % op), "-op", op, "-alg", "gpu_%s,auto,cusparse" % op,
                      "-time-limit", "0.2", "-o", file, "gen:stencil:100")
        ran(run, 0, "gpu_%s on the GPU" % op)
        found = {r["alg"]: r["status"] for r in results(file)}
        check(found.get("gpu_" + op) == "ok", "gpu_%s: %s" % (op, found))


def test_stopped_parent(folder):
    """A parent that was stopped reads lines late, and does not call the clock of a worker wrong."""
    file = folder / "stopped.jsonl"
    words = [str(PROGRAM), "run", "-plugin", str(BAD), "-alg", "p-slow", "-device", "cpu", "-k", "16",
             "-time-limit", "1", "-o", str(file), "gen:band:2000:5", "gen:band:2100:5"]
    parent = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(4):
        time.sleep(0.3)
        parent.send_signal(signal.SIGSTOP)
        time.sleep(0.4)
        parent.send_signal(signal.SIGCONT)
    check(parent.wait() == 0, "a stopped parent: status %d" % parent.returncode)
    check([r["status"] for r in results(file)] == ["ok", "ok"], "a stopped parent: %s" %
          [(r["status"], r["reason"]) for r in results(file)])


def conform(*words, **options):
    """spbench conform with JSON: the process, and the rows by algorithm."""
    run = spbench("conform", "-format", "json", *words, **options)
    try:
        rows = json.loads(run.stdout)["algorithms"]
    except ValueError:
        rows = []
    return run, {r["alg"] if len(rows) < 2 or r["op"] == "spmm" else r["op"]: r for r in rows}


def is_right(run):
    """True if the tables of spbench conform have counts, and nothing is wrong."""
    return run.returncode == 0 and re.search(r"^ *(spmm|sddmm|spgemm) .* [1-9]\d+ +0 +\d+ +0 ", run.stdout, re.M)


def test_conform(folder):
    """spbench conform: counts, the smallest wrong input, cases that end the process, and traps."""
    run, rows = conform("-plugin", RIGHT, "-alg", "mine")
    ran(run, 0, "conform")
    check(sorted(rows) == ["mine", "sddmm", "spgemm"], "conform: %s" % sorted(rows))
    for row in rows.values():
        traps = {t["name"]: t["result"] for t in row["traps"]}
        check(row["cases"]["right"] > 100 and not row["bad"] and row["library"].startswith("1.0 sha256:"),
              "conform: %s" % row)
        check({traps[name] for name in ("exact", "nonfinite", "denormal", "repeat")} == {"ok"}, "conform: %s" % traps)
        check(traps["unaligned"] is None and traps["graph"] is None, "conform: %s" % traps)
        check((traps["chain"] == "ok") == (row["op"] != "spgemm"), "conform: %s" % traps)
    # Each algorithm fails one part: the word, and parts of the input and of the reason.
    for name, part, word, text in (
            ("p-right", None, None, None),
            ("p-crash", "exact", "crash", "no rows and no columns.*m 0, n 0.*signal 11"),
            ("p-term", "exact", "crash", "by signal 15 \\(Terminated\\)"),
            ("p-hang", "exact", "hang", "took over 2 s"),
            ("p-leak", "exact", "WRONG", "all cases.*bytes of alloc\\(\\) are left"),
            ("p-zero", "exact", "WRONG", "f32, k 1, layout row.*m 1, n 1, 1 nonzeros: A\\(0, 0\\) = 3"),
            ("p-round", "exact", "WRONG", "it left rounding downward behind"),
            ("p-thread", "exact", "WRONG", "it left \\d threads? behind"),
            ("p-behind", "exact", "WRONG", "it wrote behind the end of"),
            ("p-pads", "nonfinite", "WRONG", "nan and should be"),
            ("p-varies", "repeat", "varies", "differs in a bit from run 1"),
            ("p-chain", "chain", "no order", "not in order: the product of a product"),
            ("p-finite", "nonfinite", "crash", "signal 11")):
        run, rows = conform("-plugin", BAD, "-alg", name, "-timeout", "2")
        row = rows.get(name, {"traps": [], "bad": None})
        bad = word not in (None, "varies")
        ran(run, int(bad), "conform %s" % name)
        check(row["bad"] == bad, "%s: %s" % (name, row))
        found = [t for t in row["traps"] if t["reason"] is not None and t["result"] != "skipped"]
        if part in ("exact", None): # such an algorithm may fail traps, too
            found = [t for t in found if t["name"] == "exact"]
        check([(t["name"], t["result"]) for t in found] == ([(part, word)] if part else []),
              "%s: %s" % (name, found))
        for t in found:
            check(re.search(text, t["input"] + t["reason"]), "%s: no '%s' in %s" % (name, text, t))
    check(conform("-plugin", BAD, "-alg", "p-crash")[1]["p-crash"]["cases"]["crashed"] == 3, "crashes are counted")
    run = spbench("conform", "-plugin", BAD, "-alg", "p-zero,p-right", "-trap", "exact")
    ran(run, 1, "conform, text")
    for text in ("^ *spmm +p-right +cpu +0.9-bad sha256:\\w+ +\\d+ +0 +0 +0( +-)+ *$",
                 "^spmm p-zero cpu, 0.9-bad sha256:\\w+\n  exact, WRONG: f32, k 1, .*\n    \\w+"):
        check(re.search(text, run.stdout, re.M), "conform: no '%s' in: %s" % (text, run.stdout))
    ran(spbench("conform", "-plugin", BAD, "-alg", "p-refuse"), 1, "nothing run")
    ran(spbench("conform", "-plugin", RIGHT, "-alg", "none"), 2, "conform -alg")


def test_new_kernel(folder):
    """new-kernel, make, conform and run, in a folder of its own."""
    place = folder / "new kernel"
    place.mkdir()
    for op in ("spmm", "sddmm", "spgemm"):
        run = spbench("new-kernel", op, "my_" + op, "-cpu", cwd=place)
        ran(run, 0, "new-kernel")
        check(len((place / ("my_%s.c" % op)).read_text().splitlines()) < 60, "%s: 60 lines or more" % op)
    check(len((place / "Makefile").read_text().splitlines()) < 60, "Makefile: 60 lines or more")
    check((place / "spbench_plugin.h").read_bytes() == (ROOT / "include/spbench_plugin.h").read_bytes(),
          "the header differs")
    make = subprocess.run(["make", "test", "SPBENCH=" + str(PROGRAM), "CFLAGS=-O2 -Wall -Wextra -Werror"], cwd=place,
                          text=True, capture_output=True)
    check(make.returncode == 0 and is_right(make), "make test: %s%s" % (make.stdout, make.stderr))
    run = spbench("run", "-plugin", "./my_spmm.so", "-alg", "my_spmm,rowsplit", *QUICK, "gen:band:30:3", cwd=place)
    ran(run, 0, "run of a new kernel")
    for words, wanted in ((["spmm", "my_spmm", "-cpu"], "my_spmm.c: File exists"),
                          (["spmv", "x"], "no such operation"), (["spmm", "9x"], "9x: must be letters"),
                          (["spmm", "x" * 40], "is not 1 to"), (["spgemm", "x", "-cubin", "Makefile"], "no template"),
                          (["spmm", "x", "-cubin", "none"], "-cubin none: No such file"),
                          (["spmm", "rowsplit", "-cpu"], "is an algorithm of spbench"),
                          (["spmm", "x", "-cpu", "-cuda"], "excludes")):
        run = spbench("new-kernel", *words, cwd=place)
        check(run.returncode in (1, 2) and wanted in run.stderr, "new-kernel %s: %s" % (words, run.stderr))


def test_emulated(folder):
    """The CUDA templates, compiled for the emulator."""
    if not EMULATED or not EMULATED.exists():
        skip("CUDA plug-ins: there is no emulated build")
        return
    for op in ("spmm", "sddmm", "spgemm"):
        ran(spbench("new-kernel", op, "gpu_" + op, "-cuda", cwd=folder), 0, "new-kernel -cuda")
        text = (folder / ("gpu_%s.cu" % op)).read_text()
        check(len(text.splitlines()) < 60, "gpu_%s.cu: 60 lines or more" % op)
        text = re.sub(r"(\w+)<<<(.*), (.*), 0, (\w+)>>>\(", r"LAUNCH(\1, \2, \3, 0, \4, ", text)
        (folder / ("gpu_%s.cpp" % op)).write_text(text)
        plugin = folder / ("gpu_%s.so" % op)
        words = ["g++", "-std=c++17", "-O1", "-w", "-fsanitize=address,undefined", "-DSPBENCH_EMU", "-fPIC", "-shared",
                 "-I", ROOT / "include", "-I", ROOT / "tests/emu", "-o", plugin, folder / ("gpu_%s.cpp" % op)]
        build = subprocess.run(words, text=True, capture_output=True)
        check(build.returncode == 0, "gpu_%s: %s" % (op, build.stderr[-500:]))
        run = spbench("conform", "-plugin", plugin, program=EMULATED, timeout=600)
        check(is_right(run), "gpu_%s: %s%s" % (op, run.stdout, run.stderr[-500:]))
        file = folder / ("gpu_%s.jsonl" % op)
        run = spbench("run", "-plugin", plugin, "-op", op, "-alg", "gpu_%s,auto" % op, "-device", "cuda", "-reps", "2",
                      "-warmup", "1", "-o", file, "gen:band:30:3", program=EMULATED, timeout=600)
        ran(run, 0, "gpu_%s in the emulator" % op)
        check([r["status"] for r in results(file)] == ["ok", "ok"], "gpu_%s: %s" % (op, run.stderr[-500:]))


def build(folder, name, more, *words):
    """The right plug-in with more source text."""
    source, library = folder / (name + ".c"), folder / (name + ".so")
    source.write_text((ROOT / "tests/plugin/right.c").read_text() + more)
    subprocess.run(["cc", "-I", ROOT / "include", "-fPIC", "-shared", "-o", library, source, *words],
                   check=True)
    return library


def test_parent(folder):
    """The parent does not load the file: the constructor runs in workers only."""
    mark = folder / "loads.txt"
    library = build(folder, "mark", """
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void note(void)
{
    FILE *f = fopen("%s", "a");
    fprintf(f, "%%d\\n", (int)getpid());
    fclose(f);
}
""" % mark)
    parent = subprocess.Popen([str(PROGRAM), "run", "-plugin", str(library), "-alg", "mine", *QUICK, "-q",
                               "gen:band:30:3"], stdout=subprocess.DEVNULL)
    check(parent.wait() == 0, "the marked plug-in fails")
    pids = mark.read_text().split()
    check(pids and str(parent.pid) not in pids, "loaded by %s, the parent is %d" % (pids, parent.pid))


def test_process(folder):
    """A plug-in changes neither the clock nor the device of an algorithm of the program."""
    file = folder / "process.jsonl"
    words = ["run", "-plugin", BAD, "-alg", "p-right,rowsplit", "-device", "cpu", "-k", "16", "-time-limit", "1", "-o",
             file, "gen:band:2000:5"]
    ran(spbench(*words, env={"SPBENCH_TEST_CLOCK": "1"}), 1, "a clock that a constructor changes")
    found = {r["alg"]: r["status"] for r in results(file)}
    changed = os.uname().machine == "x86_64"
    check(found == {"p-right": "failed" if changed else "ok", "rowsplit": "ok"}, "a constructor: %s" % found)
    library = build(folder, "team", """
#include <omp.h>
__attribute__((constructor)) static void alone(void) { omp_set_num_threads(1); }
""", "-fopenmp")
    words = ["run", "-plugin", library, "-alg", "mine", "-device", "cpu", "-threads", "2", "-reps", "2", "-o", file,
             "gen:band:30:3"]
    ran(spbench(*words), 0, "a team that a constructor changes")
    found = [json.loads(line) for line in file.read_text().splitlines()]
    check("2 threads" in found[0]["devices"][0]["detail"], "the device: %s" % found[0]["devices"][0]["detail"])


def test_libraries(folder):
    """Libraries that come with a plug-in are in its records, and a changed one changes the keys."""
    core, file = folder / "libcore.so", folder / "libraries.jsonl"
    source = folder / "core.c"
    source.write_text("int core(void) { return 1; }\n")
    subprocess.run(["cc", "-fPIC", "-shared", "-o", core, source], check=True)
    library = build(folder, "linked", "int core(void); int (*used)(void) = core;\n", core)
    words = ["sweep", "-plugin", library, "-alg", "mine", *QUICK, "-o", file, "gen:band:30:3"]
    ran(spbench(*words), 0, "a plug-in with a library")
    valid(file)
    core.write_bytes(core.read_bytes() + b"\0")
    ran(spbench(*words), 0, "a changed library")
    ran(spbench(*words), 0, "the same library")
    found = results(file)
    check(len(found) == 2 and found[0]["case"] != found[1]["case"], "a changed library: %s" % [r["case"] for r in found])
    check(found[1]["plugin"]["libraries"] == [{"file": str(core), "sha256": hashlib.sha256(core.read_bytes()).hexdigest()}],
          "libraries: %s" % found[1]["plugin"]["libraries"])


def test_helper(folder):
    """The processor time of another process counts."""
    if len(os.sched_getaffinity(0)) < 2:
        skip("a helper process: there is one processor")
        return
    file = folder / "helper.jsonl"
    ran(spbench("run", "-plugin", BAD, "-alg", "p-helper", "-device", "cpu", "-threads", "1", "-k", "16", "-time-limit",
                "0.3", "-o", file, "gen:band:2000:5"), 1, "a helper process")
    found = [(r["status"], r["reason"]) for r in results(file)]
    check(len(found) == 1 and found[0][0] == "failed" and "child processes" in found[0][1], "a helper: %s" % found)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    test_list()
    test_run(folder)
    test_sweep(folder)
    test_compare(folder)
    test_bad_endings(folder)
    test_phases(folder)
    test_interrupt(folder)
    test_next_case(folder)
    test_bad_files(folder)
    test_bad_fields()
    test_parent(folder)
    test_process(folder)
    test_libraries(folder)
    test_helper(folder)
    test_cubin(folder)
    test_cuda(folder)
    test_stopped_parent(folder)
    test_conform(folder)
    test_new_kernel(folder)
    test_emulated(folder)
end()
