#!/usr/bin/env python3
"""Tests of plots/: figures computed by hand, and every script on made-up results of 5 and of 2,000
matrices. `test_plots.py DIR` keeps the pictures in DIR, to be looked at. Other parts are in
plots_reading.py, plots_paper.py (choice of series, looks, messages), plots_sparse.py (operations whose
runs make their results), plots_model.py (models and their predictions), plots_more.py (times against an
axis, the dense line, several runs), plots_times.py (separate and back to back), plots_page.py (captions
and the index page), plots_front.py (first screen of the page), plots_general.py (any operation and
library) and plots_precs.py (precisions, dense products). plots_run.py runs the scripts. The made-up results
are in plots_records.py."""

import math
import os
import sys
import tempfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
PLOTS = os.path.join(HERE, "..", "..", "plots")
sys.path[:0] = [PLOTS, HERE, os.path.join(HERE, "..", "lib")]
sys.dont_write_bytecode = True

import plots_bounds
import plots_front
import plots_general
import plots_many
import plots_model
import plots_more
import plots_page
import plots_names
import plots_paper
import plots_precs
import plots_reading
import plots_sparse
import plots_times
from plots_run import end, run
import common
import records
import roofline
import series
import speedup_rowlength
from plots_records import SPMM, cpu_records, environment, gpu_records, product_records, result, rows_of, write

passed = failed = skipped = 0


