// Verifies results of timed runs: the last result of a sample, outside the timing.
//
// Before each sample some elements of the old result are changed, so that a run which writes
// nothing is found. The results of samples 1, 2, 4, 8, ..., of the last sample, and of a random
// quarter of the others are verified. After the time limit samples 2, 4, 8, ... count as others.
// Places and samples come from secret(): a run cannot foresee them.
//
// The operands change between samples (timing.c). The first result after a change is compared with
// the definition at a few places. Later results are compared with it in every bit. A result that
// differs is compared at a few places, and as a whole unless VERIFY_WHOLE results before it
// differed, too: sums of atomic additions always differ.
#ifndef VERIFY_H
#define VERIFY_H

#include "measure/check.h"

#define VERIFY_WHOLE 2

struct verify_counts {
    int64_t looked;  // verified results
    int64_t varied;  // results that differ in a bit from another result of the same operands
    int64_t changed; // changes of the operands
};

struct verify {
    struct task *task;
    struct reference *ref;
    enum check_mode mode;
    struct change *change;       // NULL: the operands stay
    struct output_bits digest;   // of a result of the present operands
    bool stale;                  // the operands have changed since
    int whole;                   // results in a row that differed, and were compared as a whole
    uint64_t seed;               // of the last output_spoil()
    struct tally tally;          // errors of all places that were compared
    int64_t samples;             // begun samples; a verified batch counts twice
    struct verify_counts counts;
};

// Returns the state after a check whose result is right.
struct verify verify_start(struct task *t, struct reference *ref, enum check_mode mode,
                           const struct check *check, struct change *change);

// Functions of struct timed_work: before(), after(), is_due(), change(), lose(), touch() and, for a
// sparse result, release(). `verify` is a struct verify. A wrong result is ERR_WRONG, with the
// place in the text.
int verify_before(void *verify);
int verify_after(void *verify);
bool verify_is_due(void *verify, int64_t sample, bool late);
int verify_change(void *verify, bool really);
void verify_lose(void *verify);
void verify_touch(void *verify);
int verify_release(void *verify);

#endif
