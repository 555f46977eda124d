// Looks at results that are timed: the last one of a sample, untimed.
//
// Ahead of each sample some elements of the old result are spoilt, so that a run that writes
// nothing is seen. Sample 1, 2, 4, 8, ..., a random choice of the others and the last one are
// looked at; after a result that differs in a bit, each sample is. A run cannot tell which.
//
// A look compares the result's digest with that of the result that was checked. Where a bit
// differs, a sum over all of it by random weights has to agree as far as rounding explains; where
// that does not, the result is checked as the first one was. Ahead of the last sample, which
// timing_measure() takes for this alone, all of the result is poisoned.
#ifndef VERIFY_H
#define VERIFY_H

#include "measure/check.h"

struct verify_counts {
    int64_t looked;    // results that were looked at,
    int64_t varied;    // of them those that differ from the first in a bit,
    int64_t rechecked; // and those that were checked as it was
};

struct verify {
    struct task *task;
    struct reference *ref;
    enum check_mode mode;
    const struct check *first; // of the same task: its result is right
    int64_t samples;           // begun; a batch that is looked at counts as two
    struct verify_counts looks;
};

// For timing_measure(), as its before(), after(), is_due() and, for a sparse result, release(). A
// wrong result is ERR_WRONG, with where it is.
int verify_before(void *watch, bool last);
int verify_after(void *watch, bool last);
bool verify_is_due(void *watch, int64_t sample);
int verify_release(void *watch);

#endif
