"""Tests of the figures of models, and of those of Hong et al., for test_plots.py: numbers computed by
hand, and every script on made-up results of 12 and of 120 matrices."""

import math
import os
import random

import band
import colseg
import common
import gflops_nonzeros
import predicted
import predicted_roofline
import predictions
import records
import reordering
import speedup_sorted
from plots_records import GPU, M1, M2, SPMM, environment, matrices, result, rows_of, write
from plots_run import fails

MODEL = ("predicted", "predicted_roofline", "speedup_sorted", "reordering")
FIGURES = MODEL + ("gflops_nonzeros", "band", "colseg")
M3 = ("three", 100, 4000)


def prediction(gflops, all_miss=None, cold_miss=None, segment=None):
    rates = {"algorithmic": gflops, "all_miss": all_miss or gflops, "cold_miss": cold_miss or gflops}
    return {"equation": 6 if segment else 3, "mu": 5.0, "mu_segment": segment,
            "intensity": {name: x / GPU["copy"] for name, x in rates.items()}, "gflops": rates}


def rate(alg, matrix, gflops, **more):
    """A result of so many GFLOPS."""
    return result(alg, matrix, 2 * matrix[2] * 64 / gflops / 1e6, **more)


def texts_of(fig):
    return " ".join(" ".join(text.get_text() for text in fig.texts).split())


def test_predictions(check, near):
    check(predictions.ranks([3, 1, 3, 2]) == [2.5, 0, 2.5, 1], "ranks with a tie")
    near(predictions.rank_correlation([1, 2, 3], [10, 300, 20]), 0.5, "rank correlation")
    near(predictions.rank_correlation([1, 2, 3], [3, 2, 1]), -1.0, "the other way round")
    check(predictions.rank_correlation([1, 2], [5, 5]) is None, "of equal ones there is none")
    rows = rows_of(SPMM, rate("folded", M1, 10.0, model=prediction(20.0, 10.0)),
                   rate("folded", M2, 10.0, model=prediction(20.0, 40.0)),
                   rate("folded", M3, 30.0, model=prediction(20.0, 15.0)),
                   rate("merge", M1, 10.0), rate("sellp", M1, 1.0, model={"gflops": {"algorithmic": 3}}))
    found = predictions.of_series(rows)
    check(list(found) == ["folded"], "with a model: %s" % list(found))
    near(predictions.predicted(rows[1], "all_miss"), 40.0, "a prediction")
    check(predictions.predicted(rows[3], "all_miss") is None, "no prediction")
    text = predictions.quality("folded", rows[:3], "all_miss")
    check(text == "folded: measured over all miss 0.79 in the geometric mean, within 0.5 to 2 on 2 "
          "of 3, rank correlation 0.00.", text)
    why = fails(predictions.of_series, rows[3:])
    check(why == "no result has a model's prediction", why)


def balanced_rows():
    """M1 and M2 without and with segments, M3 without."""
    return [rate("folded", M1, 10.0, options={"balance": 0}, model=prediction(40.0, 30.0)),
            rate("folded", M1, 20.0, options={"balance": 1}, model=prediction(30.0, 25.0, 60.0, 2.0),
                 stats={"segment": "mu"}),
            rate("folded", M2, 5.0, options={"balance": 0}, model=prediction(50.0, 20.0)),
            rate("folded", M2, 45.0, options={"balance": 1}, model=prediction(60.0, 50.0, 90.0, 3.0),
                 stats={"segment": "U mu"}),
            rate("folded", M3, 12.0, options={"balance": 0}, model=prediction(44.0, 11.0)),
            rate("folded", M3, 13.0, options={"balance": 1}, model=prediction(44.0, 11.0))]


