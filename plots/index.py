"""The index page: the fastest algorithms, with speed-ups and matrices, in one file of plain HTML. The
page needs no other file but the images. A click on a head sorts a table, a field finds a matrix.

Text of records passes text() on its way to the page, a path passes quoted().
"""

import html
import os
from collections import Counter, namedtuple
from urllib.parse import quote

import captions
import common
import marks
import overview
import precs
import records
import series
import tables
import words

# A figure: the path of its image, and its caption.
Figure = namedtuple("Figure", "path caption")
HERE = os.path.dirname(os.path.abspath(__file__))
WORD_WIDE = 40  # characters, from which a column of words may be broken


def text(value):
    """Returns the text for the page: visible characters, markup escaped."""
    value = str(value)
    return html.escape(words.visible(value) if value else value)


def quoted(path, folder):
    """Returns a link to this path from a page in the folder."""
    return html.escape(quote(os.path.relpath(path, folder or ".")))


def part(name):
    """Returns the style or the script of the page."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def cell_html(cell, word):
    """Returns a cell. `word`: the cell is in a column of words that the class of the table does not
    name."""
    if not isinstance(cell, tables.Cell):
        cell = tables.Cell(str(cell))
    kind = " ".join(["word"] * word + ["best"] * cell.best +
                    ["long"] * (word and len(cell.text) > WORD_WIDE))
    return "<td%s>%s</td>" % (' class="%s"' % kind if kind else "", text(cell.text))


def table_html(table, kind=""):
    """Returns a table of tables.py, with a row of heads that can be clicked."""
    is_word = [i >= table.text and head in tables.WORDS for i, head in enumerate(table.head)]
    yield '<div%s><h3>%s</h3>' % ("" if kind else ' class="rest"', text(table.title))
    yield '<div class="wide"><table class="words%d%s"><thead><tr>' % (table.text, kind and " " + kind)
    yield "".join('<th scope="col"%s>%s</th>' % (' class="word"' * word, text(head))
                  for word, head in zip(is_word, table.head))
    yield "</tr></thead><tbody>"
    for line in table.lines:
        yield "<tr>%s</tr>" % "".join(map(cell_html, line, is_word))
    yield "</tbody></table></div>"
    if table.said:
        yield '<p class="said">%s</p>' % text(" ".join(table.said))
    yield "</div>"


def folded(summary, body, more=""):
    """Returns the lines of the body, folded below a summary; nothing without lines. `more`:
    attributes."""
    lines = list(body)
    if lines:
        yield "<details%s><summary>%s</summary>" % (more, summary)
        yield from lines
        yield "</details>"


def figures_html(figures, folder):
    if not figures:
        return
    yield '<div class="rest"><h2>Figures</h2><div class="figures">'
    for figure in figures:
        link, title = quoted(figure.path, folder), text(figure.caption["Figure"])
        image = '<img loading="lazy" src="%s" alt="%s">' % (link, title)
        yield '<figure><a href="%s">%s</a>' % (link, "PDF" if link.endswith(".pdf") else image)
        yield '<figcaption>%s (<a href="%s">caption</a>)</figcaption></figure>' % (
            title, quoted(captions.path_of(figure.path), folder))
    yield "</div></div>"


def answer(panel):
    """Returns the sentences of the answer for the panel of an operation, as HTML."""
    ratios = list(panel.speed.values())
    least, most = (of(panel.speed, key=panel.speed.get) for of in (min, max))
    cases = panel.found[panel.name]
    vendor = series.vendor_in(panel.found)
    said = "<b>%s: %s is %s× as fast as %s%s</b> (%s). " % (
        text(words.operation(panel.op)), text(panel.name), words.times(common.geomean(ratios)),
        text(overview.over_text(panel)), "" if vendor else " (%s)" % text(panel.base),
        text("; ".join(["geometric mean of %s" % words.counted(len(ratios), "matrix", many="matrices"),
                        words.case(panel.rows[0]), *overview.marks_of(panel)])))
    said += "Median %s×, least %s× (%s), greatest %s× (%s)." % (
        words.times(common.median(ratios)), words.times(panel.speed[least]), text(least[0]),
        words.times(panel.speed[most]), text(most[0]))
    choices = captions.counts(row["stats"].get("picked") for row in cases.values())
    if choices:
        said += " %s chose %s." % (text(panel.name), text(choices))
    return said


def head_html(rows, panels):
    """Returns the head of the page: a sentence for each operation, and the chart."""
    yield "<h1>Which sparse kernel is the fastest on %s?</h1>" % text(
        captions.each(row["device"] for row in rows))
    ok = [row for row in rows if row["status"] == "ok"]
    busy = sum(row["busy"] for row in ok)
    if busy:
        yield '<p class="answer"><b>Other programs used the processors during {:,} of {:,} cases.</b> Their times may be too ' \
            "long: measure on an idle machine, or with <code>-threads 1</code>.</p>".format(busy, len(ok))
    for panel in panels:
        yield '<p class="answer">%s</p>' % answer(panel)
    if panels:
        yield '<div class="chart">'
        yield from overview.svg(panels)
        yield "</div>"
        yield '<p class="said">%s</p>' % text(marks.LEGEND)
    else:
        yield "<p>Nothing to compare: one algorithm alone, or none, has usable results.</p>"


def find_html(rows):
    """Returns the search field, and below it the table of the fastest algorithm of every matrix."""
    yield '<div id="find"><label>Find a matrix: <input type="search" autocomplete="off"></label> ' \
        '<span id="hits" role="status"></span></div>'
    table = tables.winners(rows)
    yield from folded("The fastest algorithm of each of %s" % words.counted(
        len(table.lines), "matrix and case", many="matrices and cases"), table_html(table, "winners"),
        ' id="winners"')


def set_html(selection):
    """Returns the tables of one set of cases."""
    main, rows = common.without_curve(selection), selection.rows + selection.left
    found = series.series(main.rows)
    notes = common.footnotes(selection, left=False)
    try:
        notes += tables.about_base(main, found, series.baseline(found))
    except records.NoData:
        pass  # nothing to compare with
    if notes:
        yield '<p class="said">%s</p>' % text(" ".join(notes))
    table = tables.memory(selection) if rows[0]["made"] else None
    if table:
        yield from table_html(table)
    yield from table_html(tables.matrices(selection, series.series(selection.rows)), "matrices")
    yield from table_html(tables.failures(selection))


def ranking_html(ranking):
    yield from table_html(ranking.table)
    if ranking.variants.lines:
        yield from folded("Variants: tuned forms, options, single library calls",
                          table_html(ranking.variants), ' class="rest"')


def operation_html(rows):
    """Returns the rankings of one operation of a device, and the tables of each set of cases below."""
    yield '<h2 id="%s">%s: %s</h2>' % (text(rows[0]["op"]), text(words.operation(rows[0]["op"])), text(
        (rows[0]["env"].get("operation") or {}).get("formula") or rows[0]["device"]))
    fields = common.fields_of(rows)
    sets, of_scans = common.thinned(common.groups(rows, fields), fields)
    newest = max(rows, key=lambda row: row["date"])["revision"]
    for ranking in tables.rankings(list(sets.values())):
        body = ranking_html(ranking)
        yield from body if ranking.revision == newest else folded(
            "Measured with revision %s (%s): %s" % (text(ranking.revision), text(ranking.date), text(
                "; ".join(ranking.table.head[1:]))), body,
            ' class="rest"')
    for values in sorted(sets, key=place):
        group = sets[values]
        head = '<b>%s</b> %s, %s, %d without a usable result' % (
            text(tables.head_of(group[0])), words.counted(
                len({row["matrix"] for row in group}), "matrix", many="matrices"),
            words.counted(len(group), "case"), sum(row["status"] != "ok" for row in group))
        try:
            body = list(set_html(common.select(group)))
        except records.NoData as why:
            body = ["<p>%s.</p>" % text(why)]
        yield from folded(head, body, ' class="set" data-cases="%d"' % len(group))
    if of_scans:
        yield "<p>%s, of a scan of one number: see the figure of times against it.</p>" % \
            words.counted(of_scans, "more case", many="more cases")


def place(values):
    """Returns the sort key of a set: numbers, precisions and words in their order, None last."""
    return [(value is None, isinstance(value, str), precs.place(value) if isinstance(value, str) else value or 0)
            for value in values]


def foot_html(rows):
    """Returns the foot of the page: cases, dates, revisions, libraries and files."""
    status = Counter(row["status"] for row in rows)
    envs = list({id(row["env"]): row["env"] for row in rows}.values())
    yield "<h2>About these results</h2><p class=\"said\">%s</p>" % text(
        "%s of %s: %s. Measured %s (UTC). Revisions of spbench: %s. Libraries: %s. Files: %s." % (
            words.counted(len(rows), "case"),
            words.counted(len({row["matrix"] for row in rows}), "matrix", many="matrices"),
            ", ".join("%s %s" % ("{:,}".format(count), name) for name, count in status.most_common()),
            captions.dates_text(envs), captions.each(row["revision"] for row in rows) or "not said",
            captions.each(sorted({row["library"] for row in rows if row["library"]})) or "none",
            captions.each(sorted({row["source"] for row in rows}))))


def page(rows, figures, folder):
    """Returns the lines of the page; links are from this folder."""
    yield '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width"><title>spbench: results</title>'
    yield "<style>\n%s</style></head>\n<body>" % part("page.css")
    panels = overview.panels_of(rows)
    yield from head_html(rows, panels)
    yield from find_html(rows)
    groups = common.groups(rows, common.BEFORE)
    for of in sorted(groups, key=lambda of: -len(groups[of])):
        yield from operation_html(groups[of])
    yield from figures_html(figures, folder)
    yield from foot_html(rows)
    yield "<script>\n%s</script>\n</body></html>" % part("page.js")


def write(path, rows, figures):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for line in page(rows, figures, folder):
            file.write(line + "\n")
