"""Tests of table.py, for test_plots.py: numbers computed by hand, other codes, two versions of a
library."""

import os

from plots_records import (GPU, LIBRARY, M1, M2, OLD, SPGEMM, environment, product, result,
                           write)


def test_dense(folder, check, run, small):
    m1, m2 = ("fem:28", 100, 500), ("two", 100, 2000)
    source = write(os.path.join(folder, "table.jsonl"), [
        environment(roof=GPU), result("cusparse", m1, 4.0), result("cusparse", m2, 4.0),
        result("merge", m1, 1.0), result("merge", m2, 8.0),
        result("sellp", m2, 8.0, status="wrong")])
    peers = os.path.join(folder, "peers.tsv")
    with open(peers, "w", encoding="utf-8") as file:
        file.write("# a comment\nop\tmatrix\tk\tprecision\tcode\tms\tgflops\tprep_ms\tcheck\n"
                   "spmm\tgen_fem28\t64\tf32\tpeer\t2.0\t1\t0\tok\n"
                   "spmm\tzwei\t64\tf32\tpeer\t4.0\t1\t0\tok\n"
                   "spmm\ttwo\t64\tf32\tpeer\t4.0\t1\t0\tmismatch\n"
                   "spmm\ttwo\t32\tf32\tpeer\t4.0\t1\t0\tok\n"
                   "spmm\ttwo\t64\tf32\tbest:a\t9.0\t1\t0\tok\n"
                   "spmm\ttwo\t64\tf32\tbest:b\t2.0\t1\t0\tok\n"
                   "spmm\ttwo\t64\tf32\tbest:c\t1.0\t1\t0\tmismatch\n")
    status, text, errors = run("table.py", source)
    check(status == 0, "table.py: %s" % errors)
    check("| merge | 2 | 1.41 | 0.50 | two | 4.00 | fem:28 | 1 | 1 | 2.25 | 0 | 4.5 |" in text,
          "4 and 0.5, a win and a loss, medians: %s" % text)
    check("| algorithm | matrices | geometric mean × cuSPARSE (best) |" in text and
          "Speed-ups are over cuSPARSE (best): 4 to 4 ms, median 4 on 2 matrices." in text,
          "the base and its times: %s" % text)
    check("| sellp | 1 | 0 | 1 wrong on two: made up |" in text, "what failed: %s" % text)
    check("shared" not in text and "peak" not in text, "no column or table without use: " + text)
    status, text, _ = run("table.py", source, "--peers", peers, "--code", "peer")
    check("| fem:28 | 2.00 | 0.50 |" in text, "table: the peer by matrix: %s" % text)
    check("| two |" not in text.split("× peer")[1], "failed checks are out: %s" % text)
    check("peer has no right result on two. Theirs, and not among these (see --map): zwei." in text,
          "and said to be: %s" % text)
    status, text, _ = run("table.py", source, "--peers", peers, "--map", "two=zwei")
    check("| peer | merge | 2 | 1.00 | 0.50 | two | 2.00 | fem:28 | 1 |" in text and
          "| peer | cuSPARSE (best) | 2 | 0.71 |" in text, "all peers, with --map: %s" % text)
    status, text, _ = run("table.py", source, "--peers", peers)
    check("| best | merge | 1 | 0.25 |" in text, "the fastest of a peer's parameters: %s" % text)
    status, _, errors = run("table.py", source, "--peers", peers, "--map", "two")
    check(status == 2 and "not OURS=THEIRS" in errors, "a --map that is none: %s" % errors)
    _, _, errors = run("table.py", source, "--peers", peers, "--map", "drei=zwei")
    check("no matrix drei" in errors, "a --map of nothing: %s" % errors)
    status, text, errors = run("table.py", source, "--peers", peers, "--code", "nobody")
    check(status == 1 and "no code nobody" in errors and not text, "unknown peer: %s" % errors)
    alone = write(os.path.join(folder, "alone.jsonl"), [environment(roof=GPU),
                                                        result("merge", m1, 1.0)])
    status, text, errors = run("table.py", alone)
    check(status == 1 and "to compare with" in errors, "nothing to compare with: %s" % errors)
    status, text, _ = run("table.py", alone, "--peers", peers)
    check(status == 0 and "| peer | merge | 1 | 2.00 |" in text, "table: but for peers: %s" % text)
    status, text, errors = run("table.py", small)
    check(status == 0 and text.count("### ") == 3, "table: three sets of cases: %s" % errors)


