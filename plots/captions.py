"""The caption of a figure: content, matrices, cases left out with reasons, and the measurement. The
caption is made from the records, and written as text beside the image.

A caption is {heading: text}, both as they are; write() and the index page make them visible.
"""

import os
import re
from collections import Counter

import common
import marks
import series
import words

ENDING = ".txt"
NAMES_MOST = 300  # most matrices that are named
REASON_MOST = 160  # characters of a reason
REASONS_MOST = 8  # kinds of cases left out


def path_of(image):
    return os.path.splitext(image)[0] + ENDING


def write(caption, path):
    with open(path, "w", encoding="utf-8") as file:
        for heading, text in caption.items():
            file.write("%s: %s\n" % (heading, words.visible(text)))


def counts(values):
    """Returns "a (3), b (1)": the values with their counts. None is left out."""
    found = Counter(str(value) for value in values if value is not None)
    return ", ".join("%s (%s)" % (value, "{:,}".format(count))
                     for value, count in found.most_common())


def each(values):
    return ", ".join(dict.fromkeys(str(value) for value in values if value))


def about_script(module):
    """Returns the first paragraph of the script's docstring, as one line."""
    paragraphs = (module.__doc__ or "").strip().split("\n\n")
    return " ".join(" ".join(paragraphs).split())


def matrices_text(rows):
    """Returns the number of matrices, their least and greatest number of nonzeros, and their names."""
    names = {row["matrix"]: row["name"] for row in rows}
    sizes = sorted(m[3] for m in names if m[3] is not None)
    span = ", {:,.0f} to {:,.0f} nonzeros".format(sizes[0], sizes[-1]) if sizes else ""
    return "%s%s: %s" % (words.counted(len(names), "matrix", many="matrices"), span,
                         common.names_text(names, NAMES_MOST))


def left_text(selection, rows):
    """Returns the text about cases left out of the figure: cases without a usable result by status
    and reason, then results that are not drawn."""
    found = {}
    for row in selection.left:
        reason = re.sub(r"\d[\d,.]*", "#", row["reason"] or "no reason")
        found.setdefault((row["status"], reason), []).append(row)
    kinds = sorted(found.items(), key=lambda item: -len(item[1]))
    texts = ["%d %s, of %s (%s)" % (len(of), status, each(row["series"] for row in of),
                                    words.visible(of[0]["reason"] or "no reason", REASON_MOST))
             for (status, _), of in kinds[:REASONS_MOST]]
    if len(kinds) > REASONS_MOST:
        texts.append("%d more for other reasons"
                     % sum(len(of) for _, of in kinds[REASONS_MOST:]))
    return "; ".join(texts + rest_texts(selection, rows)) or "nothing"


def rest_texts(selection, rows):
    """Returns texts about usable results that are not drawn."""
    drawn = {(row["device"], row["key"]) for row in rows}
    rest = Counter("part" if series.is_partial(row) else "dense" if series.is_dense(row) else
                   "vendor" if series.vendor_of(row) else "none"
                   for row in selection.rows if (row["device"], row["key"]) not in drawn)
    return [text % words.counted(rest[kind], "usable result") for kind, text in (
        ("vendor", "%s of a vendor's algorithms that are not its best on the case, or not drawn"),
        ("part", "%s of algorithms that do a part of the operation"),
        ("dense", "%s of dense products"),
        ("none", "%s without what the figure shows")) if rest[kind]]


def dates_text(envs):
    dates = sorted(str(env["date"])[:16].replace("T", " ") for env in envs if env.get("date"))
    return " to ".join(dict.fromkeys(dates[:1] + dates[-1:])) or "not said"


def device_text(rows):
    """Returns the names of the devices, with driver and runtime from the environments."""
    found = {}
    for row in rows:
        found.setdefault(row["device"], set()).add(row["detail"])
    return "; ".join("%s (%s)" % (name, each(sorted(details))) if any(details) else name
                     for name, details in found.items())


def runs_text(rows):
    several = common.runs_text(rows)
    alone = sum(row["runs"] == 1 for row in rows)
    return " ".join((["%s of one run." % words.counted(alone, "time is", many="times are")]
                     if alone else []) + several)


def of(module, said):
    """Returns the caption, made from the data that drawing.finish() keeps with a figure."""
    rows, selection = said["rows"], said["selection"]
    envs = list({id(row["env"]): row["env"] for row in rows}.values())
    launches = counts("as a %s" % row["timed"] if row["timed"] == "graph" else
                      "one by one" for row in rows)
    return {
        "Figure": "%s. %s" % (said["title"], selection.about),
        "What it shows": about_script(module),
        "Matrices": matrices_text(rows),
        "Algorithms": counts(series.name_of(row) for row in rows),
        "Left out": left_text(selection, rows),
        "Notes": " ".join(common.mixed(rows) + selection.notes + said["notes"]) or "none",
        "Device": device_text(rows),
        "Libraries": counts(row["library"] for row in rows) or "none",
        "Measured": "%s (UTC), by revision %s" % (
            dates_text(envs), counts(row["env"].get("revision") or "not said" for row in rows)),
        "Times": "%s Cache %s; launched %s; runs %s" % (
            runs_text(rows), counts(row["cache"] for row in rows), launches,
            counts(row["way"] for row in rows) or "not said how"),
        "Marks": marks.counts_text(rows) or "none",
        "Checked": counts(row["method"] for row in rows),
        "Files": counts(row["source"] for row in rows),
    }
