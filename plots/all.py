#!/usr/bin/env python3
"""Draws every figure that the results have data for into a folder.

A figure is a script here with a function draw(); each is drawn for each set of cases in the file
(device, operation, its axes, precision, cache), as far as the figure tells them apart. Prints what
was written, and what was left out and why.
"""

import glob
import importlib
import os
import re
import sys

import common
import drawing
import records
import words


WORD_MOST = 50  # characters of a word in the name of a file


def scripts():
    """The modules of this folder that draw a figure, by name."""
    here = os.path.dirname(os.path.abspath(__file__))
    names = sorted(os.path.splitext(os.path.basename(p))[0] for p in glob.glob(here + "/*.py"))
    modules = [importlib.import_module(name) for name in names if name != "all"]
    return [module for module in modules if hasattr(module, "draw")]


def file_name(script, fields, values, varying):
    """FIGURE-OP-AXIS64-f32: the operation, axes of numbers, the precision, and what else differs
    within the file."""
    parts = [script]
    for field, value in zip(fields, values):
        if isinstance(value, int):
            parts.append("%s%d" % (field, value))
        elif value is not None and (field in varying or field in ("op", "prec")):
            parts.append(value)
    return "-".join(re.sub(r"[^\w.]+", "_", word)[:WORD_MOST] for word in parts)


def free(name, used):
    """The name, with a number behind it if another figure has it."""
    found, count = name, 1
    while found in used:
        count += 1
        found = "%s-%d" % (name, count)
    used.add(found)
    return found


def more(parser):
    parser.add_argument("-o", "--output", metavar="DIR",
                        help="folder, made if need be (default: RESULTS without its ending)")
    parser.add_argument("--format", choices=("png", "svg"), default="png")


def main():
    args = common.arguments(__doc__, more)
    stem, ending = os.path.splitext(args.results[0])
    folder = args.output or (stem if ending else stem + "-figures")
    written, left, used = 0, {}, set()
    try:
        wanted = common.wanted_from(args)
        rows = [row for row in records.read(args.results) if common.matches(row, wanted)]
        varying = {field for field in common.fields_of(rows)
                   if len({common.value_of(row, field) for row in rows} - {None}) > 1}
        for script in scripts():
            fields = common.fields_of(rows, getattr(script, "MIXES", False))
            for values, group in common.groups(rows, fields).items():
                name = free(file_name(script.__name__, fields, values, varying), used)
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
        print("all: %s" % words.visible(str(error)), file=sys.stderr)
        return 1
    for (script, why), names in left.items():
        which = names[0] if len(names) == 1 else "%s: %s" % (script, words.counted(
            len(names), "figure"))
        print("left out: %s: %s" % (which, words.visible(why)))
    if not written:
        print("all: %s: nothing to draw" % ", ".join(args.results), file=sys.stderr)
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main())
