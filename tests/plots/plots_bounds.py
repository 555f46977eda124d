"""Tests of the figures of the bound without reuse and of counters, for test_plots.py."""

import os
import random

from plots_records import GPU, M1, M2, SPMM, environment, matrices, result, rows_of, write
from plots_run import fails

FIGURES = ("gather", "roofline_counters")


def bounded(record, gather, moved=None):
    """The record with these: a share of the bound without reuse, and bytes of memory counted."""
    record["gather_efficiency"] = gather
    record["counters"] = {"memory_bytes": moved, "reason": "made up"} if moved != 0 else None
    return record


def bounded_records(count, seed=4):
    """Results with both, of any size."""
    rng = random.Random(seed)
    yield environment(roof=GPU)
    for matrix in matrices(count, rng):
        for alg in ("merge", "rowsplit", "cusparse"):
            record = result(alg, matrix, 10 ** rng.uniform(-2, 1))
            yield bounded(record, 10 ** rng.uniform(-1, 1),
                          record["bytes"]["compulsory"] * rng.uniform(1, 9))


def test_numbers(check):
    import common
    import gather
    import records
    import roofline_counters
    rows = rows_of(SPMM, bounded(result("merge", M1, 1.0), 1.5), bounded(result("merge", M2, 1.0), 0.25),
                   bounded(result("cusparse", M1, 4.0), 0.5), bounded(result("cusparse-csr2", M1, 2.0), 1.0),
                   bounded(result("sellp", M1, 4.0), None), result("rowsplit", M1, 4.0))
    found = gather.curves(rows)
    check({name: list(of.values()) for name, of in found.items()} ==
          {"merge": [25.0, 150.0], "cuSPARSE (best)": [100.0]}, "curves: %s" % found)
    fig = gather.draw(common.select(rows))
    notes = " ".join(t.get_text() for t in fig.texts).replace("\n", " ")
    check("merge 150 %, cuSPARSE (best) 100 %" in notes and "2 cases have no such bound" in notes,
          "notes: %s" % notes)
    rows = rows_of(SPMM, bounded(result("merge", M1, 1.0, flops=1000), 1.0, 250),
                   bounded(result("merge", M2, 1.0), 1.0, None), bounded(result("sellp", M1, 1.0), 1.0, 0))
    fig = roofline_counters.draw(common.select(rows))
    notes = " ".join(t.get_text() for t in fig.texts).replace("\n", " ")
    drawn = [list(dots.get_offsets()[:, 0]) for dots in fig.axes[0].collections if len(dots.get_offsets())]
    check([4.0] in drawn, "1000 FLOPs over 250 bytes: %s" % drawn)
    check("1 case;" in notes or "1 case." in notes, "one of them is drawn: %s" % notes)
    check("2 cases have no counters of memory" in notes, "the others are told: %s" % notes)
    for script in (gather, roofline_counters):
        why = fails(script.draw, common.select(rows_of(SPMM, result("merge", M1, 1.0))))
        check(why.startswith("no result has"), "%s: %s" % (script.__name__, why))


def test_scripts(folder, check, run, picture):
    for count in (5, 300):
        path = write(os.path.join(folder, "bounds-%d.jsonl" % count), bounded_records(count))
        for script in FIGURES:
            out = os.path.join(folder, "%s-%d.png" % (script, count))
            status, _, errors = run(script + ".py", path, "-o", out)
            check(status == 0 and "Traceback" not in errors, "%s: %s" % (script, errors))
            wrong = picture(out, 5000)
            check(wrong is None, "%s of %d: %s" % (script, count, wrong))
