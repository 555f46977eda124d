// The check of a sparse result; check_task() in check.h calls it.
#ifndef CHECK_SPARSE_H
#define CHECK_SPARSE_H

#include "measure/check.h"

int check_sparse(struct task *t, enum check_mode mode, struct check *out);

#endif
