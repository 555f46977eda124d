"""Tests of the figures of SpGEMM, for test_plots.py: numbers computed by hand, and every script on
made-up products of 5 and of 200 matrices."""

import argparse
import os

from plots_records import GPU, environment, product, product_records, result, write

FIGURES = ("gflops_compression", "phases", "memory_peak", "memory_timeline", "tile_bytes",
           "tile_convert")
EVERY_OP = ("gflops_bars", "speedup_rowlength", "roofline")

# Names, rows, nonzeros, products, nonzeros of C: compressions 10 and 2.
M1, M2 = ("one", 100, 500, 10000, 1000), ("two", 100, 2000, 40000, 20000)


def rows_of(*made):
    import records
    env = environment(roof=GPU)
    return [records.row_from(record, env) for record in made]


def test_rows(check, near):
    import common
    import records
    row = rows_of(product("hash", M1, 2.0))[0]
    near(row["compression"], 10.0, "compression of a row")
    check(row["k"] is None and row["layout"] is None and row["mul"] == "aa", "no k, no layout")
    check(common.about([row]).startswith("spgemm aa · f64 · NVIDIA H200"), common.about([row]))
    near(row["phases"]["numeric"], 0.99, "phases of a row")
    check(row["timeline"][0] == (0.0, 6400.0), "timeline of a row: %s" % row["timeline"])
    for odd in (None, 3, "x", [], [1], [[1]], [[1, None]], [["1", 2]], [[1, 2, 3]], {"a": 1}):
        check(records.moments(odd) == [], "no timeline: %s" % odd)
    check(records.numbers({"a": 1, "b": -1, "c": None, "d": "2", "e": 0}) == {"a": 1.0, "e": 0.0},
          "numbers that are none are left out")


def test_series(check, near):
    import common
    rows = rows_of(product("cusparse", M1, 4.0), product("cusparse-alg2", M1, 3.0),
                   product("cusparse-reuse", M1, 0.5), product("hash", M1, 1.5))
    found = common.series(rows)
    check(list(found) == ["hash", common.VENDOR_BEST], "series: %s" % list(found))
    near(found[common.VENDOR_BEST][rows[0]["matrix"]]["ms"], 3.0, "a repeat is no baseline")
    check(common.reference("spgemm") == "gustavson" and common.reference("spmm") == "reference",
          "the reference is the first of its operation")
    check(common.baseline({"gustavson": rows[:1]}) == "gustavson", "baseline without cusparse")


def test_failures(check):
    """What failed is in the figures, under its name; of the vendor only where all of it failed."""
    import common
    import gflops_bars
    import gflops_compression
    import memory_peak
    import memory_timeline
    import phases
    m3 = ("three", 10, 30, 90, 60)
    rows = rows_of(
        product("hash", M1, 1.0), product("hash", M2, 1.0, status="oom"),
        product("esc", M1, 1.0, status="wrong"), product("esc", M2, 1.0, status="failed"),
        product("cusparse", M1, 2.0), product("cusparse-alg2", M1, 2.0, status="oom"),
        product("cusparse", M2, 2.0, status="oom"), product("cusparse-alg2", M2, 2.0, status="oom"),
        product("cusparse", m3, 2.0, status="oom"),
        product("cusparse-alg2", m3, 2.0, status="unsupported"),
        product("cusparse-reuse", m3, 2.0, status="oom"), product("tile", M2, 4.0))
    selection = common.select(rows)
    words = common.failures(selection, common.series(selection.rows))
    words = {name: {m[0]: word for m, word in of.items()} for name, of in words.items()}
    check(words == {"hash": {"two": "oom"}, "esc": {"one": "wrong", "two": "failed"},
                    common.VENDOR_BEST: {"two": "oom", "three": "failed"}}, "failures: %s" % words)
    check(list(words) == ["hash", "esc", common.VENDOR_BEST], "in order: %s" % list(words))
    for script, want in ((gflops_bars, ["failed", "failed", "oom", "oom", "wrong"]),
                         (phases, ["failed", "oom", "oom"]), (memory_peak, ["wrong"])):
        m4 = ("four", 10, 30, 90, 60)
        more = rows_of(product("cusparse", m4, 2.0), product("hash", m4, 2.0, status="wrong"))
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
    fig = memory_timeline.draw(common.select(rows), argparse.Namespace(matrix="two"))
    said = [text.get_text() for text in fig.axes[0].texts]
    check(said == ["hash: oom, esc: failed, cusparse* (best): oom"], "timeline: %s" % said)


