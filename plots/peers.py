"""Measurements of other codes on the same matrices: a table of tab-separated values with the
columns op, matrix, k, precision, code, ms, check; lines that begin with # are comments.

Names match if they agree in letters and digits, apart from a leading "gen"; --map helps where they
do not.
"""

import argparse
import csv
import re

import records


def plain(name):
    """A matrix's name without what people write differently."""
    name = re.sub(r"(?<=\d)x(?=\d)", "", name.lower())
    return re.sub(r"^gen", "", re.sub(r"[^a-z0-9]", "", name))


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
    """{(op, k, precision): {code: {matrix: ms}}}, None for what did not pass their check. What is
    behind a colon in a code's name are its parameters: the fastest of them."""
    found = {}
    with open(path, encoding="utf-8", newline="") as file:
        lines = (line for line in file if line.strip() and not line.startswith("#"))
        for row in csv.DictReader(lines, delimiter="\t"):
            try:
                k = int(row["k"]) if row["k"].isdigit() else None
                of = found.setdefault((row["op"], k, row["precision"]), {})
                of = of.setdefault(row["code"].split(":")[0], {})
                ms = float(row["ms"]) if row["check"] == "ok" else 0
            except (AttributeError, KeyError, TypeError, ValueError):
                continue
            good = [x for x in (of.get(row["matrix"]), ms) if x and x > 0]
            of[row["matrix"]] = min(good, default=None)
    if not any(any(of.values()) for codes in found.values() for of in codes.values()):
        raise records.NoData("%s: no rows with op, matrix, k, precision, code, ms, check" % path)
    return found


def key_of(row):
    """Where in what read() returns the peers of this row are."""
    return "-".join(word for word in (row["op"], row["mul"]) if word), row["k"], row["prec"]


class Names:
    """Finds our matrices among theirs."""

    def __init__(self, renamed):
        self.renamed = dict(renamed)

    def theirs(self, matrix):
        return plain(self.renamed.get(matrix[0], matrix[0]))

    def ratios(self, cases, of):
        """{matrix: their time / ours}, above 1 where ours is faster."""
        times = {plain(name): ms for name, ms in of.items() if ms}
        return {m: times[self.theirs(m)] / row["ms"] for m, row in cases.items()
                if self.theirs(m) in times}

    def failed(self, matrices, of):
        """Those of our matrices on which theirs has no right result."""
        bad = {plain(name) for name, ms in of.items() if not ms}
        return [m for m in matrices if self.theirs(m) in bad]

    def unknown(self, matrices, of):
        """Their matrices that we do not have, as they write them."""
        ours = {self.theirs(m) for m in matrices}
        return {name for name in of if plain(name) not in ours}
