// Output formats of a comparison.
#ifndef VERDICT_TEXT_H
#define VERDICT_TEXT_H

#include <stdio.h>

#include "compare/compare.h"

// To add a format: a file report_NAME.c, a line here, a row in report.c.
int verdict_table(FILE *out, const struct comparison *c);
int verdict_markdown(FILE *out, const struct comparison *c);
int verdict_json(FILE *out, const struct comparison *c);
int verdict_junit(FILE *out, const struct comparison *c);

struct verdict_format {
    const char *name;
    int (*write)(FILE *out, const struct comparison *c);
};
// All formats; the last has no name.
extern const struct verdict_format verdict_formats[];

// Writes a time or a rate in four digits, or "-".
const char *verdict_number(double x, char text[32]);
// Writes "1.052 (1.031 to 1.074)", or "-" without an estimate.
const char *verdict_ratio(const struct compared *x, char text[64]);
#define SOURCE_MAX (FAIL_TEXT_MAX + 256)
// Writes "old.jsonl (1b76f4a, NVIDIA H200)".
const char *verdict_source(const struct comparison *c, enum side side, char text[SOURCE_MAX]);
// Prints the summary, one line each with `mark` in front. Lines that only tables need are left out.
void verdict_counts_print(FILE *out, const struct comparison *c, const struct compared_names *names,
                          const char *mark);

#endif