def test_numbers(check, near):
    import common
    import gflops_compression
    import memory_peak
    import memory_timeline
    import phases
    import tile_bytes
    import tile_convert
    test_rows(check, near)
    test_series(check, near)
    test_failures(check)

    line = gflops_compression.regression([1, 10, 100], [1.0, 100.0, 1000.0])
    near(line[1], 1.5, "slope of the regression")  # logs 0, 2, 3: ((-1)(-5/3) + 0 + 1 * 4/3) / 2
    near(line[0], 10 ** (1 / 6), "its value at 1")  # mean 5/3, less 1.5
    check(gflops_compression.regression([3, 3], [1, 2]) is None, "no line through one place")

    row = rows_of(product("hash", M1, 3.0))[0]
    row["phases"] = {"symbolic": 1.0, "numeric": 3.0}
    parts = phases.heights(row, 6.0)  # half the base's time, in the proportions 1 : 3
    near(parts["symbolic"], 0.125, "height of a phase")
    near(sum(parts.values()), 0.5, "height of the bar")
    row["phases"] = {"numeric": 0.0}
    check(phases.heights(row, 6.0) == {}, "phases without a time are none")
    found = common.series(rows_of(product("cusparse", M1, 4.0), product("hash", M1, 1.0),
                                  product("hash", M2, 2.0), product("tile", M2, 3.0)))
    base, without = phases.baselines(found)
    check([(m[0], ms) for m, ms in base.items()] == [("one", 4.0), ("two", 2.0)],
          "baselines: %s" % base)
    check([m[0] for m in without] == ["two"], "without cusparse: %s" % without)
    look = phases.styles({"a": [{"x": 1, "y": 1}], "b": [{"z": 1, "y": 1}]})
    check(look["x"][0] == look["z"][0] != look["y"][0] and look["x"][1] != look["z"][1],
          "colours differ within an algorithm, hatches beyond: %s" % look)

    ratio, base = memory_peak.ratios(rows_of(
        product("cusparse", M1, 1.0, peak=1000), product("cusparse-alg2", M1, 1.0, peak=900),
        product("cusparse-alg3", M1, 1.0, peak=800), product("cusparse-reuse", M1, 1.0, peak=1),
        product("hash", M1, 1.0, peak=500), product("hash", M2, 1.0, peak=500)))
    check([(name, list(of.values())) for name, of in ratio.items()] ==
          [("hash", [0.5]), (memory_peak.LEAST, [0.8])], "peaks: %s" % ratio)
    check(list(base.values()) == [1000.0], "peak of the base: %s" % base)

    row = rows_of(product("hash", M1, 2.0))[0]
    row["timeline"], row["phases"] = [(0.0, 10.0), (1.0, 30.0)], {"a": 0.5, "b": 2.5}
    check(memory_timeline.steps(row) == ([0, 1, 3], [10, 30, 30]), "steps end with the phases")
    found = {"hash": {row["matrix"]: row for row in rows_of(product("hash", M1, 1.0),
                                                            product("hash", M2, 1.0))}}
    check([m[0] for m in memory_timeline.choose(found, [])] == ["two", "one"], "largest first")
    check([m[0] for m in memory_timeline.choose(found, ["one"])] == ["one"], "by name")

    stats = {"tile_bytes": 300, "csr_bytes": 400, "convert_ms": 0.25}
    again = {"tile_bytes": 300, "csr_bytes": 400}  # the same format, used by another algorithm
    rows = rows_of(product("tile", M1, 2.0, stats=stats), product("hash", M1, 1.0),
                   product("tile-csr", M1, 3.0, stats=again))
    matrix = rows[0]["matrix"]
    check(tile_bytes.sizes(rows) == {"tile": {matrix: (300.0, 400.0)}}, "bytes of tiles")
    check(tile_convert.times(rows) == {"tile": {matrix: (0.25, 2.0)}}, "conversions")
    fig = tile_bytes.draw(common.select(rows))
    texts = " ".join(" ".join(text.get_text() for text in fig.texts).split())
    check("tile: 0.75 in the geometric mean, 1 of 1" in texts, "bytes in the note: %s" % texts)
    fig = memory_timeline.draw(common.select(rows), argparse.Namespace(matrix="one"))
    check(fig.axes[0].get_title(loc="left") == "one", "a panel has the matrix's name")


