// Checks that all matrices can be opened before the first measurement. A mistyped name is reported
// at once.
#ifndef FIRST_LOOK_H
#define FIRST_LOOK_H

#include "cli/options/options.h"

// Opens each matrix with matrix_look(). A single matrix returns its own error. For several, each
// error is printed on a line, and the returned error has their number. Returns ERR_USAGE if a spec
// is wrong, else ERR_INPUT.
int first_look(const struct options *o, const char *const *specs, int64_t count);

#endif
