// Whether a run waits for the work ahead of it in the stream. One that does not is right alone, and
// wrong where its input is what the run before wrote: its time back to back is no time of a chain.
//
// Ahead of a run its dense inputs are inverted, and then inverted back by a kernel that lets the
// run begin at once and works later. The result is inverted twice with them, so that a run that
// writes it too early is seen as well. Then it is compared as a timed one is.
#ifndef IN_ORDER_H
#define IN_ORDER_H

#include "measure/check.h"

enum in_order { ORDER_NOT_LOOKED, ORDER_KEPT, ORDER_BROKEN };

// Of a task whose result was checked and right, as `first` says: launched in the stream and, with
// `graphs`, where it can be captured, as a graph. ORDER_NOT_LOOKED where nothing overlaps or runs
// make their results from nothing. Inputs are as before, after an error as well; the error of a run
// or of the comparison is returned.
int in_order_look(struct task *t, struct reference *ref, enum check_mode mode,
                  const struct check *first, bool graphs, enum in_order *out);

#endif
