// Tests whether a run waits for the work ahead of it in the stream. A run that does not wait is
// right alone, but wrong if its input is the output of the run before. Its back-to-back time is
// then no time of a chain of products.
//
// The test inverts the bits of the dense inputs, then starts a kernel that inverts them back. This
// kernel lets the run begin at once and works later. The result is inverted twice, too, which shows
// a run that writes too early. The result is then compared like that of a timed run.
#ifndef IN_ORDER_H
#define IN_ORDER_H

#include "measure/verify.h"

enum in_order { ORDER_NOT_LOOKED, ORDER_KEPT, ORDER_BROKEN };

// Tests a task whose first result is right: launched in the stream and, with `graphs` and if
// capture is possible, as a graph. Sets ORDER_NOT_LOOKED if runs never overlap, or if they allocate
// their results. The inputs are as before, also after an error. Returns the error of a run or of
// the comparison.
int in_order_look(const struct verify *verify, bool graphs, enum in_order *out);

#endif
