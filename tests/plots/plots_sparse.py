"""Tests of the figures of operations whose runs make their results, and of the figures of formats,
for test_plots.py: numbers computed by hand, and every script on made-up products of 5 and of 200
matrices."""

import os

import common
import format_bytes
import format_convert
import gflops_bars
import gflops_compression
import memory_peak
import memory_timeline
import phases
import records
import series
from plots_records import (GPU, M1, M2, SPGEMM, environment, product, product_records, result,
                           rows_of, write)

FIGURES = ("gflops_compression", "phases", "memory_peak", "memory_timeline", "format_bytes",
           "format_convert")
EVERY_OP = ("gflops_bars", "speedup_rowlength", "roofline")
BEST = "cuSPARSE (best)"


def test_rows(check, near):
    row = rows_of(SPGEMM, product("hash", M1, 2.0))[0]
    near(row["figures"]["compression"], 10.0, "compression of a row")
    check(row["axes"] == {"mul": "aa"} and common.value_of(row, "k") is None, "no k, no layout")
    check(common.about([row]).startswith("spgemm · mul = aa · f64 · NVIDIA H200"),
          common.about([row]))
    near(row["phases"]["numeric"], 0.99, "phases of a row")
    check(row["timeline"][0] == (0.0, 6400.0), "timeline of a row: %s" % row["timeline"])
    for odd in (None, 3, "x", [], [1], [[1]], [[1, None]], [["1", 2]], [[1, 2, 3]], {"a": 1}):
        check(records.moments(odd) == [], "no timeline: %s" % odd)
    check(records.numbers({"a": 1, "b": -1, "c": None, "d": "2", "e": 0}) == {"a": 1.0, "e": 0.0},
          "numbers that are none are left out")


def test_series(check, near):
    rows = rows_of(SPGEMM, product("cusparse", M1, 4.0), product("cusparse-alg2", M1, 3.0),
                   product("cusparse-reuse", M1, 0.5), product("hash", M1, 1.5))
    found = series.series(rows)
    check(list(found) == ["hash", BEST], "series: %s" % list(found))
    near(found[BEST][rows[0]["matrix"]]["ms"], 3.0, "a repeat is no baseline")
    rows = rows_of(SPGEMM, product("gustavson", M1, 3.0, device="cpu"))
    check(series.baseline(series.series(rows)) == "gustavson", "baseline without a vendor")
    check("lost" not in series.listed(rows), "what is not in the build is not in the list")


def test_failures(check):
    """What failed is in the figures, under its name; of the vendor only where all of it failed."""
    m3 = ("three", 10, 30, 90, 60)
    rows = rows_of(
        SPGEMM, product("hash", M1, 1.0), product("hash", M2, 1.0, status="oom"),
        product("esc", M1, 1.0, status="wrong"), product("esc", M2, 1.0, status="failed"),
        product("cusparse", M1, 2.0), product("cusparse-alg2", M1, 2.0, status="oom"),
        product("cusparse", M2, 2.0, status="oom"), product("cusparse-alg2", M2, 2.0, status="oom"),
        product("cusparse", m3, 2.0, status="oom"),
        product("cusparse-alg2", m3, 2.0, status="unsupported"),
        product("cusparse-reuse", m3, 2.0, status="oom"), product("tile", M2, 4.0),
        product("lost", M1, 1.0, status="unsupported"))
    selection = common.select(rows)
    words = series.failures(selection, series.series(selection.rows))
    words = {name: {m[0]: word for m, word in of.items()} for name, of in words.items()}
    check(words == {"hash": {"two": "oom"}, "esc": {"one": "wrong", "two": "failed"},
                    BEST: {"two": "oom", "three": "failed"}}, "failures: %s" % words)
    check(list(words) == ["hash", "esc", BEST], "in order: %s" % list(words))
    for script, want in ((gflops_bars, ["failed", "failed", "oom", "oom", "wrong"]),
                         (phases, ["failed", "oom", "oom"]), (memory_peak, ["wrong"])):
        m4 = ("four", 10, 30, 90, 60)
        more = rows_of(SPGEMM, product("cusparse", m4, 2.0),
                       product("hash", m4, 2.0, status="wrong"))
        fig = script.draw(common.select(rows + more * (script is memory_peak)))
        said = sorted(text.get_text() for ax in fig.axes for text in ax.texts)
        notes = " ".join(" ".join(text.get_text() for text in fig.texts).split())
        check(said == want, "%s: words for bars: %s" % (script.__name__, said))
        check("A word for a bar" in notes, "%s: a note: %s" % (script.__name__, notes))
    ax = gflops_bars.draw(common.select(rows)).axes[0]
    ticks = [text.get_text() for text in ax.get_xticklabels()]
    check([tick.split()[0] for tick in ticks] == ["three", "one", "two"],
          "a matrix on which all failed has a place: %s" % ticks)
    check("esc" in [text.get_text() for text in ax.get_legend().get_texts()],
          "and an algorithm that always fails")
    fig = gflops_compression.draw(common.select(rows))
    notes = " ".join(" ".join(text.get_text() for text in fig.texts).split())
    check("no usable result. 1 more are not here" in notes, "compression: %s" % notes)
    strip = fig.axes[0].collections[-3:]
    strip = [len(marks.get_offsets()) for marks in strip]
    check(strip == [1, 2, 1], "marks of failures of hash, esc, cusparse: %s" % strip)
    wide = [{**row, "gflops": 1e6} if row["alg"] == "tile" and row["gflops"] else row for row in rows]
    ax = gflops_compression.draw(common.select(wide)).axes[0]
    least = min(row["gflops"] for row in wide if row["gflops"])
    ticks = list(ax.get_yticks()) + list(ax.yaxis.get_minorticklocs())
    check(min(ticks) > least / 2 > ax.get_ylim()[0], "failures have no GFLOPS: %s" % ticks)
    fig = memory_timeline.draw(common.select(rows))
    said = [text.get_text() for text in fig.axes[0].texts]
    check(said == ["oom: hash, cuSPARSE (best); failed: esc"], "timeline: %s" % said)


