// The options that report has of its own: parsers for rows of the table in options.c.
#ifndef OPTIONS_REPORT_H
#define OPTIONS_REPORT_H

#include "program/options_table.h"

extern const char *const sort_words[]; // ended by a NULL

int report_parse_matrix(struct options *o, const struct option *self, const char *text);
int report_parse_baseline(struct options *o, const struct option *self, const char *text);
int report_parse_sort(struct options *o, const struct option *self, const char *text);

#endif