def test_table(folder, check, run):
    m3 = ("three", 100, 700, 70000, 7000)
    again = environment(roof=GPU)
    again["revision"], first = "bbb", {**environment(roof=GPU), "revision": "aaa"}
    records = [
        product("cusparse", M1, 4.0, peak=8000), product("cusparse-alg2", M1, 2.0, peak=2000),
        product("cusparse-reuse", M1, 0.5, peak=1), product("hash", M1, 1.0, peak=4000),
        product("hash", M2, 1.0), product("cusparse", M2, 1.0, status="oom"),
        {**product("cusparse-alg2", M2, 1.0, status="oom"), "reason": "wants 12,345 bytes"},
        product("hash", m3, 1.0, peak=1000), product("cusparse", m3, 8.0, peak=2000),
        {**product("cusparse-alg2", m3, 1.0, status="oom"), "reason": "wants 99 bytes"},
        product("hash", M1, 1.0, mul="aat"), product("cusparse", M1, 8.0, mul="aat")]
    source = write(os.path.join(folder, "product.jsonl"), [first, *records])
    peers = os.path.join(folder, "product.tsv")
    with open(peers, "w", encoding="utf-8") as file:
        file.write("op\tmatrix\tk\tprecision\tcode\tms\tgflops\tprep_ms\tcheck\n"
                   "spgemm-aa\tone\t-\tf64\tnsparse\t3.0\t1\t-\tok\n"
                   "spgemm-aa\ttwo\t\tf64\tnsparse\t12.0\t1\t-\tok\n"
                   "spgemm-aa\tone\t-\tf64\tTileSpGEMM\t5.0\t1\t-\tmismatch\n"
                   "spgemm-aa\tone\t-\tf64\tcuSPARSE-alg2\t-\t-\t-\tfail:exception\n")
    status, text, errors = run("table.py", source, "--peers", peers)
    check(status == 0 and text.count("### ") == 2, "table of products: %s%s" % (text, errors))
    check("### spgemm aa · f64" in text and "### spgemm aat · f64" in text, "aa and aat: " + text)
    check(text.count("Revision aaa.") == 2, "the revision: " + text)
    for want in ("| hash | 2 | 4.00 | 2.00 | one | 8.00 | three | 2 |",
                 "| cusparse-alg2 | 1 | 1.00 |", "| cusparse | 2 | 0.71 | 0.50 | one |",
                 "The best is cusparse-alg2 (1), cusparse (1). No time of any on two.",
                 "| nsparse | hash | 2 | 6.00 | 3.00 | one | 12.00 | two | 2 |",
                 "| nsparse | cusparse* (best) | 1 | 1.50 |",
                 "TileSpGEMM has no right result on one.",
                 "| peak memory over | the leanest cusparse* | cusparse | cusparse-alg2 |",
                 "| hash | 1.00 (2) | 0.50 (2) | 2.00 (1) |",
                 "| cusparse | 2.00 (2) |  | 4.00 (1) |", "| hash | 3 | 3 |  |",
                 "| cusparse | 3 | 2 | 1 oom on two: made up |",
                 "| cusparse-alg2 | 3 | 1 | 2 oom on three, two: wants 12,345 bytes |"):
        check(want in text, "%s: %s" % (want, text))
    check("× on the 2 shared" in text and text.count("shared") == 1, "uneven means: " + text)
    check("| TileSpGEMM |" not in text and "| cusparse-reuse | 1 | 1 |  |" in text and
          text.count("cusparse-reuse") == 1, "what is compared with nothing: " + text)
    status, text, _ = run("table.py", source, "--peers", peers, "--code", "nsparse", "-mul", "aa")
    check("| two | 12.00 |" in text, "every matrix against nsparse: %s" % text)
    status, text, _ = run("table.py", source, "-mul", "aa", "--matrices")
    check("| ms | nonzeros | compression | hash | cusparse-reuse | cusparse | cusparse-alg2 |\n" in
          text and "| one | 500 | 10.00 | **1** | 0.5 | 4 | 2 |" in text
          and "| two | 2,000 | 2.00 | **1** |  | oom | oom |" in text, "every time: " + text)
    mixed = write(os.path.join(folder, "revisions.jsonl"),
                  [first, *records[:4], again, *records[4:]])
    status, text, _ = run("table.py", mixed)
    check("Mixed: 2 revisions of the program (bbb: 6, aaa: 4)." in text, "mixed: " + text)
    check("Revision bbb." in text, "the other set is of one: " + text)


