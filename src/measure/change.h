// Changes the operands of a case between its runs, so that a kept result is wrong: random signs of
// a secret key. Operands keep their addresses, and sparse matrices keep their structure.
#ifndef CHANGE_H
#define CHANGE_H

#include "measure/prepare.h"

struct change {
    struct task *t;
    struct operands *o;
    uint64_t dense_key, sparse_key; // present signs; 0: the operands have their own values
    bool lost;                      // a change failed: the values of the operands are unknown
};

// Returns the state of a prepared task with unchanged operands.
struct change change_start(struct task *t, struct operands *o);
// Changes signs of the dense operands; if there are none, of A and S. Without `really` writes equal
// values. Starts kernels on the device and does not wait, unless a
// format has to be made again. Does nothing if the operation's reference does not follow keys.
int change_operands(struct change *c, bool really);
// Gives all operands other signs. A and S stay if the device cannot make their formats from CSR,
// and if the algorithm keeps values of A.
int change_all(struct change *c);
// Returns the problem with the present signs.
struct problem change_problem(const struct change *c);
// Restores the operands' values. After a failed change marks the operands to be freed.
int change_end(struct change *c);

#endif
