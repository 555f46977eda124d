#!/usr/bin/env python3
"""Tests of tools/derive.py: every kind of small matrices against sets of places, what it says of
what it cannot make, and that nothing is half-written."""

import gzip
import os
import random
import resource
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
    skip("derive: numpy is not there")
    end()

import derive

SCRIPT = os.path.join(ROOT, "tools", "derive.py")
BANNER = "%%MatrixMarket matrix coordinate "
# The places that perm moves rows and columns to, by their number: xorshift from 88172645463325252.
ORDERS = {(5, 5): ([4, 0, 1, 3, 2],) * 2, (3, 6): ([0, 2, 1], [0, 2, 5, 3, 1, 4])}


def places(rng, m, n, count):
    return [(rng.randint(1, m), rng.randint(1, n)) for _ in range(count)]


def matrices():
    """{name: (what is in the banner, m, n, [entry])}, counted from 1; some entries come twice."""
    rng = random.Random(3)
    below = [(i, j) for i, j in places(rng, 8, 8, 20) if i > j]
    return {
        "general": ("pattern general", 5, 5, places(rng, 5, 5, 11)),
        "wide": ("real general", 3, 6, places(rng, 3, 6, 9)),
        "tall": ("integer general", 9, 4, places(rng, 9, 4, 14)),
        "twice": ("integer general", 2, 2, [(2, 2), (1, 2), (2, 2), (2, 2)]),
        "symmetric": ("pattern symmetric", 8, 8, below + [(2, 2), (7, 7)]),
        "upper": ("real symmetric", 5, 5, places(rng, 5, 5, 9)),
        "skew": ("real skew-symmetric", 8, 8, below),
        "hermitian": ("complex hermitian", 8, 8, below + [(1, 1)]),
        "full": ("pattern general", 4, 4, [(i, j) for j in range(1, 5) for i in range(1, 5)]),
        "empty": ("real general", 3, 3, []),
        "one": ("real general", 1, 1, [(1, 1)]),
    }


def text(banner, m, n, entries):
    values = {"pattern": "", "real": " -0.5D+01", "integer": " 7", "complex": " 1e3 nan"}
    lines = ["%d %d%s" % (i, j, values[banner.split()[0]]) for i, j in entries]
    return "\n".join([BANNER + banner, "% a comment", "%d %d %d" % (m, n, len(lines)), *lines, ""])


