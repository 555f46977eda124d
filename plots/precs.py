"""Precisions: the types of the inputs, of the result and of the sums, as src/base/precs.def has them."""

from collections import namedtuple

# bytes: of a number of the inputs; result_bytes: of a number of the result; sums: the type of the sums.
Precision = namedtuple("Precision", "words bytes result_bytes sums")

PRECISIONS = {
    "f32": Precision("single precision", 4, 4, "f32"),
    "f64": Precision("double precision", 8, 8, "f64"),
    "f16": Precision("half precision", 2, 2, "f32"),
    "bf16": Precision("bfloat16", 2, 2, "f32"),
    "f16-f32": Precision("half to single precision", 2, 4, "f32"),
    "bf16-f32": Precision("bfloat16 to single precision", 2, 4, "f32"),
}


def facts(name):
    """The facts of a precision. Without PRECISIONS[name] all but the words are None."""
    return PRECISIONS.get(name, Precision(name, None, None, None))


def is_narrow(name):
    """True if the inputs have fewer bytes than the sums."""
    of = facts(name)
    return bool(of.sums) and of.bytes < facts(of.sums).bytes


def place(name):
    """The sort key of a precision: the order of PRECISIONS, then the name."""
    return list(PRECISIONS).index(name) if name in PRECISIONS else len(PRECISIONS), name
