#!/usr/bin/env python3
"""Makes test matrices of the kinds that users have, of any size. The rules of auto are not fitted to them.

    tools/kinds.py LIST OUT

For every line KIND:NUMBER[:NUMBER ...] of the file LIST, a pattern is made into
OUT/KIND_NUMBER[_NUMBER ...].mtx, always the same one. Blank lines and those that begin with # are
skipped. The kinds:

    road:N          a map of N crossings: a grid of which a third of the streets is missing
    power:N         a power grid of N stations: a tree of near ones, and a few lines more
    chain:N         N sequences, each next to one or two others anywhere
    circuit:N       N nodes with near neighbours, and ten rails that every twentieth node hangs on
    mesh:N          N nodes of triangles, numbered at random within patches
    tetra:N         N nodes of tetrahedra, the same
    shell:N:U       quadrilaterals of N nodes with U unknowns each
    near:N:D        N points in space, each with some D near ones
    social:N:D      N members with D friends in the mean, whose number falls by a power law
    shop:M:N:D      M users with D of N things in the mean, a few of which nearly all have
    nets:M:N        M nets of N pins: most have 2 to 8 near pins, some hundreds, five N / 10
    staircase:M:N   a linear program: small blocks down the diagonal, 20 rows through all columns
    rails:N:D:R:L   N rows of D near the diagonal, and R rows and columns that have L more
    molecules:N     N atoms in dense blocks of 3 to 60
    copies:N:D      N pages, D links in the mean, most of which are those of the page before
    pruned:M:N:P    M x N weights, of which P in a thousand are left
    wide:M:N:D      M rows of N columns, of lengths from nothing to 2 D
    rare:N:D        N rows, one in ten of which has D nonzeros

A bad line is reported on stderr; the other lines are done, and the exit status is 1.
"""

import os
import sys
import zlib

try:
    import numpy as np
except ImportError:
    sys.exit("kinds.py: numpy is missing (apt install python3-numpy)")

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from derive import derived, make_lines, pattern, write  # noqa: E402

MOST = 100_000_000  # of each number of a line


def both_ways(n, rows, columns, diagonal=True):
    """The pattern of a graph's edges; those that leave the matrix are dropped."""
    inside = (rows >= 0) & (rows < n) & (columns >= 0) & (columns < n)
    rows, columns = rows[inside], columns[inside]
    own = np.arange(n if diagonal else 0)
    return pattern(n, n, np.concatenate((rows, columns, own)), np.concatenate((columns, rows, own)))


def lengths(random, count, mean, spread=1.0):
    """So many lengths of that mean, by the logarithm of a normal distribution."""
    drawn = random.normal(-spread * spread / 2, spread, count)
    return np.maximum(1, np.rint(mean * np.exp(drawn)).astype(np.int64))


def popular(random, count, n, power):
    """So many of n, the most popular of which are anywhere; the i-th as often as 1 / i^power."""
    weight = np.cumsum(np.arange(1, n + 1, dtype=float) ** -power)
    drawn = np.searchsorted(weight, random.uniform(0, weight[-1], count))
    return random.permutation(n)[np.minimum(drawn, n - 1)]


def first_of_each(lengths):
    """For each member of groups that lie side by side, where its group begins."""
    return np.repeat(np.cumsum(lengths) - lengths, lengths)


