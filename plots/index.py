"""The index page: every figure with its caption, and the tables of each set of cases, in one file of
plain HTML that needs no other but the images. Its heads sort, its field finds a matrix.

Whatever comes out of records is text() before it is on the page, and a path quoted().
"""

import html
import os
from collections import Counter, namedtuple
from urllib.parse import quote

import captions
import common
import records
import series
import tables
import words

# A figure: the path of its image, its caption, and {field: value} of the set that it is of.
Figure = namedtuple("Figure", "path caption fields")
HERE = os.path.dirname(os.path.abspath(__file__))
WORD_WIDE = 40  # characters, from which a column of words may be broken


def text(value):
    """As it is on the page: visible, and no markup."""
    value = str(value)
    return html.escape(words.visible(value) if value else value)


def quoted(path, folder):
    """A link to this path from a page in the folder."""
    return html.escape(quote(os.path.relpath(path, folder or ".")))


def part(name):
    """The style or the script of the page."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def cell_html(cell, word):
    if not isinstance(cell, tables.Cell):
        cell = tables.Cell(str(cell))
    kind = " ".join(["word"] * word + ["best"] * cell.best +
                    ["long"] * (word and len(cell.text) > WORD_WIDE))
    return "<td%s%s>%s</td>" % (' class="%s"' % kind if kind else "",
                                ' title="%s"' % text(cell.of) if cell.of else "", text(cell.text))


def table_html(table, kind=""):
    """A table of tables.py, with a row of heads that can be clicked."""
    is_word = [i < table.text or head in tables.WORDS for i, head in enumerate(table.head)]
    yield '<div%s><h3>%s</h3>' % ("" if kind else ' class="rest"', text(table.title))
    yield '<div class="wide"><table%s><thead><tr>' % (' class="%s"' % kind if kind else "")
    yield "".join('<th scope="col"%s>%s</th>' % (' class="word"' * word, text(head))
                  for word, head in zip(is_word, table.head))
    yield "</tr></thead><tbody>"
    for line in table.lines:
        yield "<tr>%s</tr>" % "".join(map(cell_html, line, is_word))
    yield "</tbody></table></div>"
    if table.said:
        yield '<p class="said">%s</p>' % text(" ".join(table.said))
    yield "</div>"


def figures_html(figures, folder):
    if not figures:
        return
    yield '<div class="figures">'
    for figure in figures:
        link, title = quoted(figure.path, folder), text(figure.caption["Figure"])
        yield '<figure><a href="%s"><img loading="lazy" src="%s" alt="%s"></a>' % (link, link, title)
        yield "<figcaption>%s<details><summary>Caption</summary><dl>" % title
        for heading, said in list(figure.caption.items())[1:]:
            yield "<dt>%s</dt><dd>%s</dd>" % (text(heading), text(said))
        yield '</dl><a href="%s">as text</a></details></figcaption></figure>' % quoted(
            captions.path_of(figure.path), folder)
    yield "</div>"


def speedups_of(selection, found):
    """The table of speed-ups; None where there is nothing to compare with."""
    try:
        return tables.speedups(selection, found)
    except records.NoData:
        return None


def set_html(selection, found, speedups, figures, folder):
    """Everything of one set of cases."""
    rows = selection.rows + selection.left
    yield '<details class="set" data-cases="%d"><summary><b>%s</b>%s, %s, %d without a usable result' \
        "</summary>" % (len(rows), text(selection.about), words.counted(
            len({row["matrix"] for row in rows}), "matrix", many="matrices"),
            words.counted(len(rows), "case"), len(selection.left))
    notes = common.footnotes(selection, left=False)
    if notes:
        yield '<p class="said">%s</p>' % text(" ".join(notes))
    of_sparse = tables.memory(selection) if selection.rows[0]["made"] else None
    for table in (speedups, tables.library_versions(selection), of_sparse):
        if table:
            yield from table_html(table)
    yield from figures_html(figures, folder)
    times = tables.matrices(selection, found)
    yield from table_html(times._replace(title="Times of every matrix (ms, medians)"), "matrices")
    yield from table_html(tables.failures(selection))
    yield "</details>"


def overview(parts):
    """One table of the geometric means of every set: series down, sets across. parts: [(what tells the
    set from others, its series, its table)]"""
    heads, lines = [], {}
    for about, found, table in parts:
        heads.append("%s, × %s" % (about, table.head[2].split(" × ", 1)[1]))
        for name, count, mean, *_ in table.lines:
            if name in found:
                lines.setdefault(name, {})[len(heads) - 1] = mean._replace(
                    text="%s (%d)" % (mean.text, count))
    return tables.Table(
        "Speed-ups: geometric means, over so many matrices", 1, ("algorithm", *heads),
        [(name, *(of.get(at, "") for at in range(len(heads)))) for name, of in lines.items()],
        ["Over 1 is faster than what the speed-ups are over. Medians, intervals, wins and losses are "
         "in the tables of each set. Means over different matrices do not compare."])


def short(fields, values, varying):
    """What tells a set from the others of its operation."""
    said = ("%s = %s" % (name, value) if isinstance(value, int) else str(value)
            for name, value in zip(fields, values) if name in varying and value is not None)
    return ", ".join(said) or "all"


def operation_html(op, sets, fields, figures, folder):
    """sets: {values of the fields: rows} of one operation."""
    yield '<h2 id="%s">%s</h2>' % (text(op), text(op))
    varying = {name for i, name in enumerate(fields)
               if len({values[i] for values in sets}) > 1}
    whole = [figure for figure in figures if not any(
        all(figure.fields.get(name) == value for name, value in zip(fields, values))
        for values in sets)]
    bodies, parts = [], []
    for values, rows in sets.items():
        try:
            selection = common.select(rows)
        except records.NoData as why:
            bodies.append(["<p>%s: %s.</p>" % (text(short(fields, values, varying)), text(why))])
            continue
        main = common.without_curve(selection)
        found = series.series(main.rows)
        speedups = speedups_of(main, found)
        if speedups:
            parts.append((short(fields, values, varying), found, speedups))
        here = [figure for figure in figures if all(
            figure.fields.get(name) == value for name, value in zip(fields, values))]
        bodies.append(set_html(selection, series.series(selection.rows), speedups, here, folder))
    if parts:
        yield from table_html(overview(parts))
    yield from figures_html(whole, folder)
    for body in bodies:
        yield from body


def head_html(rows, figures):
    """What the page is of."""
    status = Counter(row["status"] for row in rows)
    envs = list({id(row["env"]): row["env"] for row in rows}.values())
    yield "<h1>spbench: %s</h1>" % text(captions.each(row["device"] for row in rows))
    yield '<p class="said">%s</p>' % text(
        "%s of %s: %s. Measured %s (UTC). Libraries: %s. %s. Files: %s." % (
            words.counted(len(rows), "case"),
            words.counted(len({row["matrix"] for row in rows}), "matrix", many="matrices"),
            ", ".join("%s %s" % ("{:,}".format(count), name) for name, count in status.most_common()),
            captions.dates_text(envs),
            captions.each(sorted({row["library"] for row in rows if row["library"]})) or "none",
            words.counted(len(figures), "figure"),
            captions.each(sorted({row["source"] for row in rows}))))
    yield '<div id="find"><label>Find a matrix: <input type="search" autocomplete="off"></label> ' \
        '<span id="hits" role="status"></span></div>'
    ops = dict.fromkeys(row["op"] for row in rows)
    yield "<p>%s</p>" % " · ".join('<a href="#%s">%s</a>' % (text(op), text(op)) for op in ops)


def rank(values):
    """The place of a set: numbers in their order, words in theirs."""
    return [(value is None, isinstance(value, str), value if value is not None else 0)
            for value in values]


def page(rows, figures, folder):
    """The lines of the page; links are from this folder."""
    yield '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width"><title>spbench: results</title>'
    yield "<style>\n%s</style></head>\n<body>" % part("page.css")
    yield from head_html(rows, figures)
    for op in dict.fromkeys(row["op"] for row in rows):
        here = [row for row in rows if row["op"] == op]
        fields = common.fields_of(here)
        sets, of_scans = common.thinned(common.groups(here, fields), fields)
        sets = {values: sets[values] for values in sorted(sets, key=rank)}
        mine = [figure for figure in figures if figure.fields["op"] == op]
        yield from operation_html(op, sets, fields, mine, folder)
        if of_scans:
            yield "<p>%s of a scan of one number: see the figure of times against it.</p>" % \
                words.counted(of_scans, "more set")
    yield "<script>\n%s</script>\n</body></html>" % part("page.js")


def write(path, rows, figures):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for line in page(rows, figures, folder):
            file.write(line + "\n")
