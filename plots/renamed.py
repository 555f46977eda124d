"""New names of options and figures that records of earlier releases name otherwise."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
PLACES = HERE.parent / "src/algos/renamed.def", HERE / "renamed.def"  # sources; installed
LIST = next(path for path in PLACES if path.exists())
LINE = re.compile(r'^(OPTION|FIGURE)\((\w+), "([^"]+)", "([^"]+)", "([^"]+)"\)$', re.M)
NAMES = {found[:4]: found[4] for found in LINE.findall(LIST.read_text())}


def renamed(kind, record, values):
    """The dict `values` of a record with new names; kind: OPTION or FIGURE."""
    return {NAMES.get((kind, record["op"], record["alg"], name), name): value
            for name, value in values.items()}
