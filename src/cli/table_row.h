// The text of one row of the table, in three parts.
#ifndef TABLE_ROW_H
#define TABLE_ROW_H

#include <stdio.h>

#include "cli/columns.h"
#include "cli/table.h"

#define TABLE_NAME_MAX 256
// Name of the row of a case: the algorithm and some of its options. These are the options in which
// its cases with the same inputs differ.
const char *table_name(const struct table *t, const struct bench_case *c,
                       char text[TABLE_NAME_MAX]);
bool table_has_column(const struct table *t, enum column_id c);
// Prints a cell behind two blanks.
void table_put_cell(FILE *out, enum column_id c, const char *text);
// A cell for each axis that has a column. c NULL: the heads.
void table_put_axes(FILE *out, const struct table *t, const struct bench_case *c);

// Returns true if the row has numbers; else it has words in their place.
static inline bool table_row_is_timed(const struct result *r)
{
    return r->status == STATUS_OK && r->timed;
}
// Columns behind the name: device, precision, axes and times.
void table_row_head(FILE *out, const struct table *t, const struct result *r);
// Columns that compare the case with others.
void table_row_compared(FILE *out, const struct table *t, const struct rank_case *x);
// Rates, figures and the check, then the lines below the row.
void table_row_tail(FILE *out, const struct table *t, const struct result *r);

#endif
