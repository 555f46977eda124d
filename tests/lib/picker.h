// An algorithm that picks by rules of a test, which gives it a pick_now().
#ifndef PICKER_H
#define PICKER_H

#include "select/pick.h"

static const struct pick_rules *rules_now; // those that pick_now() is to go by
static int pick_now(struct task *t);       // its prepare()

static const struct param picker_options[] = {PICK_OPTION(1e6), {0}};
static const struct algo picker = {.layouts = BOTH_LAYOUTS,
                                   .precs = BOTH_PRECS,
                                   .A = {&format_csr},
                                   .options = picker_options,
                                   .prepare = pick_now,
                                   .run = delegate_run,
                                   .teardown = delegate_teardown};
// The same of an operation whose operands are all sparse.
static const struct algo sparse_picker = {.precs = BOTH_PRECS,
                                          .A = {&format_csr},
                                          .S = {&format_csr},
                                          .options = picker_options,
                                          .prepare = pick_now,
                                          .run = delegate_run,
                                          .teardown = delegate_teardown,
                                          .finish = delegate_finish,
                                          .release = delegate_release};

#endif
