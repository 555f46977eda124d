// Reports of records: tables of matrices and summaries, as text and Markdown (view.c), as CSV and
// JSON (view_data.c). `run` prints the table of a matrix when the matrix is finished.
#ifndef VIEW_H
#define VIEW_H

#include <stdio.h>

#include "report/columns.h"
#include "report/grid.h"

struct report_view {
    struct collected c;
    struct summaries s; // made by view_make()
    enum summary_sort sort;
    bool verbose; // more columns, and details below the table
    bool back;    // a column and a line for back-to-back times
};

// Makes the tables of the records in v->c: chooses records, adds the cases of the matrices that
// match `matrices` (NULL: all), and sums up. May be called again after more records of other cases.
int view_make(struct report_view *v, const char *matrices, const struct summary_rule *rule);
void view_free(struct report_view *v);

// Print all tables and summaries.
int view_table(FILE *out, const struct report_view *v);
int view_markdown(FILE *out, const struct report_view *v);
int view_csv(FILE *out, const struct report_view *v);
int view_json(FILE *out, const struct report_view *v);
// Prints the tables of one matrix as text. Prints nothing if the matrix has no case.
int view_matrix(FILE *out, const struct report_view *v, const char *matrix);
// Prints the number of cases on a busy machine, of cases out of order, and the reason why there are
// no counters.
void view_warnings(FILE *out, const struct report_view *v);

#endif
