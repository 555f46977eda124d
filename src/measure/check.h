// Is it right: the device's result against the operation's reference, with a derived tolerance.
#ifndef CHECK_H
#define CHECK_H

#include "measure/reference.h"
#include "measure/result.h"

#define CHECK_DEVIATIONS 5

enum check_mode { CHECK_AUTO, CHECK_FULL, CHECK_SAMPLE, CHECK_OFF };

struct check {
    const char *method; // full, sample, off; NULL: it was not checked, for an error
    int64_t result_nnz; // nonzeros of a sparse result
    int64_t elements;   // compared one by one
    double error_ratio; // largest |c - ref| over its tolerance; over 1 (or NaN) is wrong
    bool ok;
    double spread2;
    struct result_digest digest; // of what was compared, if ok
    char reason[160]; // where the first wrong element is, "" if ok
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
