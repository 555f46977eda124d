// The options that compare and selftest have of their own: parsers for rows of the table in
// options.c.
#ifndef OPTIONS_COMPARE_H
#define OPTIONS_COMPARE_H

#include "program/options_table.h"

int compare_parse_format(struct options *o, const struct option *self, const char *text);
int compare_parse_threshold(struct options *o, const struct option *self, const char *text);
int compare_parse_plant(struct options *o, const struct option *self, const char *text);
int compare_parse_runs(struct options *o, const struct option *self, const char *text);
int compare_parse_until(struct options *o, const struct option *self, const char *text);
int compare_parse_budget(struct options *o, const struct option *self, const char *text);
int compare_parse_consecutive(struct options *o, const struct option *self, const char *text);
int compare_parse_ab(struct options *o, const struct option *self, const char *text);
int compare_parse_keep(struct options *o, const struct option *self, const char *text);

#endif
