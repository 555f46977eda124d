#!/usr/bin/env python3
"""Tests of tools/fit_auto.py: src/select/auto_rules.h is what it makes of the kept records, it finds the
rule by which planted records were made, and it refuses too few records."""

import contextlib
import glob
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests", "lib"), os.path.join(ROOT, "tests", "plots")]
sys.dont_write_bytecode = True

import fit_auto
from checks import check, end
from plots_records import CPU, GPU, SPGEMM, SPMM, algorithm, case, environment, operation


def numbers(text):
    """The text without its numbers, and these."""
    number = r"(?<![\w.\"-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.\"])"
    return re.sub(number, "#", text), [float(x) for x in re.findall(number, text)]


def test_header():
    """Numbers may differ a little: machines differ in their logarithms."""
    paths = [path for folder in ("h200", "epyc")
             for path in sorted(glob.glob(os.path.join(ROOT, "results", folder, "*.jsonl.gz")))]
    with open(os.path.join(ROOT, "src/select/auto_rules.h"), encoding="utf-8") as f:
        there, old = numbers(f.read())
    with contextlib.redirect_stderr(io.StringIO()):
        rules = fit_auto.make(fit_auto.read_cases(paths), io.StringIO())
    made, values = numbers(fit_auto.header(rules))
    check(made == there, "src/select/auto_rules.h has other rules than the records make: make rules")
    check(len(values) == len(old) > 50 and
          all(abs(x - y) <= 1e-4 * max(1, abs(x)) for x, y in zip(values, old)),
          "src/select/auto_rules.h has other numbers than the records make: make rules")


SDDMM = operation("sddmm", "pattern", {"k": None}), [algorithm("balanced"), algorithm("aspt")]
OPERATIONS = {"spmm": SPMM, "sddmm": SDDMM, "spgemm": SPGEMM}


def matrices(rng, count):
    """Sizes, the longest row, spread and tiles of so many matrices."""
    found = []
    for _ in range(count):
        rows = int(10 ** rng.uniform(2, 6))
        nonzeros = int(rows * 10 ** rng.uniform(0.3, 2))
        found.append({"rows": rows, "columns": rows, "nonzeros": nonzeros,
                      "longest": int(nonzeros / rows * rng.uniform(1, 50)),
                      "spread": rng.uniform(0, 3), "tile": rng.uniform(1, 80)})
    return found


def planted_rule(rule, rng):
    """Weights, so that each candidate is the fastest of some matrices: all are as fast on average."""
    words, names = fit_auto.RULES[rule]
    seen = [fit_auto.features({**m, "depth": 64, "width": 4}) for m in matrices(rng, 200)]
    found = {}
    for name in words.split():
        of = {x: 0.1 + rng.uniform(-0.1, 0.1) for x in names.split()}
        mean = sum(w * facts[x] for x, w in of.items() for facts in seen) / len(seen)
        found[name] = {"one": 3 - mean, **of}
    return found


def plant(rule, rng, weights, count=40):
    """Records of so many matrices, by the rule {candidate: {feature: weight}} in microseconds."""
    op, device, layout = rule
    of, gpu = OPERATIONS[op], device == "cuda"
    ident = "cuda:0" if gpu else "cpu"
    lines = [environment(of, ident, "NVIDIA H200" if gpu else "AMD EPYC", GPU if gpu else CPU)]
    for i, m in enumerate(matrices(rng, count)):
        for prec in ("f32", "f64"):
            depth = rng.uniform(2, 300) if op == "spgemm" else rng.choice([16, 32, 64, 128])
            flops = 2 * round(m["nonzeros"] * depth)
            facts = fit_auto.features({**m, "depth": flops / 2 / m["nonzeros"],
                                       "width": 4 if prec == "f32" else 8})
            axes = {"mul": "aa"} if op == "spgemm" else {"k": depth}
            axes = {**axes, "layout": layout} if layout else axes
            for name in weights:
                us = fit_auto.predicted(weights[name], facts)
                record = case(of, axes, name, ("m%d" % i, m["rows"], m["nonzeros"]), us / 1e3, flops,
                              prec, ident, stats={"nnz_per_tile": m["tile"]})
                record["time_ms"]["launch"] = "graph"
                record["matrix"].update(row_max=m["longest"], row_cv=m["spread"])
                lines.append(record)
    return lines


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(line) + "\n" for line in lines)


