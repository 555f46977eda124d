// Checks of all matrices before the first measurement, so that a mistyped name is reported at once.
#ifndef MATRIX_CHECK_H
#define MATRIX_CHECK_H

#include "cli/options/options.h"

// Opens each matrix with matrix_look(). A single matrix returns its own error. For several, each
// error is printed on a line, and the returned error has their number. Returns ERR_USAGE if a spec
// is wrong, else ERR_INPUT.
int matrix_check_files(const struct options *o, const char *const *specs, int64_t count);

#endif
