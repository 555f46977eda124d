// Checks a result of a device against the reference of the operation, with a derived tolerance
// (tolerance.h).
#ifndef CHECK_H
#define CHECK_H

#include "measure/change.h"
#include "measure/output.h"
#include "measure/reference.h"
#include "measure/tolerance.h"

enum check_mode { CHECK_AUTO, CHECK_FULL, CHECK_SAMPLE, CHECK_OFF };

struct check {
    const char *method; // full, sample, off; NULL: an error prevented the check
    int64_t result_nnz; // nonzeros of a sparse result
    int64_t elements;   // elements compared one by one
    double seen_share;  // their share of all multiply-adds; 1: all
    // The larger of two ratios: the worst |c - ref| over its tolerance, and the root mean square of
    // many errors over the root mean square that rounding explains. Over 1 or NaN: wrong.
    double error_ratio;
    double first_more_ms;   // time that the first run took more than the second, on the host
    double tolerance_share; // tolerance over the typical element, in the worst bucket
    double value_error;     // error over the typical element, in the worst bucket
    bool ok;
    bool blind;                  // neither ok nor wrong: an overflow, or too large a tolerance
    struct output_bits digest;   // digest of the result, if ok or blind
    char reason[160];            // place of the first wrong element, or another reason; "": ok
};

// CHECK_AUTO samples rows above this number of flops, instead of comparing every element.
#define CHECK_FULL_FLOPS 1000000000

// Returns true if nothing of a blind result was judged: values or sums overflow. A result that is
// blind for its tolerance has a share.
static inline bool check_overflows(const struct check *c)
{
    return c->blind && !(c->tolerance_share > 0);
}
// Poisons the result with NaN and runs the task, twice. The first run has operands with other
// signs, unless `change` is NULL, and is looked at by check_places(). The result of the second run
// is compared with `ref`. If the algorithm sums in fewer bits than the precision says, and the
// tolerance is too large, the result of a third run on whole numbers must be exact, see whole.h.
// This run needs `change`. A wrong result sets out->ok to false and is no error. Returns an error
// if the check was impossible, ERR_UNCHECKED if the host lacks memory for the check.
int check_task(struct task *t, struct reference *ref, enum check_mode mode, struct change *change,
               struct check *out);
// Compares the result that a run and finish() have left, without a run.
int check_result(struct task *t, struct reference *ref, enum check_mode mode, struct check *out);
// The same for problem p, with a reference that is freed after it.
int check_once(struct task *t, const struct problem *p, enum check_mode mode, struct check *out);
// Compares elements of this result with the definition of the problem p: those at the places of
// output_spoil() for this seed, up to a limit of work; of a sparse result a few rows. Adds the
// errors to `tally`, whose root mean square is judged, too. Sets out->ok and out->reason.
int check_places(struct task *t, const struct problem *p, uint64_t seed, struct tally *tally,
                 struct check *out);

#endif
