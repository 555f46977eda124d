// Checks that no two matrices have the same name, because records name matrices.
#ifndef MATRIX_NAMES_H
#define MATRIX_NAMES_H

#include "base/base.h"

// Returns ERR_USAGE if two different paths have the same name in records. The message names both
// paths. It advises one `command` ("run") for each.
int matrix_names_check(const char *const *paths, int64_t count, const char *command);

#endif
