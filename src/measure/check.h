// Is it right: the device's result against the operation's reference, with a derived tolerance
// (tolerance.h).
#ifndef CHECK_H
#define CHECK_H

#include "measure/output.h"
#include "measure/reference.h"

enum check_mode { CHECK_AUTO, CHECK_FULL, CHECK_SAMPLE, CHECK_OFF };

struct check {
    const char *method; // full, sample, off; NULL: it was not checked, for an error
    int64_t result_nnz; // nonzeros of a sparse result
    int64_t elements;   // compared one by one
    double seen_share;  // of the multiply-adds those of them; 1: all
    // The larger of: the worst |c - ref| over its tolerance; the root mean square of many over what
    // rounding explains. Over 1 (or NaN) is wrong.
    double error_ratio;
    double tolerance_share; // of the typical element, where that is worst
    // By how much the sum of all elements, each with a weight of at most 1 and a random sign, may
    // differ from the exact one: the root of the sum of the squares of the sizes of their rounding
    // errors. A standard error is under half of it.
    double spread;
    bool ok;
    bool blind; // not ok, nor wrong: the tolerance is so large that it hides what is wrong
    struct output_sums digest; // of what was compared, if ok
    char reason[160]; // where the first wrong element is, or why else it is not ok; "" if ok
};

// Above so many flops CHECK_AUTO samples rows instead of comparing every element.
#define CHECK_FULL_FLOPS 1000000000

// Poisons the result with NaN, runs the task, twice over; downloads what came out and compares it.
// Returns an error only if that could not be done: ERR_UNCHECKED where the check itself lacks
// memory. A wrong result is out->ok = false. `ref` is of the task's problem.
int check_task(struct task *t, struct reference *ref, enum check_mode mode, struct check *out);
// The same of the result that is there: of a run that has been, and finish().
int check_result(struct task *t, struct reference *ref, enum check_mode mode, struct check *out);

#endif