def test_planted(folder):
    rng = random.Random(5)
    path = os.path.join(folder, "planted.jsonl")
    several = [rule for rule, (words, _) in fit_auto.RULES.items() if " " in words]
    planted = {rule: planted_rule(rule, rng) for rule in several}
    paths = []
    for i, rule in enumerate(several):
        paths.append(os.path.join(folder, "planted%d.jsonl" % i))
        write(paths[-1], plant(rule, rng, planted[rule]))
    cases_of = fit_auto.read_cases(paths)
    out = io.StringIO()
    found = fit_auto.make(cases_of, out)
    for rule in several:
        names, cases = fit_auto.RULES[rule][1].split(), cases_of[rule]
        check(len(cases) == 80 and len({c.matrix for c in cases}) == 40, "%s: %d cases"
              % (rule, len(cases)))
        unsure, weights, ranges, leads = found[rule]
        check(1 < unsure < 2, "%s: unsure by %.2f" % (rule, unsure))
        check(list(ranges) == names and all(
            least <= case.facts[x] <= most for case in cases for x, (least, most) in ranges.items()),
              "%s: ranges" % (rule,))
        check(list(weights) == fit_auto.RULES[rule][0].split(), "%s: candidates" % (rule,))
        for name in weights:
            ahead = [min(us for other, us in case.us.items() if other != name) / case.us[name]
                     for case in cases]
            check(max(ahead) <= leads[name] < 1.001 * max(ahead), "%s: lead of %s" % (rule, name))
        orders = fit_auto.leave_one_out(cases, names, list(weights))
        mean, _ = fit_auto.summary(fit_auto.judge(orders))
        alone = max(fit_auto.summary({case: min(case.us.values()) / case.us[name] for case in cases})[0]
                    for name in weights)
        check(mean > 0.98 and alone < 0.97, "%s: %.3f of the fastest, one alone %.3f"
              % (rule, mean, alone))
        off = [abs(math.log(fit_auto.predicted(weights[name], case.facts) / case.us[name]))
               for case in cases for name in weights]
        check(sum(off) / len(off) < 0.2, "%s: times are off by %.3f" % (rule, sum(off) / len(off)))
    check("80 cases of 40 matrices" in out.getvalue(), "what it reaches is told")
    header = os.path.join(folder, "rules.h")
    script = os.path.join(ROOT, "tools", "fit_auto.py")
    done = subprocess.run([sys.executable, script, "-o", header, *paths], capture_output=True,
                          text=True, check=False)
    with open(header, encoding="utf-8") as f:
        check(done.returncode == 0 and f.read() == fit_auto.header(found), "the script: %s"
              % done.stderr)
    write(path, plant(several[0], rng, planted[several[0]], 3))
    done = subprocess.run([sys.executable, script, path], capture_output=True, text=True,
                          check=False)
    check(done.returncode == 1 and "3 matrices have a time of each of %s; a fit needs 10"
          % fit_auto.RULES[several[0]][0].replace(" ", ", ") in done.stderr, "three matrices are enough: %s" % done.stderr)


def test_never_together(folder):
    """A fit needs cases with a time of every candidate."""
    rule = ("spgemm", "cuda", None)
    first, second, third = fit_auto.RULES[rule][0].split()
    path = os.path.join(folder, "apart.jsonl")
    lines = plant(rule, random.Random(1), planted_rule(rule, random.Random(2)), 24)
    even = {"m%d" % i for i in range(0, 24, 2)}
    write(path, [line for line in lines if line["kind"] == "environment" or
                 line["alg"] == first or
                 (line["alg"] == second) == (line["matrix"]["name"] in even)])
    with contextlib.redirect_stderr(io.StringIO()):
        cases = fit_auto.read_cases([path])
    all_rules, fit_auto.RULES = fit_auto.RULES, {rule: fit_auto.RULES[rule]}
    said = "nothing"
    try:
        fit_auto.make(cases, io.StringIO())
    except fit_auto.records.NoData as error:
        said = str(error)
    fit_auto.RULES = all_rules
    check("0 matrices have a time of each of %s, %s, %s" % (first, second, third) in said, said)


