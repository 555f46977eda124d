"""What the records of algorithms with a model say of its predictions, and how good these are."""

import math

import common
import records

BOUNDS = ("algorithmic", "all_miss", "cold_miss")
NEAR = 2  # a prediction within this factor is a good one


def predicted(row, bound, what="gflops"):
    """The GFLOPS, or what else, that the model predicts; None where it does not."""
    x = records.number(records.part(row["model"], what).get(bound))
    return x if x and x > 0 else None


def has(row):
    return all(predicted(row, bound) for bound in BOUNDS)


def of_series(rows, wanted=has):
    """{series: {matrix: row}} of those with a model, in order; NoData if there are none."""
    from series import by_algorithm
    found = by_algorithm(filter(wanted, rows))
    if not found:
        raise records.NoData("no result has a model's prediction")
    return found


def is_balanced(row):
    """Are its long rows cut into segments?"""
    return records.number(row["model"].get("mu_segment")) is not None


def apart(old, new):
    """In how many options two rows differ."""
    names = set(old["options"]) | set(new["options"])
    return sum(old["options"].get(name) != new["options"].get(name) for name in names)


def pairs(rows, changed):
    """[(row without, row with)] a change: each row of which changed(row) is true, and of those of its
    algorithm and matrix of which it is false the one with the most options in common; of several
    the fastest."""
    without = {}
    for row in rows:
        if not changed(row):
            without.setdefault((row["alg"], row["matrix"]), []).append(row)
    return [(min(without[new["alg"], new["matrix"]], key=lambda old: (apart(old, new), old["ms"])),
             new) for new in rows
            if changed(new) and (new["alg"], new["matrix"]) in without]


def nearest(found):
    """Of pairs those that differ in the fewest options, for each algorithm and matrix: what the change
    alone does, where a file has it."""
    least = {}
    for old, new in found:
        key = new["alg"], new["matrix"]
        least[key] = min(least.get(key, math.inf), apart(old, new))
    return [(old, new) for old, new in found if apart(old, new) == least[new["alg"], new["matrix"]]]


def ranks(values):
    """The place of each in their order; equal ones share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    first = 0
    while first < len(order):
        end = first
        while end < len(order) and values[order[end]] == values[order[first]]:
            end += 1
        for at in order[first:end]:
            found[at] = (first + end - 1) / 2
        first = end
    return found


def rank_correlation(x, y):
    """Spearman's; None where there is none."""
    a, b = ranks(x), ranks(y)
    mean = (len(a) - 1) / 2
    spread = sum((p - mean) ** 2 for p in a) * sum((q - mean) ** 2 for q in b)
    return sum((p - mean) * (q - mean) for p, q in zip(a, b)) / spread ** 0.5 if spread else None


def quality(name, cases, bound):
    """A sentence: how near the measured GFLOPS of these rows are to what was predicted."""
    want = [predicted(row, bound) for row in cases]
    ratios = [row["gflops"] / x for row, x in zip(cases, want)]
    near = sum(1 / NEAR <= ratio <= NEAR for ratio in ratios)
    ordered = rank_correlation([row["gflops"] for row in cases], want)
    return "%s: measured over %s %.2f in the geometric mean, within %.2g to %g on %d of %d%s." % (
        name, bound.replace("_", " "), common.geomean(ratios), 1 / NEAR, NEAR, near, len(ratios),
        "" if ordered is None else ", rank correlation %.2f" % ordered)
