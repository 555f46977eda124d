#!/usr/bin/env python3
"""A sweep that is killed is gone on with: test_sweep_kill.py [BUILD [KILLS]].

SIGKILL at random moments (seeded), the same command again, until the sweep comes to its end; then
the file has exactly the cases of a sweep that nobody disturbed, each once, each ended as there. Then
files that are cut off at any byte.
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.dont_write_bytecode = True

from common import QUICK, check, command, end, endings, records, sweep

KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 200
CHAINS = 2  # side by side
CUTS = 24
WORDS = [*QUICK, "-q", "-alg", "merge,plant-exit,rowsplit",
         "gen:stencil:3", "gen:band:9:1", "gen:aspect:4:20"]


def workers(parent):
    """The processes that a sweep has started."""
    try:
        text = pathlib.Path("/proc/%d/task/%d/children" % (parent, parent)).read_text()
    except OSError:
        return []
    return [int(pid) for pid in text.split()]


def is_there(pid):
    try:
        return pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def chain(folder, seed, kills, undisturbed, spent_s, tell):
    """So many kills; each sweep that comes to its end is compared. About every second one does: the
    time that one takes is not the same on a machine with other work."""
    rng, killed, whole, left = random.Random(seed), 0, 0, []
    path = folder / ("%d.jsonl" % seed)
    while killed < kills or not whole:
        begin = time.monotonic()
        run = subprocess.Popen(command(*WORDS, "-o", path), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if killed < kills:
            try:
                run.wait(timeout=rng.uniform(0, spent_s))
            except subprocess.TimeoutExpired:
                children = workers(run.pid)
                run.send_signal(signal.SIGKILL)
                left += children
                killed += 1
                spent_s *= 1.2
        status, said = run.wait(), run.stderr.read()
        if status == -signal.SIGKILL:
            continue
        check(status == 1, "seed %d: exit status %d: %s" % (seed, status, said))
        check(said == "", "seed %d: after %d kills: %s" % (seed, killed, said))
        check(endings(path) == undisturbed, "seed %d: other records after %d kills: %s" %
              (seed, killed, sorted(set(endings(path).items()) ^ set(undisturbed.items()))[:4]))
        whole += 1
        spent_s = (spent_s + time.monotonic() - begin) / 2
        path.unlink()
    for _ in range(100):
        if not any(map(is_there, left)):
            break
        time.sleep(0.05)
    check(not any(map(is_there, left)), "seed %d: workers outlive their sweep" % seed)
    tell.append((killed, whole))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ.setdefault("XDG_CACHE_HOME", name)
        file = folder / "undisturbed.jsonl"
        sweep(*WORDS, "-o", file)  # with the ceilings of the device kept
        file.unlink()
        begin = time.monotonic()
        run = sweep(*WORDS, "-o", file)
        spent_s = time.monotonic() - begin
        undisturbed = endings(file)
        check(run.returncode == 1 and len(undisturbed) == 9,
              "undisturbed: exit status %d, %d cases: %s" % (run.returncode, len(undisturbed), run.stderr))
        check(sorted(set(undisturbed.values())) == ["crashed", "ok"], "endings %s" % undisturbed)

        tell = []
        threads = [threading.Thread(target=chain, args=(folder, seed, KILLS // CHAINS, undisturbed,
                                                        spent_s, tell))
                   for seed in range(CHAINS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print("killed %d times, %d sweeps came to their end" % tuple(map(sum, zip(*tell))))

        # Cut off anywhere, it ends as it would have.
        rng, bytes_ = random.Random(7), file.read_bytes()
        for at in [0, 1, len(bytes_) - 1] + [rng.randrange(len(bytes_)) for _ in range(CUTS)]:
            cut = folder / "cut.jsonl"
            cut.write_bytes(bytes_[:at])
            run = sweep(*WORDS, "-o", cut)
            check(run.returncode == 1 and endings(cut) == undisturbed,
                  "cut at %d of %d: exit status %d: %s" % (at, len(bytes_), run.returncode, run.stderr))
            kept = records(file)[:bytes_[:at].count(b"\n")]
            check(records(cut)[:len(kept)] == kept, "cut at %d: what was there has changed" % at)
    end()


if __name__ == "__main__":
    main()