def check(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED: " + what)


def near(got, want, what):
    check(got is not None and abs(got - want) < 1e-9, "%s: got %s, want %s" % (what, got, want))


# The figures that are computed.


def test_numbers():
    near(common.geomean([1, 4, 16]), 4.0, "geomean of 1, 4, 16")
    near(common.geomean([0.5]), 0.5, "geomean of one")
    check(common.geomean([]) is None, "geomean of nothing is None")
    times = {"merge": {"a": 1.0, "b": 2.0, "c": 3.0, "d": 1.0},
             "rowsplit": {"a": 2.0, "b": 1.0, "c": 3.0}}
    picked = {"a": "merge", "b": "merge", "c": "merge", "d": "merge", "e": "rowsplit"}
    check(common.accuracy(picked, times) == (2, 3), "accuracy: a right, b wrong, c a tie, d e out")
    check(common.accuracy({"a": "other"}, times) == (0, 0), "accuracy: an unknown pick")
    check(all(records.number(x) is None for x in (float("nan"), True, "1", 10 ** 400)),
          "number: nothing but finite numbers")
    x, y = common.running_median(range(200), [5.0] * 200)
    check(len(x) == len(y) == 25 and set(y) == {5.0} and x == sorted(x), "running median")
    check(common.running_median([1, 2], [1, 2]) == ([], []), "running median of few is none")


def test_series():
    best_name = "cuSPARSE (best)"
    m1, m2 = ("one", 100, 500), ("two", 100, 2000)
    rows = rows_of(SPMM, result("cusparse", m1, 4.0), result("cusparse-csr2", m1, 2.0),
                   result("cusparse", m2, 8.0), result("cusparse-csr2", m2, 10.0),
                   result("merge", m1, 1.0), result("merge", m2, 16.0),
                   result("rowsplit", m2, 0.0), result("sellp", m1, 1.0, method="off"),
                   result("rowsplit", m1, 1.0, status="wrong"),
                   result("rowsplit", ("three", 9, 9), 1.0, status="unchecked"))
    selection = common.select(rows)
    found = series.series(selection.rows)
    check(list(found) == ["merge", best_name], "series: %s" % list(found))
    best = {case[0]: row["ms"] for case, row in found[best_name].items()}
    check(best == {"one": 2.0, "two": 8.0}, "best cusparse by case: %s" % best)
    speed = series.speedups(found["merge"], found[best_name])
    near(common.geomean(speed.values()), 1.0, "speed-ups 2 and 0.5 have mean 1")
    left = " ".join(common.footnotes(selection))
    for text in ("1 wrong (rowsplit)", "2 unchecked (sellp, rowsplit)",
                 "1 without a time (rowsplit)"):
        check(text in left, "footnote %r has %r" % (left, text))
    several = rows_of(SPMM, result("rowsplit", m1, 1.0, options={"T": 8}),
                      result("rowsplit", m1, 2.0, options={"T": 32}))
    check(list(series.series(common.select(several).rows)) == ["rowsplit T=32", "rowsplit T=8"],
          "options that differ make series of their own")
    plain = rows_of(SPMM, result("reference", m1, 1.0, device="cpu"), result("merge", m1, 1.0))
    check(series.baseline(series.series(plain)) == "reference", "without cusparse: the reference")
    both = rows_of(SPMM, *(result(alg, m1, ms, device=device) for alg, device, ms in (
        ("rowsplit", "cpu", 2.0), ("mkl", "cpu", 3.0), ("reference", "cpu", 1.0),
        ("cusparse", "cuda:0", 0.5))))
    found = series.series(common.choose(both).rows)
    check(list(found) == ["reference", "rowsplit", "MKL (best)"] and
          series.baseline(found) == "MKL (best)", "of each device its own vendor: %s" % list(found))


def test_figures():
    m1, m2 = ("one", 100, 500), ("two", 100, 2000)
    rows = rows_of(SPMM, result("cusparse", m1, 4.0), result("cusparse", m2, 6.0),
                   result("merge", m1, 1.0), result("merge", m2, 3.0),
                   result("rowsplit", m1, 2.0), result("rowsplit", m2, 6.0),
                   result("heuristic", m1, 1.0, stats={"picked": "merge"},
                          options={"threshold": 9.35}),
                   result("heuristic", m2, 6.0, stats={"picked": "rowsplit"},
                          options={"threshold": 9.35}))
    found = series.series(rows)
    base = found[series.baseline(found)]
    check(speedup_rowlength.thresholds(rows) == [9.35], "threshold from the records")
    among = speedup_rowlength.candidates(found, found["heuristic"])
    check(list(among) == ["merge", "rowsplit"], "what is picked from: %s" % list(among))
    near(common.geomean(speedup_rowlength.best_choice(among, base).values()), math.sqrt(8),
         "the fastest candidates: speed-ups 4 and 2")
    text = " ".join(speedup_rowlength.picks_texts(found, found["heuristic"], base))
    check("50.0 % of 2" in text and "2.83" in text, "accuracy in the legend: %r" % text)
    fig = speedup_rowlength.draw(common.select(rows))
    legend = [t.get_text() for t in fig.axes[0].get_legend().get_texts()]
    check(any(t.startswith("merge  2.83×") for t in legend), "legend: %s" % legend)
    foot = " ".join(" ".join(t.get_text() for t in fig.texts).split())
    check("Medians: rowsplit 1.50, faster on 1, slower on 0; merge 3.00, faster on 2, slower on 0; "
          "heuristic 2.50, faster on 1, slower on 0. Speed-ups are over cuSPARSE (best): 4 to 6 ms, "
          "median 5 on 2 matrices." in foot, "medians, wins and losses: " + foot)
    check(roofline.roofs(rows) == ({"cache": 9500.0, "memory": 4200.0}, {"f32": 59000.0}),
          "roofs from the environment, of the precision of the rows")
    for roof, want in (({"copy_gb_s": 23, "cache_gb_s": 90}, {"cache": 90, "memory": 23}),
                       ({"copy_gb_s": 23, "cache_gb_s": 12}, {"memory": 23}),
                       ({"memory_gb_s": 45, "copy_gb_s": 23, "cache_gb_s": 40}, {"memory": 45}),
                       ({"memory_gb_s": 45, "copy_gb_s": 23, "cache_gb_s": None}, {"memory": 45}),
                       ({"memory_gb_s": None, "copy_gb_s": None, "cache_gb_s": None}, {})):
        env = {"devices": [{"id": "cpu", "roof": roof}]}
        got = roofline.roofs([{"env": env, "id": "cpu", "prec": "f64"}])[0]
        check(got == want, "bandwidths of %s: %s" % (roof, got))
    best = roofline.with_best_vendor(rows_of(
        SPMM, result("cusparse", m1, 4.0), result("cusparse-csr2", m1, 3.0),
        result("merge", m1, 9.0), result("cusparse-csr2", m1, 5.0, k=32),
        result("cusparse", m1, 6.0, layout="col")))
    check(sorted(row["ms"] for row in best) == [3.0, 5.0, 6.0, 9.0], "the best by all axes")
    row = {"gflops": 10.1, "flops": 100.0, "bytes": 50.0}
    check(roofline.resident(row, 5.0) and not roofline.resident(row, 5.1), "cache-resident")
    names = {"aspect:4:16": "16", "gen:aspect:4:16": "16", "cage5": None, "aspect": None}
    for name, want in names.items():
        got = records.aspect_nonzeros({"name": name, "path": "p"})
        check(got == want, "aspect matrix %s: got %s" % (name, got))
    check(records.aspect_nonzeros({"name": "x", "path": "gen:aspect:4:16"}) == "16",
          "aspect by path")
    curve = rows_of(SPMM, result("merge", ("aspect:4:16", 4, 16), 1.0))
    curve += rows_of(SPMM, result("sellp", ("aspect:4:16", 4, 16), 1.0, status="oom"))
    rest = common.without_curve(common.select(rows + curve))
    notes = common.footnotes(rest)
    check(len(rest.rows) == 8 and len(notes) == 1 and "1 result of gen:aspect matrices, a series, is" in notes[0],
          "aspect matrices are not in the means: %s" % notes)
    check(common.without_curve(common.select(curve)).rows == curve[:1],
          "unless there are no others")
    notes = common.footnotes(common.restrict(common.select(rows + curve), True))
    check(notes == ["Left out: 1 oom (sellp)."], "footnote of the curve alone: %s" % notes)


# The scripts, from file to image.


def picture(path, least):
    """Is it a whole image of a sensible size?"""
    if not os.path.exists(path):
        return "not written"
    size = os.path.getsize(path)
    if not least < size < 8_000_000:
        return "%d bytes" % size
    if path.endswith(".svg"):
        root = xml.etree.ElementTree.parse(path).getroot()
        return None if root.tag.endswith("svg") else "no svg"
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[-8:-4] != b"IEND":
        return "no png"
    width, height = (int.from_bytes(data[i:i + 4], "big") for i in (16, 20))
    return None if 600 < width < 4000 and 400 < height < 4000 else "%d x %d" % (width, height)


FIGURES = ("gflops_bars", "speedup_rowlength", "aspect", "roofline")


def test_scripts(folder):
    small = write(os.path.join(folder, "gpu-5.jsonl"),
                  gpu_records(5, [(32, "f32"), (64, "f32"), (64, "f64")]))
    large = write(os.path.join(folder, "gpu-2000.jsonl"), gpu_records(2000, [(64, "f32")]))
    cpu_small = write(os.path.join(folder, "cpu-5.jsonl"), cpu_records(5, [(64, "f32")]))
    cpu_large = write(os.path.join(folder, "cpu-2000.jsonl"), cpu_records(2000, [(64, "f64")]))
    middle = write(os.path.join(folder, "gpu-36.jsonl"), gpu_records(36, [(128, "f64")]))
    for source in (small, middle, large, cpu_small, cpu_large):
        stem = os.path.basename(source)[:-6]
        for script in FIGURES:
            out = os.path.join(folder, "%s-%s.png" % (stem, script))
            status, text, errors = run(script + ".py", source, "-o", out)
            what = "%s on %s" % (script, stem)
            check("Traceback" not in errors, "%s: %s" % (what, errors))
            if script == "aspect" and stem.startswith("cpu"):
                check(status == 1 and "no gen:aspect" in errors and len(errors.splitlines()) == 1,
                      "%s has no data: %d %s" % (what, status, errors))
                continue
            check(status == 0 and text.strip() == out, "%s: exit %d %s" % (what, status, errors))
            wrong = picture(out, 5000)
            check(wrong is None, "%s: %s" % (what, wrong))
    out = os.path.join(folder, "one.svg")
    status, _, errors = run("speedup_rowlength.py", cpu_small, "-o", out)
    check(status == 0 and picture(out, 8000) is None, "svg: %d %s" % (status, errors))
    with open(out, encoding="utf-8") as file:
        text = file.read()
        check("over merge" in text and "over reference" not in text,
              "the axis says that the baseline is the fastest that is no reference")
    paper = os.path.join(folder, "one.pdf")
    status, text, errors = run("speedup_rowlength.py", cpu_small, "-o", paper)
    with open(paper, "rb") as file:
        check(status == 0 and text.strip() == paper and file.read(5) == b"%PDF-",
              "pdf: %d %s" % (status, errors))
    status, _, errors = run("gflops_bars.py", small, "-k", "64", "-prec", "f64", "-o", out)
    with open(out, encoding="utf-8") as file:
        drawn = file.read()
    check(status == 0 and "k = 64 · layout = row · f64" in drawn, "-k and -prec choose: " + errors)
    return small, cpu_small, large


def test_all(folder, small, cpu_small):
    out = tempfile.mkdtemp(dir=folder)
    status, text, errors = run("all.py", small, "-o", out, "--all-sets")
    drawn = os.path.join(out, "figures")
    made = sorted(name for name in os.listdir(drawn) if name.endswith(".png"))
    check(status == 0 and errors == "", "all.py: exit %d %s" % (status, errors))
    check(len(made) == 20, "all.py: 6 figures of 3 sets, a roofline each of f32, f64: %s" % made)
    check(sorted(os.listdir(drawn)) == sorted(made + [name[:-4] + ".txt" for name in made]) and
          sorted(os.listdir(out)) == ["figures", "index.html"],
          "each has its caption, and there is a page: %s" % sorted(os.listdir(out)))
    check("gflops_bars-spmm-k64-f32.png" in made, "all.py names its files: %s" % made)
    check(all(os.path.join(drawn, name) in text for name in made), "all.py lists what it wrote")
    one = os.path.join(out, "one")
    status, text, errors = run("all.py", small, "-o", one, "--figures", "roofline,aspect")
    made = sorted(name for name in os.listdir(os.path.join(one, "figures")) if name.endswith(".png"))
    check(status == 0 and made == ["aspect-spmm-k32-f32.png", "roofline-spmm-f32.png"],
          "one of each figure that was asked for: %s %s" % (made, errors))
    status, _, errors = run("all.py", small, "--figures", "nothing")
    check(status == 2 and "no figure nothing; there are aspect, band" in errors, "no such figure: " + errors)
    status, text, _ = run("all.py", cpu_small, "-o", out, "--format", "svg")
    check(status == 0 and "left out" in text and "no gen:aspect" in text,
          "all.py says why: " + text)
    check(picture(os.path.join(drawn, "roofline-spmm-f32.svg"), 8000) is None, "all.py writes svg")


def test_errors(folder):
    """One line and an exit status, never a traceback."""
    m = ("one", 100, 500)
    empty = os.path.join(folder, "empty.jsonl")
    with open(empty, "wb") as file:
        file.write(b"")
    noise = os.path.join(folder, "noise.jsonl")
    with open(noise, "wb") as file:
        file.write(bytes(range(256)) + b"\n[[[[\n{}\nnull\n")
    bad = write(os.path.join(folder, "bad.jsonl"), [
        environment(), result("merge", m, 1.0, status="failed"),
        result("cusparse", m, 1.0, status="oom")])
    bare = write(os.path.join(folder, "bare.jsonl"), [
        environment(), {"schema": "spbench/1", "kind": "result", "status": "ok"},
        {"schema": "spbench/1", "kind": "result", "status": "oom", "op": "spmm", "alg": "merge",
         "matrix": None, "time_ms": None, "stats": None, "options": None, "bytes": None}])
    for script in [name + ".py" for name in FIGURES + plots_sparse.FIGURES + plots_bounds.FIGURES +
                   plots_model.FIGURES + plots_more.FIGURES + plots_precs.FIGURES] + \
            ["all.py"]:
        status, text, errors = run(script, "--help")
        check(status == 0 and "RESULTS" in text, "%s --help" % script)
        check(run(script)[0] == 2, "%s without arguments is wrong usage" % script)
        for path in (empty, noise, bad, bare, os.path.join(folder, "none.jsonl"), folder):
            status, text, errors = run(script, path, "-o", folder) if script == "all.py" \
                else run(script, path)
            what = "%s on %s" % (script, os.path.basename(path))
            lines = [line for line in errors.splitlines() if "left out" not in line]
            check(status == 1 and len(lines) == 1 and "Traceback" not in errors,
                  "%s: exit %d: %s" % (what, status, errors))
    status, _, errors = run("gflops_bars.py", bad)
    check("1 failed (merge)" in errors, "the reason names what there is: %s" % errors)
    plain = write(os.path.join(folder, "plain.jsonl"), [environment(), result("merge", m, 1.0)])
    out = os.path.join(folder, "plain.png")
    check(run("roofline.py", plain, "-o", out)[0] == 0, "a roofline without any roof")
    status, _, errors = run("speedup_rowlength.py", plain, "-o", out)
    check(status == 1 and "no results of a vendor's library and none of the reference" in errors,
          "no baseline: %s" % errors)
    status, _, errors = run("gflops_bars.py", plain, "-k", "7", "-o", out)
    check(status == 1 and "no results for -k 7" in errors, "nothing for -k 7: %s" % errors)
    for option in (("-mul", "aa"), ("-layout", "diagonal"), ("-k", "many")):
        status, _, errors = run("gflops_bars.py", plain, *option, "-o", out)
        check(status == 2 and option[0] in errors and "Traceback" not in errors and
              (option[0] != "-mul" or "axes of the operations in RESULTS: k, layout" in errors),
              "%s is no axis, or no value of it: %s" % (option, errors))


def main():
    global skipped
    try:
        import matplotlib
        matplotlib.use("Agg")
    except ImportError:
        skipped += 1
        print("skipped: plots: matplotlib is not there")
        print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        folder = sys.argv[1] if len(sys.argv) > 1 else folder
        os.makedirs(folder, exist_ok=True)
        test_numbers()
        test_series()
        import drawing
        drawing.load()
        for test in (plots_reading.test_again, plots_reading.test_doctor, plots_reading.test_reading,
                     plots_reading.test_runs, plots_reading.test_visible):
            test(folder, check)
        test_figures()
        for test in (plots_general.test_numbers, plots_bounds.test_numbers, plots_more.test_axis, plots_more.test_ends,
                     plots_more.test_ticks, plots_more.test_medians, plots_more.test_series, plots_front.test_rankings,
                     plots_page.test_caption, plots_page.test_kept, plots_names.test_words, plots_names.test_options,
                     plots_many.test_all, plots_model.test_speedups, plots_model.test_mean):
            test(check)
        for test in (plots_sparse.test_numbers, plots_more.test_dense, plots_precs.test_all, plots_front.test_panels,
                     plots_model.test_predictions, plots_model.test_pairs, plots_model.test_reordering,
                     plots_model.test_synthetic):
            test(check, near)
        for test in (plots_times.test_times, plots_reading.test_gzip, plots_reading.test_pipe, plots_front.test_image,
                     plots_front.test_page, plots_front.test_marks, plots_front.test_light, plots_names.test_figures):
            test(folder, check, run)
        plots_more.test_runs(folder, check, near)
        skipped += not plots_page.test_page(folder, check, run)
        plots_paper.test_all(folder, check, run, [write(os.path.join(folder, name + ".jsonl"), of) for name, of in (
            ("paper-spmm", gpu_records(24, [(64, "f32")])), ("paper-products", product_records(12)),
            ("paper-models", plots_model.model_records(24)), ("paper-bounds", plots_bounds.bounded_records(5)),
            ("paper-synthetic", plots_model.synthetic_records()), ("paper-scan", plots_more.scan_records()),
            ("paper-precs", plots_precs.precision_records(8)))])
        small, cpu_small, _ = test_scripts(folder)
        test_all(folder, small, cpu_small)
        test_errors(folder)
        for module in plots_sparse, plots_bounds, plots_general, plots_model, plots_more, plots_precs:
            module.test_scripts(folder, check, run, picture)
        if not plots_general.test_names(check):
            skipped += 1
        end()
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
