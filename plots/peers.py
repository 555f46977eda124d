"""Measurements of other codes on the same matrices: a table of tab-separated values with the
columns op, matrix, precision, code, ms, check, and one named after each axis of numbers. Lines that
begin with # are comments. Their op is the operation's name, and behind it, by dashes, the words of
axes that they are for; without a word they are for each.

Names match if they agree in letters and digits, apart from a leading "gen". Of a generated matrix,
theirs begins with "gen", numbers may be written in thousands, and the last ones be left out, where
one of ours alone begins so: gen_skew300k is skew:300000:6:20000. --map helps where they do not.
"""

import argparse
import csv
import re
from types import SimpleNamespace

import records

COLUMNS = ("op", "matrix", "precision", "code", "ms", "check")


def plain(name):
    """A matrix's name without what people write differently."""
    name = re.sub(r"(?<=\d)x(?=\d)", "", name.lower())
    return re.sub(r"^gen", "", re.sub(r"[^a-z0-9]", "", name))


def generated(name):
    """A generated matrix's name as a kind and its numbers: "gen_uniform500k8" is uniform, 500000,
    8; None of a name that is of no such matrix."""
    spelt = re.sub(r"\dk(?![a-z])", lambda digit: digit.group()[0] + "000 ", name.lower())
    found = re.findall(r"[a-z]+|\d+", spelt)
    if found and found[0] == "gen":
        found = found[1:]
    elif found and found[0].startswith("gen"):
        found[0] = found[0][3:]
    kind, numbers = found[:1], found[1:]
    return kind + numbers if kind and numbers and all(map(str.isdigit, numbers)) else None


def add_options(parser):
    parser.add_argument("--peers", metavar="FILE.tsv", help="measurements of other codes")
    parser.add_argument("--code", help="one of those codes: every matrix against it")
    parser.add_argument("--map", action="append", default=[], metavar="OURS=THEIRS", type=pair,
                        help="a matrix that is called THEIRS there; may be repeated")


def pair(text):
    ours, equals, theirs = text.partition("=")
    if not (ours and equals and theirs):
        raise argparse.ArgumentTypeError("%r is not OURS=THEIRS" % text)
    return ours, theirs


def read(path):
    """The lines of the table, with ms None for what did not pass its check. What is behind a colon
    in a code's name are its parameters."""
    found = []
    with open(path, encoding="utf-8", newline="") as file:
        lines = (line for line in file if line.strip() and not line.startswith("#"))
        for row in csv.DictReader(lines, delimiter="\t"):
            try:
                ms = float(row["ms"]) if row["check"] == "ok" else 0
                found.append(SimpleNamespace(row=row, op=row["op"], prec=row["precision"],
                                             code=row["code"].split(":")[0], matrix=row["matrix"],
                                             ms=ms if ms > 0 else None))
            except (AttributeError, KeyError, TypeError, ValueError):
                continue
    if not any(line.ms for line in found):
        raise records.NoData("%s: no rows with %s" % (path, ", ".join(COLUMNS)))
    return found


def fits(line, row):
    """Is the line of the operation, the axes and the precision of our row?"""
    name, axes = row["op"], row["axes"]
    words = line.op[len(name):].split("-")
    return line.op.startswith(name) and not words[0] and line.prec == row["prec"] and \
        all(word in axes.values() for word in words[1:]) and \
        all(line.row[axis] == str(value) for axis, value in axes.items() if axis in line.row)


def codes_of(lines, row):
    """{code: {matrix: ms}} of the lines that fit the row: of several parameters the fastest."""
    found = {}
    for line in lines:
        if fits(line, row):
            of = found.setdefault(line.code, {})
            of[line.matrix] = min((ms for ms in (of.get(line.matrix), line.ms) if ms), default=None)
    return found


class Names:
    """Finds our matrices among theirs. `ours` are the names of all of ours."""

    def __init__(self, renamed, ours):
        self.renamed = dict(renamed)
        self.ours = {plain(self.renamed.get(name, name)) for name in ours}
        self.kinds = {plain(name): generated(name) for name in ours
                      if ":" in name and name not in self.renamed and generated(name)}

    def theirs(self, matrix):
        return plain(self.renamed.get(matrix[0], matrix[0]))

    def as_ours(self, name):
        """Their name, as ours reads if it is of one of ours."""
        kind = generated(name) if name.lower().startswith("gen") else None
        if plain(name) in self.ours or not kind:
            return plain(name)
        found = [ours for ours, of in self.kinds.items() if of[:len(kind)] == kind]
        return found[0] if len(found) == 1 else plain(name)

    def ratios(self, cases, of):
        """{matrix: their time / ours}, above 1 where ours is faster."""
        times = {self.as_ours(name): ms for name, ms in of.items() if ms}
        return {m: times[self.theirs(m)] / row["ms"] for m, row in cases.items()
                if self.theirs(m) in times}

    def failed(self, matrices, of):
        """Those of our matrices on which theirs has no right result."""
        bad = {self.as_ours(name) for name, ms in of.items() if not ms}
        return [m for m in matrices if self.theirs(m) in bad]

    def unknown(self, matrices, of):
        """Their matrices that we do not have, as they write them."""
        ours = {self.theirs(m) for m in matrices}
        return {name for name in of if self.as_ours(name) not in ours}
