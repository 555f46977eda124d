"""Precisions: the types of the inputs, of the result and of the sums, read from src/base/precs.def."""

import pathlib
import re
from collections import namedtuple

HERE = pathlib.Path(__file__).resolve().parent
PLACES = HERE.parent / "src/base/precs.def", HERE / "precs.def"  # sources; installed
LIST = next(path for path in PLACES if path.exists())
TYPE = re.compile(r'^TYPE\((\w+), "([^"]+)", "([^"]+)", (\w+), \w+, (\w+),', re.M)
MIXED = re.compile(r'^MIXED\(\w+, "([^"]+)", "([^"]+)", (\w+), (\w+), (\w+)\)', re.M)
BYTES = {"float": 4, "double": 8, "uint16_t": 2, "uint8_t": 1}  # of the C types

# bytes: of a number of the inputs; result_bytes: of a number of the result; sums: the type of the sums.
Precision = namedtuple("Precision", "words bytes result_bytes sums")


def read_list(text):
    """The precisions of precs.def by name, in its order."""
    found = TYPE.findall(text)
    names = {symbol: name for symbol, name, *_ in found}
    size = {symbol: BYTES[bits] for symbol, _, _, bits, _ in found}
    return {**{name: Precision(words, size[symbol], size[symbol], names[sums])
               for symbol, name, words, _, sums in found},
            **{name: Precision(words, size[inputs], size[result], names[sums])
               for name, words, inputs, result, sums in MIXED.findall(text)}}


PRECISIONS = read_list(LIST.read_text(encoding="utf-8"))


def facts(name):
    """Returns the types of a precision. Without PRECISIONS[name] all fields but the words are None."""
    return PRECISIONS.get(name, Precision(name, None, None, None))


def is_narrow(name):
    """True if the inputs have fewer bytes than the sums."""
    of = facts(name)
    return bool(of.sums) and of.bytes < facts(of.sums).bytes


def place(name):
    """The sort key of a precision: the order of PRECISIONS, then the name."""
    return list(PRECISIONS).index(name) if name in PRECISIONS else len(PRECISIONS), name
