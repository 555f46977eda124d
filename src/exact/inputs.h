// The inputs of a case that is only checked, and a check of an algorithm on them: for the exact
// cases (exact.h) and for tests.
#ifndef INPUTS_H
#define INPUTS_H

#include "exact/exact.h"
#include "measure/check.h"
#include "measure/prepare.h"

#ifdef __cplusplus
extern "C" {
#endif

// Operands on the host and on the device, with their reference. Many cases share them.
struct inputs {
    struct source source;
    struct problem p;
    struct reference ref;
    struct operands o;
    int shift; // elements from the begin of a block to its dense matrix, see inputs_unalign()
    bool stay; // the inputs do not change between runs: for tests whose results ignore the inputs
};

// Makes the inputs. `axis`: as in struct problem. `exact`: whole numbers, so that every sum is
// exact. `pad`: elements between the lines of dense matrices. After an error nothing has to be
// freed.
int inputs_make(struct inputs *in, struct device *dev, const struct op *op, const struct csr *A,
                enum prec prec, const int64_t *axis, bool exact, int64_t pad);
// Moves the lines of each dense operand, and then of a dense result, apart by its own number of
// elements. NaN lies between the lines.
int inputs_apart(struct inputs *in, const int pads[DENSE_MAX + 1]);
// Puts the dense operands and a result that is no sparse matrix at addresses that are a multiple of
// the size of an element only. case_run() does not take such inputs.
int inputs_unalign(struct inputs *in);
void inputs_free(struct inputs *in);

struct case_outcome {
    int err; // of preparing or of running
    struct setup setup;
    struct check check;
    struct algo_stats stats;
    int64_t left; // bytes of device memory that the runs did not free
};
// Prepares, checks and ends a case. The check runs the algorithm twice: the second run must not
// depend on the first.
struct case_outcome case_run(struct inputs *in, const struct algo_entry *entry, const double *opt,
                             enum check_mode mode);
// Returns the result of a case that ended with this error.
enum exact_result exact_of_error(int err);
// Returns the result of a case whose values are exact, with the reason.
enum exact_result outcome_judge(const struct case_outcome *out, const struct algo_entry *entry,
                                enum prec prec, char why[FAIL_TEXT_MAX]);

#ifdef __cplusplus
}
#endif
#endif
