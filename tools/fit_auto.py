#!/usr/bin/env python3
"""Fits the rules of `auto` to records and writes them as a header.

    tools/fit_auto.py results/h200/*.jsonl.gz results/epyc/*.jsonl.gz -o src/select/auto_rules.h

`make rules` does the same. Without -o the script only prints what the rules reach.

Model: for each operation, device and layout (SpMM), the time of a candidate is
exp(w0 + w1 x1 + ...). The x are the features of src/select/pick.h. The weights are a ridge regression
of the logarithms of the times. `auto` picks the candidate with the least predicted time.

Trials: `auto` times the candidates whose predictions are within a factor of the least. The factor is
exp(SURE s). s is the root mean square error of the logarithm of the ratio of the two best, over
matrices left out of the fit. The two best are always timed if a case is unlike the cases of the fit:

    - a feature is out of its range, and the second is within the factor FAR, or
    - the predicted lead of the best is larger than any measured lead of that candidate, which is
      below FAR.

Report: share of the fastest = least time of all our algorithms, candidates or not, over the time of the
choice; geometric mean and least. The weights and the ranges come from the other matrices. The factor
comes from the errors on the other matrices. A trial finds the time of the records, so the share is 1 if
all candidates are timed. On the CPU `auto` stops its trials after the time of 8 runs. `auto` of
SpGEMM estimates its features from a sample of rows; here they are counted in full.

To add a candidate: add its name to RULES, and measure it beside the other candidates.
"""

import argparse
import collections
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plots"))
import records  # noqa: E402

# (operation, device, layout): candidates, features.
DENSE = "work work_2 rows columns depth mean longest uneven spread width"
RULES = {
    ("spgemm", "cuda", None): ("hash-tuned tile-tuned hash", "work tile"),
    ("spmm", "cpu", "row"): ("bundled rowsplit merge", DENSE),
    ("spmm", "cpu", "col"): ("bundled", DENSE),
    ("sddmm", "cpu", None): ("balanced aspt", DENSE),
    ("spgemm", "cpu", None): ("onepass gustavson", "work tile"),
}
NAMES = "one work work_2 rows columns depth mean longest uneven spread width tile".split()  # enum pick_feature
RIDGE = 1.0  # weight of the penalty, in matrices
SURE = 1.5  # a candidate is not timed if its prediction is further behind, in root mean square errors
FAR = 10  # PICK_FAR of src/select/pick.h
MARGIN = 1e-4  # relative widening of ranges and leads, against rounding in the header
MATRICES = 10  # the least number of matrices with a time of every candidate


def features(facts):
    """{name: value} for the struct pick_facts, as pick_features() has it. There is no feature `tile` if
    facts["tile"] is None."""
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
    """A matrix, a precision and values of the axes, with {algorithm of ours: microseconds}."""

    def __init__(self, row):
        self.matrix, self.us, self.facts = row["matrix"], {}, None
        self.row = row

    def count(self, tile):
        """Sets the features; `tile` is None if no record of the matrix has it."""
        row = self.row
        _, rows, columns, nonzeros = self.matrix
        self.facts = features({
            "rows": rows, "columns": columns, "nonzeros": nonzeros, "tile": tile,
            "depth": row["flops"] / 2 / nonzeros, "longest": row["row_max"],
            "spread": row["row_cv"], "width": 8 if row["prec"] == "f64" else 4})


def usable(row):
    """True for an algorithm of ours with default options, on a warm device, replayed as a graph."""
    ours = row["alg"] != "auto" and not row["facts"].get("vendor")
    asked = row["options"] and row["defaults"] is False
    return ours and row["status"] == "ok" and row["cache"] == "warm" and row["launch"] == "graph" and \
        not asked


def read_cases(paths):
    """{rule: [Case]}. A case has the features of its rule."""
    found, tiles = {}, {}
    for row in records.read(paths):  # by date: the last record of a case counts
        tile = records.number(row["stats"].get("nnz_per_tile"))
        if tile:
            tiles.setdefault(row["matrix"], tile)
        rule = row["op"], row["id"].split(":")[0], row["axes"].get("layout")
        if rule in RULES and usable(row):
            key = rule, row["device"], row["matrix"], row["prec"], tuple(row["axes"].items())
            case = found.setdefault(rule, {}).setdefault(key, Case(row))
            case.us[row["alg"]] = 1e3 * row["ms"]
    for rule, of in found.items():
        for case in of.values():
            case.count(tiles.get(case.matrix))
        names = RULES[rule][1].split()
        found[rule] = [case for case in of.values() if all(name in case.facts for name in names)]
    return found


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
    scale = [s if s > 1e-9 else math.inf for s in scale]  # a constant feature has weight 0
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
    """{feature: weight} of value(case). All matrices weigh alike, however many cases they have."""
    count = {}
    for case in cases:
        count[case.matrix] = count.get(case.matrix, 0) + 1
    points = [([case.facts[x] for x in names], value(case), 1 / count[case.matrix])
              for case in cases]
    return dict(zip(["one"] + names, ridge(points)))


