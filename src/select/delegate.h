// A task that is handed on to another algorithm of the same operation and device, on the same
// operands: what an algorithm does that picks among others.
//
// t->state is then a struct delegate, and its descriptor has these as run(), finish(), release()
// and teardown(); prepare() decides whose turn it is and calls delegate_prepare(). What the other
// one tells goes to t->figures, what it needs in another format than CSR is made here.
#ifndef DELEGATE_H
#define DELEGATE_H

#include "algos/algo.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DELEGATE_FORMATS 8

struct delegate {
    struct task inner; // inner.algo NULL: none
    // Formats that were made for it, each from one of the CSR matrices of the task.
    struct delegate_format {
        const struct sparse *of;
        struct sparse *X;
    } made[DELEGATE_FORMATS];
    int made_count;
};

// Hands t on to the algorithm of this name, with its default options. Operands of t are in CSR
// alone. ERR_UNSUPPORTED where it does not do the precision or the layout, or where the device has
// no maker of a format that it asks for. After an error t may be handed on to another one; it
// is to be torn down either way.
int delegate_prepare(struct task *t, const char *name);
int delegate_run(struct task *t);
int delegate_finish(struct task *t);
void delegate_release(struct task *t);
void delegate_teardown(struct task *t);

#ifdef __cplusplus
}
#endif
#endif
