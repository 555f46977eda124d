// Prints the summary of several matrices for run, sweep and report.
#ifndef SUMMARY_PRINT_H
#define SUMMARY_PRINT_H

#include "report/grid.h"
#include "report/summary.h"

#define SUMMARY_TITLE_MAX 512
// Prints a heading, a line per algorithm, and a line about the baseline and the mean.
int summary_print(FILE *out, const struct summary_table *t, enum grid_style style);
// Prints the summary of each table with several matrices and algorithms, for the end of a run or
// sweep.
int summary_print_all(FILE *out, const struct summaries *s);

#endif
