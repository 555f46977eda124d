// The options of a run, which others take as well: what their rows in the table of options.c call.
#ifndef OPTIONS_RUN_H
#define OPTIONS_RUN_H

#include "program/options_table.h"

int parse_op(struct options *o, const struct option *self, const char *text);
int parse_alg(struct options *o, const struct option *self, const char *text);
int parse_prec(struct options *o, const struct option *self, const char *text);
int parse_device(struct options *o, const struct option *self, const char *text);
int parse_reps(struct options *o, const struct option *self, const char *text);
int parse_warmup(struct options *o, const struct option *self, const char *text);
int parse_time_limit(struct options *o, const struct option *self, const char *text);
int parse_cache(struct options *o, const struct option *self, const char *text);
int parse_launch(struct options *o, const struct option *self, const char *text);
int parse_time(struct options *o, const struct option *self, const char *text);
int parse_check(struct options *o, const struct option *self, const char *text);
int parse_setting(struct options *o, const struct option *self, const char *text);
int parse_threads(struct options *o, const struct option *self, const char *text);
int parse_seed(struct options *o, const struct option *self, const char *text);
int parse_output(struct options *o, const struct option *self, const char *text);

#endif
