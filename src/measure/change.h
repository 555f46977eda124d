// Changes the operands of a case between its runs, so that a kept result is wrong: random signs of
// a secret key, or all values. Operands keep their addresses, and sparse matrices keep their
// structure.
#ifndef CHANGE_H
#define CHANGE_H

#include "measure/prepare.h"

struct change {
    struct task *t;
    struct operands *o;
    uint64_t dense_key, sparse_key; // present signs; 0: none are changed
    bool replaced;                  // the operands have values of another problem
    bool lost;                      // a change failed: the values of the operands are unknown
};

// Returns the state of a prepared task with unchanged operands.
struct change change_start(struct task *t, struct operands *o);
// Changes signs of the dense operands; if there are none, of A and S. Without `really` writes equal
// values. Starts kernels on the device and does not wait, unless a
// format has to be made again. Does nothing if the operation's reference does not follow keys.
int change_operands(struct change *c, bool really);
// Returns false if values of A and S must stay: the device cannot make their formats from CSR, or
// the algorithm keeps values of A.
bool change_reaches_sparse(const struct change *c);
// Gives all operands other signs; only the dense operands if values of A and S must stay.
int change_all(struct change *c);
// Gives all operands the values of the problem p, which has the structure of the case. Values of A
// and S need not stay. After an error change_end() restores the operands.
int change_values(struct change *c, const struct problem *p);
// Returns the problem with the present signs.
struct problem change_problem(const struct change *c);
// Restores the operands' values. After a failed change marks the operands to be freed.
int change_end(struct change *c);

#endif
