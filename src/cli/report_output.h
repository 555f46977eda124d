// The output of a report: stdout, or a file that the report replaces whole.
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include <stdio.h>

#include "cli/options/options.h"

// Refuses to write the report over a file that is read, or over records.
int report_output_check(const struct options *o);
// Calls `write` with the stream of -o.
int report_output_write(const struct options *o, int (*write)(FILE *out, const void *arg),
                        const void *arg);

#endif
