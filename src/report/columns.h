// The list of all columns. Tables as text and Markdown, CSV, JSON, `help columns`, the manual page
// and docs/columns.md are loops over this list.
//
// To add a column: a row in columns.c. A field that records do not have yet also needs a line in
// records/record.c and in records/record.schema.json.
#ifndef COLUMNS_H
#define COLUMNS_H

#include "report/table_row.h"

// Condition under which a table of text or Markdown shows a column with a head.
enum column_when {
    WHEN_ALWAYS,
    WHEN_VARIES,   // only with EACH_INPUT: the input differs between tables or is no default
    WHEN_KNOWN,    // only with `value`: a row has one
    WHEN_COMPARED, // the baseline is a vendor's or a named one
    WHEN_VERBOSE,  // with -v
    WHEN_BACK,     // with -time back-to-back
};
// Entries of columns[] that expand to a column for each input of a case, or for each stat of an
// operation. `key` of the row has the name of that input or stat.
enum column_each { EACH_ONE, EACH_INPUT, EACH_NUMBER };

struct column {
    const char *name; // in CSV and JSON; of EACH_INPUT and EACH_NUMBER the key of the row
    const char *head; // in tables; NULL: only in CSV and JSON
    enum column_when when;
    enum column_each each;
    // Functions of the value, one of them NULL. NAN or NULL: no value. `text` may write into
    // row->room.
    double (*value)(struct table_row *row);
    const char *(*text)(struct table_row *row);
    // Writes the value of a cell; needed if the column has `head` and `value`.
    const char *(*format)(double x, char text[32]);
    // Returns true if the value is made of a time with DOUBT_TIME. NULL: never.
    bool (*doubt)(struct table_row *row);
    const char *about, *formula, *good; // `good`: the better direction; NULL: none
};
extern const struct column columns[]; // of cases; size column_count
extern const int column_count;
extern const struct column summary_columns[]; // of lines of a summary
extern const int summary_column_count;

// A column of a table, for one input or stat.
struct shown_column {
    const struct column *c;
    const char *name, *head; // head NULL: only in CSV and JSON
    bool words;              // left-aligned
};
#define SHOWN_COLUMNS 64
#define INPUTS_MAX    16
struct column_set {
    struct shown_column list[SHOWN_COLUMNS];
    int count;
    char inputs[INPUTS_MAX][INPUT_MAX]; // names of the inputs
    int input_count;
};
// Makes the list of all columns of the tables [first, end) of `s`.
void column_set_make(struct column_set *set, const struct summaries *s, int first, int end);
// Makes the list of the columns of lines of a summary.
void column_set_summary(struct column_set *set);
// Return the value of a row in a column.
double column_value(const struct shown_column *x, struct table_row *row);
const char *column_text(const struct shown_column *x, struct table_row *row);
// Returns the cell of a table: the text, or the value in its format. Valid until the next call.
const char *column_cell(const struct shown_column *x, struct table_row *row);

// A row of `help columns` and of the manual page.
struct column_help {
    const char *head, *about, *formula, *good; // the last two NULL: none
    const char *name;                          // in CSV and JSON; NULL: the same as the head
};
// Calls group() with each heading and show() with each row below it.
void columns_each(void (*group)(const char *title), void (*show)(const struct column_help *s));

#endif
