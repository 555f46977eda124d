#!/usr/bin/env python3
"""Draws every figure that the results have data for into a folder.

A figure is a script here with a function draw(); each is drawn for each set of cases in the file
(device, operation, k, precision, layout), as far as the figure tells them apart. Prints what was
written, and what was left out and why.
"""

import glob
import importlib
import os
import re
import sys

import common
import drawing
import records


def scripts():
    """The modules of this folder that draw a figure, by name."""
    here = os.path.dirname(os.path.abspath(__file__))
    names = sorted(os.path.splitext(os.path.basename(p))[0] for p in glob.glob(here + "/*.py"))
    modules = [importlib.import_module(name) for name in names if name != "all"]
    return [module for module in modules if hasattr(module, "draw")]


def file_name(script, single, values, varying):
    """roofline-spmm, gflops_bars-spmm-k64-f32-row: what differs within the file, and the op."""
    words = [script]
    for field, value in zip(single, values):
        if value is not None and (field in varying or field in ("op", "k", "prec")):
            words.append("k%s" % value if field == "k" else str(value))
    return "-".join(re.sub(r"[^\w.]+", "_", word) for word in words)


def more(parser):
    parser.add_argument("-o", "--output", metavar="DIR",
                        help="folder, made if need be (default: RESULTS without its ending)")
    parser.add_argument("--format", choices=("png", "svg"), default="png")


def main():
    args = common.arguments(__doc__, more=more)
    stem, ending = os.path.splitext(args.results[0])
    folder = args.output or (stem if ending else stem + "-figures")
    written, left = 0, {}
    try:
        wanted = common.wanted_from(args)
        rows = [row for row in records.read(args.results) if common.matches(row, wanted)]
        varying = {field for field in records.FIELDS if len({row[field] for row in rows}) > 1}
        for script in scripts():
            of_op = [row for row in rows if getattr(script, "OP", None) in (None, row["op"])]
            for values, group in common.groups(of_op, script.SINGLE).items():
                name = file_name(script.__name__, script.SINGLE, values, varying)
                try:
                    fig = script.draw(common.select(group))
                except records.NoData as why:
                    left.setdefault((script.__name__, str(why)), []).append(name)
                    continue
                path = os.path.join(folder, name + "." + args.format)
                drawing.save(fig, path)
                print(path)
                written += 1
    except (records.NoData, OSError) as error:
        print("all: %s" % error, file=sys.stderr)
        return 1
    for (script, why), names in left.items():
        which = names[0] if len(names) == 1 else "%s: %d figures" % (script, len(names))
        print("left out: %s: %s" % (which, why))
    if not written:
        print("all: %s: nothing to draw" % ", ".join(args.results), file=sys.stderr)
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main())
