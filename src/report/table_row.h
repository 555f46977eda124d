// A row of a table: a case with its record, or a line of a summary. Columns (columns.h) take their
// values from a row.
#ifndef TABLE_ROW_H
#define TABLE_ROW_H

#include "report/collect.h"

struct table_row {
    const struct summary_table *table;
    int64_t line, matrix;           // indices in the table; matrix -1: a line of a summary
    const struct summary_row *cell; // NULL: a line of a summary, as are the next three
    const struct collected_case *x;
    const struct record_algo *facts; // description of the algorithm; NULL: not known
    cJSON *json;                     // the record without its samples; owned
    const char *key;                 // name of the input or stat of the column
    char room[FAIL_TEXT_MAX];        // for texts that a column makes
};

// Fills the row of a line on a matrix; row->x is NULL if there is no such case. table_row_free()
// frees the row.
int table_row_make(struct table_row *row, const struct collected *c, const struct summary_table *t,
                   int64_t line, int64_t matrix);
void table_row_free(struct table_row *row);

// Return a field of an object of the record, such as "time_ms"; NAN and NULL: there is no such
// field. Without an object (NULL) table_row_number() takes the field of the record itself, and
// table_row_text() returns NULL.
double table_row_number(const struct table_row *row, const char *object, const char *field);
const char *table_row_text(const struct table_row *row, const char *object, const char *field);
// Returns the field of the record; NULL: there is none.
const cJSON *table_row_field(const struct table_row *row, const char *field);
// Returns true if the case has a time.
bool table_row_is_timed(const struct table_row *row);

// Splits "k=64" off the inputs at *p. Returns false at the end. The first word, the precision, has
// the name "prec".
#define INPUT_MAX 64
bool input_next(const char **p, char name[INPUT_MAX], char value[INPUT_MAX]);
// Finds an input by its name. Returns false if there is none.
bool input_find(const char *inputs, const char *name, char value[INPUT_MAX]);

#endif