def test_numbers(check, near):
    test_rows(check, near)
    test_series(check, near)
    test_failures(check)

    line = gflops_compression.regression([1, 10, 100], [1.0, 100.0, 1000.0])
    near(line[1], 1.5, "slope of the regression")  # logs 0, 2, 3: ((-1)(-5/3) + 0 + 1 * 4/3) / 2
    near(line[0], 10 ** (1 / 6), "its value at 1")  # mean 5/3, less 1.5
    check(gflops_compression.regression([3, 3], [1, 2]) is None, "no line through one place")

    row = rows_of(SPGEMM, product("hash", M1, 3.0))[0]
    row["phases"] = {"symbolic": 1.0, "numeric": 3.0}
    parts = phases.heights(row, 6.0)  # half the base's time, in the proportions 1 : 3
    near(parts["symbolic"], 0.125, "height of a phase")
    near(sum(parts.values()), 0.5, "height of the bar")
    row["phases"] = {"numeric": 0.0}
    check(phases.heights(row, 6.0) == {}, "phases without a time are none")
    found = series.series(rows_of(SPGEMM, product("cusparse", M1, 4.0), product("hash", M1, 1.0),
                                  product("hash", M2, 2.0), product("tile", M2, 3.0)))
    base, without = phases.baselines(found)
    check([(m[0], ms) for m, ms in base.items()] == [("one", 4.0), ("two", 2.0)],
          "baselines: %s" % base)
    check([m[0] for m in without] == ["two"], "without cusparse: %s" % without)
    look = phases.styles({"a": [{"x": 1, "y": 1}], "b": [{"z": 1, "y": 1}]})
    check(look["x"][0] == look["z"][0] != look["y"][0] and look["x"][1] != look["z"][1],
          "colours differ within an algorithm, hatches beyond: %s" % look)

    rows = rows_of(
        SPGEMM, product("cusparse", M1, 1.0, peak=1000),
        product("cusparse-alg2", M1, 1.0, peak=900), product("cusparse-alg3", M1, 1.0, peak=800),
        product("cusparse-reuse", M1, 1.0, peak=1), product("hash", M1, 1.0, peak=500),
        product("hash", M2, 1.0, peak=500))
    check(memory_peak.base_of(rows) == "cusparse" == memory_peak.base_of(rows[::-1]),
          "the base is the vendor's first")
    check(memory_peak.base_of(rows_of(SPGEMM, product("gustavson", M1, 1.0, device="cpu"),
                                      product("hash", M1, 1.0))) == "gustavson",
          "without a vendor it is the reference")
    ratio, base = memory_peak.ratios(rows, rows, "cusparse")
    check([(name, list(of.values())) for name, of in ratio.items()] ==
          [("hash", [0.5]), ("other cuSPARSE (least)", [0.8])], "peaks: %s" % ratio)
    check(list(base.values()) == [1000.0], "peak of the base: %s" % base)

    row = rows_of(SPGEMM, product("hash", M1, 2.0))[0]
    row["timeline"], row["phases"] = [(0.0, 10.0), (1.0, 30.0)], {"a": 0.5, "b": 2.5}
    check(memory_timeline.steps(row) == ([0, 1, 3], [10, 30, 30]), "steps end with the phases")
    found = {"hash": {row["matrix"]: row for row in rows_of(SPGEMM, product("hash", M1, 1.0),
                                                            product("hash", M2, 1.0))}}
    check([m[0] for m in memory_timeline.choose(found, 2)] == ["two", "one"], "largest first")

    test_formats(check)
    rows = rows_of(SPGEMM, product("tile", M1, 2.0), product("hash", M1, 1.0))
    fig = memory_timeline.draw(common.select(rows))
    check(fig.axes[0].get_title(loc="left") == "one", "a panel has the matrix's name")


