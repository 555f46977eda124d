// Fresh inputs: the operands of a case change between its runs, so that a kept result is wrong.
// Operands keep their addresses, and sparse matrices keep their structure.
//
// A change of signs changes the result exactly (enum op_signs). The result with its signs changed
// back must have the bits of the result that was checked. Operands with a few rows anew have a
// reference of their own.
#ifndef FRESH_H
#define FRESH_H

#include "measure/prepare.h"
#include "measure/reference.h"

struct fresh {
    struct task *t;
    struct operands *o;
    struct reference *anew; // of the operands that fresh_draw() takes; NULL: none are drawn
    int64_t line;           // negated line of dense input 0 and of the result; -1: none
    uint64_t key;           // signs of the sparse operands, see sign_of(); 0: all are +
    bool lost;              // a change failed: the values of the operands are unknown
    bool drawn;             // the dense operands are those of `anew`
};

// Makes `anew`: the problem p with other values in a few rows of its dense inputs, at secret
// places. An algorithm must read a whole input to notice. After an error nothing has to be freed.
int fresh_problem(const struct problem *p, struct problem *anew);

// Returns the state of a prepared task with unchanged operands.
struct fresh fresh_start(struct task *t, struct operands *o, struct reference *anew);
// Changes signs. Without `really` writes the same memory and leaves the operands as they are.
// Starts kernels on the device and does not wait, unless a format has to be made again.
int fresh_change(struct fresh *f, bool really);
// Changes the result of a run to the result of the operands with their own signs.
int fresh_undo(struct fresh *f);
// Puts the dense operands of the other problem (true) or of the own problem in place, with their
// own signs. For sparse operands does nothing.
int fresh_draw(struct fresh *f, bool on);
// Gives the operands their own values, or has them freed after the case if a change has failed.
int fresh_end(struct fresh *f);

#endif
