#!/usr/bin/env python3
"""Makes test matrices from other matrices. The rules of auto are not fitted to the results.

    tools/derive.py LIST FOLDER OUT

For every line `NAME KIND` of the file LIST the pattern of FOLDER/NAME.mtx (or .mtx.gz) is made into
OUT/NAME.KIND.mtx. Blank lines and those that begin with # are skipped. The kinds:

    t         the transposed matrix A^T
    sq, aat   A A and A A^T, of no more than 20 million nonzeros
    half      the leading half of the rows, and of the columns if A is square
    rest      the other half
    perm      rows and columns in random order, which is the same for both if A is square
    k2 .. k9  a dense block of so many rows and columns for each nonzero
    x4, x16, x64
              so many copies of A along the diagonal, joined into a ring: the leading sixteenth of
              the columns of each is that of the next one
    aug       [I A; A^T 0]

A bad line is reported on stderr; the other lines are done, and the exit status is 1.
"""

import argparse
import collections
import functools
import gzip
import os
import sys
import tempfile
import warnings
import zlib

try:
    import numpy as np
except ImportError:
    sys.exit("derive.py: numpy is missing (apt install python3-numpy)")

KINDS = "t sq aat half rest perm k2 k3 k4 k5 k6 k7 k8 k9 x4 x16 x64 aug".split()
MOST = 20_000_000  # nonzeros of a product
LARGEST = 2**31 - 1  # of rows and of columns
CHUNK = 4_000_000  # numbers multiplied at once; more where a row of the product needs more
LINES = 100_000  # written at once

# m x n; nonzero i is at rows[i], columns[i], counted from 0; sorted by row, then by column.
Pattern = collections.namedtuple("Pattern", "m n rows columns")


def pattern(m, n, rows, columns):
    """The Pattern of nonzeros in any order, some of them more than once."""
    if max(m, n) > LARGEST:
        raise ValueError("%d x %d is too large" % (m, n))
    return Pattern(m, n, *np.divmod(np.unique(rows * n + columns), n))