def test_pairs(check, near):
    selection = common.select(rows_of(SPMM, *balanced_rows()))
    pairs = predictions.pairs(selection.rows, predictions.is_balanced)
    found = {new["name"]: (old["gflops"], new["gflops"]) for old, new in pairs}
    check(sorted(found) == ["one", "two"], "pairs: %s" % found)
    near(found["two"][1] / found["two"][0], 9.0, "what segments bring")
    more = rows_of(SPMM, *(rate("folded", M1, x, options={"balance": on, "factor": factor},
                                model=prediction(9.0, segment=2.0 if on else None))
                           for on, factor, x in ((0, 8, 1.0), (0, 16, 2.0), (1, 8, 3.0))))
    found = [(old["gflops"], new["gflops"])
             for old, new in predictions.pairs(more, predictions.is_balanced)]
    check([tuple(map(round, pair)) for pair in found] == [(1, 3)], "by options: %s" % found)
    more += rows_of(SPMM, rate("folded", M1, 4.0, options={"balance": 1, "factor": 32},
                               model=prediction(9.0, segment=2.0)))
    found = predictions.pairs(more, predictions.is_balanced)
    check([round(new["gflops"]) for _, new in found] == [3, 4], "each has one without")
    found = predictions.nearest(found)
    check([round(new["gflops"]) for _, new in found] == [3], "nothing else is changed: %s" % found)
    fig = predicted.draw(selection)
    check(len(fig.axes) == 4, "two panels for each set of options: %d" % len(fig.axes))
    left, right = fig.axes[2:]  # with segments
    lines = [list(line.get_ydata()) for line in right.lines if len(line.get_ydata()) > 1]
    check(lines[:2] == [[11.0, 25.0, 50.0], [44.0, 60.0, 90.0]], "by all miss: %s" % lines)
    lines = [list(line.get_ydata()) for line in left.lines if len(line.get_ydata()) > 1]
    check(lines == [[30.0, 44.0, 60.0]], "by the algorithmic bound: %s" % lines)
    clouds = [[tuple(point) for point in of.get_offsets()] for of in right.collections]
    check([round(y, 6) for _, y in clouds[0]] == [13.0, 20.0, 45.0], "measured: %s" % clouds)
    check([(x, round(y, 6)) for x, y in clouds[1]] == [(2, 10.0), (3, 5.0)], "crosses: %s" % clouds)
    check("folded balance=1: measured over all miss 0.95" in texts_of(fig), texts_of(fig))
    fig = predicted_roofline.draw(selection)
    legend = [text.get_text() for text in fig.axes[0].get_legend().get_texts()]
    check(legend[2:4] == ["before segments of U mu", "before segments of mu"], "legend: %s" % legend)
    check("6 cases. Segments: 4.24× in the geometric mean of 2 cases." in texts_of(fig),
          texts_of(fig))
    torn = rate("folded", M3, 15.0, options={"balance": 1}, model=prediction(44.0, 11.0))
    del torn["model"]["intensity"]["all_miss"]
    fig = predicted_roofline.draw(common.select(rows_of(SPMM, *balanced_rows()[:-1], torn)))
    check("5 cases. Segments: 4.24×" in texts_of(fig), "no intensity: " + texts_of(fig))


def test_speedups(check):
    check(speedup_sorted.summary("a", [0.5, 4, 16]) == "a: 0.5 to 16, mean 6.83, slower on 1 of 3",
          speedup_sorted.summary("a", [0.5, 4, 16]))
    vendor = [rate("cusparse", M1, 10.0), rate("cusparse-csr2", M1, 5.0),
              rate("cusparse", M2, 10.0)]
    fig = speedup_sorted.draw(common.select(rows_of(SPMM, *balanced_rows(), *vendor)))
    legend = [text.get_text() for text in fig.axes[0].get_legend().get_texts()]
    check(legend == ["folded balance=0  0.71×", "folded balance=1  3.00×"], "legend: %s" % legend)
    check("folded balance=0: 0.5 to 1, mean 0.75, slower on 1 of 2;" in texts_of(fig), texts_of(fig))
    tuned = rows_of(SPMM, *balanced_rows(), *vendor, rate("unfolded", M1, 30.0))
    tuned[-1]["facts"] = {"tuned_of": "folded"}
    legend = speedup_sorted.draw(common.select(tuned)).axes[0].get_legend().get_texts()
    check(any(text.get_text() == "unfolded  3.00×" for text in legend), "a tuned form: %s"
          % [text.get_text() for text in legend])
    for rows, want in ((vendor, "no algorithm has a model"),
                       (balanced_rows()[:1], "none of the reference to compare with")):
        why = fails(speedup_sorted.draw, common.select(rows_of(SPMM, *rows)))
        check(want in why, why)


def test_reordering(check, near):
    rows = rows_of(SPMM, *(
        rate("folded", m, x * (gain if on else 1), options={"reorder": on},
             stats={"reordered": on}, model=prediction(50.0, (said if on else 1) * 30.0))
        for m, x, gain, said in ((M1, 10.0, 2.0, 1.5), (M2, 20.0, 0.5, 1.25)) for on in (0, 1)))
    found = reordering.effects(common.select(rows).rows)["folded reorder=1"]
    found = {m[0]: pair for m, pair in found.items()}
    near(found["one"][0], 2.0, "measured speed-up")
    near(found["one"][1], 1.5, "predicted speed-up")
    fig = reordering.draw(common.select(rows))
    check("folded reorder=1: 1.00× in the geometric mean of 2, faster on 1; the model agrees on 1." in
          texts_of(fig), texts_of(fig))
    for row in rows:
        row["model"] = {}
    why = fails(reordering.draw, common.select(rows))
    check("that has a prediction" in why, why)


def test_mean(check):
    check(gflops_nonzeros.running_mean([1.0, 2.0, 3.0, 6.0], 3) == [2.0, 11.0 / 3], "running mean")
    check(gflops_nonzeros.running_mean([1.0], 3) == [], "of too few")


