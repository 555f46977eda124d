#!/usr/bin/env python3
"""spbench sweep: test_sweep.py [BUILD [PROGRAM_WITH_GPUS]].

Cases that crash, hang, eat memory or kill their device become records, and the rest goes on; a file is
gone on with, or left alone; parts of a sweep come to the whole; libraries and devices reach their
workers. The second program, of an emulated build, has GPUs.
"""
import contextlib
import gzip
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.dont_write_bytecode = True

from common import LIBRARY, PLANTED, QUICK, ROOT, check, command, end, endings, records, results, skip, sweep

EMULATED = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
CHECKER = ROOT / "tests/records/check_records.py"


def by_alg(path):
    """{(matrix, algorithm): (status, reason)}."""
    return {(r["matrix"]["name"], r["alg"]): (r["status"], r["reason"]) for r in results(path)}


def ran(run, status, what):
    check(run.returncode == status, "%s: exit status %d, not %d: %s" %
          (what, run.returncode, status, run.stderr[-500:]))


def valid(path):
    """The file against the schema."""
    run = subprocess.run([sys.executable, str(CHECKER), str(path)], capture_output=True, text=True)
    check(run.returncode == 0, "%s: %s" % (path, run.stdout[-500:]))


def test_bad_endings(folder):
    file = folder / "bad.jsonl"
    run = sweep(*QUICK, "-alg", "rowsplit,plant-crash,plant-exit,plant-dead,plant-hang,merge",
                "-timeout", 4, "-o", file, "gen:stencil:3", "gen:band:9:1")
    ran(run, 1, "bad endings")
    valid(file)
    wanted = {"rowsplit": ("ok", None), "merge": ("ok", None),
              "plant-crash": ("crashed", "signal 11"), "plant-exit": ("crashed", "exit status 7"),
              "plant-dead": ("failed", "an illegal access"),
              "plant-hang": ("timeout", "took over 4 s (-timeout)")}
    found = by_alg(file)
    check(len(found) == 12, "bad endings: %d cases" % len(found))
    for (matrix, alg), (status, reason) in found.items():
        check(status == wanted[alg][0] and (wanted[alg][1] or "") in (reason or ""),
              "%s on %s: %s, %s" % (alg, matrix, status, reason))
    check("before the crash" in found["stencil:3", "plant-crash"][1], "its last words are not told")
    envs = {r["run"] for r in records(file) if r["kind"] == "environment"}
    check(len(envs) == 1 and {r["run"] for r in results(file)} == envs, "one run, one environment")

    # Finished is finished, whatever it came to; -retry is for what did not come to anything.
    before = file.read_bytes()
    ran(sweep(*QUICK, "-alg", "rowsplit,plant-crash,plant-exit,plant-dead,plant-hang,merge", "-o", file,
              "gen:stencil:3", "gen:band:9:1"), 1, "again")
    check(file.read_bytes() == before, "finished cases ran again")
    ran(sweep(*QUICK, "-alg", "rowsplit,plant-exit", "-retry", "-o", file, "gen:stencil:3"), 1, "-retry")
    again = [r["alg"] for r in results(file)[12:]]
    check(again == ["plant-exit"], "-retry has measured %s" % again)


def test_runs(folder):
    """-runs: each case so often, each time in another run; also over an end in the middle."""
    file = folder / "runs.jsonl"
    words = [*QUICK, "-alg", "merge,plant-exit,rowsplit", "-o", file, "gen:stencil:3", "gen:band:9:1"]
    run = sweep("-runs", 3, *words)
    ran(run, 1, "-runs 3")
    check("\n6 of 6 matrices in all passes: 12 ok, 2 crashed;" in "\n" + run.stderr, "-runs 3 says %s" % run.stderr)
    valid(file)
    lines = file.read_bytes().splitlines(keepends=True)
    for cut in (len(lines), 3, 7, 11):
        file.write_bytes(b"".join(lines[:cut]))
        ran(sweep("-runs", 3, *words), 1, "-runs 3, of %d lines" % cut)
        found = {}
        for r in results(file):
            found.setdefault((r["matrix"]["name"], r["alg"]), []).append(r["run"])
        check(len(found) == 6 and all(len(runs) == len(set(runs)) == (1 if alg == "plant-exit" else 3)
                                      for (_, alg), runs in found.items()),
              "-runs 3, of %d lines: %s" % (cut, {k: len(v) for k, v in found.items()}))
    order = [r["matrix"]["name"] for r in results(file) if r["alg"] == "merge"]
    ran(sweep(*words), 1, "one run of three")
    check(len(results(file)) == 14, "one run of three has measured again")
    check(order[:2] in (["stencil:3", "band:9:1"],), "not round after round: %s" % order)


