// The options that a sweep alone has: what their rows in the table of options.c call.
#ifndef OPTIONS_SWEEP_H
#define OPTIONS_SWEEP_H

#include "program/options_table.h"

// For options of any command: the one value of an option whose values are those of an axis ...
int parse_one(const struct axis *axis, const char *text, int64_t *value);
// ... and a time, from text in seconds.
int parse_seconds(const struct option *self, const char *text, double *ms);

int parse_timeout(struct options *o, const struct option *self, const char *text);
int parse_mem_limit(struct options *o, const struct option *self, const char *text);
int parse_shard(struct options *o, const struct option *self, const char *text);
int parse_missing(struct options *o, const struct option *self, const char *text);
int parse_sets(struct options *o, const struct option *self, const char *text);
int parse_folder(struct options *o, const struct option *self, const char *text);
int parse_libraries(struct options *o, const struct option *self, const char *text);
int parse_fresh(struct options *o, const struct option *self, const char *text);
int parse_resume(struct options *o, const struct option *self, const char *text);
int parse_retry(struct options *o, const struct option *self, const char *text);
int parse_plan_only(struct options *o, const struct option *self, const char *text);

#endif
