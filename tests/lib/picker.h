// An algorithm that picks by the order of a test. The test defines pick_now().
#ifndef PICKER_H
#define PICKER_H

#include "select/auto.h"

static const struct pick_order *order_now; // order that pick_now() uses
static int pick_now(struct task *t);       // prepare() of the algorithm

static const struct algo picker = {.layouts = BOTH_LAYOUTS,
                                   .precs = BOTH_PRECS,
                                   .A = {&format_csr},
                                   .options = auto_options,
                                   .prepare = pick_now,
                                   .run = delegate_run,
                                   .teardown = delegate_teardown};
// The same of an operation whose operands are all sparse.
static const struct algo sparse_picker = {.precs = BOTH_PRECS,
                                          .A = {&format_csr},
                                          .S = {&format_csr},
                                          .options = auto_options,
                                          .prepare = pick_now,
                                          .run = delegate_run,
                                          .teardown = delegate_teardown,
                                          .finish = delegate_finish,
                                          .release = delegate_release};

#endif
