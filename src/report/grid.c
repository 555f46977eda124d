#include "report/grid.h"

#include <string.h>

#include "base/markup.h"
#include "base/utf8.h"

#define FIRST  64
#define INDENT 2 // indentation of text tables

void grid_column(struct grid *g, const char *head, bool left)
{
    if (g->columns == GRID_COLUMNS) bug("%s: a column too many", head);
    g->heads[g->columns] = head;
    g->left[g->columns++] = left;
}

static char *copy(const char *text)
{
    char shown[FAIL_TEXT_MAX];
    utf8_visible(text, shown, sizeof shown);
    char *cell = mem_alloc((int64_t)strlen(shown) + 1, 1);
    return cell ? strcpy(cell, shown) : NULL;
}

void grid_cell(struct grid *g, const char *text)
{
    if (g->count == g->room && !g->lost) {
        int64_t more = g->room ? 2 * g->room : FIRST;
        char **cells = mem_resize(g->cells, g->room, more, sizeof *cells);
        if (cells) g->cells = cells, g->room = more;
        g->lost = !cells;
    }
    if (g->lost) return;
    g->cells[g->count] = copy(text);
    g->lost = !g->cells[g->count];
    g->count += !g->lost;
}

// Returns the number of characters of a text, not bytes.
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++) width += (*text & 0xc0) != 0x80;
    return width;
}

static bool is_formula(const char *text) { return *text && strchr("=+-@", *text); }

static void put_csv(FILE *out, const char *text, bool word)
{
    bool guarded = word && is_formula(text);
    if (!guarded && !strpbrk(text, ",\"")) {
        fputs(text, out);
        return;
    }
    fputs(guarded ? "\"'" : "\"", out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void grid_text(FILE *out, const char *text, enum grid_style style)
{
    char shown[FAIL_TEXT_MAX];
    utf8_visible(text, shown, sizeof shown);
    if (style == GRID_MARKDOWN)
        markup_markdown(out, shown);
    else if (style == GRID_CSV)
        put_csv(out, shown, true);
    else
        fputs(shown, out);
}

// Prints a row as text. A last column of words is not padded.
static void print_text(const struct grid *g, FILE *out, const char *const *cells, const int *width)
{
    fprintf(out, "%*s", INDENT, "");
    for (int c = 0; c < g->columns; c++) {
        int blanks = width[c] - width_of(cells[c]);
        bool last = c + 1 == g->columns;
        if (c) fputs("  ", out);
        fprintf(out, "%*s%s%*s", g->left[c] ? 0 : blanks, "", cells[c],
                g->left[c] && !last ? blanks : 0, "");
    }
    fputc('\n', out);
}

static void print_markdown(const struct grid *g, FILE *out, const char *const *cells)
{
    for (int c = 0; c < g->columns; c++) {
        fputs(c ? " | " : "| ", out);
        markup_markdown(out, cells[c]);
    }
    fputs(" |\n", out);
}

static void print_csv(const struct grid *g, FILE *out, const char *const *cells)
{
    for (int c = 0; c < g->columns; c++) {
        if (c) fputc(',', out);
        put_csv(out, cells[c], g->left[c]);
    }
    fputc('\n', out);
}

static void print_row(const struct grid *g, FILE *out, enum grid_style style,
                      const char *const *cells, const int *width)
{
    switch (style) {
    case GRID_TEXT: print_text(g, out, cells, width); break;
    case GRID_MARKDOWN: print_markdown(g, out, cells); break;
    case GRID_CSV: print_csv(g, out, cells); break;
    }
}

void grid_free(struct grid *g)
{
    for (int64_t i = 0; i < g->count; i++) mem_free(g->cells[i]);
    mem_free(g->cells);
    *g = (struct grid){0};
}

int grid_print(struct grid *g, FILE *out, enum grid_style style)
{
    int width[GRID_COLUMNS], err = g->lost ? ERR_MEMORY : OK;
    for (int c = 0; c < g->columns; c++) width[c] = width_of(g->heads[c]);
    for (int64_t i = 0; i < g->count; i++) {
        int *w = &width[i % g->columns];
        *w = (int)max64(*w, width_of(g->cells[i]));
    }
    if (!err) print_row(g, out, style, g->heads, width);
    if (!err && style == GRID_MARKDOWN) {
        for (int c = 0; c < g->columns; c++)
            fprintf(out, "%s%s", c ? " | " : "| ", g->left[c] ? "---" : "---:");
        fputs(" |\n", out);
    }
    for (int64_t i = 0; i < g->count && !err; i += g->columns)
        print_row(g, out, style, (const char *const *)g->cells + i, width);
    grid_free(g);
    return err;
}