def test_sparse(folder, check, run):
    m3 = ("three", 100, 700, 70000, 7000)
    again = {**environment(SPGEMM, roof=GPU), "revision": "bbb"}
    first = {**again, "revision": "aaa"}
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
    check("### spgemm · mul = aa · f64" in text and "### spgemm · mul = aat · f64" in text,
          "aa and aat: " + text)
    check(text.count("· revision aaa ·") == 2, "the revision: " + text)
    for want in ("| hash | 2 | 4.00 | 2.00 | one | 8.00 | three | 2 |",
                 "| cusparse-alg2 | 1 | 1.00 |", "| cusparse | 2 | 0.71 | 0.50 | one |",
                 "The best is cusparse-alg2 (1), cusparse (1). Measured: %s. No time of any on two."
                 % LIBRARY,
                 "| nsparse | hash | 2 | 6.00 | 3.00 | one | 12.00 | two | 2 |",
                 "| nsparse | cuSPARSE (best) | 1 | 1.50 |",
                 "TileSpGEMM has no right result on one.",
                 "| peak memory over | the leanest of cuSPARSE | cusparse | cusparse-alg2 |",
                 "| hash | 1.00 (2) | 0.50 (2) | 2.00 (1) |",
                 "| cusparse | 2.00 (2) |  | 4.00 (1) |", "| hash | 3 | 3 |  |",
                 "| cusparse | 3 | 2 | 1 oom on two: made up |",
                 "| cusparse-alg2 | 3 | 1 | 2 oom on three, two: wants 12,345 bytes |"):
        check(want in text, "%s: %s" % (want, text))
    check("geometric mean on the 2 shared" in text and text.count("shared") == 1,
          "uneven means: " + text)
    check("| TileSpGEMM |" not in text and "| cusparse-reuse | 1 | 1 |  |" in text and
          text.count("cusparse-reuse") == 1, "what is compared with nothing: " + text)
    status, text, _ = run("table.py", source, "--peers", peers, "--code", "nsparse", "-mul", "aa")
    check("| two | 12.00 |" in text, "every matrix against nsparse: %s" % text)
    status, text, _ = run("table.py", source, "-mul", "aa", "--matrices")
    check("| ms | nonzeros | products | nnz_c | compression | hash | cusparse-reuse | cusparse | "
          "cusparse-alg2 |\n" in text
          and "| one | 500 | 10,000 | 1,000 | 10 | **1** | 0.5 | 4 | 2 |" in text
          and "| two | 2,000 | 40,000 | 20,000 | 2 | **1** |  | oom | oom |" in text,
          "every time: " + text)
    mixed = write(os.path.join(folder, "revisions.jsonl"),
                  [first, *records[:4], again, *records[4:]])
    status, text, _ = run("table.py", mixed)
    heads = [part.splitlines()[0] for part in text.split("### ")[1:]]
    check([("revision aaa" in head, "mul = aat" in head) for head in heads] ==
          [(True, False), (False, False), (False, True)], "a table is of one revision: %s" % heads)


def test_versions(folder, check, run):
    path = write(os.path.join(folder, "versions.jsonl"), [
        environment(roof=GPU), result("merge", M1, 1.0), result("cusparse", M1, 4.0),
        result("cusparse", M1, 2.0, library=OLD), result("merge", M2, 1.0),
        result("cusparse", M2, 3.0), result("cusparse", M2, 6.0, library=OLD)])
    status, text, errors = run("table.py", path, "--matrices")
    check(status == 0 and not errors, "two versions are two cases: %s" % errors)
    for want in ("| merge | 2 | 2.45 |", "Measured: cuSPARSE 12.5.1, cuSPARSE 12.6.3.",
                 "The best is cusparse with cuSPARSE 12.5.1 (1), cusparse with cuSPARSE 12.6.3 (1)",
                 "Mixed: 2 versions", "| cusparse with cuSPARSE 12.5.1 | 2 | 2 |",
                 "| two | 2,000 | **1** | 6 | 3 |"):
        check(want in text, "%s: %s" % (want, text))


