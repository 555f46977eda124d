// Text of a table row, in three parts.
#ifndef TABLE_ROW_H
#define TABLE_ROW_H

#include <stdio.h>

#include "report/columns.h"
#include "report/table.h"

#define TABLE_NAME_MAX 256
// Writes the name of a row: the algorithm and the options in which cases with the same inputs
// differ.
const char *table_name(const struct table *t, const struct bench_case *c,
                       char text[TABLE_NAME_MAX]);
bool table_has_column(const struct table *t, enum column_id c);
// Prints a cell after two blanks.
void table_put_cell(FILE *out, enum column_id c, const char *text);
// Prints a cell for each axis with a column, or the heads if c is NULL.
void table_put_axes(FILE *out, const struct table *t, const struct bench_case *c);

// Returns true if the row has numbers; else it has words in their place.
static inline bool table_row_is_timed(const struct result *r)
{
    return r->status == STATUS_OK && r->timed;
}
// Prints the columns up to the times: name, device, precision, axes.
void table_row_head(FILE *out, const struct table *t, const struct result *r);
// Prints the columns that compare the case with others.
void table_row_compared(FILE *out, const struct table *t, const struct rank_case *x);
// Prints rates, figures and the check, then the lines below the row.
void table_row_tail(FILE *out, const struct table *t, const struct result *r);

#endif
