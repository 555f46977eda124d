#!/usr/bin/env python3
"""Fits the rules of `auto` to records and writes them as a header.

    tools/fit_auto.py results/h200/*.jsonl results/h200/derived/*.jsonl results/epyc/*.jsonl --since ... -o kernels/auto_rules.h

with each --since that the header has.

For each operation and device (and, of SpMM, layout) the time of each candidate is
exp(w0 + w1 x1 + ...), the x being the features of src/algos/pick.h; the candidate with the least
is picked, or it is found by timing those that may be as fast. The weights are a ridge regression of
the logarithms of the times. A record of `auto` is one of what it picked.

Candidates are timed whose predictions are within a factor of the least: exp(SURE s), s being how far
off the logarithm of the ratio of the two best is, root mean square, of matrices left out. The two best
are timed in any case where the case is unlike those in which every candidate was measured: a feature
is out of its range (but for FAR), or the best one is predicted to be further ahead of the next than it
ever was (if that was less than FAR). These ranges and leads are in the rules, too.

What the rules reach is told of cases in which every candidate was measured: the time of the fastest of
all algorithms of ours, candidates or not, over that of the choice, geometric mean and least; the
weights and the ranges are those that the other matrices make, the factor is that of the errors of the
others. A trial is taken to find what the records say, so that where all candidates are timed this is 1;
and of SpGEMM `auto` knows a sample of what is counted whole here.

To add a candidate: a word in RULES, and records of it. One that has been measured on few matrices is
left out, and named.
"""

import argparse
import collections
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plots"))
import records  # noqa: E402

# (operation, device, layout): candidates, features.
DENSE = "work work_2 rows columns depth mean longest uneven spread width"
RULES = {
    ("spmm", "cuda", "row"): ("graded rowsplit", DENSE),
    ("spmm", "cuda", "col"): ("tiled-tuned naive", DENSE),
    ("sddmm", "cuda", None): ("balanced aspt", DENSE),
    ("spgemm", "cuda", None): ("hash-tuned tile-tuned hash", "work tile"),
    ("spmm", "cpu", "row"): ("bundled rowsplit merge", DENSE),
    ("spmm", "cpu", "col"): ("tiled", DENSE),
    ("sddmm", "cpu", None): ("balanced aspt", DENSE),
    ("spgemm", "cpu", None): ("onepass gustavson", "work tile"),
}
NAMES = "one work work_2 rows columns depth mean longest uneven spread width tile".split()  # enum pick_feature
RIDGE = 1.0  # in matrices
SURE = 1.5  # root mean square errors by which predictions are to be apart for one not to be timed
FAR = 10  # PICK_FAR of src/algos/pick.h
MARGIN = 1e-4  # of the ends of a range, and of a lead, for what is rounded
MATRICES = 10  # that a candidate was measured on, at least


def features(facts):
    """{name: value} of what pick_facts holds, as pick_features() has it; of tiles that are not known,
    None, there is no feature."""
    ln1 = math.log1p
    rows, nonzeros = facts["rows"], facts["nonzeros"]
    work = ln1(nonzeros * facts["depth"] * facts["width"] / 1e6)
    found = {"one": 1.0, "work": work, "work_2": work * work, "rows": ln1(rows),
             "columns": ln1(facts["columns"]), "depth": ln1(facts["depth"]),
             "mean": ln1(nonzeros / rows if rows else 0), "longest": ln1(facts["longest"]),
             "uneven": ln1(1000 * facts["longest"] / nonzeros if nonzeros else 0),
             "spread": ln1(facts["spread"]), "width": math.log(facts["width"] / 4)}
    if facts["tile"] is not None:
        found["tile"] = ln1(facts["tile"])
    return found


class Case:
    """A matrix, a precision and values of the axes; {algorithm of ours: microseconds}."""

    def __init__(self, row):
        self.matrix, self.us, self.facts = row["matrix"], {}, None
        self.row = row

    def count(self, tiles, names):
        """Sets the features; false where the records don't tell enough for those of these names."""
        row, tile = self.row, tiles.get(self.matrix)
        _, rows, columns, nonzeros = self.matrix
        facts = {"rows": rows, "columns": columns, "nonzeros": nonzeros, "tile": tile,
                 "depth": row["flops"] / 2 / nonzeros, "longest": row["row_max"],
                 "spread": row["row_cv"], "width": 8 if row["prec"] == "f64" else 4}
        if None in [x for name, x in facts.items() if name != "tile" or name in names]:
            return False
        self.facts = features(facts)
        return True


