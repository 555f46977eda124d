"""Tests of texts of records in figures, for test_plots.py: every figure is drawn of records whose
names are as bad as names can be."""

import importlib
import io
import json
import os
import re
import warnings

from plots_bounds import bounded_records
from plots_model import model_records, synthetic_records
from plots_more import scan_records, version_records
from plots_precs import precision_records
import common
import drawing
import matplotlib
import records
import words
from plots_records import blend_records, gpu_records, product_records, result, rows_of, SPMM, write

LONG = "long-" * 40
NASTY = ("$\\bogus{$", "$x^{2$", "$a$ $b$", "a\nb", "a\tb", "\x1b[31mred\x07", "", " ",
         "_nolegend_", "a b/with blanks.mtx", "\u202eright to left", "\u200b",
         "\u7a00\u758f \U0001f600", "\ud800", LONG + "1", LONG + "2",
         LONG[:99] + "middle" + LONG[:99], "%s %d {0} %", "\\", "{", "}",
         "<b>&amp;</b>", "|", "\x00", "\u0665\u0661\u0627", "e\u0301\u0327", "$" * 201)
FIELDS = ("name", "alg", "library", "vendor", "tuned_of", "picked", "revision", "host", "about",
          "format", "reason", "detail")


class Names:
    """Each name that there was becomes a bad one, with a number behind it from the second time
    round; the same name always the same one."""

    def __init__(self):
        self.found = {}

    def of(self, name):
        at = len(self.found)
        again = str(at // len(NASTY)) if at >= len(NASTY) else ""
        return self.found.setdefault(name, NASTY[at % len(NASTY)] + again)


def spoilt(value, names, keep):
    """The part of a record with bad names; `keep` are those that are keys of a record."""
    if isinstance(value, list):
        return [spoilt(item, names, keep) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, item in value.items():
        if key == "picks":
            found[key] = [names.of(name) for name in item]
        elif key in ("options", "phases_ms") and item:
            found[key] = {names.of(name): x for name, x in item.items()}
        elif key in FIELDS and isinstance(item, str) and item not in keep:
            found[key] = names.of(item)
        else:
            found[key] = spoilt(item, names, keep)
    return found


def keys(env):
    """The names of the operation, its axes and its figures, which are keys of every record."""
    op = env["operation"]
    return {op["name"]} | {item["name"] for item in op["axes"] + op["figures"]}


def bad_records(made):
    """The records with bad names; each algorithm has options of its own."""
    names, keep, env = Names(), set(), {}
    for record in made:
        if record["kind"] == "environment":
            env, keep = record, keys(record)
            yield spoilt(env, names, keep)
            continue
        record = {**record, "options": {**record["options"], "opt " + record["alg"]: 1,
                                          "other": record["op"] == "x"}}
        if record["matrix"]["name"].startswith(("aspect:", "band:", "sparse2d:")):
            keep = keep | {record["matrix"]["name"]}
        yield spoilt(record, names, keep)


def odd_text(fig):
    """A text of the figure that is not safe, or too long where there is little room, or None."""
    long = [ax.get_title(loc="left") for ax in fig.axes] + [
            text.get_text() for ax in fig.axes for text in
            ax.get_xticklabels() + [ax.xaxis.label, ax.yaxis.label] +
            (ax.get_legend().get_texts() if ax.get_legend() else [])]
    for text in long:
        if max(map(len, text.split("\n"))) > 100:
            return repr(text)
    for text in [text.get_text() for text in fig.findobj(matplotlib.text.Text)]:
        plain = text.replace("\\$", "")
        formula = plain.startswith("$\\mathdefault{")  # the powers of an axis
        if "$" in plain and not formula or re.search("[^\n\\S ]|[\x00-\x09\x0b-\x1f\u202e]", text):
            return repr(text)
    return None


def draw_every(path, scripts, check, what):
    """Draws every figure that there is of the records, without a warning."""
    drawn = set()
    for script in scripts:
        rows = records.read([path])
        fields = common.fields_of(rows, getattr(script, "MIXES", ()))
        for group in list(common.groups(rows, fields).values())[:1]:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    fig = script.draw(common.select(group))
                    odd = odd_text(fig)
                    wide, high = size_of(fig)
                drawing.plt.close(fig)
            except records.NoData:
                continue
            except Exception as error:  # whatever it is, it is this figure that failed
                check(False, "%s of %s: %s: %s" % (script.__name__, what, type(error).__name__,
                                                   error))
                continue
            check(odd is None, "%s of %s has the text %s" % (script.__name__, what, odd))
            check(wide < 4800 and high < 6000,
                  "%s of %s: %d x %d" % (script.__name__, what, wide, high))
            drawn.add(script.__name__)
    return drawn


def size_of(fig):
    """Returns width and height at 150 dpi, in pixels. The image that is drawn has a third of the resolution."""
    image = io.BytesIO()
    fig.savefig(image, dpi=50, bbox_inches="tight", pad_inches=0.15, pil_kwargs={"compress_level": 1})
    data = image.getvalue()
    return [3 * int.from_bytes(data[i:i + 4], "big") for i in (16, 20)]


def count_of(folder, ending):
    return sum(name.endswith(ending) for name in os.listdir(folder))


def test_words(check):
    for text, want in (("a\nb", r"a\nb"), ("\x1b", r"\x1b"), ("\u202e!", r"\u202e!"),
                       (" ", "(no name)"), ("", "(no name)"), ("\ud800", r"\ud800"),
                       ("\U000e0001", r"\U000e0001")):
        check(words.visible(text) == want, "visible %r: %r" % (text, words.visible(text)))
    check(words.visible("0123456789", 5) == "01…89", "cut: %s" % words.visible("0123456789", 5))
    check(words.visible("\x07" * 9, 15) == r"\x07\x07…\x07",
          "no escape is cut: %s" % words.visible("\x07" * 9, 15))
    found = words.distinct({i: name for i, name in enumerate(
        ("abcdefgh", "abcxxfgh", "abcyyfgh", "ab", "ab "))}, 7)
    check(list(found.values()) == ["abc…fgh", "abc…fgh ~2", "abc…fgh ~3", "ab", "ab ~2"],
          "names that differ beyond the cut: %s" % found)
    check(words.counted(1, "case") == "1 case" and words.counted(2000, "case") == "2,000 cases" and
          words.counted(0, "matrix", many="matrices") == "0 matrices", "counts")
    check(drawing.shown("$x$") == r"\$x\$" and drawing.shown("_x") == " _x", "no formula")
    check(drawing.shown("\u2fff") == r"\u2fff", "no glyph: " + drawing.shown("\u2fff"))


def test_options(check):
    m = ("one", 100, 500)
    rows = rows_of(SPMM, result("merge", m, 1.0, options={"a": 1, "b": 2}),
                   result("merge", m, 1.0, options={"a": 1, "b": 3}),
                   result("sellp", m, 1.0, options={"a": 1}))
    common.select(rows)
    check([row["series"] for row in rows] == ["merge b=2", "merge b=3", "sellp"],
          "the options that differ are named: %s" % [row["series"] for row in rows])
    rows = rows_of(SPMM, result("merge", m, 1.0, options={"a": 1}),
                   result("merge", m, 1.0, options={"a": 1, "b": -1}),
                   result("merge", m, 1.0, options={"a": 2, "b": -1}),
                   result("sellp", m, 1.0, options={"a": 1}),
                   result("sellp", m, 1.0, options={"a": 2}))
    for row in rows:
        row["defaults"] = row is not rows[2]
    common.select(rows)
    check([row["series"] for row in rows] == ["merge", "merge", "merge a=2", "sellp a=1",
                                              "sellp a=2"],
          "an option that came later, and a default that changed: %s" %
          [row["series"] for row in rows])


def test_figures(folder, check, run):
    scripts = list(importlib.import_module("all").scripts().values())
    made = (("spmm", gpu_records(len(NASTY), [(64, "f32")])),
            ("products", product_records(2 * len(NASTY))), ("models", model_records(24)),
            ("synthetic", synthetic_records()), ("bounds", bounded_records(len(NASTY))),
            ("scan", scan_records()), ("versions", version_records()),
            ("precisions", precision_records(len(NASTY))), ("blend", blend_records(6)))
    drawn = set()
    for what, of in made:
        path = write(os.path.join(folder, "nasty-%s.jsonl" % what), bad_records(of))
        drawn |= draw_every(path, scripts, check, "bad names, " + what)
    check(drawn == {script.__name__ for script in scripts}, "every figure was drawn: %s" % drawn)
    out = os.path.join(folder, "nasty")
    one = "-depth", "3", "-mode", "soft"
    status, text, errors = run("all.py", path, "-o", out, "--format", "svg", *one)
    check(status == 0 and errors == "" and count_of(os.path.join(out, "figures"), ".svg") == text.count(".svg\n"),
          "all.py of bad names: %d %s" % (status, errors))
    status, text, _ = run("gflops_bars.py", path, "--help")
    check(status == 0, "help of bad names")
    twin = os.path.join(folder, "twin.jsonl")
    with open(path, encoding="utf-8") as file:
        lines = list(map(json.loads, file))
    device = lines[0]["devices"][1]
    two = [{**device, "id": "cuda:0", "name": "A B" + LONG},
           {**device, "id": "cuda:1", "name": "A_B" + LONG}]
    write(twin, [{**lines[0], "devices": two}] + [
        {**line, "device": device} for line in lines[1:] for device in ("cuda:0", "cuda:1")])
    out = os.path.join(folder, "twin", "figures")
    status, text, errors = run("all.py", twin, "-o", os.path.dirname(out), *one)
    made = count_of(out, ".png")
    check(status == 0 and made == count_of(out, ".txt") == text.count(".png\n") == 20,
          "no figure replaces another: %d files of %d %s" % (made, text.count(".png\n"), errors))