def test_scripts(folder, check, run, picture):
    test_table(folder, check, run)
    small = write(os.path.join(folder, "products-5.jsonl"), product_records(5, ("f64", "f32")))
    large = write(os.path.join(folder, "products-200.jsonl"), product_records(200))
    for source in (small, large):
        stem = os.path.basename(source)[:-6]
        for script in FIGURES + EVERY_OP:
            out = os.path.join(folder, "%s-%s.png" % (stem, script))
            status, text, errors = run(script + ".py", source, "-o", out)
            what = "%s on %s" % (script, stem)
            check(status == 0 and text.strip() == out, "%s: exit %d %s" % (what, status, errors))
            wrong = picture(out, 15000)
            check(wrong is None, "%s: %s" % (what, wrong))
    out = os.path.join(folder, "products")
    status, text, errors = run("all.py", small, "-o", out)
    made = sorted(os.listdir(out))
    check(status == 0 and len(made) == 18, "all.py: 9 figures of 2 sets: %s" % made)
    check("phases-spgemm-f64.png" in made, "all.py names its files: %s" % made)
    out = os.path.join(folder, "chosen.png")
    status, _, errors = run("memory_timeline.py", small, "-matrix", "matrix-0003", "-o", out)
    check(status == 0 and picture(out, 8000) is None, "-matrix: %d %s" % (status, errors))
    status, _, errors = run("memory_timeline.py", small, "-matrix", "none", "-o", out)
    check(status == 1 and "no product of none" in errors, "an unknown -matrix: %s" % errors)
    mixed = write(os.path.join(folder, "mixed.jsonl"), [
        environment(roof=GPU), *(result("merge", M1[:3], 1.0, k) for k in (32, 64)),
        product("hash", M1, 1.0)])
    status, _, errors = run("phases.py", mixed, "-o", out)
    check(status == 0, "a figure of SpGEMM finds its records among others: %s" % errors)
    status, text, _ = run("all.py", mixed, "-o", os.path.join(folder, "mixed"))
    check("phases-spmm" not in text, "no figure of SpGEMM from other records: %s" % text)
    bare = write(os.path.join(folder, "bare-product.jsonl"), [
        environment(roof=GPU), {**product("hash", M1, 1.0), "memory": None, "phases_ms": None,
                                "compression": None, "nnz_c": None}])
    for script in FIGURES:
        status, _, errors = run(script + ".py", bare, "-o", out)
        check(status == 1 and len(errors.splitlines()) == 1 and "Traceback" not in errors,
              "%s without what it draws: %d %s" % (script, status, errors))
