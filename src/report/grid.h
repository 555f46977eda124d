// Table of texts, printed as text, Markdown or CSV.
#ifndef GRID_H
#define GRID_H

#include <stdio.h>

#include "base/base.h"

#define GRID_COLUMNS 64 // maximum number of columns

enum grid_style { GRID_TEXT, GRID_MARKDOWN, GRID_CSV };

struct grid {
    const char *heads[GRID_COLUMNS]; // owned by the caller
    bool left[GRID_COLUMNS];         // left-aligned: words, not numbers
    int columns;
    char **cells; // row by row, owned; capacity `room`
    int64_t count, room;
    bool lost; // out of memory: grid_print() returns the error
};

void grid_column(struct grid *g, const char *head, bool left);
// Adds a cell to the row. Copies the text.
void grid_cell(struct grid *g, const char *text);
// Prints and frees all rows. Control characters become \n or \x1b. Markdown characters get a
// backslash. CSV cells get quotes, and an apostrophe before a word that a spreadsheet would read as
// a formula.
int grid_print(struct grid *g, FILE *out, enum grid_style style);
// Frees all rows without printing them.
void grid_free(struct grid *g);
// Prints a text escaped for the style.
void grid_text(FILE *out, const char *text, enum grid_style style);

#endif
