#!/usr/bin/env python3
"""The roofline by what was moved: FLOPs over the bytes of memory that the hardware counted in a run
(`spbench -counters`), which are those of the algorithm and no longer those of the operation alone.

A case is left of where roofline.py has it by as much as it read or wrote more than once.
"""

import sys
import types

import common
import drawing
import records
import roofline
import words

MIXES = (common.NUMBERS,)


def has(row):
    return row["flops"] and row["moved"]


def draw(selection):
    rows = [{**row, "bytes": row["moved"]} for row in selection.rows if has(row)]
    if not rows:
        raise records.NoData("no result has counters of memory")
    parts = {**vars(selection), "rows": rows}
    uncounted = len(selection.rows) - len(rows)
    if uncounted:
        parts["notes"] = selection.notes + ["%s no counters of memory." % words.counted(
            uncounted, "case has", many="cases have")]
    return roofline.draw(types.SimpleNamespace(**parts), "Roofline by counters",
                         "byte of memory that was moved")


if __name__ == "__main__":
    sys.exit(drawing.main(sys.modules[__name__]))
