// Options whose value is a list: given again, they add to it.
#ifndef OPTIONS_LISTS_H
#define OPTIONS_LISTS_H

#include "program/options.h"

// Each adds what `text` has and the option does not have yet; the first text replaces the default.
// `option` is its name, for messages.
int options_add_algs(struct options *o, const char *option, const char *text);
int options_add_precs(struct options *o, const char *option, const char *text);
// name=value, and further values of the name before: rows=32,64,stage=8.
int options_add_settings(struct options *o, const char *option, const char *text);
int options_add_axis(const struct axis *axis, const char *text, struct axis_values *all);

#endif
