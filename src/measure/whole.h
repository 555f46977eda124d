// A problem of whole numbers with the structure of another problem. Each of its partial sums is
// exact in a small type, so a right result has no error, in any order of additions.
#ifndef WHOLE_H
#define WHOLE_H

#include "algos/op.h"

struct whole {
    struct csr A; // structure of the other problem; values -1, 0 and 1
    struct source source;
    struct problem p;
};
// Draws the operands from secret numbers. `sums`: the type of the sums. The structure of p must
// remain. After an error nothing has to be freed.
int whole_make(const struct problem *p, enum prec sums, struct whole *out);
void whole_free(struct whole *w);

#endif