def expected(banner, m, n, entries, kind):
    """The sizes and the places of the nonzeros, counted from 0."""
    a = {(i - 1, j - 1) for i, j in entries}
    if "general" not in banner:
        a |= {(j, i) for i, j in a}
    square = m == n
    if kind == "t":
        return n, m, {(j, i) for i, j in a}
    if kind == "sq":
        return m, m, {(i, j) for i in range(m) for j in range(m)
                      if any((i, k) in a and (k, j) in a for k in range(m))}
    if kind == "aat":
        return m, m, {(i, j) for i in range(m) for j in range(m)
                      if any((i, k) in a and (j, k) in a for k in range(n))}
    if kind == "half":
        right = m // 2 if square else n
        return m // 2, right, {(i, j) for i, j in a if i < m // 2 and j < right}
    if kind == "rest":
        top, left = m // 2, m // 2 if square else 0
        return m - top, n - left, {(i - top, j - left) for i, j in a if i >= top and j >= left}
    if kind == "perm":
        rows, columns = ORDERS[m, n]
        return m, n, {(rows[i], columns[j]) for i, j in a}
    if kind == "aug":
        return m + n, m + n, ({(i, i) for i in range(m)} | {(i, m + j) for i, j in a} |
                              {(m + j, i) for i, j in a})
    size = int(kind[1:])
    if kind[0] == "x":
        joined = {(i, j + n if 16 * j < n else j) for i, j in a}
        return size * m, size * n, {(i + c * m, (j + c * n) % (size * n))
                                    for i, j in joined for c in range(size)}
    return size * m, size * n, {(i, j) for i in range(size * m) for j in range(size * n)
                                if (i // size, j // size) in a}


def expected_text(*of):
    m, n, a = expected(*of)
    return text("pattern general", m, n, [(i + 1, j + 1) for i, j in sorted(a)]).replace(
        "% a comment\n", "")


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def write(path, content):
    with (gzip.open if path.endswith(".gz") else open)(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())


def run(*words, **more):
    return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True,
                          check=False, **more)


def test_kinds(folder):
    """Every kind of every matrix, a third of which are gzipped, by one list."""
    todo, lines = {}, ["# NAME KIND", "", "   "]
    for i, (name, of) in enumerate(matrices().items()):
        write(os.path.join(folder, name + (".mtx.gz" if i % 3 == 0 else ".mtx")), text(*of))
        for kind in derive.KINDS:
            if (kind != "sq" or of[1] == of[2]) and (kind != "perm" or of[1:3] in ORDERS):
                todo["%s.%s.mtx" % (name, kind)] = expected_text(*of, kind)
                lines.append("%s %s" % (name, kind))
    list_, out = os.path.join(folder, "list"), os.path.join(folder, "new", "out")
    write(list_, "\n".join(lines))
    done = run(list_, folder, out)
    check(done.returncode == 0 and not done.stdout + done.stderr, "the list: %d, %s"
          % (done.returncode, done.stderr))
    check(sorted(os.listdir(out)) == sorted(todo), "made: %s" % sorted(os.listdir(out)))
    for name, want in todo.items():
        made = read(os.path.join(out, name))
        check(made == want, "%s is\n%s\nand not\n%s" % (name, made, want))


def test_written_otherwise(folder):
    """What other programs write: line ends, blanks, letters, a byte order mark, comments anywhere."""
    path = os.path.join(folder, "otherwise.mtx")
    write(path, b"\xef\xbb\xbf%%matrixmarket MATRIX Coordinate Real SYMMETRIC\r\n\r\n%\xff\r\n"
          b" 3\t3 2 \r\n\r\n  3   1 1.0\r\n% two\r\n\t2\t2\t5 \r\n\r\n")
    a = derive.read(path)
    check((a.m, a.n, a.rows.tolist(), a.columns.tolist()) == (3, 3, [0, 1, 2], [2, 1, 0]), "read: %s" % (a,))


def test_products():
    """The rows of A that are multiplied at once don't show, and the bound is for the result."""
    rng = random.Random(9)
    of = "pattern general", 30, 30, places(rng, 30, 30, 100) + [(5, j) for j in range(1, 31)]
    a = derive.pattern(30, 30, *(numpy.array(of[3]).T - 1))
    _, _, want = expected(*of, "sq")
    check(derive.MOST == 20_000_000, "the bound is %d" % derive.MOST)
    chunk, most = derive.CHUNK, derive.MOST
    for derive.CHUNK in 1, 2, 7, 50, chunk:
        for derive.MOST in len(want) - 1, len(want):
            said = "nothing"
            try:
                made = derive.derived(a, "sq")
                check(list(zip(made.rows, made.columns)) == sorted(want), "chunks of %d" % derive.CHUNK)
            except ValueError as error:
                said = str(error)
            bound = "the product has more than %d nonzeros" % derive.MOST
            check(said == ("nothing" if derive.MOST == len(want) else bound), "%d of %d: %s"
                  % (derive.MOST, len(want), said))
    derive.CHUNK, derive.MOST = chunk, most


def test_errors(folder):
    """A line of each kind of error, good ones between them: one line is said of each bad one."""
    good = text("pattern general", 2, 3, [(1, 2), (2, 3)])
    head = BANNER + "pattern general\n"
    bad = {  # NAME KIND: what is said of it, of which files
        "gone t": ("neither", None),
        "good": ("it is to be a NAME and one of t sq", None),
        "good t t": ("it is to be a NAME and one of t sq", None),
        "good T": ("it is to be a NAME and one of t sq", None),
        "good k1": ("it is to be a NAME and one of t sq", None),
        "good k10": ("it is to be a NAME and one of t sq", None),
        "good sq": ("2 x 3 is not square", None),
        "folder t": ("Is a directory", None),
        "nothing t": ("not a Matrix Market file", ""),
        "blank t": ("not a Matrix Market file", "\n\n"),
        "bytes t": ("not a Matrix Market file", bytes(range(256)) * 9),
        "array t": ("not a Matrix Market file", "%%MatrixMarket matrix array real general\n1 1\n1\n"),
        "strange t": ("not a Matrix Market file", BANNER + "real triangular\n1 1 0\n"),
        "cut t": ("no line of rows", head),
        "sizes t": ("no line of rows", head + "2 2\n1 1\n"),
        "minus t": ("no line of rows", head + "-2 2 0\n"),
        "letters t": ("no line of rows", head + "two 2 0\n"),
        "short t": ("1 entries, not the 2", head + "2 2 2\n1 1\n"),
        "promise t": ("1 entries, not the 1000000000000", head + "2 2 1000000000000\n1 1\n"),
        "long t": ("2 entries, not the 1", head + "2 2 1\n1 1\n2 2\n"),
        "below t": ("outside", head + "2 2 1\n3 1\n"),
        "right t": ("outside", head + "2 2 1\n1 3\n"),
        "zero t": ("outside", head + "2 2 1\n0 1\n"),
        "word t": ("'x'", head + "2 2 1\n1 x\n"),
        "part t": ("'1.5'", head + "2 2 1\n1 1.5\n"),
        "huge t": ("'99999999999999999999'", head + "2 2 1\n1 99999999999999999999\n"),
        "alone t": ("column", head + "2 2 1\n1\n"),
        "oblong t": ("symmetric, but 2 x 3", BANNER + "real symmetric\n2 3 1\n1 1 1\n"),
        "large t": ("too large", head + "3000000000 2 1\n1 1\n"),
        "larger t": ("too large", head + "%d 2 1\n1 1\n" % 10**30),
        "../folder/good t": ("it is to be a NAME", None),
        "grown k2": ("too large", head + "2000000000 2 1\n1 1\n"),
    }
    zipped = {
        "plain t": ("gzip", good.encode()),
        "torn t": ("ended before", gzip.compress(good.encode())[:-12]),
        "spoilt t": ("", gzip.compress(good.encode())[:10] + b"\xff" * 40),
    }
    os.mkdir(os.path.join(folder, "folder.mtx"))
    write(os.path.join(folder, "good.mtx"), good)
    for line, (_, content) in bad.items():
        if content is not None:
            write(os.path.join(folder, line.split()[0] + ".mtx"), content)
    for line, (_, content) in zipped.items():
        with open(os.path.join(folder, line.split()[0] + ".mtx.gz"), "wb") as f:
            f.write(content)
    bad.update(zipped)
    list_, out = os.path.join(folder, "bad list"), os.path.join(folder, "out")
    write(list_, "good t\n" + "".join(line + "\n" for line in bad) + "good half\n")
    os.makedirs(os.path.join(out, "gone.t.mtx"))  # which stays
    done = run(list_, folder, out)
    said = done.stderr.splitlines()
    check(done.returncode == 1 and len(said) == len(bad), "status %d, of %d lines:\n%s"
          % (done.returncode, len(bad), done.stderr))
    for number, (line, told) in enumerate(zip(bad, said), 2):
        start = "derive.py: %s:%d: %s: " % (list_, number, line)
        check(told.startswith(start) and bad[line][0] in told[len(start):] != "", "%s: %s" % (line, told))
    check(sorted(os.listdir(out)) == ["gone.t.mtx", "good.half.mtx", "good.t.mtx"], "made: %s"
          % os.listdir(out))


def test_whole(folder):
    """What cannot be written to its end is not there, and what was there before stays."""
    list_, out = os.path.join(folder, "list"), os.path.join(folder, "out")
    write(os.path.join(folder, "a.mtx"), text("pattern general", 20, 20, [(i, i) for i in range(1, 21)]))
    write(list_, "a k9\na t\na k8\na sq\n")
    os.makedirs(os.path.join(out, "a.sq.mtx"))
    write(os.path.join(out, "a.k8.mtx"), "before")
    done = run(list_, folder, out, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (4096, 4096)))
    said = done.stderr.splitlines()
    check(done.returncode == 1 and len(said) == 3 and all(
        ":%d: a %s: " % x in line for x, line in zip([(1, "k9"), (3, "k8"), (4, "sq")], said)),
          "a full disk: %d, %s" % (done.returncode, done.stderr))
    check(sorted(os.listdir(out)) == ["a.k8.mtx", "a.sq.mtx", "a.t.mtx"], "there: %s" % os.listdir(out))
    check(read(os.path.join(out, "a.k8.mtx")) == "before", "what was there is gone")
    check(not os.listdir(os.path.join(out, "a.sq.mtx")), "something is in a folder of that name")


