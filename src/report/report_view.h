// Output formats of report.
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include <stdio.h>

#include "report/collect.h"

struct report_view {
    const struct collected *c;
    const struct summaries *s;
    const int64_t *cases; // index into c->cases, by row
    enum summary_sort sort;
};

int view_table(FILE *out, const struct report_view *v);
int view_markdown(FILE *out, const struct report_view *v);
int view_csv(FILE *out, const struct report_view *v);
int view_json(FILE *out, const struct report_view *v);

// Returns the case of line i on matrix j; NULL: none.
const struct collected_case *view_case(const struct report_view *v, const struct summary_table *t,
                                       int64_t i, int64_t j);
// Sets rows, columns and nonzeros from the size in the key. Returns false if the size is unknown.
bool view_size(const char *size_name, long long size[3]);
// Splits "k=64" off the inputs at *p. Returns false at the end. The first word, the precision, has
// no name.
#define VIEW_INPUT_MAX 64
bool view_input(const char **p, char name[VIEW_INPUT_MAX], char value[VIEW_INPUT_MAX]);

#endif