def usable(row):
    """Of the default options, on a warm device, and not of a host that launches run after run."""
    asked = row["options"] and row["defaults"] is False
    alone = row["made"] or row["timed"] or row["id"].startswith("cpu")
    return row["status"] == "ok" and row["cache"] == "warm" and row["launch"] == "graph" and \
        alone and not asked


def who_ran(row):
    """The algorithm that the time is of: of `auto` what it picked."""
    return row["stats"].get("picked") if row["alg"] == "auto" else row["alg"]


def read_cases(paths, since=()):
    """{rule: [Case]}; `since`: [(operation, device, date)], of which older ones are left out."""
    since = {(op, device): date for op, device, date in since}
    found, tiles = {}, {}
    for row in records.read(paths):  # in the order that they were measured in: the last one counts
        tile = records.number(row["stats"].get("nnz_per_tile"))
        if tile:
            tiles.setdefault(row["matrix"], tile)
        rule = row["op"], row["id"].split(":")[0], row["axes"].get("layout")
        if row["date"] < since.get(rule[:2], ""):
            continue
        if rule in RULES and who_ran(row) and not row["facts"].get("vendor") and usable(row):
            key = rule, row["device"], row["matrix"], row["prec"], tuple(row["axes"].items())
            case = found.setdefault(rule, {}).setdefault(key, Case(row))
            case.us[who_ran(row)] = 1e3 * row["ms"]
    return {rule: [case for case in of.values() if case.count(tiles, RULES[rule][1].split())]
            for rule, of in found.items()}


