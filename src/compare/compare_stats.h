// What times of many cases, each in some processes of OLD and of NEW, say of how they differ.
//
// The model. y = ln(median ms) of a case in one process. The processes of a file differ by more
// than the interval within each of them tells: where memory came to lie, clocks, neighbours.
//
//     y[file, process] = level + (file is NEW) * shift + effect[process]
//
// The ratio of a case is exp(shift). Effects are heavy-tailed, so means are trimmed, by a fifth at
// either end (Yuen), and spreads are of the winsorized values:
//
//     paired    d[i] = y[NEW, i] - y[OLD, i]; shift = trimmed mean of d
//               unit = n * (n - 1) / (h * (h - 1)) * winsorized variance of d, of dof = h - 1
//     else      shift = trimmed mean of y[NEW] - trimmed mean of y[OLD]
//               unit = twice the pooled variance of either file, found as above
//
// n of them, h are left. `unit` is the variance of what one pair of processes shows; that of the
// shift is unit / weight, where weight is the number of pairs (else the harmonic mean of both n).
//
// Few processes say little of their spread, but other cases of the same size say more. The units of
// a class of sizes are taken to be draws of s0^2 * d0 / chi^2[d0]; d0 and s0 are fitted to all of
// the class by the mean and the variance of ln(unit) (Smyth 2004, "moderated t"), and a case gets
//
//     unit' = (d0 * s0^2 + dof * unit) / (d0 + dof), of d0 + dof degrees of freedom
//
// Cases that differ much in their spread give a small d0: then each is left to its own.
//
// One process each shows no spread at all. Then it can only be guessed at, from how the shifts of
// other cases scatter around their median: what all cases have in common is a change, what they
// have not is scatter. H200, the same program twice, 100 cases: 18 differ by over 1 %, 5 by over
// 2.5 %, the worst by 5.9 %, which is how t of 2 degrees of freedom falls off, scaled by 0.0055. So
//
//     scale^2 = (10 * assumed^2 + m * (MAD / 0.816)^2) / (10 + m); shift / scale is t of 2
//
// over m cases, where 0.816 is the median of |t[2]| and `assumed` the caller's.
//
// The 95 % interval and p are of the same t; what is known of errors within processes is the least
// that the variance can be. Over all cases p is corrected by Benjamini and Hochberg.
//
// Looks. A measurement by turns may go on until a case is clear. Each look at the data is a chance
// of a false verdict. Cases are judged at fixed numbers of pairs only, STATS_LOOKS of them at most:
//
//     8, 12, 18, 27, 40, 60, 91, 136, 205, 307
//
// Each look has the level 5 % / STATS_LOOKS (Bonferroni): p is multiplied by STATS_LOOKS, and the
// interval has that level. In 95 % of cases the intervals of all looks hold together. Any rule may
// therefore end the measurement (Jennison and Turnbull 1989, "repeated confidence intervals"). If
// no case has changed, at most 5 % of comparisons have a false verdict, for any number of cases.
// tests/compare/test_compare_stats.c simulates it.
#ifndef COMPARE_STATS_H
#define COMPARE_STATS_H

#include "base/base.h"

#define STATS_CLASSES 4 // of sizes

struct estimate {
    // The caller's:
    int size_class;
    double assumed; // scale of the shift between two processes where nothing else is known of it
    double within;  // variance of the shift that errors within processes make, 0: not known
    int looks;      // factor of p; 0: 1
    // By estimate_case():
    double shift, unit, weight, dof; // dof 0: unit is not known
    // By estimate_all(). NAN: not estimated
    bool guessed;    // one process each
    double spread;   // unit', or what was guessed in its place
    double t_dof;    // of t
    double error;    // standard error of the shift
    double lo, hi;   // its 95 % interval
    double p;        // p-value of "no shift" of this case alone, corrected for looks
    double p_of_all; // p, corrected for all cases
};

// y by process; at least one of each file. Paired ones are as many, in the same order.
int estimate_case(struct estimate *e, const double *y_old, int n_old, const double *y_new,
                  int n_new, bool paired);
// The rest, from all cases together.
int estimate_all(struct estimate *list, int64_t count);

// The share of t that an interval of 95 % leaves out.
#define STATS_ALPHA 0.05
// The most looks at a measurement by turns.
#define STATS_LOOKS 10
// Returns the number of pairs at look number `look`, from 0.
int stats_look_pairs(int look);
// Returns the factor of p for a case with `pairs` pairs: 1 before the first look, else STATS_LOOKS.
// Records do not tell how many looks there were, so the number of pairs decides.
int stats_look_factor(int pairs);
// The trimmed mean of n values, which are sorted in place, and its variance by them (0 of dof 0).
double stats_location(double *x, int n, double *variance, double *dof);
// The median of n values, which are sorted in place.
double stats_median(double *x, int64_t n);
// The class of a time: under 20 us, 0.2 ms, 2 ms, more.
int stats_class(double ms);
const char *stats_class_name(int size_class);
// How many pairs of processes find a slowdown of `percent` beyond a threshold of so many percent in
// 95 % of cases of this unit: (1.645 / (ln(1 + percent) - ln(1 + threshold)))^2 * unit, at least 3.
int stats_runs_needed(double unit, double percent, double threshold);

#endif