def patched(random, n, size=4096):
    """A new number for each of n, at random within so many neighbours."""
    return np.argsort(np.arange(n) // size + random.uniform(0, 1, n), kind="stable")


def road(random, n):
    side = max(1, int(n ** 0.5))
    at = np.arange(side * side)
    right, down = at[at % side + 1 < side], at[:-side]
    right = right[random.uniform(0, 1, len(right)) < 0.67]
    down = down[random.uniform(0, 1, len(down)) < 0.67]
    return both_ways(side * side, np.concatenate((right, down)),
                     np.concatenate((right + 1, down + side)), diagonal=False)


def power(random, n):
    at = np.arange(1, n)
    line = random.randint(0, n, n // 4)
    to = at - random.geometric(0.05, n - 1), line + random.geometric(0.01, n // 4)
    return both_ways(n, np.concatenate((at, line)), np.concatenate(to))


def chain(random, n):
    order = random.permutation(n)
    kept = random.uniform(0, 1, n - 1) < 0.9
    return both_ways(n, order[:-1][kept], order[1:][kept], diagonal=False)


def circuit(random, n):
    near = random.randint(0, n, 2 * n)
    rails, hung = random.randint(0, n, 10), random.randint(0, n, n // 20)
    to = near + random.geometric(0.02, 2 * n), rails[random.randint(0, 10, n // 20)]
    return both_ways(n, np.concatenate((near, hung)), np.concatenate(to))


def mesh(random, n):
    side = max(2, int(n ** 0.5))
    at = np.arange(side * side)
    row, column = np.divmod(at, side)
    inner = at[(row + 1 < side) & (column + 1 < side)]
    other = random.uniform(0, 1, len(inner)) < 0.5
    number = patched(random, side * side)
    rows = np.concatenate((at[column + 1 < side], at[row + 1 < side], inner + other))
    columns = np.concatenate((at[column + 1 < side] + 1, at[row + 1 < side] + side,
                              inner + side + 1 - other))
    return both_ways(side * side, number[rows], number[columns], diagonal=False)


def tetra(random, n):
    side = max(2, int(round(n ** (1 / 3))))
    at = np.arange(side ** 3)
    x, y, z = at % side, at // side % side, at // side // side
    number, rows, columns = patched(random, side ** 3), [], []
    for i, j, k in (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1):
        has = at[(x + i < side) & (y + j < side) & (z + k < side)]
        rows.append(number[has])
        columns.append(number[has + i + side * (j + side * k)])
    return both_ways(side ** 3, np.concatenate(rows), np.concatenate(columns))


def shell(random, n, unknowns):
    side = max(2, int(n ** 0.5))
    at = np.arange(side * side)
    x, y = at % side, at // side
    rows, columns = [], []
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            has = at[(0 <= x + i) & (x + i < side) & (0 <= y + j) & (y + j < side)]
            rows.append(has)
            columns.append(has + i + side * j)
    nodes = pattern(side * side, side * side, np.concatenate(rows), np.concatenate(columns))
    return derived(nodes, "k%d" % unknowns)


def near(random, n, degree):
    # Points are numbered cell by cell, and cells line by line.
    of = np.repeat(np.arange(n), degree // 2)
    side = max(1, int((n / degree) ** 0.5)) * degree
    step = random.normal(0, degree, len(of)).astype(np.int64) + side * random.randint(0, 2, len(of))
    return both_ways(n, of, of + step)


def social(random, n, degree):
    count = n * degree // 2
    one, other = popular(random, count, n, 0.6), popular(random, count, n, 0.6)
    return both_ways(n, one, other, diagonal=False)


def shop(random, m, n, degree):
    of = np.repeat(np.arange(m), lengths(random, m, degree))
    return pattern(m, n, of, popular(random, len(of), n, 0.8))


def nets(random, m, n):
    size = np.minimum(1 + random.geometric(0.4, m), 8)
    size[random.randint(0, m, m // 500)] = 300
    at = random.randint(0, n, m)
    of = np.repeat(np.arange(m), size)
    pin = (at[of] + random.normal(0, 4 * size[of])).astype(np.int64) % n
    clock = np.repeat(random.randint(0, m, 5), n // 10)
    return pattern(m, n, np.concatenate((of, clock)),
                   np.concatenate((pin, random.randint(0, n, len(clock)))))


def staircase(random, m, n):
    of = np.repeat(np.arange(m), lengths(random, m, 6, 0.5))
    place = (of * n // m + random.randint(0, 40, len(of))) % n
    linking = np.repeat(random.randint(0, m, 20), n // 8)
    return pattern(m, n, np.concatenate((of, linking)),
                   np.concatenate((place, random.randint(0, n, len(linking)))))


def rails(random, n, degree, count, length):
    of = np.repeat(np.arange(n), degree)
    place = np.clip(of + random.randint(-2 * degree, 2 * degree + 1, len(of)), 0, n - 1)
    rail, met = np.repeat(random.randint(0, n, count), length), random.randint(0, n, count * length)
    return pattern(n, n, np.concatenate((of, rail, met)), np.concatenate((place, met, rail)))


def molecules(random, n):
    sizes = random.randint(3, 61, n // 3 + 1)
    ends = np.cumsum(sizes)
    count = int(np.searchsorted(ends, n)) + 1
    sizes, ends, n = sizes[:count], ends[:count], int(ends[count - 1])
    block = np.repeat(np.arange(count), sizes)
    of = np.repeat(np.arange(n), sizes[block])
    place = np.arange(len(of)) - first_of_each(sizes[block])
    return pattern(n, n, of, (ends - sizes)[block[of]] + place)


def copies(random, n, degree):
    # A page of a site has two thirds of the links of the site's list, and some of its own.
    site = np.cumsum(random.uniform(0, 1, n) < 0.05)
    length = lengths(random, site[-1] + 1, degree)
    begin = np.cumsum(length) - length
    listed = popular(random, int(length.sum()), n, 0.5)
    home = np.searchsorted(site, np.arange(site[-1] + 1))
    local = random.uniform(0, 1, len(listed)) < 0.7
    nearby = np.repeat(home, length) + random.geometric(0.02, len(listed))
    listed = np.where(local, nearby, listed) % n
    of = np.repeat(np.arange(n), length[site])
    place = np.arange(len(of)) - first_of_each(length[site])
    kept = random.uniform(0, 1, len(of)) < 0.67
    own = random.randint(0, n, n * degree // 4)
    linked = listed[begin[site[of[kept]]] + place[kept]]
    return pattern(n, n, np.concatenate((of[kept], own)),
                   np.concatenate((linked, random.randint(0, n, len(own)))))


def pruned(random, m, n, thousandth):
    count = m * n * thousandth // 1000
    return pattern(m, n, random.randint(0, m, count), random.randint(0, n, count))


def wide(random, m, n, degree):
    of = np.repeat(np.arange(m), random.randint(0, 4 * degree, m) // 2)
    return pattern(m, n, of, random.randint(0, n, len(of)))


def rare(random, n, degree):
    of = np.repeat(np.arange(0, n, 10), degree)
    return pattern(n, n, of, random.randint(0, n, len(of)))


KINDS = {kind.__name__: kind for kind in (
    road, power, chain, circuit, mesh, tetra, shell, near, social, shop, nets, staircase, rails,
    molecules, copies, pruned, wide, rare)}


def make(out, line, *more):
    """What a line asks for."""
    name, *words = line.split(":")
    kind = KINDS.get(name)
    wanted = kind.__code__.co_argcount - 1 if kind else 0
    numbers = [int(word) for word in words if word.isdecimal()]
    if more or not kind or not len(words) == len(numbers) == wanted or \
            not all(0 < number <= MOST for number in numbers):
        raise ValueError("it is to be a kind with its numbers: see --help")
    random = np.random.RandomState(zlib.crc32(line.encode()))
    write(out, line.replace(":", "_") + ".mtx", kind(random, *numbers))


if __name__ == "__main__":
    make_lines("kinds.py", __doc__, ["OUT"], make)