def solve(a, b):
    """x of a x = b, a symmetric and positive definite, by Gaussian elimination."""
    n = len(b)
    a = [row[:] + [y] for row, y in zip(a, b)]
    for i in range(n):
        for j in range(i + 1, n):
            part = a[j][i] / a[i][i]
            for c in range(i, n + 1):
                a[j][c] -= part * a[i][c]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (a[i][n] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


def ridge(points):
    """Weights, the constant one first, of [(features, y, weight)]."""
    total = sum(w for _, _, w in points)
    n = len(points[0][0])
    mean = [sum(w * x[i] for x, _, w in points) / total for i in range(n)]
    scale = [math.sqrt(sum(w * (x[i] - mean[i]) ** 2 for x, _, w in points) / total)
             for i in range(n)]
    scale = [s if s > 1e-9 else math.inf for s in scale]  # what never changes tells nothing
    y_mean = sum(w * y for _, y, w in points) / total
    a = [[RIDGE * (i == j) for j in range(n)] for i in range(n)]
    b = [0.0] * n
    for x, y, w in points:
        z = [(x[i] - mean[i]) / scale[i] for i in range(n)]
        for i in range(n):
            b[i] += w * z[i] * (y - y_mean)
            for j in range(n):
                a[i][j] += w * z[i] * z[j]
    weights = [u / s for u, s in zip(solve(a, b), scale)]
    return [y_mean - sum(u * m for u, m in zip(weights, mean))] + weights


def regress(cases, names, value):
    """{feature: weight} of value(case); the cases of a matrix count as much as those of any other."""
    count = {}
    for case in cases:
        count[case.matrix] = count.get(case.matrix, 0) + 1
    points = [([case.facts[x] for x in names], value(case), 1 / count[case.matrix])
              for case in cases]
    return dict(zip(["one"] + names, ridge(points)))


def fit(cases, names, candidates):
    """{candidate: {feature: weight}}: the first by its times, each other by how much longer it takes
    than the first where both were measured, so that no choice hangs on which cases one has."""
    first = candidates[0]
    known = [case for case in cases if first in case.us]
    rule = {first: regress(known, names, lambda case: math.log(case.us[first]))}
    for name in candidates[1:]:
        both = [case for case in known if name in case.us]
        over = regress(both, names, lambda case: math.log(case.us[name] / case.us[first]))
        rule[name] = {x: w + over[x] for x, w in rule[first].items()}
    return rule


def predicted(weights, facts):
    return math.exp(sum(w * facts[name] for name, w in weights.items()))


def summary(ratios):
    """(geometric mean, least): {case: ratio}, matrices weigh alike."""
    of = {}
    for case, ratio in ratios.items():
        of.setdefault(case.matrix, []).append(math.log(ratio))
    means = [sum(x) / len(x) for x in of.values()]
    return math.exp(sum(means) / len(means)), min(ratios.values())


# Of a rule: the factor, {candidate: {feature: weight}}, {feature: (least, most)}, {candidate: lead}.
Made = collections.namedtuple("Made", "unsure weights ranges leads")


class Order:
    """The candidates of a case by predicted time, the fastest first. Of two the second is timed if
    it is within the factor `far`; 0: they need not be, as the case is like those of the rule."""

    def __init__(self, rule, ranges, leads, facts):
        self.us = sorted((predicted(weights, facts), name) for name, weights in rule.items())
        known = all(least <= facts[x] <= most for x, (least, most) in ranges.items())
        lead = leads[self.us[0][1]]
        too_good = len(self.us) > 1 and lead < FAR and self.us[1][0] > self.us[0][0] * lead
        self.far = math.inf if too_good else 0 if known else FAR

    def tried(self, unsure):
        """The candidates that are timed, or the only one."""
        second = max(unsure, self.far)
        return [name for i, (us, name) in enumerate(self.us)
                if i == 0 or us < self.us[0][0] * (second if i == 1 else unsure)]


def ranges_of(cases, names):
    """{feature: (least, most)} of cases with a time of every candidate."""
    found = {}
    for x in names:
        least, most = min(case.facts[x] for case in cases), max(case.facts[x] for case in cases)
        found[x] = least - MARGIN * max(1, abs(least)), most + MARGIN * max(1, abs(most))
    return found


def leads_of(cases, candidates):
    """{candidate: the next one's time over its own where it was the furthest ahead}, of cases with a
    time of every candidate; below 1 for one that never was."""
    return {name: (1 + MARGIN) * max(min((case.us[other] for other in candidates if other != name),
                                         default=0) / case.us[name] for case in cases)
            for name in candidates}


def measured_whole(cases, candidates):
    """Those with a time of every candidate."""
    return [case for case in cases if all(name in case.us for name in candidates)]


def leave_one_out(cases, names, candidates):
    """{case: its Order by a rule that has not seen its matrix}, of cases with a time of every
    candidate."""
    whole, rules = measured_whole(cases, candidates), {}
    for matrix in {case.matrix for case in whole}:
        others = [case for case in cases if case.matrix != matrix]
        seen = measured_whole(others, candidates) or whole
        rules[matrix] = fit(others, names, candidates), ranges_of(seen, names), \
            leads_of(seen, candidates)
    return {case: Order(*rules[case.matrix], case.facts) for case in whole}


def judge(orders, unsure=None):
    """{case: the least time over that of the choice}; without trials if `unsure` is None."""
    found = {}
    for case, of in orders.items():
        tried = [of.us[0][1]] if unsure is None else of.tried(unsure)
        found[case] = min(case.us.values()) / min(case.us[name] for name in tried)
    return found


def how_unsure(orders):
    """exp(SURE s) of the errors of the logarithm of the ratio of the two best."""
    off = [math.log(of.us[1][0] / of.us[0][0]) - math.log(case.us[of.us[1][1]] / case.us[of.us[0][1]])
           for case, of in orders.items() if len(of.us) > 1]
    return math.exp(SURE * math.sqrt(sum(x * x for x in off) / len(off))) if off else 1.0


def judge_with_trials(orders):
    """The same with trials, and which cases had one, by factors of the errors of other matrices."""
    found, timed = {}, set()
    for matrix in {case.matrix for case in orders}:
        own = {case: of for case, of in orders.items() if case.matrix == matrix}
        unsure = how_unsure({case: of for case, of in orders.items() if case not in own} or own)
        found.update(judge(own, unsure))
        timed.update(case for case, of in own.items() if len(of.tried(unsure)) > 1)
    return found, timed


def tell(rule, orders, unsure, candidates, out):
    """What the rule reaches, and where it is the farthest from the best."""
    title = " ".join(filter(None, rule))
    plain, (ratios, timed) = judge(orders), judge_with_trials(orders)
    print("%s: %d cases of %d matrices, each matrix left out in turn: %.3f of the fastest, least %.2f"
          % (title, len(plain), len({case.matrix for case in plain}), *summary(plain)), file=out)
    print("    with trials in %.0f %% of the cases: %.3f, least %.2f; the factor is %.2f"
          % (100 * len(timed) / len(orders), *summary(ratios), unsure), file=out)
    for name in candidates:
        alone = {case: min(case.us.values()) / case.us[name] for case in orders}
        print("    %-12s alone: %.3f, least %.2f" % (name, *summary(alone)), file=out)
    worst = sorted(ratios, key=ratios.get)[:4]
    print("    least: " + "; ".join("%s %s %s %.2f" % (
        case.row["name"], case.row["prec"], " ".join(str(x) for x in case.row["axes"].values()),
        ratios[case]) for case in worst), file=out)


def function_name(rule):
    return "_".join(["auto"] + [word for word in rule if word])


def header(rules, since=()):
    """The text of the header of what make() found."""
    lines = ["// The rules of `auto`, made by tools/fit_auto.py: not to be edited. The weights are in the order",
             "// of enum pick_feature."]
    lines += ["// --since %s:%s:%s" % of for of in since]
    lines += ["// clang-format off", "#ifndef AUTO_RULES_H", "#define AUTO_RULES_H", "",
              '#include "algos/pick.h"', ""]
    picks = {}
    for (op, device, _), of in rules.items():
        known = picks.setdefault((op, device), [])
        known += [name for name in of.weights if name not in known]
    for (op, device), names in picks.items():
        lines.append("#define AUTO_%s_%s_PICKS {%s}" % (
            op.upper(), device.upper(), ", ".join('"%s"' % name for name in names)))
    for rule, of in rules.items():
        lines += ["", "static inline const struct pick_rules *%s(void)" % function_name(rule), "{",
                  "    static const struct pick_rules rules = {%.3g, {" % of.unsure]
        for name, weights in of.weights.items():
            lines.append('        {"%s",' % name)
            lines.append("         {%s}}," % ", ".join(
                "%.6g" % weights.get(feature, 0.0) for feature in NAMES))
        lines.append("        {NULL, {0}}},")
        lines.append("        {%s}," % ", ".join(
            '{"%s", %.6g, %.6g}' % (feature, *of.ranges[feature])
            if feature in of.ranges else "{NULL, 0, 0}" for feature in NAMES))
        lines.append("        {%s}};" % ", ".join("%.6g" % of.leads[name] for name in of.weights))
        lines += ["    return &rules;", "}"]
    return "\n".join(lines + ["", "#endif", ""])


def make(cases_of, out):
    """{rule: Made} of {rule: [Case]}; tells what they reach."""
    rules = {}
    for rule, (words, names) in RULES.items():
        cases, candidates = cases_of.get(rule, []), words.split()
        names = names.split()
        seen = {name: len({case.matrix for case in cases if name in case.us and candidates[0] in case.us})
                for name in candidates}
        measured = [name for name in candidates if seen[name] >= MATRICES]
        if len(candidates) == 1:
            rules[rule] = Made(1.0, {candidates[0]: {}}, {}, {candidates[0]: 0.0})
            continue
        if not measured:
            raise records.NoData("%s: no candidate was measured on %d matrices"
                                 % (" ".join(filter(None, rule)), MATRICES))
        few = ["%s (%d matrices)" % (name, seen[name]) for name in candidates if name not in measured]
        if few:
            print("%s: left out: %s" % (" ".join(filter(None, rule)), ", ".join(few)), file=out)
        cases = [case for case in cases if any(name in case.us for name in measured)]
        left_out = leave_one_out(cases, names, measured)
        if not left_out:
            raise records.NoData("%s: no case has a time of each of %s"
                                 % (" ".join(filter(None, rule)), ", ".join(measured)))
        unsure = how_unsure(left_out)
        rules[rule] = Made(unsure, fit(cases, names, measured), ranges_of(list(left_out), names),
                           leads_of(list(left_out), measured))
        tell(rule, left_out, unsure, measured, out)
    return rules


def since_of(text):
    """(operation, device, date) of OP:DEVICE:DATE."""
    parts = tuple(text.split(":"))
    if len(parts) != 3 or parts[:2] not in {rule[:2] for rule in RULES}:
        raise argparse.ArgumentTypeError("%s: no OP:DEVICE:DATE of a rule" % text)
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", parts[2]):
        raise argparse.ArgumentTypeError("%s: the date is no YYYY-MM-DD" % text)
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="records")
    parser.add_argument("-o", metavar="FILE", help="the header; left out: it is only told what is reached")
    parser.add_argument("--since", metavar="OP:DEVICE:DATE", type=since_of, action="append", default=[],
                        help="leaves out older records of this operation and device, as the kernels "
                        "have changed")
    args = parser.parse_args()
    try:
        text = header(make(read_cases(args.files, args.since), sys.stdout), args.since)
        if args.o:
            with open(args.o, "w", encoding="utf-8") as f:
                f.write(text)
    except (records.NoData, OSError) as error:
        sys.exit("fit_auto.py: %s" % error)


if __name__ == "__main__":
    main()
