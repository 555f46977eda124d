#!/usr/bin/env python3
"""The roofline by measured traffic: FLOPs over the bytes of memory that the hardware counted in a run
(`spbench -counters`), instead of the compulsory bytes of the operation.

A case is further left than in roofline.py if it read or wrote data more than once.
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