@functools.lru_cache(maxsize=1)  # lines of a list that are of one matrix often follow each other
def read(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", errors="replace") as f, warnings.catch_warnings():
        *banner, symmetry = f.readline().lower().split() or [""]
        if banner[:3] != ["%%matrixmarket", "matrix", "coordinate"] or \
                symmetry not in ("general", "symmetric", "skew-symmetric", "hermitian"):
            raise ValueError("not a Matrix Market file of coordinates")
        size = next((line.split() for line in f if line.strip() and line[0] != "%"), [])
        if len(size) != 3 or not all(word.isdecimal() for word in size):
            raise ValueError("no line of rows, columns and nonzeros")
        m, n, count = map(int, size)
        if symmetry != "general" and m != n:
            raise ValueError("%s, but %d x %d" % (symmetry, m, n))
        warnings.simplefilter("ignore", UserWarning)  # no entries
        warnings.simplefilter("error", DeprecationWarning)  # an index like 1.5
        entries = np.loadtxt(f, dtype=np.int64, comments="%", usecols=(0, 1), ndmin=2)
    if len(entries) != count:
        raise ValueError("%d entries, not the %d that it promises" % (len(entries), count))
    if symmetry != "general":
        entries = np.append(entries, entries[:, ::-1], axis=0)
    if ((entries < 1) | (entries > (m, n))).any():
        raise ValueError("an entry is outside of the matrix")
    return pattern(m, n, *(entries.T - 1))


def write(folder, name, a):
    """In a folder of its own until it is whole."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        path = os.path.join(own, "part")
        with open(path, "w", encoding="ascii") as f:
            f.write("%%MatrixMarket matrix coordinate pattern general\n")
            f.write("%d %d %d\n" % (a.m, a.n, len(a.rows)))
            for i in range(0, len(a.rows), LINES):
                places = np.column_stack((a.rows[i:i + LINES], a.columns[i:i + LINES])) + 1
                f.write("%d %d\n" * len(places) % tuple(places.ravel().tolist()))
        os.replace(path, os.path.join(folder, name))


def product(a, b):
    """Each nonzero of A meets a row of B; whole rows of A at a time."""
    if a.n != b.m:
        raise ValueError("%d x %d is not square" % (a.m, a.n))
    first = np.searchsorted(b.rows, a.columns)
    count = np.searchsorted(b.rows, a.columns, "right") - first
    before = np.cumsum(count) - count
    chunk = before[np.searchsorted(a.rows, a.rows)] // CHUNK
    found, total = [np.zeros(0, np.int64)], 0
    for part in np.split(np.arange(len(chunk)), np.flatnonzero(np.diff(chunk)) + 1):
        of = np.repeat(part, count[part])  # the nonzero of A, by nonzeros of B that it meets
        met = first[of] + np.arange(len(of)) - (before[of] - before[part[:1]])
        found.append(np.unique(a.rows[of] * b.n + b.columns[met]))
        total += len(found[-1])
        if total > MOST:
            raise ValueError("the product has more than %d nonzeros" % MOST)
    return Pattern(a.m, b.n, *np.divmod(np.concatenate(found), b.n))


def shuffles(*sizes):
    """A random order of each, by Marsaglia's xorshift: the same on every machine."""
    x = 88172645463325252
    for n in sizes:
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            x ^= x << 13 & 2**64 - 1
            x ^= x >> 7
            x ^= x << 17 & 2**64 - 1
            j = (x >> 32) % (i + 1)
            order[i], order[j] = order[j], order[i]
        yield np.array(order, dtype=np.int64)


def derived(a, kind):
    square = a.m == a.n
    if kind == "t":
        return pattern(a.n, a.m, a.columns, a.rows)
    if kind in ("sq", "aat"):
        return product(a, a if kind == "sq" else derived(a, "t"))
    if kind in ("half", "rest"):
        top, bottom = (0, a.m // 2) if kind == "half" else (a.m // 2, a.m)
        left, right = (top, bottom) if square else (0, a.n)
        kept = (top <= a.rows) & (a.rows < bottom) & (left <= a.columns) & (a.columns < right)
        return pattern(bottom - top, right - left, a.rows[kept] - top, a.columns[kept] - left)
    if kind == "perm":
        orders = shuffles(a.m, a.n)
        rows = next(orders)
        columns = rows if square else next(orders)
        return pattern(a.m, a.n, rows[a.rows], columns[a.columns])
    if kind == "aug":
        of_I = np.arange(a.m)
        return pattern(a.m + a.n, a.m + a.n, np.concatenate((of_I, a.rows, a.m + a.columns)),
                       np.concatenate((of_I, a.m + a.columns, a.rows)))
    size = int(kind[1:])
    if kind[0] == "x":
        copy = np.arange(size)[:, None]
        of_column = (copy + (16 * a.columns < a.n)) % size
        return pattern(size * a.m, size * a.n, (copy * a.m + a.rows).ravel(),
                       (of_column * a.n + a.columns).ravel())
    down, right = np.divmod(np.arange(size * size), size)
    return pattern(size * a.m, size * a.n, (size * a.rows[:, None] + down).ravel(),
                   (size * a.columns[:, None] + right).ravel())


def make(folder, out, name, kind=None, *more):
    """What the words of a line ask for."""
    if more or kind not in KINDS or os.path.basename(name) != name:
        raise ValueError("it is to be a NAME and one of " + " ".join(KINDS))
    paths = [os.path.join(folder, name + end) for end in (".mtx", ".mtx.gz")]
    path = next(filter(os.path.exists, paths), None)
    if not path:
        raise ValueError("there is neither %s nor %s" % tuple(paths))
    write(out, "%s.%s.mtx" % (name, kind), derived(read(path), kind))


def make_lines(name, description, folders, make):
    """All that such a script does: make(*folders, *words) for the words of each line of LIST."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for word in ["LIST"] + folders:
        parser.add_argument(word)
    args, status = parser.parse_args(), 0
    paths = [getattr(args, folder) for folder in folders]
    try:
        with open(args.LIST, encoding="utf-8") as f:
            lines = [line.split() for line in f]
        os.makedirs(args.OUT, exist_ok=True)
    except (OSError, ValueError) as error:
        sys.exit("%s: %s" % (name, error))
    for number, words in enumerate(lines, 1):
        if not words or words[0].startswith("#"):
            continue
        try:
            make(*paths, *words)
        except (ValueError, OSError, EOFError, MemoryError, zlib.error) as error:
            print("%s: %s:%d: %s: %s" % (name, args.LIST, number, " ".join(words), error),
                  file=sys.stderr)
            status = 1
    sys.exit(status)


if __name__ == "__main__":
    make_lines("derive.py", __doc__, ["FOLDER", "OUT"], make)
