// Verifies results of timed runs: the last result of a sample, outside the timing.
//
// Before each sample some elements of the old result are changed, so that a run which writes
// nothing is found. The results of samples 1, 2, 4, 8, ..., of a random quarter of the others and
// of the last sample are verified. After a result that differs in a bit, every sample is verified.
// A run cannot tell which.
//
// A result is verified by its digest, which must equal that of the checked result. If a bit
// differs, a sum of all elements with random weights must agree as far as rounding explains. If the
// sum differs, too, the result is checked like the first one. Before the last sample, which
// timing_measure() takes for this purpose, the whole result is poisoned.
#ifndef VERIFY_H
#define VERIFY_H

#include "measure/check.h"

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
    int64_t samples;           // begun samples; a verified batch counts twice
    struct verify_counts counts;
};

// Functions of struct timed_work: before(), after(), is_due() and, for a sparse result, release().
// `verify` is a struct verify. A wrong result is ERR_WRONG, with the place in the text.
int verify_before(void *verify, bool last);
int verify_after(void *verify, bool last);
bool verify_is_due(void *verify, int64_t sample);
int verify_release(void *verify);

#endif