def test_race(folder):
    """-race: a slow case is dropped and has no further rounds; a crash loses no case; a finished race measures nothing."""
    file = folder / "race.jsonl"
    words = ["-race", "-runs", 2, "-k", 64, "-time-limit", 0.1, "-alg", "reference,rowsplit,plant-exit,merge", "-o", file]
    ran(sweep(*words, "gen:fem:4", "gen:fem:6"), 1, "-race")
    valid(file)
    found = {}
    for r in results(file):
        found.setdefault((r["matrix"]["name"], r["alg"]), []).append(r["time_ms"] and r["time_ms"]["dropped"])
    check(len(found) == 8 and all(found[m, "reference"] == [True] and found[m, "plant-exit"] == [None]
                                  for m in ("fem:4", "fem:6")), "-race -runs 2: %s" % found)
    check(all([False, False] in (found[m, "rowsplit"], found[m, "merge"]) for m in ("fem:4", "fem:6")),
          "the fastest has other than 2 rounds: %s" % found)
    before = file.read_bytes()
    ran(sweep(*words, "gen:fem:4", "gen:fem:6"), 1, "-race again")
    check(file.read_bytes() == before, "finished cases of a race ran again")
    ran(sweep(*words[1:], "gen:fem:4"), 1, "without -race")
    again = [(r["alg"], r["time_ms"]["dropped"]) for r in results(file)[len(before.splitlines()) - 2:]]
    check(again.count(("reference", False)) == 2, "without -race: %s" % again)


def test_left_behind(folder):
    """A process that a worker leaves behind, and that holds what it had open, is not waited for."""
    begin, file = time.monotonic(), folder / "left.jsonl"
    ran(sweep(*QUICK, "-alg", "plant-child,merge", "-o", file, "gen:stencil:3"), 1, "a process left behind")
    check(time.monotonic() - begin < 20, "it was waited for: %g s" % (time.monotonic() - begin))
    check([r["status"] for r in results(file)] == ["crashed", "ok"], "left behind: %s" % by_alg(file))


def test_isolation(folder):
    """A case that leaves threads, uses more of them, or calls exit() costs the next one nothing."""
    file = folder / "isolation.jsonl"
    algs = "rowsplit,plant-thread,plant-exit0,merge"
    run = sweep(*QUICK, "-alg", algs, "-o", file, "gen:stencil:3")
    ran(run, 1, "isolation")
    valid(file)
    found = {alg: end for (_, alg), end in by_alg(file).items()}
    check(found["rowsplit"] == found["merge"] == ("ok", None), "isolation: %s" % found)
    check(found["plant-thread"][0] == "failed" and "behind" in found["plant-thread"][1],
          "a thread is left: %s" % (found["plant-thread"],))
    check(found["plant-exit0"][0] == "crashed", "exit(0): %s" % (found["plant-exit0"],))

    # run, too: another process measures the other cases.
    file.unlink()
    run = subprocess.run([str(PLANTED), *QUICK, "-alg", algs, "-o", file, "gen:stencil:3"], text=True,
                         capture_output=True, stdin=subprocess.DEVNULL)
    ran(run, 1, "a thread in run")
    found = by_alg(file)
    check([status for status, _ in found.values()] == ["ok", "failed", "crashed", "ok"]
          and "behind" in found["stencil:3", "plant-thread"][1], "beside a thread: %s" % found)
    file.unlink()
    run = subprocess.run([str(PLANTED), *QUICK, "-alg", "rowsplit,plant-exit0,merge", "-o", file,
                          "gen:stencil:3"], text=True, capture_output=True, stdin=subprocess.DEVNULL)
    ran(run, 1, "exit(0) in run")
    valid(file)
    check("crashed: the process ended with exit status 0" in run.stderr,
          "exit(0) in run says %s" % run.stderr[-300:])
    check([r["status"] for r in results(file)] == ["ok", "crashed", "ok"],
          "exit(0) in run: %s" % by_alg(file))
    if len(os.sched_getaffinity(0)) < 2:
        skip("more threads than -threads: there is one processor")
        return
    for _ in range(5):  # other programs may have the second processor
        file.unlink()
        sweep(*QUICK[:-4], "-reps", 10, "-alg", "plant-more", "-o", file, "gen:stencil:3")
        status, reason = by_alg(file)["stencil:3", "plant-more"]
        if "processors" in (reason or ""):
            break
    check(status == "failed", "more threads: %s, %s" % (status, reason))
    if os.getloadavg()[0] > 1.5 and "processors" not in reason:
        skip("more threads than -threads: other programs have the processors")
        return
    check("processors with 1 thread" in reason, "more threads: %s, %s" % (status, reason))


