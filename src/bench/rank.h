// Compares cases that have the same inputs: the fastest, the next, the noise, and the number of
// runs after which preparation pays. `run`, `report` and the summaries use the result.
#ifndef RANK_H
#define RANK_H

#include "base/base.h"

struct rank_case {
    // Set by the caller. The texts have to outlive the comparison.
    const char *name; // name of the row in a table
    const char *alg;
    const char *device;        // NULL: the same for all cases
    const char *picked;        // algorithm that ran in place of `alg`; NULL: none
    const char *vendor, *call; // see struct algo; NULL: none
    bool reference, dense;     // see struct algo
    bool own_values;           // an option differs from its default
    int samples;
    double ms, ci_lo, ci_hi; // ms NAN: no valid time; ci_lo NAN: too few samples
    double min_ms;           // fastest sample; NAN: not known
    double prep_ms;          // conversion, analysis and choice; NAN: not known
    // Set by rank_make():
    double over_best;  // ms / ms of the fastest; NAN: the case has no time
    double pays_after; // number of runs; INFINITY: never; NAN: there is nothing to pay
};

// A case needs no preparation if prep_ms is at most this share of ms, or the least prep_ms of all.
#define RANK_READY_SHARE 0.1

struct rank {
    struct rank_case *const *list; // size count; owned by the caller
    int count;
    // NULL: there is no such case.
    const struct rank_case *best;      // the fastest
    const struct rank_case *next;      // the fastest with another kernel than `best`
    const struct rank_case *near;      // the same of the cases that may be as fast as `best`
    const struct rank_case *of_vendor; // the fastest of a vendor's library
    const struct rank_case *ready;     // the fastest that needs no preparation; no reference
    // Greatest relative difference of a case and the case that it picked. Both ran the same
    // kernel. 0: no case picked another.
    double noise;
};

// Compares the cases. pays_after is the least n with prep_ms + n * ms under that of `ready`.
// References, and cases that need no preparation, have nothing to pay.
struct rank rank_make(struct rank_case *const *list, int count);
// Returns the fastest case of a vendor's library, of any vendor if `vendor` is NULL. Dense products
// do not count. NULL: there is none.
const struct rank_case *rank_fastest_of(const struct rank *r, const char *vendor);
// Returns the case that x picked: that algorithm with its default options. NULL: x picked none, the
// case has no time, or two cases fit.
const struct rank_case *rank_picked(const struct rank *r, const struct rank_case *x);
// Returns the relative difference of two times: the longer over the shorter, less 1.
double rank_difference(const struct rank_case *x, const struct rank_case *y);
// Returns true if the interval of x begins below the end of that of `best`, or above it by no more
// than the share `margin`. Without an interval the fastest sample of x is the lower end, and the
// median of `best` is the upper end.
bool rank_is_near(const struct rank_case *best, const struct rank_case *x, double margin);
// Returns true if x may be as fast as the fastest case: rank_is_near() without a margin, or they
// differ by no more than the noise.
bool rank_may_be_best(const struct rank *r, const struct rank_case *x);

#endif
