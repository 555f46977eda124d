// Verifies results of timed runs: the last result of a sample, outside the timing.
//
// Before each sample some elements of the old result are changed, so that a run which writes
// nothing is found. The results of samples 1, 2, 4, 8, ..., and of a random quarter of the others
// are verified. After a result that differs in a bit, every sample is verified. After each
// verification the inputs change signs (fresh.h), unless the change takes too long (timing.c).
// Places and samples come from secret(): a run cannot foresee them.
//
// A result is verified by its digest, which must equal that of the checked result. If a bit
// differs, a sum of all elements with random weights must agree as far as rounding explains. If the
// sum differs, too, the result is checked like the first one. The first result with another bit is
// always checked so.
//
// timing_measure() takes one more sample, with other inputs. Before this sample the whole result is
// poisoned, and a few rows of the inputs are drawn anew. The result is checked like the first one,
// against a reference of its own.
#ifndef VERIFY_H
#define VERIFY_H

#include "measure/check.h"
#include "measure/fresh.h"

struct verify_counts {
    int64_t verified;  // verified results
    int64_t varied;    // verified results that differ from the first in a bit
    int64_t rechecked; // verified results that were checked like the first
};

struct verify {
    struct task *task;
    struct reference *ref;
    enum check_mode mode;
    const struct check *first; // the check of the first result, which is right
    struct fresh *fresh;       // NULL: the inputs stay
    int64_t samples;           // begun samples; a verified batch counts twice
    struct verify_counts counts;
};

// Functions of struct timed_work: before(), after(), is_due(), change(), lose() and, for a sparse
// result, release(). `verify` is a struct verify. A wrong result is ERR_WRONG, with the place in
// the text.
int verify_before(void *verify, bool anew);
int verify_after(void *verify, bool anew);
bool verify_is_due(void *verify, int64_t sample);
int verify_change(void *verify, bool really);
void verify_lose(void *verify);
int verify_release(void *verify);

#endif
