// Output formats of a comparison.
#ifndef VERDICT_TEXT_H
#define VERDICT_TEXT_H

#include <stdio.h>

#include "compare/compare.h"
#include "report/grid.h"

// To add a format: a file verdict_NAME.c, a line here, a row in verdict_formats.c.
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

// Writes "1.052 (1.031 to 1.074)", or "-" without an estimate.
const char *verdict_ratio(const struct compared *x, char text[64]);
#define SOURCE_MAX (FAIL_TEXT_MAX + 256)
// Writes "old.jsonl (1b76f4a, NVIDIA H200)".
const char *verdict_source(const struct comparison *c, enum side side, char text[SOURCE_MAX]);
// Prints a table of the cases for which wanted() returns true.
int verdict_cases(FILE *out, const struct comparison *c, const struct compared_names *names,
                  bool (*wanted)(const struct compared *x), enum grid_style style);
// Prints the counts.
void verdict_counts_print(FILE *out, const struct comparison *c,
                          const struct compared_names *names);

#endif
