// The summary of several matrices, as run, sweep and report print it.
#ifndef SUMMARY_PRINT_H
#define SUMMARY_PRINT_H

#include "cli/grid.h"
#include "compare/summary.h"

// "spmm f32 k=64 layout=row, NVIDIA H200, revision 542d49d".
#define SUMMARY_TITLE_MAX 512
const char *summary_title(const struct summary_table *t, char text[SUMMARY_TITLE_MAX]);
// A line for each algorithm, and one that says what the baseline and the mean are.
int summary_print(FILE *out, const struct summary_table *t, enum grid_style style);
// The summaries of all tables of several matrices and algorithms, each with its title: for the end
// of a run or of a sweep.
int summary_print_all(FILE *out, const struct summaries *s);

#endif