def test_left_out(folder):
    """Records that do not count: cold, not ok, launched in a stream, or with options asked for."""
    rule = ("sddmm", "cpu", None)
    path = os.path.join(folder, "odd.jsonl")
    plain = plant(rule, random.Random(1), planted_rule(rule, random.Random(2)), 3)
    change = [lambda r: r.update(cache="cold"), lambda r: r.update(status="wrong"),
              lambda r: r.update(launch="stream")]
    for i, spoil in enumerate(change):
        for record in plain[1 + 4 * i:5 + 4 * i]:
            spoil(record)
            record.pop("case")
    write(path, plain)
    check(not any(fit_auto.read_cases([path]).values()), "what is left out counts")
    plain = plant(rule, random.Random(1), planted_rule(rule, random.Random(2)), 1)
    plain[0]["command"] = ["spbench", "-opt", "threads=64", "-alg", "balanced"]
    for record in plain[1:]:
        record["options"] = {"threads": 64}
        record.pop("case")
    write(path, plain)
    check(not any(fit_auto.read_cases([path]).values()), "options that were asked for count")
    plain[0]["command"] = ["spbench", "-alg", "balanced"]
    write(path, plain)
    check(any(fit_auto.read_cases([path]).values()), "options that nobody asked for do not")


def test_sources(folder):
    """Records of auto and of a vendor's library do not count."""
    rule = ("sddmm", "cpu", None)
    path = os.path.join(folder, "sources.jsonl")
    lines = plant(rule, random.Random(3), planted_rule(rule, random.Random(4)), 1)
    of = operation("sddmm", "pattern", {"k": None}), [
        *(algorithm(name, "cpu") for name in ("balanced", "aspt", "auto")),
        algorithm("mkl", "cpu", vendor="MKL")]
    lines[0].update(environment(of, "cpu", "AMD EPYC", CPU))
    auto, theirs = (json.loads(json.dumps(lines[1])) for _ in range(2))
    for record, name in ((auto, "auto"), (theirs, "mkl")):
        record.update(alg=name, case=record["case"].replace(lines[1]["alg"], name))
    auto["stats"]["picked"] = lines[1]["alg"]
    auto["time_ms"]["median"] *= 3
    write(path, lines + [auto, theirs])
    cases = fit_auto.read_cases([path])[rule]
    us = next(case.us for case in cases if case.row["prec"] == lines[1]["prec"])
    check(set(us) == {"balanced", "aspt"}, "measured: %s" % ", ".join(us))
    check(math.isclose(us[lines[1]["alg"]], 1e3 * lines[1]["time_ms"]["median"]),
          "%g us of %s is not its own time" % (us[lines[1]["alg"]], lines[1]["alg"]))


class Planned:
    """A case of two candidates and somebody else."""

    def __init__(self, matrix, **us):
        self.matrix, self.us = matrix, us


def test_shared():
    """What the script and the program both say."""
    with open(os.path.join(ROOT, "src/select/pick.h"), encoding="utf-8") as f:
        text = f.read()
    found = re.search(r"#define PICK_FAR (\d+)", text)
    check(found and int(found[1]) == fit_auto.FAR, "PICK_FAR is not FAR")
    names = re.findall(r"^    PICK_(\w+),", text, re.MULTILINE)
    check([name.lower() for name in names] == fit_auto.NAMES, "features: %s" % names)


def told(known=True, lead=math.inf, **us):
    """A rule's Order of candidates of which it predicts so much."""
    rule = {name: {"one": math.log(x)} for name, x in us.items()}
    return fit_auto.Order(rule, {} if known else {"one": (2, 3)}, dict.fromkeys(us, lead), {"one": 1})


def test_judge():
    """Against the fastest of all; all that may be as fast are timed, and the two best of what is
    unlike all else, be it by how far one is ahead; the factor is what the others say."""
    one = Planned("one", a=10.0, b=12.0, c=8.0, d=9.0)
    check(fit_auto.judge({one: told(a=1.0, b=1.1)}) == {one: 0.8}, "c is not looked at")
    for unsure, want in (1.05, 8 / 12), (1.2, 0.8), (1.4, 8 / 9), (1.6, 1.0):
        ratio = fit_auto.judge({one: told(b=1.0, a=1.1, d=1.3, c=1.5)}, unsure)[one]
        check(math.isclose(ratio, want), "%.2f by a factor of %g" % (ratio, unsure))
    odd = told(known=False, b=1.0, a=3.0, c=3.1)
    check(odd.far == fit_auto.FAR and odd.tried(1.05) == ["b", "a"], "tried: %s" % odd.tried(1.05))
    check(told(known=False, b=1.0, a=30.0).tried(1.05) == ["b"], "one that is far off is timed")
    for lead, ahead, too_good in (2.9, 3, True), (3.1, 3, False), (1.4, 30, True), (10, 30, False):
        of = told(lead=lead, b=1.0, a=float(ahead), c=ahead + 6.0)
        check(of.tried(1.05) == ["b", "a"][:1 + too_good] and of.far == (math.inf if too_good else 0),
              "ahead by %g, ever by %g" % (ahead, lead))
    # Half of the predictions are off by a factor of 1.1, the others by as much the other way.
    orders = {Planned("m%d" % i, a=10.0, b=12.1 if i % 2 else 10.0): told(a=10.0, b=11.0)
              for i in range(20)}
    want = 1.1 ** fit_auto.SURE
    check(math.isclose(fit_auto.how_unsure(orders), want), "%g" % fit_auto.how_unsure(orders))
    # What a matrix itself says does not count: the odd one makes all others timed.
    sure = {Planned("s%d" % i, a=10.0, b=11.0): told(a=10.0, b=11.0) for i in range(20)}
    odd = Planned("odd", a=10.0, b=4.0)
    all_ = {**sure, odd: told(a=10.0, b=11.0)}
    ratios, timed = fit_auto.judge_with_trials(all_)
    check(ratios[odd] == 0.4 and timed == set(sure), "%g of the odd one, %d trials"
          % (ratios[odd], len(timed)))


