// Output of a report: stdout, or a file that the report replaces.
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include <stdio.h>

#include "cli/options/options.h"

// Refuses an output file that is an input or holds records.
int report_output_check(const struct options *o);
// Calls `write` with the stream of -o, or stdout.
int report_output_write(const struct options *o, int (*write)(FILE *out, const void *arg),
                        const void *arg);

#endif