def test_formats(check):
    csr = 12 * M1[2] + 4 * M1[1]
    tiles, columns = ("tile16", 0.75, 9.0, 0.25), ("tilecols", 0.5, 1.0, 0.25)
    rows = rows_of(SPGEMM, product("tile", M1, 2.0, formats=[tiles, columns]),
                   product("hash", M1, 1.0), product("tile-csr", M1, 3.0, formats=[tiles]),
                   product("cusparse", M1, 4.0, formats=[("coo", 1.5, 8.0, 4.0)]),
                   product("cusparse-alg2", M1, 5.0, formats=[("ell", 1.5, 8.0, 4.0)]))
    matrix = rows[0]["matrix"]
    want = {name: {matrix: (ratio * csr, csr)} for name, ratio in
            (("tile16", 0.75), ("tilecols", 0.5), ("coo", 1.5), ("ell", 1.5))}
    found = format_bytes.sizes(rows)
    check(found == want, "bytes of formats, each once: %s" % found)
    found = format_convert.multiples(series.series(rows))
    check(found == {"tile": {matrix: (5.0, 0.25)}, "tile-csr": {matrix: (3.0, 0.25 / 3)},
                    BEST: {matrix: (2.0, 1.0)}}, "conversions over a run: %s" % found)
    fig = format_bytes.draw(common.select(rows))
    texts = " ".join(" ".join(text.get_text() for text in fig.texts).split())
    check("Geometric mean on 1 shared matrix: tile16 0.75, below 1 on 1 of 1;" in texts,
          "bytes in the note: %s" % texts)
    fig = format_convert.draw(common.select(rows))
    texts = " ".join(" ".join(text.get_text() for text in fig.texts).split())
    check("over one run: tile 0.25, at most 0.25, the first time 5;" in texts,
          "conversions in the note: %s" % texts)
    other = rows_of(SPGEMM, product("tile-csr", M1, 3.0, formats=[("tile16", 0.25, 1.0, 1.0)]))
    found = format_bytes.sizes(rows[:1] + other)
    check(sorted(found) == ["tile16 of tile", "tile16 of tile-csr", "tilecols"],
          "a format of two sizes: %s" % sorted(found))
    twice = rows_of(SPGEMM, product("tile", M1, 2.0, formats=[tiles, ("tile16", 0.25, 1.0, 1.0)]))
    check(format_bytes.sizes(twice) == {"tile16": {matrix: (csr, 2 * csr)}}, "two operands")


def test_scripts(folder, check, run, picture):
    small = write(os.path.join(folder, "products-5.jsonl"), product_records(5, ("f64", "f32")))
    large = write(os.path.join(folder, "products-200.jsonl"), product_records(200))
    for source in (small, large):
        stem = os.path.basename(source)[:-6]
        for script in FIGURES + EVERY_OP:
            out = os.path.join(folder, "%s-%s.png" % (stem, script))
            status, text, errors = run(script + ".py", source, "-o", out)
            what = "%s on %s" % (script, stem)
            check(status == 0 and text.strip() == out, "%s: exit %d %s" % (what, status, errors))
            wrong = picture(out, 5000)
            check(wrong is None, "%s: %s" % (what, wrong))
    out = os.path.join(folder, "products")
    status, text, errors = run("all.py", small, "-o", out, "--all-sets")
    made = sorted(name for name in os.listdir(os.path.join(out, "figures")) if name.endswith(".png"))
    check(status == 0 and len(made) == 18, "all.py: 9 figures of 2 precisions: %s" % made)
    check("phases-spgemm-f64.png" in made, "all.py names its files: %s" % made)
    out = os.path.join(folder, "chosen.png")
    status, _, errors = run("memory_timeline.py", small, "-matrix", "matrix-0003", "-o", out)
    check(status == 0 and picture(out, 3000) is None, "-matrix: %d %s" % (status, errors))
    status, _, errors = run("memory_timeline.py", small, "-matrix", "none", "-o", out)
    check(status == 1 and "-matrix none: there is none" in errors, "an unknown -matrix: %s" % errors)
    mixed = write(os.path.join(folder, "mixed.jsonl"), [
        environment(roof=GPU), *(result(alg, M1, 1.0) for alg in ("merge", "sellp")),
        environment(SPGEMM, roof=GPU), product("hash", M1, 1.0), result("merge", M1, 2.0)])
    status, _, errors = run("phases.py", mixed, "-o", out)
    check(status == 0, "a figure finds the records that have what it draws: %s" % errors)
    check("line 6: no spbench/1 record, or none of the operation of its environment" in errors,
          "a record of another operation than its environment's: %s" % errors)
    status, text, _ = run("all.py", mixed, "-o", os.path.join(folder, "mixed"))
    check("left out: phases-spmm-k64-f32: no result has phases" in text,
          "no such figure of other records: %s" % text)
    bare = write(os.path.join(folder, "bare-product.jsonl"), [
        environment(SPGEMM, roof=GPU), {**product("hash", M1, 1.0), "memory": None,
                                        "phases_ms": None, "compression": None, "nnz_c": None,
                                        "formats": None}])
    for script in FIGURES:
        status, _, errors = run(script + ".py", bare, "-o", out)
        check(status == 1 and len(errors.splitlines()) == 1 and "Traceback" not in errors,
              "%s without what it draws: %d %s" % (script, status, errors))
