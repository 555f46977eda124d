// Checks a result of a device against the reference of the operation, with a derived tolerance
// (tolerance.h).
#ifndef CHECK_H
#define CHECK_H

#include "measure/output.h"
#include "measure/reference.h"

struct fresh; // measure/fresh.h

enum check_mode { CHECK_AUTO, CHECK_FULL, CHECK_SAMPLE, CHECK_OFF };

struct check {
    const char *method; // full, sample, off; NULL: an error prevented the check
    int64_t result_nnz; // nonzeros of a sparse result
    int64_t elements;   // elements compared one by one
    double seen_share;  // their share of all multiply-adds; 1: all
    // The larger of two ratios: the worst |c - ref| over its tolerance, and the root mean square of
    // many errors over the root mean square that rounding explains. Over 1 or NaN: wrong.
    double error_ratio;
    double tolerance_share; // tolerance over the typical element, in the worst bucket
    // Bound on the error of a sum of all elements with random signs and weights of at most 1: the
    // root of the sum of squares of their rounding errors. A standard error is under half of it.
    double spread;
    bool ok;
    bool blind;                // neither ok nor wrong: an overflow, or too large a tolerance
    struct output_sums digest; // digest of the result, if ok
    char reason[160];          // place of the first wrong element, or another reason; "": ok
};

// CHECK_AUTO samples rows above this number of flops, instead of comparing every element.
#define CHECK_FULL_FLOPS 1000000000

// Poisons the result with NaN and runs the task, twice. The inputs change their signs between the
// runs, unless `fresh` is NULL. Downloads the second result, with the signs changed back, and
// compares it with `ref`. A wrong result sets out->ok to false and is no error. Returns an error if
// the check was impossible, ERR_UNCHECKED if the host lacks memory for the check.
int check_task(struct task *t, struct reference *ref, enum check_mode mode, struct fresh *fresh,
               struct check *out);
// The same for the result that a run and finish() have left, without a run.
int check_result(struct task *t, struct reference *ref, enum check_mode mode, struct check *out);

#endif