def test_memory(folder):
    file = folder / "memory.jsonl"
    run = sweep(*QUICK, "-alg", "plant-eat,merge", "-mem-limit", "256M", "-o", file, "gen:stencil:3",
                "gen:uniform:9000000:3")
    ran(run, 1, "-mem-limit")
    found = by_alg(file)
    status, reason = found["stencil:3", "plant-eat"]
    check(status == "oom" and "over -mem-limit" in reason, "plant-eat: %s, %s" % (status, reason))
    check(found["stencil:3", "merge"][0] == "ok", "what came after it: %s" % (found["stencil:3", "merge"],))
    status, reason = found["uniform:9000000:3", "merge"]
    check(status == "oom" and "(-mem-limit)" in reason, "too large a matrix: %s, %s" % (status, reason))


def is_running(pid):
    """A process that has ended may wait for whoever asks how."""
    try:
        return pathlib.Path("/proc/%s/stat" % pid).read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_memory_of_children(folder):
    """What a worker has started counts as its own, and ends with it."""
    if not pathlib.Path("/proc/self/task/%d/children" % os.getpid()).exists():
        skip("-mem-limit and what a worker has started: this system does not tell children")
        return
    file, note, begin = folder / "brood.jsonl", folder / "brood.pid", time.monotonic()
    run = sweep(*QUICK, "-alg", "plant-brood,merge", "-mem-limit", "256M", "-o", file, "gen:stencil:3",
                env={"PLANT_NOTE": str(note)})
    ran(run, 1, "-mem-limit, of a child")
    status, reason = by_alg(file)["stencil:3", "plant-brood"]
    check(status == "oom" and "its processes had" in reason, "plant-brood: %s, %s" % (status, reason))
    check(time.monotonic() - begin < 20, "it was waited for: %g s" % (time.monotonic() - begin))
    pid = note.read_text()
    while is_running(pid) and time.monotonic() - begin < 20:  # what was ended needs a moment for it
        time.sleep(0.05)
    check(not is_running(pid), "what it has started goes on")


