"""Tests of how series look, for test_plots.py."""

import json
import os
import re

from plots_general import PROGRAM, said_by_program
from plots_records import GPU, M1, SPMM, algorithm, environment, result


def test_colours(check):
    """An algorithm has one colour, whatever the device, the operation and the list that it is in."""
    import drawing
    from records import row_from
    cpu = [row_from(result(alg, M1, 1.0, device="cpu"), environment(SPMM, "cpu"))
           for alg in ("sellp", "merge", "rowsplit")]
    lists = SPMM[1][::-1], [algorithm("new"), *SPMM[1]]
    gpu = [[row_from(result(alg, M1, 1.0), environment((SPMM[0], of), roof=GPU))
            for alg in ("merge", "merge-tuned", "sellp")] for of in lists]
    looks = [drawing.styles(rows) for rows in [cpu] + gpu]
    for name in ("merge", "sellp"):
        check(len({look[name]["colour"] for look in looks}) == 1, "colour of %s: %s" % (name, [
            look[name]["colour"] for look in looks]))
    check(looks[1]["merge-tuned"]["colour"] == looks[0]["merge"]["colour"] != looks[0]["sellp"]["colour"], "families")
    if not os.path.exists(PROGRAM):
        return
    for op in re.findall(r"-op (\w+):", said_by_program("list", "algorithms")):
        env = json.loads(said_by_program("-q", "-op", op, "-o", "-", os.devnull).splitlines()[0])
        names = {facts.get("tuned_of") or facts["name"] for facts in env["algorithms"] if not (
            facts.get("vendor") or "missing" in facts)}
        rows = [{"alg": name, "series": name, "facts": {}, "env": env} for name in names]
        look = drawing.styles(rows)
        check(len({look[name]["colour"] for name in names}) == len(names), "%s: two families of one colour: %s" % (
            op, sorted((look[name]["colour"], name) for name in names)))
