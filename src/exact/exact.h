// The exact cases: every operation x algorithm x precision x values of the axes x tiny matrix
// (shapes.h). All values are small whole numbers, so that the result must be exact.
#ifndef EXACT_H
#define EXACT_H

#include "algos/algo.h"
#include "exact/shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

struct exact_case {
    const struct algo_entry *entry;
    const struct device *dev;
    const struct shape *shape;
    const struct csr *A;
    enum prec prec;
    const int64_t *axis; // by entry->op->axes
    const char *note;    // options and distances of lines that are not the default; ""
};

// The cases to run, and functions that take them.
struct exact_rule {
    int first, step; // shapes: number `first`, and each `step`-th after it
    int axis_step;   // axes of numbers: only each `axis_step`-th value
    bool (*wants)(void *arg, const struct algo_entry *entry);
    // Called before a case. NULL: not called.
    int (*begin)(void *arg, const struct exact_case *c);
    // Called after a case. `wrong`: the error; NULL: the result is right, or `refused`, because the
    // algorithm does not support the case.
    int (*take)(void *arg, const struct exact_case *c, bool refused, const char *wrong);
    void *arg;
};

// Runs the cases of an operation. Returns the first error of begin() or take().
int exact_run(struct device *dev, const struct op *op, const struct exact_rule *rule);
// Returns true if the algorithm can run cases of the operation and precision on this device. Only
// prepare() knows the limits of a single case.
bool exact_can_run(const struct device *dev, const struct algo_entry *e, const struct problem *p);

#ifdef __cplusplus
}
#endif
#endif