def memory_group():
    """A control group with 400 MB for what is put there; None where none can be made."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        mount, limit = ("/sys/fs/cgroup", "memory.max") if not controllers else \
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        if controllers not in ("", "memory"):
            continue
        group = pathlib.Path(mount + path) / ("spbench-test-%d" % os.getpid())
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text("400M")
            return group
        except OSError:
            group.rmdir()
    return None


def test_killed_for_memory(folder):
    """The system ends a worker that takes too much: an oom, and the rest goes on."""
    group, file = memory_group(), folder / "killed.jsonl"
    if not group:
        skip("a worker that the system ends for lack of memory: no control group can be made here")
        return
    words = command(*QUICK, "-alg", "plant-eat,merge", "-o", file, "gen:stencil:3")
    join = "echo $$ >%s/cgroup.procs && exec \"$@\"" % group
    run = subprocess.run(["sh", "-c", join, "sh", *words], capture_output=True, text=True)
    for _ in range(100):
        try:
            group.rmdir()
            break
        except OSError:
            time.sleep(0.05)
    ran(run, 1, "killed for memory")
    found = by_alg(file)
    check(found["stencil:3", "plant-eat"] == ("oom", "the system ended its process for lack of memory")
          and found["stencil:3", "merge"][0] == "ok", "killed for memory: %s" % found)


def test_unread(folder):
    """A matrix that is never there, one that shows to be none as it is read, and one that is well."""
    file = folder / "unread.jsonl"
    os.mkfifo(folder / "never.mtx")
    (folder / "none.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n")
    words = [*QUICK, "-alg", "merge,rowsplit", "-timeout", 4, "-o", file, folder / "never.mtx",
             folder / "none.mtx", "gen:stencil:3"]
    run = sweep(*words)
    ran(run, 3, "matrices that cannot be read")
    valid(file)
    found = by_alg(file)
    check(found["never", "merge"][0] == "timeout" and "reading the matrix took over 4 s" in found["never", "merge"][1],
          "never.mtx: %s" % (found["never", "merge"],))
    check(found["none", "rowsplit"][0] == "failed", "none.mtx: %s" % (found["none", "rowsplit"],))
    check(found["stencil:3", "merge"][0] == "ok", "the one behind them")
    check("none.mtx" in run.stderr, "it is not told: %s" % run.stderr)
    before = file.read_bytes()
    ran(sweep(*words), 3, "matrices that could not be read before")
    check(file.read_bytes() == before, "unread matrices were tried again")


def test_bytes(folder):
    """A path of bytes that are no UTF-8 reaches the worker as it is, and is finished afterwards."""
    file, path = folder / "bytes.jsonl", os.fsencode(folder) + b"/bad\xff\xfe caf\xc3\xa9.mtx"
    with open(path, "wb") as out:
        out.write(b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n")
    words = [os.fsencode(word) for word in command(*QUICK, "-alg", "merge", "-o", file)] + [path]
    for what in ("measured", "finished"):
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True)
        check(run.returncode == 0, "no UTF-8: %r" % run.stderr)
        found = by_alg(file)
        check(len(results(file)) == 1 and found.get(("bad?? caf\xe9", "merge"), ("",))[0] == "ok",
              "no UTF-8, %s: %s" % (what, found))
    valid(file)


HEAD = "%%MatrixMarket matrix coordinate real general\n"


def write_matrix(path, text, when):
    """A file of these lines, as if it had been written then, in seconds."""
    data = (HEAD + text).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    os.utime(path, ns=(when * 10**9, when * 10**9))


def test_changed(folder):
    """A file is the one that was measured by path, size and time, or by what is in it, wherever it is."""
    file, matrix, copy = folder / "changed.jsonl", folder / "m.mtx", folder / "copy/m.mtx"
    copy.parent.mkdir()
    later = int(time.time()) + 60

    def expect(path, count, anew, what):
        run = sweep(*QUICK, "-alg", "merge", "-o", file, path)
        ran(run, 0, what)
        check(len(results(file)) == count, "%s: %d records" % (what, len(results(file))))
        check(("is another matrix than the one of this name" in run.stderr) == anew and
              run.stderr.count(" measured anew") == anew, "%s: %s" % (what, run.stderr))
        check(", 0 of them" not in run.stderr and "1 ok" in run.stderr, "%s: %s" % (what, run.stderr))

    write_matrix(matrix, "2 2 1\n1 1 1\n", 1)
    expect(matrix, 1, False, "before the change")
    expect(matrix, 1, False, "without a change")
    write_matrix(matrix, "2 2 1\n1 1 x\n", 1)
    expect(matrix, 1, False, "it is not even read")
    write_matrix(matrix, "2 2 1\n2 2 7\n", later)
    expect(matrix, 2, True, "after the change")
    write_matrix(matrix, "2 2 1\n2 2 8\n", 2)
    expect(matrix, 3, True, "a change with an older date")
    write_matrix(matrix, "2 2 1\n2 2 8\n", later)
    expect(matrix, 3, False, "written again, and the same")
    write_matrix(copy, "2 2 1\n1 2 8\n", 1)
    expect(copy, 4, True, "of the same name and size, elsewhere")
    write_matrix(folder / "copy/m.mtx.gz", "% packed\n2 2 1\n1 2 8\n", later)
    expect(folder / "copy/m.mtx.gz", 4, False, "the same, packed")
    valid(file)
    plan = sweep(*QUICK, "-n", "-alg", "merge", "-o", file, folder / "copy/m.mtx.gz", "gen:stencil:3")
    check("m.mtx.gz: 0 cases, 1 more are there, if it is the same matrix\n" in plan.stdout,
          "-n: %s%s" % (plan.stdout, plan.stderr))


def test_seed(folder):
    """Values that come from -seed are no part of a matrix, nor is a generated one another by it."""
    file, matrix = folder / "seed.jsonl", folder / "p.mtx"
    matrix.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2\n")
    for seed in 1, 2:
        os.utime(matrix, (seed, seed))
        ran(sweep(*QUICK, "-alg", "merge", "-seed", seed, "-o", file, matrix, "gen:stencil:3"), 0, "seed")
    check(len(results(file)) == 2, "another seed: %d records" % len(results(file)))


def test_lost_again(folder):
    """A worker dies among cases that are finished if the matrix is the same: they stay finished."""
    file, first, second = folder / "again.jsonl", folder / "one/m.mtx", folder / "two/m.mtx"
    for path in first, second:
        path.parent.mkdir()
        write_matrix(path, "2 2 1\n1 1 1\n", 1)
    ran(sweep(*QUICK, "-alg", "merge,rowsplit", "-o", file, first), 0, "of one file")
    run = sweep(*QUICK, "-alg", "merge,plant-exit,rowsplit", "-o", file, second)
    ran(run, 1, "of the other")
    check(len(results(file)) == 3 and len(endings(file)) == 3, "%d records" % len(results(file)))
    check("m: 2 ok, 1 crashed; 2 of it were there" in run.stderr, "what it came to: %s" % run.stderr)


def test_files(folder):
    """What is there is gone on with, left alone, or replaced, and said so."""
    file = folder / "files.jsonl"
    words = [*QUICK, "-alg", "merge", "-o", file, "gen:stencil:3"]
    ran(sweep(*words), 0, "files")
    good = file.read_bytes()
    file.write_bytes(b"{\"cut\n" + good)
    run = sweep(*words)
    ran(run, 2, "a bad line in the middle")
    check("files.jsonl:1: no record" in run.stderr and file.read_bytes() == b"{\"cut\n" + good,
          "a bad line: %s" % run.stderr)
    file.write_bytes(good)
    run = sweep("-fresh", *words)
    ran(run, 0, "-fresh")
    check("replacing %s: 2 records" % file in run.stderr, "-fresh says nothing: %s" % run.stderr)
    check(len(results(file)) == 1 and file.read_bytes() != good, "-fresh has kept what was there")
    # A mistake destroys nothing.
    good = file.read_bytes()
    ran(sweep("-fresh", *words, "no/such/matrix.mtx"), 3, "-fresh and a mistake")
    check(file.read_bytes() == good, "-fresh and a mistake: the file is gone")


def test_lists(folder):
    """A list with sets, a folder, the parts of a sweep."""
    there = folder / "matrices"
    there.mkdir()
    for name in ("a", "b", "c"):
        (there / (name + ".mtx")).write_text(
            "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
    (folder / "list.txt").write_text(
        "# a comment\n@rule rows>=1\nG/b one two  # more\nG/a two\ngen:stencil:3 one\nG/gone three\n")
    names = lambda run: [line.split(":")[0].rsplit("/", 1)[-1] if not line.startswith("gen") else "gen"
                         for line in run.stdout.splitlines()[:-1]]
    plan = [*QUICK, "-alg", "merge", "-n"]
    check(names(sweep(*plan, "-set", "one", folder / "list.txt")) == ["b.mtx", "gen"], "-set one")
    check(names(sweep(*plan, "-set", "two", folder / "list.txt")) == ["b.mtx", "a.mtx"], "-set two")
    check(names(sweep(*plan, there)) == ["a.mtx", "b.mtx", "c.mtx"], "a folder")
    run = sweep(*plan, folder / "list.txt")
    ran(run, 3, "a file that is not there")
    check("G/gone" in run.stderr, "it is not named: %s" % run.stderr)
    run = sweep(*plan, "-missing", "skip", folder / "list.txt")
    check(names(run) == ["b.mtx", "a.mtx", "gen"] and "G/gone" in run.stderr, "-missing skip: %s" % run.stderr)
    parts = []
    for i in (1, 2, 3):
        file = folder / ("part%d.jsonl" % i)
        ran(sweep(*QUICK, "-alg", "merge,rowsplit", "-shard", "%d/3" % i, "-o", file, there, "gen:stencil:3"),
            0, "-shard %d/3" % i)
        parts.append(file.read_bytes())
    whole = folder / "whole.jsonl"
    whole.write_bytes(b"".join(parts))
    check(len(endings(whole)) == 8 and all(parts), "the parts are not the whole")
    valid(whole)
    before = whole.read_bytes()
    ran(sweep(*QUICK, "-alg", "merge,rowsplit", "-o", whole, there, "gen:stencil:3"), 0, "after cat")
    check(whole.read_bytes() == before, "after cat something was left to do")


def test_library(folder):
    file = folder / "library.jsonl"
    words = [*QUICK, "-alg", "plant-library,merge", "-o", file, "gen:stencil:3", "gen:band:9:1"]
    ran(sweep("-cusparse", LIBRARY, *words), 0, "-cusparse")
    valid(file)
    found = sorted((r["matrix"]["name"], r["alg"], r["library"]) for r in results(file))
    wanted = [(m, a, v) for m in ("band:9:1", "stencil:3")
              for a, v in (("merge", None), ("plant-library", "Plant 1.0"), ("plant-library", "Plant 2.0"))]
    check(found == wanted, "-cusparse: %s" % found)
    check(len(endings(file)) == 6, "-cusparse: the keys of two versions are the same")
    run = sweep("-cusparse", LIBRARY, *QUICK, "-alg", "merge", "-o", file, "gen:stencil:3")
    ran(run, 2, "-cusparse without use")
    run = sweep("-cusparse", folder / "no.so", *words)
    ran(run, 2, "-cusparse no.so")
    check("no.so: No such file" in run.stderr, "no.so: %s" % run.stderr)
    (folder / "text.so").write_text("no library\n")
    run = sweep("-cusparse", folder / "text.so", *words)
    ran(run, 2, "-cusparse text.so")
    check("the loader did not load this file" in run.stderr, "text.so: %s" % run.stderr)


def test_conform(folder):
    """conform: a row for each library of the loader, and a device that is lost in each case."""
    def conform(*words):
        run = subprocess.run([str(PLANTED), "conform", "-format", "json", "-prec", "f32", *map(str, words)], text=True,
                             capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        return run, json.loads(run.stdout)["algorithms"] if run.stdout else []
    run, rows = conform("-alg", "plant-library,reference", "-op", "spmm", "-cusparse", LIBRARY, "-trap", "nonfinite")
    ran(run, 0, "conform -cusparse")
    check([(r["alg"], r["library"], r["file"]) for r in rows] ==
          [("reference", None, None), ("plant-library", "Plant 1.0", None),
           ("plant-library", "Plant 2.0", str(pathlib.Path(LIBRARY).resolve()))], "conform -cusparse: %s" % rows)
    run, rows = conform("-alg", "plant-dead", "-trap", "exact,nonfinite,repeat")
    ran(run, 1, "conform of a lost device")
    check(rows[0]["cases"]["crashed"] == 3 and rows[0]["cases"]["wrong"] == 0, "a lost device: %s" % rows)
    check([t["result"] for t in rows[0]["traps"] if t["result"]] == ["crash"] * 3 and
          rows[0]["traps"][0]["reason"] == "an illegal access", "a lost device: %s" % rows)
    (folder / "text.so").write_text("no library\n")
    run, rows = conform("-alg", "plant-library", "-cusparse", folder / "text.so", "-trap", "nonfinite")
    ran(run, 2, "conform -cusparse text.so")
    check("the loader did not load this file" in run.stderr and len(rows) == 1, "text.so: %s" % run.stderr)


def test_signals(folder):
    """Ctrl-C leaves a whole file, and no process, not even one that stands by. A batch system's signal
    to all processes is no crash. A signal that a worker raises is a crash."""
    file = folder / "signals.jsonl"
    words = [*QUICK, "-alg", "merge,plant-hang", "-o", file, "gen:stencil:3", "gen:band:9:1"]
    run = subprocess.Popen(command(*words), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if file.exists() and file.read_bytes().count(b"\n") == 2:
            break
        time.sleep(0.05)
    children = pathlib.Path("/proc/%d/task/%d/children" % (run.pid, run.pid)).read_text().split()
    begin = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    check(run.returncode == 130 and "interrupted" in told, "SIGINT: %d, %s" % (run.returncode, told))
    check(time.monotonic() - begin < 20, "SIGINT: it took %g s" % (time.monotonic() - begin))
    check(len(children) == 2 and not any(os.path.exists("/proc/" + pid) for pid in children), "a worker is left")
    check(by_alg(file) == {("stencil:3", "merge"): ("ok", None)}, "SIGINT: %s" % by_alg(file))
    run = sweep(*QUICK, "-alg", "merge,plant-term,rowsplit", "-o", file, "gen:stencil:3")
    ran(run, 1, "a raised signal")
    found = by_alg(file)
    check(found["stencil:3", "plant-term"][0] == "crashed" and "(Terminated)" in found["stencil:3", "plant-term"][1]
          and found["stencil:3", "rowsplit"] == ("ok", None), "a raised signal: %s" % found)
    for last in ("worker", "parent"):
        file.unlink()
        run = subprocess.Popen(command(*words), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            if file.exists() and file.read_bytes().count(b"\n") >= 2:
                break
            time.sleep(0.05)
        children = pathlib.Path("/proc/%d/task/%d/children" % (run.pid, run.pid)).read_text().split()
        order = [int(pid) for pid in children] + [run.pid]
        for pid in order if last == "parent" else order[::-1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            time.sleep(0.02)
        run.communicate(timeout=60)
        check(run.returncode == 130 and by_alg(file) == {("stencil:3", "merge"): ("ok", None)},
              "SIGTERM to all, last to the %s: %d, %s" % (last, run.returncode, by_alg(file)))


def test_standby(folder):
    """The next worker stands by while one is at work; another takes its place if it is killed. -v tells
    where the time went."""
    file = folder / "standby.jsonl"
    words = [*QUICK, "-v", "-alg", "merge,plant-hang", "-timeout", 3, "-o", file, "gen:stencil:3",
             "gen:band:9:1"]
    run = subprocess.Popen(command(*words), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if file.exists() and file.read_bytes().count(b"\n") == 2:
            break
        time.sleep(0.05)
    children = pathlib.Path("/proc/%d/task/%d/children" % (run.pid, run.pid)).read_text().split()
    check(len(children) == 2, "%d workers, and not one at work and one that stands by" % len(children))
    os.kill(int(children[-1]), signal.SIGKILL)  # the younger one
    _, told = run.communicate(timeout=60)
    check(run.returncode == 1, "a standby was killed: %d, %s" % (run.returncode, told))
    wanted = {(m, a): s for m in ("stencil:3", "band:9:1") for a, s in (("merge", "ok"), ("plant-hang", "timeout"))}
    check({key: status for key, (status, _) in by_alg(file).items()} == wanted and len(results(file)) == 4,
          "a standby was killed: %s" % by_alg(file))
    # Parts that took no time are left out.
    spent = [line for line in told.splitlines() if " on 1 device: " in line]
    check(len(spent) == 1 and " s preparing" in spent[0], "-v says: %s" % told)


def test_one_writer(folder):
    """A second sweep into the same file is refused, while it runs."""
    file = folder / "writer.jsonl"
    words = [*QUICK, "-alg", "merge,plant-hang", "-o", file, "gen:stencil:3"]
    first = subprocess.Popen(command(*words), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        if file.exists() and file.read_bytes().count(b"\n") == 2:
            break
        time.sleep(0.05)
    run = sweep(*words)
    ran(run, 1, "a second sweep")
    check("another sweep is writing to it" in run.stderr, "a second sweep: %s" % run.stderr)
    before = file.read_bytes()
    run = subprocess.run([str(PLANTED), "run", *QUICK, "-alg", "merge", "-o", str(file), "gen:stencil:3"],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True)
    ran(run, 1, "a run in place of a sweep's records")
    check("a sweep is writing to it" in run.stderr and file.read_bytes() == before,
          "a run in place of a sweep's records: %s" % run.stderr)
    first.kill()
    first.wait()
    ran(sweep(*QUICK, "-alg", "merge", "-o", file, "gen:stencil:3"), 0, "after it")


def test_begin_at_once(folder):
    """Sweeps that begin together on a file that is not there yet: who comes second goes on with what
    the first one has written, also where it has ended by then; with -fresh he says what he replaces."""
    for again in range(3):
        for fresh in (False, True):
            file = folder / ("once%d%d.jsonl" % (again, fresh))
            words = [*QUICK, "-alg", "merge", *["-fresh"] * fresh, "-o", file, "gen:stencil:3", "gen:band:9:1"]
            both = [subprocess.Popen(command(*words), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     text=True) for _ in range(2)]
            told = [run.communicate()[1] for run in both]
            check(len(endings(file)) == 2, "two at once: %d cases" % len(endings(file)))
            if any("another sweep is writing to it" in text for text in told):  # a slow machine
                continue
            check(all(run.returncode == 0 for run in both), "two at once: %s" % told)
            word = "replacing %s: 3 records" % file if fresh else "2 of them were there"
            check(sum(word in text for text in told) == 1, "two at once: %s" % told)


def on_terminal(words, kind):
    """The text that a command writes to a terminal with this $TERM."""
    here, there = pty.openpty()
    run = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=there,
                           env={**os.environ, "TERM": kind})
    os.close(there)
    shown = b""
    try:
        while True:
            piece = os.read(here, 65536)
            if not piece:
                break
            shown += piece
    except OSError:
        pass
    run.wait()
    os.close(here)
    return shown.decode()


def test_place(folder):
    """A file that is removed or replaced in the middle ends the sweep; the same command goes on."""
    for way in ("removed", "replaced"):
        file = folder / (way + ".jsonl")
        words = [*QUICK, "-alg", "merge,rowsplit", "-o", file, "gen:stencil:3", "gen:band:9:1"]
        fifo = folder / (way + ".mtx")
        os.mkfifo(fifo)
        run = subprocess.Popen(command(*words, fifo), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        begin = time.monotonic()
        while not (file.exists() and file.read_bytes().count(b"\n") == 5) and time.monotonic() - begin < 60:
            time.sleep(0.02)  # the two matrices are done, the third comes through the pipe
        lines = file.read_bytes()
        file.unlink()
        if way == "replaced":
            file.write_bytes(lines)
        fifo.write_text(HEAD + "2 2 1\n1 1 1\n")
        said = run.communicate(timeout=60)[1]
        check(run.returncode == 1 and "was removed, renamed or replaced" in said,
              "%s: status %d, %s" % (way, run.returncode, said))
        fifo.unlink()
        ran(sweep(*words), 0, "%s, the same command" % way)
        check(len(endings(file)) == 4, "%s: %s" % (way, endings(file)))


def test_terminal(folder):
    """The bar: on a terminal that can erase a line, and there alone."""
    text = on_terminal(command(*QUICK, "-alg", "merge,rowsplit", "-o", folder / "bar.jsonl", "gen:stencil:3"), "xterm")
    check("\033[K" in text, "the line is not erased: %r" % text)
    check("1/2 cases" in text and "stencil:3: merge f32 k=2" in text and "[" in text, "no bar: %r" % text)
    check(text.rstrip().endswith("0:00:00") or "1 of 1 matrices: 2 ok" in text, "no end: %r" % text[-200:])
    run = sweep(*QUICK, "-alg", "merge", "-o", folder / "bar2.jsonl", "gen:stencil:3")
    check("\r" not in run.stderr and "\033" not in run.stderr, "a bar in a file: %r" % run.stderr)
    run = sweep(*QUICK, "-q", "-alg", "merge", "-o", folder / "bar3.jsonl", "gen:stencil:3")
    check(run.stderr == "", "-q: %r" % run.stderr)
    for kind in ("dumb", ""):
        for call in (command(*QUICK, "-alg", "merge", "-o", folder / ("bar-%s.jsonl" % kind), "gen:stencil:3"),
                     [PLANTED, "run", *QUICK, "-alg", "merge", "gen:stencil:3"]):
            text = on_terminal(call, kind)
            check("\033" not in text and "stencil:3" in text, "TERM=%s: %r" % (kind, text))


def check_processors(folder, words):
    """Workers side by side have processors of their own."""
    run = subprocess.Popen(command("-q", "-device", "cuda:0,1", "-o", folder / "cpus.jsonl", *words,
                                   binary=EMULATED), stdin=subprocess.DEVNULL)
    seen, all_ = set(), pathlib.Path("/proc/self/status").read_text().split("Cpus_allowed_list:")[1].split()[0]
    while run.poll() is None:
        try:
            for pid in pathlib.Path("/proc/%d/task/%d/children" % (run.pid, run.pid)).read_text().split():
                seen.add(pathlib.Path("/proc/%s/status" % pid).read_text()
                         .split("Cpus_allowed_list:")[1].split()[0])
        except (OSError, IndexError):
            pass
    check(run.returncode == 0 and len(seen - {all_}) == 2, "workers run on %s" % seen)


def test_devices(folder):
    """Two emulated GPUs share the matrices, and the keys do not say which one it was."""
    if not EMULATED or not EMULATED.exists():
        skip("sweeps on several devices: there is no emulated build")
        return
    file, alone = folder / "two.jsonl", folder / "one.jsonl"
    words = ["-op", "spmm", "-k", "2", "-reps", "1", "-warmup", "1", "-alg", "rowsplit", "gen:stencil:3",
             "gen:band:9:1", "gen:aspect:4:20"]
    run = sweep("-device", "cuda:0,1", "-o", file, *words, binary=EMULATED)
    ran(run, 0, "two devices")
    valid(file)
    ran(sweep("-device", "cuda", "-o", alone, *words, binary=EMULATED), 0, "one device")
    check(endings(file) == endings(alone) and len(endings(file)) == 3, "other keys on two devices")
    if len(os.sched_getaffinity(0)) < 2:
        skip("processors of workers side by side: there is one for all")
    else:
        check_processors(folder, words)
    runs = {r["run"] for r in results(file)}
    check(len(runs) == 2, "%d runs on two devices" % len(runs))
    first = results(file)[0]["matrix"]["name"]
    check(all(r["device"] == "cuda:0" for r in results(file)), "a worker sees more than its device")
    check({r["threads"] for r in results(file)} == {max(1, len(os.sched_getaffinity(0)) // 2)}
          or "OMP_NUM_THREADS" in os.environ, "the processors are not shared out")
    before = file.read_bytes()
    ran(sweep("-device", "cuda:1", "-o", file, *words, binary=EMULATED), 0, "another device")
    check(file.read_bytes() == before, "what two devices did was not finished for one (%s)" % first)


def main():
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory() as name:
            test(pathlib.Path(name))
    end()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("XDG_CACHE_HOME", cache)
        main()
