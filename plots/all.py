#!/usr/bin/env python3
"""Draws the figures that the results have data for, each with its caption, and an index page.

A figure is a script here with a function draw(). A set of cases has one value of each axis, one
precision, cache, launch and revision. A figure is drawn once for each operation of a device, of the
set with the most matrices, then the most algorithms. -all-sets draws every set; of more than 12
sets that differ in one number alone, the 3 with most cases.

The page of FILE.jsonl or FILE.jsonl.gz is FILE/index.html; the page of several files is beside the
first. The images are in the folder figures beside the page. With -time back-to-back both names end
with "-back-to-back". The script prints the files that it wrote, and the figures left out with reasons.
"""

import argparse
import glob
import importlib
import os
import re
import sys

import common
import drawing
import index
import records
import words


WORD_MOST = 50  # characters of a word in the name of a file
FOLDER, PAGE = "figures", "index.html"


def scripts():
    """{name: module} of the modules of this folder that draw a figure."""
    here = os.path.dirname(os.path.abspath(__file__))
    found = sorted(os.path.splitext(os.path.basename(p))[0] for p in glob.glob(here + "/*.py"))
    modules = {name: importlib.import_module(name) for name in found if name != "all"}
    return {name: module for name, module in modules.items() if hasattr(module, "draw")}


def figure_list(text):
    """The names in a list with commas."""
    found = text.split(",")
    for name in found:
        if name not in scripts():
            raise argparse.ArgumentTypeError("no figure %s; there are %s" % (
                words.visible(name), ", ".join(scripts())))
    return found


def file_name(script, fields, values, varying):
    """Returns FIGURE-OP-AXIS64-f32: the operation, number axes, the precision, and fields that vary
    within the file."""
    parts = [script]
    for field, value in zip(fields, values):
        if isinstance(value, int):
            parts.append("%s%d" % (field, value))
        elif value is not None and (field in varying or field in ("op", "prec")):
            parts.append(value)
    return "-".join(re.sub(r"[^\w.]+", "_", word)[:WORD_MOST] for word in parts)


def free(name, used):
    """Returns the name, with a number added if another figure has this name."""
    found, count = name, 1
    while found in used:
        count += 1
        found = "%s-%d" % (name, count)
    used.add(found)
    return found


def places(args):
    """Returns (folder of the images, path of the page)."""
    stem, ending = records.split_ending(args.results[0])
    mark = "" if args.time == records.SEPARATE else "-" + args.time
    folder = args.output or (os.path.dirname(stem) if len(args.results) > 1 else
                             stem if ending else stem + "-figures")
    return os.path.join(folder, FOLDER + mark), os.path.join(folder, mark.join(os.path.splitext(PAGE)))


def without_empty(rows, fields, left):
    """Returns the rows of the sets of cases with a usable result. Adds the other rows to `left`,
    {device: rows}."""
    kept = []
    for group in common.groups(rows, fields).values():
        if any(row["status"] == "ok" for row in group):
            kept += group
        else:
            left.setdefault(group[0]["device"], []).extend(group)
    return kept


def tries(rows, script, args, left):
    """Returns (fields, [[(values of the fields, rows)]]). Each list becomes one figure, drawn from
    the first set with the data of the figure. With -all-sets each set has its own list."""
    fields = common.fields_of(rows, getattr(script, "MIXES", ()), args.mixed)
    sets = common.groups(rows, fields)
    if args.all_sets:
        sets, of_scans = common.thinned(sets, fields)
        if of_scans:
            left[script.__name__, "a scan of one number: the %d sets with most cases are drawn"
                 % common.OF_SCAN] = [None] * of_scans
        return fields, [[item] for item in sets.items()]
    of = {}
    for values, group in sets.items():
        of.setdefault(values[:len(common.BEFORE)], []).append((values, group))
    has = getattr(script, "has", None)
    return fields, [sorted(items, key=lambda item: common.rank(item[1], has), reverse=True)
                    for items in of.values()]


def draw_all(rows, args, folder, left):
    """Draws the figures and yields each as an index.Figure. Adds figures without data to `left`,
    {(script, reason): names}."""
    varying = {field for field in common.fields_of(rows)
               if len({common.value_of(row, field) for row in rows} - {None}) > 1}
    if not args.all_sets:  # an operation has one figure of a script: the axes are enough for a name
        varying &= {*common.BEFORE, *(axis for row in rows for axis in row["axes"])}
    used = set()
    every = scripts()
    for script in map(every.get, args.figures or every):
        fields, lists = tries(rows, script, args, left)
        for sets in lists:
            why_not = []
            for values, group in sets:
                name = file_name(script.__name__, fields, values, varying)
                try:
                    fig = script.draw(common.pick(common.select(group), args, getattr(script, "has", None)))
                except records.NoData as why:
                    why_not.append(((script.__name__, str(why)), name))
                    continue
                path = os.path.join(folder, free(name, used) + "." + (args.format or "png"))
                yield index.Figure(path, drawing.save(fig, path, script))
                why_not = []
                break
            for key, name in why_not[:1]:
                left.setdefault(key, []).append(name)


def more(parser):
    parser.add_argument("-o", "--output", metavar="DIR", help="folder of the page and of figures/, "
                        "made if need be (default: see above)")
    drawing.add_options(parser)
    parser.add_argument("-all-sets", "--all-sets", action="store_true", help="figures of every set of cases")
    parser.add_argument("-figures", "--figures", type=figure_list, metavar="NAMES",
                        help="draw only these, by commas: " + ", ".join(scripts()))


def main():
    args = common.arguments(__doc__, more)
    drawing.load(args.paper)
    folder, page = places(args)
    figures, left, empty = [], {}, {}
    try:
        rows = common.wanted_rows(records.read(args.results, args.time), args)
        usable = without_empty(rows, common.fields_of(rows), empty)
        for figure in draw_all(usable, args, folder, left):
            print(figure.path)
            figures.append(figure)
        if figures:
            index.write(page, rows, figures)
    except (records.NoData, OSError) as error:
        print("all: %s" % words.visible(str(error)), file=sys.stderr)
        return 1
    for device, of in empty.items():
        print("left out: %s: no result of %s (%s)" % (words.visible(device), words.counted(len(of), "case"),
                                                      words.visible(common.count_text(of))))
    for (script, why), names in left.items():
        which = names[0] if len(names) == 1 and names[0] else "%s: %s" % (script, words.counted(
            len(names), "figure"))
        print("left out: %s: %s" % (which, words.visible(why)))
    if not figures:
        print("all: %s: nothing to draw" % ", ".join(args.results), file=sys.stderr)
    else:
        print("page: %s" % page)
    return 0 if figures else 1


if __name__ == "__main__":
    sys.exit(main())
