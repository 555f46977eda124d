"""Words for figures and messages: texts of records made visible, short and distinct; counts."""

import unicodedata
from urllib.parse import quote

import marks
import precs

NO_NAME = "(no name)"
SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}
# Controls, direction marks and other format characters, non-characters, ends of lines.
UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def escape(c):
    r"""Returns a character as Python writes it: \n, \x1b, \u202e."""
    code = ord(c)
    return SHORT.get(c) or (r"\x%02x" % code if code < 0x100 else
                            r"\u%04x" % code if code < 0x10000 else r"\U%08x" % code)


def cells(text, drawable=None):
    """Returns a text for each character: the character, or its escape if it cannot be seen or
    drawn."""
    return [c if unicodedata.category(c) not in UNSEEN and (not drawable or drawable(c))
            else escape(c) for c in text]


def visible(text, most=None, drawable=None):
    """Returns the text as one visible line of at most `most` characters, shortened by "…" in the
    middle. An escape is never cut. A blank text becomes NO_NAME."""
    if not text.strip():
        return NO_NAME
    found = cells(text, drawable)
    if not most or sum(map(len, found)) <= most:
        return "".join(found)
    head, tail, left = [], [], most - 1
    while left > 0:
        from_head = sum(map(len, head)) <= sum(map(len, tail))
        cell = found.pop(0 if from_head else -1)
        left -= len(cell)
        if left >= 0:
            (head if from_head else tail).append(cell)
    return "".join(head) + "…" + "".join(reversed(tail))


def distinct(names, most, drawable=None):
    """Returns {key: short and visible} of {key: name}. Equal texts get a number added."""
    found, seen, taken = {}, {}, set()
    for key, name in names.items():
        short = visible(name, most, drawable)
        look = " ".join(short.split())
        while look in taken:
            seen[short] = seen.get(short, 1) + 1
            look = "%s ~%d" % (" ".join(short.split()), seen[short])
        taken.add(look)
        found[key] = look if short in seen else short
    return found


def counted(count, what, *, many=None):
    """Returns "1 case", "2,000 cases"."""
    return "{:,} {}".format(count, what if count == 1 else many or what + "s")


def times(ratio):
    return marks.sign(ratio) + ("%.2f" if ratio >= 0.1 else "%.2g") % ratio


def quoted(text):
    """Returns the text as a part of a link; a lone surrogate becomes "?"."""
    return quote(text.encode("utf-8", "replace"))


def operation(name):
    """Returns the usual spelling of an operation: "Sp" and capitals for a name with sp, else
    capitals."""
    return "Sp" + name[2:].upper() if name.startswith("sp") else name.upper()


def case(row, plain=True):
    """Returns the case of a row: axes, precision (with `plain` in words), and an unusual cache or
    launch."""
    said = ["%s = %s" % item for item in row["axes"].items() if item[1] is not None]
    said += [precs.facts(row["prec"]).words if plain else row["prec"]]
    said += ["cold cache"] * (row["cache"] == "cold") + ["no graphs"] * (row["launch"] != "graph")
    return ", ".join(said)
