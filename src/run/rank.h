// Cases with the same inputs, compared: the fastest, the next one, what is noise, and from which
// run on preparation pays. The table of run, report and summaries all take it from here.
#ifndef RANK_H
#define RANK_H

#include "base/base.h"

struct rank_case {
    // By the caller, whose texts have to stay.
    const char *name; // of its row
    const char *alg;
    const char *device;         // NULL: the same for all
    const char *picked;         // the algorithm that ran in its place; NULL: none
    const char *vendor, *call;  // see struct algo; NULL: none
    bool reference, own_values; // own_values: an option differs from its default
    int samples;
    double ms, ci_lo, ci_hi; // ms NAN: no time that counts; ci_lo NAN: too few samples
    double min_ms;           // of the samples; NAN: not known
    double prep_ms;          // of conversion, analysis and choice; NAN: not known
    // By rank_make():
    double over_best;  // ms over that of the fastest; NAN: it has no time
    double pays_after; // see struct rank; INFINITY: never, NAN: there is nothing to pay
};

// An algorithm needs no preparation if that takes at most this share of a run, or the least of all.
#define RANK_READY_SHARE 0.1

struct rank {
    struct rank_case *const *list; // size count; the caller's
    int count;
    // NULL: there is none. Of a vendor: the fastest. `ready`: the fastest that needs no
    // preparation; pays_after is the first number of runs that takes less time than with it, both
    // prepared.
    const struct rank_case *best, *next, *near, *of_vendor, *ready;
    // The greatest relative difference between an algorithm that picked another one, and that one:
    // both ran the same kernel. 0: there are no such two.
    double noise;
};

// References are neither `ready` nor prepared. `next` and `near` run another kernel than `best`:
// the fastest of those, and of those that may be as fast as `best`.
struct rank rank_make(struct rank_case *const *list, int count);
// The case whose kernel another one ran: an algorithm of that name with its default options. NULL:
// it picked none, or that one has no time.
const struct rank_case *rank_picked(const struct rank *r, const struct rank_case *x);
// The relative difference of the times of the two.
double rank_difference(const struct rank_case *x, const struct rank_case *y);
// Returns true if x may be as fast as the fastest: their intervals overlap, the fastest sample of
// x, if x has no interval, is within that of the fastest, or they differ by no more than the noise.
bool rank_may_be_best(const struct rank *r, const struct rank_case *x);

#endif