def fit(cases, names, candidates):
    """{candidate: {feature: weight}}. The first candidate is fitted to its times. Every other one is
    fitted to its ratio to the first, over the cases with both, so that missing cases bias no choice."""
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
    """(geometric mean, least) of {case: ratio}. All matrices weigh alike."""
    of = {}
    for case, ratio in ratios.items():
        of.setdefault(case.matrix, []).append(math.log(ratio))
    means = [sum(x) / len(x) for x in of.values()]
    return math.exp(sum(means) / len(means)), min(ratios.values())


# A rule: the factor, {candidate: {feature: weight}}, {feature: (least, most)}, {candidate: lead}.
Made = collections.namedtuple("Made", "unsure weights ranges leads")


class Order:
    """The candidates of a case by predicted time, the fastest first. The second is timed if it is
    within the factor `far`; 0: the case is like those of the rule."""

    def __init__(self, rule, ranges, leads, facts):
        self.us = sorted((predicted(weights, facts), name) for name, weights in rule.items())
        known = all(least <= facts[x] <= most for x, (least, most) in ranges.items())
        lead = leads[self.us[0][1]]
        too_good = lead < FAR and self.us[1][0] > self.us[0][0] * lead
        self.far = math.inf if too_good else 0 if known else FAR

    def tried(self, unsure):
        """The candidates that are timed; the first alone where none need be."""
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
    """{candidate: its largest lead}, of cases with a time of every candidate. A lead is the least time
    of the others over the candidate's own; below 1 for a candidate that never was the fastest."""
    return {name: (1 + MARGIN) * max(min(case.us[other] for other in candidates if other != name)
                                     / case.us[name] for case in cases)
            for name in candidates}


def measured_whole(cases, candidates):
    """The cases with a time of every candidate."""
    return [case for case in cases if all(name in case.us for name in candidates)]


def leave_one_out(cases, names, candidates):
    """{case: its Order by a rule of the other matrices}, of cases with a time of every candidate."""
    whole, rules = measured_whole(cases, candidates), {}
    for matrix in {case.matrix for case in whole}:
        others = [case for case in cases if case.matrix != matrix]
        seen = measured_whole(others, candidates)
        rules[matrix] = fit(others, names, candidates), ranges_of(seen, names), \
            leads_of(seen, candidates)
    return {case: Order(*rules[case.matrix], case.facts) for case in whole}


def judge(orders, unsure=None):
    """{case: the least time over that of the choice}. `unsure` None: without trials."""
    found = {}
    for case, of in orders.items():
        tried = [of.us[0][1]] if unsure is None else of.tried(unsure)
        found[case] = min(case.us.values()) / min(case.us[name] for name in tried)
    return found


def how_unsure(orders):
    """exp(SURE s) of the errors of the logarithm of the ratio of the two best."""
    off = [math.log(of.us[1][0] / of.us[0][0]) - math.log(case.us[of.us[1][1]] / case.us[of.us[0][1]])
           for case, of in orders.items()]
    return math.exp(SURE * math.sqrt(sum(x * x for x in off) / len(off)))


def judge_with_trials(orders):
    """judge() with trials, and the cases that had one. The factor is that of the other matrices."""
    found, timed = {}, set()
    for matrix in {case.matrix for case in orders}:
        own = {case: of for case, of in orders.items() if case.matrix == matrix}
        unsure = how_unsure({case: of for case, of in orders.items() if case not in own})
        found.update(judge(own, unsure))
        timed.update(case for case, of in own.items() if len(of.tried(unsure)) > 1)
    return found, timed


def tell(rule, orders, unsure, candidates, out):
    """Prints what the rule reaches, and its worst cases."""
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


def header(rules):
    """The text of auto_rules.h for the rules of make()."""
    lines = ["// The rules of `auto`, made by `make rules` (tools/fit_auto.py): do not edit. The weights are in",
             "// the order of enum pick_feature.",
             "// clang-format off", "#ifndef AUTO_RULES_H", "#define AUTO_RULES_H", "",
             '#include "select/pick.h"', ""]
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
    """{rule: Made} of {rule: [Case]}. Prints what the rules reach."""
    rules = {}
    for rule, (words, names) in RULES.items():
        cases, candidates, names = cases_of.get(rule, []), words.split(), names.split()
        if len(candidates) == 1:
            rules[rule] = Made(1.0, {candidates[0]: {}}, {}, {candidates[0]: 0.0})
            continue
        whole = measured_whole(cases, candidates)
        count = len({case.matrix for case in whole})
        if count < MATRICES:
            raise records.NoData("%s: %d matrices have a time of each of %s; a fit needs %d"
                                 % (" ".join(filter(None, rule)), count, ", ".join(candidates), MATRICES))
        left_out = leave_one_out(cases, names, candidates)
        unsure = how_unsure(left_out)
        rules[rule] = Made(unsure, fit(cases, names, candidates), ranges_of(whole, names),
                           leads_of(whole, candidates))
        tell(rule, left_out, unsure, candidates, out)
    return rules


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="records")
    parser.add_argument("-o", metavar="FILE", help="the header; without -o, none is written")
    args = parser.parse_args()
    try:
        text = header(make(read_cases(args.files), sys.stdout))
        if args.o:
            with open(args.o, "w", encoding="utf-8") as f:
                f.write(text)
    except (records.NoData, OSError) as error:
        sys.exit("fit_auto.py: %s" % error)


if __name__ == "__main__":
    main()
