"""Predictions of algorithms with a model, as in the records, and their accuracy."""

import math

import common
import records
import words

BOUNDS = ("algorithmic", "all_miss", "cold_miss")
NEAR = 2  # a prediction within this factor is a good one


def predicted(row, bound, what="gflops"):
    """Returns the GFLOPS, or another quantity, that the model predicts; None without a prediction."""
    x = records.number(records.part(row["model"], what).get(bound))
    return x if x and x > 0 else None


def has(row):
    return all(predicted(row, bound) for bound in BOUNDS)


def of_series(rows, wanted=has):
    """Returns {series: {matrix: row}} of the rows with a model, in order. Raises NoData if there
    are none."""
    from series import by_algorithm
    found = by_algorithm(filter(wanted, rows))
    if not found:
        raise records.NoData("no result has a model's prediction")
    return found


def is_balanced(row):
    """Returns True if the long rows are cut into segments."""
    return records.number(row["model"].get("mu_segment")) is not None


def apart(old, new):
    """Returns the number of options in which two rows differ."""
    names = set(old["options"]) | set(new["options"])
    return sum(old["options"].get(name) != new["options"].get(name) for name in names)


def pairs(rows, changed):
    """Returns [(row without, row with)] a change. A row with changed(row) pairs with the unchanged
    row of its algorithm and matrix that shares most options, then with the fastest."""
    without = {}
    for row in rows:
        if not changed(row):
            without.setdefault((row["alg"], row["matrix"]), []).append(row)
    return [(min(without[new["alg"], new["matrix"]], key=lambda old: (apart(old, new), old["ms"])),
             new) for new in rows
            if changed(new) and (new["alg"], new["matrix"]) in without]


def nearest(found):
    """Returns, for each algorithm and matrix, the pairs that differ in the fewest options. These
    show the effect of the change alone, if the file has such a pair."""
    least = {}
    for old, new in found:
        key = new["alg"], new["matrix"]
        least[key] = min(least.get(key, math.inf), apart(old, new))
    return [(old, new) for old, new in found if apart(old, new) == least[new["alg"], new["matrix"]]]


def ranks(values):
    """Returns the rank of each value. Equal values share their mean rank."""
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
    """Returns Spearman's rank correlation; None if all values of a side are equal."""
    a, b = ranks(x), ranks(y)
    mean = (len(a) - 1) / 2
    spread = sum((p - mean) ** 2 for p in a) * sum((q - mean) ** 2 for q in b)
    return sum((p - mean) * (q - mean) for p, q in zip(a, b)) / spread ** 0.5 if spread else None


def quality(name, cases, bound):
    """Returns a sentence that compares the measured GFLOPS of these rows with the predictions."""
    want = [predicted(row, bound) for row in cases]
    ratios = [row["gflops"] / x for row, x in zip(cases, want)]
    near = sum(1 / NEAR <= ratio <= NEAR for ratio in ratios)
    ordered = rank_correlation([row["gflops"] for row in cases], want)
    return "%s: measured over %s %s in the geometric mean, within %.2g to %g on %d of %d%s." % (
        name, bound.replace("_", " "), words.times(common.geomean(ratios)), 1 / NEAR, NEAR, near, len(ratios),
        "" if ordered is None else ", rank correlation %.2f" % ordered)