def test_whole():
    """What is judged has times of every candidate, and a rule that has not seen its matrix."""
    rule = ("sddmm", "cpu", None)
    rng = random.Random(8)
    names = fit_auto.RULES[rule][1].split()
    cases = [Planned("m%d" % i, a=rng.uniform(1, 2), b=rng.uniform(1, 2)) for i in range(12)]
    for case, of in zip(cases, matrices(rng, 12)):
        case.facts = fit_auto.features({**of, "depth": 64, "width": 4})
    del cases[3].us["b"]
    before = fit_auto.leave_one_out(cases, names, ["a", "b"])
    check(set(before) == {case for case in cases if case is not cases[3]}, "cases without a time of b")
    cases[5].us["a"] *= 50
    after = fit_auto.leave_one_out(cases, names, ["a", "b"])
    check(before[cases[5]].us == after[cases[5]].us, "a rule has seen the matrix that it is judged by")
    check(all(before[case].us != after[case].us for case in before if case is not cases[5]),
          "a rule has not seen the others")
    # Some feature is the greatest of all matrices: of that matrix little is known.
    for case in before:
        others = [x.facts for x in before if x is not case]
        within = all(min(x[name] for x in others) <= case.facts[name] <= max(x[name] for x in others)
                     for name in names)
        check((before[case].far == 0) == within, "ranges have seen the matrix that is judged")
    check(any(of.far for of in before.values()), "every matrix is like the others")


def test_leads():
    """Where features come together as never before, a matrix's own lead tells nothing."""
    cases = []
    for i in range(31):
        x, y = (1, 1) if i == 30 else ((0, 0), (0, 1), (1, 0))[i % 3]
        cases.append(Planned("l%d" % i, a=1.0, b=1.5 ** (x + y)))
        cases[-1].facts = {"one": 1, "rows": x, "columns": y}
    orders = fit_auto.leave_one_out(cases, ["rows", "columns"], ["a", "b"])
    check([case for case, of in orders.items() if of.far] == [cases[30]], "a lead has been seen")


def test_no_tiles(folder):
    """A matrix whose tiles no record tells is left out where the rule goes by them, and nowhere else."""
    path = os.path.join(folder, "tiles.jsonl")
    for rule in ("spgemm", "cuda", None), ("sddmm", "cpu", None):
        lines = plant(rule, random.Random(1), planted_rule(rule, random.Random(2)), 4)
        lost = [record for record in lines[1:] if record["matrix"]["name"] == "m2"]
        for record in lost:
            del record["stats"]["nnz_per_tile"]
        write(path, lines)
        cases = fit_auto.read_cases([path])[rule]
        goes_by = "tile" in fit_auto.RULES[rule][1].split()
        check(lost and len(cases) == (6 if goes_by else 8), "%s: %d cases" % (rule, len(cases)))
        check(all(("tile" in case.facts) == (case.matrix[0] != "m2") for case in cases),
              "%s: unknown tiles are taken for some" % (rule,))
        # One record of the matrix is enough.
        if goes_by:
            lost[0]["stats"]["nnz_per_tile"] = 3.0
            write(path, lines)
            check(len(fit_auto.read_cases([path])[rule]) == 8, "tiles of another candidate's record")


with tempfile.TemporaryDirectory() as folder_:
    test_planted(folder_)
    test_sources(folder_)
    test_never_together(folder_)
    test_left_out(folder_)
    test_no_tiles(folder_)
test_shared()
test_judge()
test_whole()
test_leads()
test_header()
end()
