// The options that a sweep alone has: what their rows in the table of options.c call.
#ifndef OPTIONS_SWEEP_H
#define OPTIONS_SWEEP_H

#include "program/options_table.h"

int parse_timeout(struct options *o, const struct option *self, const char *text);
int parse_mem_limit(struct options *o, const struct option *self, const char *text);
int parse_shard(struct options *o, const struct option *self, const char *text);
int parse_missing(struct options *o, const struct option *self, const char *text);
int parse_sets(struct options *o, const struct option *self, const char *text);
int parse_folder(struct options *o, const struct option *self, const char *text);
int parse_libraries(struct options *o, const struct option *self, const char *text);

#endif
