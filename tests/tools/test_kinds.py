#!/usr/bin/env python3
"""Tests of tools/kinds.py: every kind makes the same sound matrix twice, those that are graphs
are symmetric, and what cannot be made is told while the other lines are done."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests", "lib")]
sys.dont_write_bytecode = True

from checks import check, end, skip

try:
    import numpy
except ImportError:
    skip("kinds: numpy is not there")
    end()

import kinds

SCRIPT = os.path.join(ROOT, "tools", "kinds.py")
# A line of each kind, and the rows and columns that it asks for; a grid is the next smaller square
# or cube, and molecules end with a whole block.
LINES = {
    "road:1000": (961, 961), "power:1000": (1000, 1000), "chain:1000": (1000, 1000),
    "circuit:1000": (1000, 1000), "mesh:1000": (961, 961), "tetra:1000": (1000, 1000),
    "shell:100:3": (300, 300), "near:500:20": (500, 500), "social:500:12": (500, 500),
    "shop:300:200:10": (300, 200), "nets:1000:700": (1000, 700), "staircase:200:400": (200, 400),
    "rails:500:6:3:100": (500, 500), "molecules:500": None, "copies:500:12": (500, 500),
    "pruned:64:128:100": (64, 128), "wide:20:3000:50": (20, 3000), "rare:1000:9": (1000, 1000)}
GRAPHS = ("road", "power", "chain", "circuit", "mesh", "tetra", "shell", "near", "social",
          "molecules")
BAD = ("nothing:3", "road", "road:", "road:x", "road:0", "road:-4", "road:3:3", "shop:3:3",
       "road:100000000000", "../road:9")


def made(lines, out):
    """(exit status, what stderr says) of the script."""
    path = os.path.join(out, "list")
    with open(path, "w", encoding="utf-8") as f:
        f.write("# a comment\n\n" + "".join(line + "\n" for line in lines))
    run = subprocess.run([sys.executable, SCRIPT, path, os.path.join(out, "made")],
                         capture_output=True, text=True)
    return run.returncode, run.stderr


def read(out, line):
    with open(os.path.join(out, "made", line.replace(":", "_") + ".mtx"), encoding="ascii") as f:
        text = f.read()
    _, sizes, *rest = text.splitlines()
    return text, tuple(map(int, sizes.split())), [tuple(map(int, x.split())) for x in rest]


def test_kinds():
    check({line.split(":")[0] for line in LINES} == set(kinds.KINDS), "a line of each kind")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for out in (one, two):
            check(made(LINES, out) == (0, ""), "all kinds are made")
        for line, shape in LINES.items():
            text, (m, n, count), places = read(one, line)
            check(text == read(two, line)[0], line + ": the same twice")
            check(shape in (None, (m, n)), "%s: %d x %d" % (line, m, n))
            check(count == len(places) > 0, line + ": as many as it says")
            check(places == sorted(set(places)), line + ": in order, none twice")
            check(all(1 <= i <= m and 1 <= j <= n for i, j in places), line + ": inside")
            if line.split(":")[0] in GRAPHS:
                check({(j, i) for i, j in places} == set(places), line + ": symmetric")
        used = {i for i, _ in read(one, "rare:1000:9")[2]}
        check(len(used) == 100, "rare: one row in ten")
        check(all(500 <= m <= 560 for m in [read(one, "molecules:500")[1][0]]), "molecules: rows")


def test_bad_lines():
    with tempfile.TemporaryDirectory() as out:
        status, said = made(BAD + ("power:50",), out)
        check(status == 1 and len(said.splitlines()) == len(BAD), "each bad line is told: " + said)
        for number, line in enumerate(BAD, 3):
            check(":%d: %s: " % (number, line) in said, line + ": named")
        check(os.listdir(os.path.join(out, "made")) == ["power_50.mtx"], "the others are made")


test_kinds()
test_bad_lines()
end()
