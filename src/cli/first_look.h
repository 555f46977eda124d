// Looks at all matrices before the first one is measured: a slip in the last name is told now, not
// after hours.
#ifndef FIRST_LOOK_H
#define FIRST_LOOK_H

#include "cli/options/options.h"

// Looks at each of them, as matrix_look() does. Of one alone the error is its own; of several all
// that are wrong are told on stderr, a line each, and the error says how many. ERR_USAGE where a
// spec is wrong, else ERR_INPUT.
int first_look(const struct options *o, const char *const *specs, int64_t count);

#endif