def test_usage(folder):
    list_, out = os.path.join(folder, "list"), os.path.join(folder, "out")
    write(list_, "# nothing to do\n")
    for words in (), (list_, folder), (list_, folder, out, out), ("-x", list_, folder, out):
        done = run(*words)
        check(done.returncode == 2 and done.stderr.startswith("usage: derive.py") and not done.stdout,
              "%d words: %d, %s" % (len(words), done.returncode, done.stderr))
    check(not os.path.exists(out), "wrong usage makes a folder")
    done = run("-h")
    check(done.returncode == 0 and not done.stderr and all(
        "\n    %s " % kind in done.stdout for kind in ("t", "sq, aat", "half", "rest", "perm", "aug")),
          "-h: %s" % done.stdout)
    for words, what in ((os.path.join(folder, "gone"), folder, out), "No such file"), \
            ((list_, folder, list_), "File exists"):
        done = run(*words)
        check(done.returncode == 1 and what in done.stderr and len(done.stderr.splitlines()) == 1,
              "%s: %d, %s" % (what, done.returncode, done.stderr))
    done = run(list_, folder, out)
    check(done.returncode == 0 and not done.stdout + done.stderr and os.listdir(out) == [],
          "nothing to do: %d, %s" % (done.returncode, done.stderr))


for test in test_kinds, test_written_otherwise, test_errors, test_whole, test_usage:
    with tempfile.TemporaryDirectory() as folder_:
        test(folder_)
test_products()
end()
