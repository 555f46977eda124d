"""What the tests of `spbench sweep` share: running it, reading what it wrote, counting checks."""
import json
import os
import pathlib
import subprocess
import sys

from checks import check, end, skip  # which scripts have from here

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/cpu").resolve()
PLANTED = BUILD / "tests/sweep/spbench"  # the program with algorithms that crash, hang and so on
LIBRARY = BUILD / "tests/sweep/library.so"
QUICK = ["-device", "cpu", "-threads", "1", "-op", "spmm", "-k", "2", "-reps", "1", "-warmup", "1"]

os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def command(*words, binary=PLANTED):
    return [str(binary), "sweep", *map(str, words)]


def sweep(*words, binary=PLANTED, cwd=None, env=None, timeout=120):
    """Runs it to its end."""
    return subprocess.run(command(*words, binary=binary), cwd=cwd, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, **(env or {})})


def records(path):
    """The records of a file, each of which must be a whole line."""
    text = pathlib.Path(path).read_bytes().decode("utf-8")
    check(not text or text.endswith("\n"), "%s has a torn last line" % path)
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found.append(json.loads(line))
        except ValueError:
            check(False, "%s:%d is no JSON: %.80s" % (path, number, line))
    return found


def results(path):
    return [record for record in records(path) if record["kind"] == "result"]


def endings(path):
    """{key: status}; a case must be there once."""
    found = {}
    for record in results(path):
        check(record["case"] not in found, "%s: twice: %s" % (path, record["case"]))
        found[record["case"]] = record["status"]
    return found
