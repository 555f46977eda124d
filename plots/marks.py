"""Marks of times that may be far off: fewer than 6 samples, a busy machine, reduced clocks. A number that
is made of such a time is a Marked, and has the sign "~" where it is printed."""

SAMPLES_LEAST = 6  # fewer samples have no 95 % interval
SIGN = "~"
LEGEND = SIGN + ": made of a time with fewer than 6 samples, or of a busy or throttled machine."
# Words after a number of times.
KINDS = "with fewer than 6 samples", "busy", "throttled", "not in order"


class Marked(float):
    """A number that is made of a time with a mark. Its products and quotients are marked too."""

    def __mul__(self, x):
        return Marked(float(self) * float(x))

    def __truediv__(self, x):
        return Marked(float(self) / float(x))

    def __rtruediv__(self, x):
        return Marked(float(x) / float(self))

    __rmul__ = __mul__


def like(value, of):
    """Returns the value, marked if any of these numbers is."""
    return Marked(value) if sign(*of) else value


def sign(*numbers):
    """Returns the sign to print before a number that is made of these numbers."""
    return SIGN * any(isinstance(x, Marked) for x in numbers)


def count(numbers):
    """Returns how many numbers there are, as text, with the sign if any is marked."""
    numbers = list(numbers)
    return "%s%d" % (sign(*numbers), len(numbers))


def of_row(row):
    """Returns for each of KINDS if the time of the row has the mark."""
    few = row["samples"] < SAMPLES_LEAST or not row["interval"]
    return few, row["busy"], row["throttled"], not row["in_order"]


def mark(row):
    """Marks the numbers of a row. A run that is not in order has a sound time."""
    if row["status"] == "ok" and any(of_row(row)[:3]):
        row.update((name, Marked(row[name])) for name in ("ms", "gflops", "gather") if row[name] is not None)
    return row


def counts_text(rows, kinds=len(KINDS)):
    """Returns "12 of 174 times with fewer than 6 samples, 3 busy" of these rows and of the first kinds
    of marks; "": no time has one."""
    found = list(zip(map(sum, zip(*map(of_row, rows))), KINDS[:kinds]))
    texts = ["{:,} {}".format(number, kind) for number, kind in found if number]
    return ", ".join(texts).replace(" ", " of {:,} times ".format(len(rows)), 1) if texts else ""


def pair_texts(cases, base, name):
    """Returns phrases on the speed-ups of {matrix: row} over those of the base of this name: marks of
    the times, marks of the base alone, and matrices on which the base has no time."""
    ours, theirs = [cases[m] for m in cases if m in base], [base[m] for m in cases if m in base]
    found = [(SIGN + ": ", counts_text(ours + theirs, 3)), (name + ": ", counts_text(theirs))]
    texts = [head + text for head, text in found if text]
    missing = sum(m not in base for m in cases)
    return texts + ["no time of %s on %d of %d matrices, which are left out" % (name, missing, len(cases))] * bool(missing)
