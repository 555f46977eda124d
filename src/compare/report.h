// What is printed of a comparison, in each of the formats.
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "compare/compare.h"

// To add one: a file report_NAME.c, a line here, a row in report.c.
int report_table(FILE *out, const struct comparison *c);
int report_markdown(FILE *out, const struct comparison *c);
int report_json(FILE *out, const struct comparison *c);
int report_junit(FILE *out, const struct comparison *c);
int report_gab(FILE *out, const struct comparison *c);
int report_bmf(FILE *out, const struct comparison *c);

struct report_format {
    const char *name;
    int (*write)(FILE *out, const struct comparison *c);
};
// All of them; the last has no name.
extern const struct report_format report_formats[];

// For their files: a time or a rate in four digits, or "-".
const char *report_number(double x, char text[32]);
// "1.052 (1.031 to 1.074)", "-" where nothing is known.
const char *report_ratio(const struct compared *x, char text[64]);
#define SOURCE_MAX (FAIL_TEXT_MAX + 256)
// "old.jsonl (1b76f4a, NVIDIA H200)".
const char *report_source(const struct comparison *c, enum side side, char text[SOURCE_MAX]);
// The summary, a line each, without what only tables say; the text of `mark` in front.
void report_summary(FILE *out, const struct comparison *c, const struct compared_names *names,
                    const char *mark);
// GFLOPS of NEW, of a case that has no times in OLD as well; NAN: none.
double report_gflops(const struct compared *x);
// By how much that may be off, as a share of it: half of its 95 % interval. NAN: not known.
double report_range(const struct compared *x);

#endif
