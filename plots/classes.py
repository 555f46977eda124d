"""Matrices by their kind, told by nothing but the sizes and the lengths of the rows: kernels meet other
limits in each."""

import statistics

import common
import series
import tables

SMALL = 20000  # nonzeros
CLASSES = (
    ("small: under 20,000 nonzeros", lambda n, row: n < SMALL),
    ("longest row at least 100 times the mean",
     lambda n, row: row["row_max"] >= 100 * row["row_mean"]),
    ("uneven rows: standard deviation at least the mean", lambda n, row: row["row_cv"] >= 1),
    ("under 6 nonzeros a row", lambda n, row: row["row_mean"] < 6),
    ("6 to 32 nonzeros a row", lambda n, row: row["row_mean"] < 32),
    ("32 nonzeros a row and more", lambda n, row: True),
)
UNKNOWN = "of unknown row lengths"


def class_of(row):
    """The name of the first class that the matrix of a row fits."""
    if None in (row["row_mean"], row["row_max"], row["row_cv"]):
        return UNKNOWN
    return next(name for name, fits in CLASSES if fits(row["matrix"][3], row))


def fastest(found, vendors):
    """{matrix: row}: the fastest series case by case, of vendors or of nobody."""
    best = {}
    for cases in found.values():
        for m, row in cases.items():
            if bool(series.vendor_of(row)) == vendors and (m not in best or row["ms"] < best[m]["ms"]):
                best[m] = row
    return best


def gather_cell(rows):
    """The median of how near the times are to those of the loads of B alone."""
    shares = [row["gather"] for row in rows if row["gather"]]
    if not shares:
        return ""
    x = 100 * statistics.median(shares)
    return tables.Cell("%.0f" % x, x)


def table(found):
    """Per class: the fastest of ours over the fastest of the vendors', and how near each of the two
    comes to the bound by loads; None where one of the two is missing."""
    ours, theirs = fastest(found, False), fastest(found, True)
    of = {}
    for m in ours:
        if m in theirs:
            of.setdefault(class_of(ours[m]), []).append(m)
    if not of:
        return None
    lines = []
    for name in [name for name, _ in CLASSES] + [UNKNOWN]:
        matrices = of.get(name, [])
        if matrices:
            ratios = {m: theirs[m]["ms"] / ours[m]["ms"] for m in matrices}
            least = min(ratios, key=ratios.get)
            lines.append((name, len(matrices), tables.ratio_cell(common.geomean(ratios.values())),
                          tables.ratio_cell(ratios[least]), least[0],
                          gather_cell([ours[m] for m in matrices]),
                          gather_cell([theirs[m] for m in matrices])))
    head = ("class", "matrices", "geometric mean × theirs", "least", "of",
            "% of the gather bound, ours", "theirs")
    return tables.Table("By class of matrix", 1, head, lines,
                        ["Each matrix in the first class that it fits. The fastest of ours over the "
                         "fastest of the vendors', case by case. The gather bound: each nonzero "
                         "fetches its row anew, past the L1; the medians of the two may be of "
                         "different matrices."])
