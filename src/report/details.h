// Lines of -v: fields of a record that are in no column of a table.
#ifndef DETAILS_H
#define DETAILS_H

#include <stdio.h>

#include "report/table_row.h"

// Prints how the matrix of the row was read.
void details_matrix(FILE *out, const struct table_row *row);
// Prints samples, preparation, memory, counters, phases and predictions of a case.
void details_row(FILE *out, const struct table_row *row);
// Prints the version, and a line for each device of an environment record with its ceilings: the
// main device, and devices of the cases with these key prefixes. "f32" follows if all cases have
// that precision.
int details_head(FILE *out, const char *environment, const char *const *prefixes, int64_t count);

#endif
