// Two matrices of one name, which records could not tell apart.
#ifndef MATRIX_NAMES_H
#define MATRIX_NAMES_H

#include "base/base.h"

// ERR_USAGE where two paths that differ come to the same name, as records have it: told are the
// first path whose name was there before, and the one that had it. `command` is what each should
// have one of its own of: "run".
int matrix_names_check(const char *const *paths, int64_t count, const char *command);

#endif
