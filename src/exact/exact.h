// The exact cases: every operation x algorithm x precision x values of the axes x tiny matrix
// (shapes.h). All values are small whole numbers, so that the result must be exact. traps.h has
// further cases.
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
    const char *name; // of the matrix
    const struct csr *A;
    enum prec prec;
    const int64_t *axis; // by entry->op->axes
    const char *note;    // options and distances of lines that are not the default; ""
};

// Result of a case. The result of several cases is the largest value.
enum exact_result {
    EXACT_NONE,        // there is no case
    EXACT_UNSUPPORTED, // the algorithm refuses the case
    EXACT_SKIPPED,     // the case cannot run here, as for lack of memory
    EXACT_RIGHT,
    EXACT_LACKING, // the result is right, and the algorithm lacks the property of the trap
    EXACT_FAILED,  // a call returned an error, and there is no result
    EXACT_WRONG,
    EXACT_HUNG,    // the case did not end; only a parent process sees this
    EXACT_CRASHED, // the case ended the process, or left a device on which nothing runs
    EXACT_RESULTS
};

// The cases to run, and functions that take them.
struct exact_rule {
    int first, step; // shapes: number `first`, and each `step`-th after it
    int axis_step;   // axes of numbers: only each `axis_step`-th value
    int64_t skip;    // number of cases that are left out at the start
    unsigned precs;  // BIT(F32) | ...; 0: all
    int64_t offset;  // traps: offset in elements that dense matrices exceed
    bool (*wants)(void *arg, const struct algo_entry *entry);
    // Called before a case. NULL: not called.
    int (*begin)(void *arg, const struct exact_case *c);
    // Called after a case. `why`: the reason, unless the result is right.
    int (*take)(void *arg, const struct exact_case *c, enum exact_result result, const char *why);
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
