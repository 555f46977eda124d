// Delegates: an algorithm such as `auto` passes a task to another algorithm of the same operation
// and device, with the same operands.
//
// t->state is the task of the other algorithm, with its own formats in `made`. Its `algo` is NULL
// if there is none. The descriptor has the functions below as run(), finish(), release() and
// teardown(). Its prepare() chooses the other algorithm and calls delegate_prepare(), which makes
// the formats that the other algorithm needs. Statistics of the other algorithm go to t->stats.
#ifndef DELEGATE_H
#define DELEGATE_H

#include "algos/algo.h"

#ifdef __cplusplus
extern "C" {
#endif

// Passes t to the algorithm of this name, with its default options. Operands of t are in CSR.
// Returns ERR_UNSUPPORTED if the algorithm does not support the precision or the layout, or if the
// device cannot make one of its formats. After an error t may be passed to another algorithm. The
// caller calls teardown() in any case.
int delegate_prepare(struct task *t, const char *name);
int delegate_run(struct task *t);
int delegate_finish(struct task *t);
void delegate_release(struct task *t);
void delegate_teardown(struct task *t);

#ifdef __cplusplus
}
#endif
#endif