def synthetic(count=5):
    """Bands of two numbers of rows, and random matrices of one size."""
    for i in range(count):
        for alg, speed in (("merge", 100.0), ("folded", 50.0 * i + 20)):
            band = ("band:1024:%d" % 4 ** i, 1024, 1024 * 4 ** i)
            record = rate(alg, band, speed)
            record["counters"] = {"memory_bytes": 4 * record["bytes"]["compulsory"]}
            yield record if alg == "folded" else rate(alg, band, speed)
            yield rate(alg, ("sparse2d:1024:1024:%d" % 10 ** (i + 1), 1024, 10 ** (i + 1)), speed)
    yield rate("merge", ("band:64:3", 64, 192), 1.0)


def test_synthetic(check, near):
    rows = rows_of(SPMM, *synthetic())
    check(records.generated(rows[0], "band", 2) == [1024, 1], "a band")
    for name in ("band:4", "band:4:x", "band", "bands:4:4", "band:4:4:4"):
        check(records.generated({"name": name, "path": "p"}, "band", 2) is None, name)
    check(records.generated({"name": "p", "path": "gen:band:4:5"}, "band", 2) == [4, 5], "by path")
    fig = band.draw(common.select(rows))
    lines = {line.get_label(): line for line in fig.axes[0].lines}
    check([x for x, _ in lines["folded"].get_xydata()] == [1, 4, 16, 64, 256], "widths")
    moved, whole = [list(line.get_ydata()) for line in fig.axes[1].lines]
    check(all(abs(w / m - 4) < 1e-9 for m, w in zip(moved, whole)), "%s %s" % (moved, whole))
    check("No record has counters" not in texts_of(fig), texts_of(fig))
    fig = band.draw(common.select([row for row in rows if row["alg"] == "merge"]))
    check("No record has counters" in texts_of(fig), texts_of(fig))
    row = next(row for row in rows if row["name"] == "sparse2d:1024:1024:1000")
    near(colseg.in_segment(row, 512), 512 * 1000 / 1024 ** 2, "nonzeros of a column segment")
    fig = colseg.draw(common.select(rows))
    x = list(fig.axes[0].lines[0].get_xdata())
    check(len(x) == 5 and abs(x[2] - 512 * 1000 / 1024 ** 2) < 1e-12, "%s" % x)


def synthetic_records():
    yield environment(roof=GPU)
    yield from synthetic()


def model_records(count, seed=5):
    """An algorithm with a model, with and without segments and reordering, beside a vendor's."""
    rng = random.Random(seed)
    yield environment(roof=GPU)
    for matrix in matrices(count, rng):
        bound = 10 ** rng.uniform(1.5, 3)
        yield rate("cusparse", matrix, bound * rng.uniform(0.1, 1), layout="col")
        long = rng.random() < 0.3
        for balance in (0, 1):
            for order in (0, 1):
                said = bound * (1.2 if order else 1)
                slow = 0.05 if long and not balance else 1
                yield rate("folded", matrix, said * slow * math.exp(rng.gauss(0, 0.4)),
                           layout="col", options={"balance": balance, "reorder": order},
                           stats={"reordered": order, "segment": "mu" if balance else "none"},
                           model=prediction(1.5 * said, said, 1.3 * said,
                                            3.0 if balance and long else None))
    yield from synthetic()


def test_scripts(folder, check, run, picture):
    paths = [write(os.path.join(folder, "model-%d.jsonl" % n), model_records(n)) for n in (12, 120)]
    for source, made in zip(paths, (FIGURES[:4] + FIGURES[5:], FIGURES)):
        for script in FIGURES:
            stem = os.path.basename(source)[:-6]
            out = os.path.join(folder, "%s-%s.png" % (stem, script))
            layout = "row" if script in ("band", "colseg") else "col"
            status, text, errors = run(script + ".py", source, "-layout", layout, "-o", out)
            what = "%s on %s" % (script, stem)
            if script not in made:
                check(status == 1 and "takes 20 matrices" in errors, "%s: %s" % (what, errors))
                continue
            check(status == 0 and text.strip() == out, "%s: exit %d %s" % (what, status, errors))
            wrong = picture(out, 4000)
            check(wrong is None, "%s: %s" % (what, wrong))
    out = os.path.join(folder, "segment.png")
    status, _, errors = run("colseg.py", paths[0], "-layout", "row", "-panel", "0", "-o", out)
    check(status == 1 and "a row at least" in errors, "a panel of nothing: %s" % errors)
    plain = write(os.path.join(folder, "no-model.jsonl"), [environment(roof=GPU),
                                                           result("merge", M1, 1.0)])
    for script in FIGURES:
        status, _, errors = run(script + ".py", plain, "-o", out)
        check(status == 1 and len(errors.splitlines()) == 1 and "Traceback" not in errors,
              "%s without what it draws: %d %s" % (script, status, errors))
