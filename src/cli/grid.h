// A table of texts, printed for people, as Markdown or as CSV.
#ifndef GRID_H
#define GRID_H

#include <stdio.h>

#include "base/base.h"

#define GRID_COLUMNS 40 // at most

enum grid_style { GRID_TEXT, GRID_MARKDOWN, GRID_CSV };

struct grid {
    const char *heads[GRID_COLUMNS]; // the caller's
    bool left[GRID_COLUMNS];         // a column of words, not of numbers
    int columns;
    char **cells; // by rows, owned; size room, count are there
    int64_t count, room;
    bool lost; // memory was lacking: grid_print() says so
};

void grid_column(struct grid *g, const char *head, bool left);
// The next cell of the row. The text is copied.
void grid_cell(struct grid *g, const char *text);
// Prints all rows, and frees them. Texts are escaped: control characters become \n or \x1b;
// Markdown gets a backslash before its own letters; CSV gets quotes, and an apostrophe before a
// word that a spreadsheet would take for a formula.
int grid_print(struct grid *g, FILE *out, enum grid_style style);
// A text by itself, escaped for the style.
void grid_text(FILE *out, const char *text, enum grid_style style);

#endif