def test_names(folder, check, run):
    """A name or a reason ends neither a cell nor a row."""
    odd = ("a|b\n\x1b[31m\\|", 100, 500)
    path = write(os.path.join(folder, "names.jsonl"), [
        environment(roof=GPU), result("cusparse", odd, 4.0), result("merge", odd, 1.0),
        {**result("sellp", odd, 8.0, status="failed"), "reason": "one|two\nthree"}])
    status, text, errors = run("table.py", path, "--matrices")
    check(status == 0, "table of odd names: %s" % errors)
    name = "a\\|b\\\\n\\\\x1b[31m\\\\\\|"
    check("| merge | 1 | 4.00 | 4.00 | %s | 4.00 | %s | 1 | 0 |" % (name, name) in text,
          "names are escaped: %s" % text)
    check("| sellp | 1 | 0 | 1 failed on %s: one\\|two\\\\nthree |\n" % name in text, text)
    check("| %s | 500 | **1** |" % name in text and "\x1b" not in text, "times: %s" % text)


def test_classes(folder, check, run):
    """Each matrix in its class, at its border; the fastest of each side, and its gather bound."""
    matrices = [  # name, rows, nonzeros, longest, spread
        ("tiny", 4000, 19999, 19999, 9), ("dense", 200, 20000, 10000, 0.5), ("skew", 4000, 24000, 599, 1),
        ("thin", 4001, 24000, 599, 0.99), ("net", 4000, 24000, 599, 0.99),
        ("mesh", 1000, 32000, 3199, 0.99), ("mesh-2", 1000, 40000, 40, 0), ("dark", 1000, 40000, None, 0)]
    lines = [environment(roof=GPU)]
    for i, (name, rows, nnz, longest, spread) in enumerate(matrices):
        for alg, ms, gather in (("merge", 1.0, 0.5), ("sellp", 2.0, 0.25), ("cusparse", 4.0, 0.125),
                                ("cusparse-csr2", 2.0 + i, None)):
            if name == "mesh-2" and alg == "merge":
                ms, gather = 2.0, 0.25  # as long as sellp, and half as near to the bound
            record = result(alg, (name, rows, nnz), ms)
            record["matrix"].update(row_max=longest, row_cv=spread)
            lines.append({**record, "gather_efficiency": gather})
    path = write(os.path.join(folder, "classes.jsonl"), lines)
    status, text, errors = run("table.py", path, "--classes")
    check(status == 0, "table.py --classes: %s" % errors)
    for want in ("| small: under 20,000 nonzeros | 1 | 2.00 | 2.00 | tiny | 50 |  |",
                 "100 times the mean | 1 | 3.00 | 3.00 | dense | 50 |  |",
                 "at least the mean | 1 | 4.00 | 4.00 | skew | 50 | 12 |",
                 "| under 6 nonzeros a row | 1 | 4.00 | 4.00 | thin | 50 | 12 |",
                 "| 6 to 32 nonzeros a row | 1 | 4.00 | 4.00 | net | 50 | 12 |",
                 "| 32 nonzeros a row and more | 2 | 2.83 | 2.00 | mesh-2 | 38 | 12 |",
                 "| of unknown row lengths | 1 | 4.00 | 4.00 | dark | 50 | 12 |"):
        check(want in text, "%s: %s" % (want, text))
    _, text, _ = run("table.py", path)
    check("gather" not in text, "classes that nobody asked for: %s" % text)
    alone = write(os.path.join(folder, "classes_none.jsonl"),
                  [line for line in lines if "cusparse" not in str(line.get("alg"))])
    status, text, errors = run("table.py", alone, "--classes", "--matrices", "--peers", os.devnull)
    check("class" not in text, "a class without a vendor's time: %s %s" % (text, errors))
