// Parsers of option values. The table of options names a parser for each option.
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

#include "cli/options/options_table.h"

// Parsers that store the value in the field of the option: a text that is not empty, a whole number
// from `least` to `most` as int or int64_t, the index of one of `words` as an enum, true for the
// second of two words, a time in ms, a percentage over 0 and up to `most`.
int parse_text(struct options *o, const struct option *self, const char *text);
int parse_whole(struct options *o, const struct option *self, const char *text);
int parse_large(struct options *o, const struct option *self, const char *text);
int parse_choice(struct options *o, const struct option *self, const char *text);
int parse_second(struct options *o, const struct option *self, const char *text);
int parse_seconds(struct options *o, const struct option *self, const char *text);
int parse_percent(struct options *o, const struct option *self, const char *text);

// Parsers of single options.
int parse_op(struct options *o, const struct option *self, const char *text);
// Parsers of lists append the values that are new. The first text replaces the default.
int parse_alg(struct options *o, const struct option *self, const char *text);
int parse_prec(struct options *o, const struct option *self, const char *text);
int parse_device(struct options *o, const struct option *self, const char *text);
int parse_time_limit(struct options *o, const struct option *self, const char *text);
// Returns true for the name of a file of -plugin.
bool is_plugin_name(const char *word);
int parse_plugin(struct options *o, const struct option *self, const char *text);
// Parses name=value, with further values of the same name: rows=32,64,stage=8.
int parse_opt(struct options *o, const struct option *self, const char *text);
int parse_cubin(struct options *o, const struct option *self, const char *text);

// Appends the values of `text` that are new. The first text replaces the default.
int options_add_axis(const struct axis *axis, const char *text, struct axis_values *all);

int parse_mem_limit(struct options *o, const struct option *self, const char *text);
int parse_shard(struct options *o, const struct option *self, const char *text);
int parse_traps(struct options *o, const struct option *self, const char *text);

int compare_parse_format(struct options *o, const struct option *self, const char *text);

// Formats of report.
enum view { VIEW_TABLE, VIEW_MARKDOWN, VIEW_CSV, VIEW_JSON, VIEW_FORMATS };
extern const char *const view_names[VIEW_FORMATS + 1]; // ended by a NULL
// Formats of advise and conform: text_formats[0] is the default.
extern const char *const text_formats[];

int report_parse_sort(struct options *o, const struct option *self, const char *text);

#endif
