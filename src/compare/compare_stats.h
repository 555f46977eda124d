// Statistics of a comparison: many cases, each measured in some processes of OLD and of NEW.
//
// Model. y = ln(median ms) of a case in one process. Processes of a file differ by more than the
// intervals within them show, because of memory placement, clocks and neighbours:
//
//     y[file, process] = level + (file is NEW) * shift + effect[process]
//
// The ratio of a case is exp(shift). Effects are heavy-tailed. Means are therefore trimmed by a
// fifth at either end (Yuen), and variances are of winsorized values:
//
//     paired    d[i] = y[NEW, i] - y[OLD, i]; shift = trimmed mean of d
//               unit = n * (n - 1) / (h * (h - 1)) * winsorized variance of d, dof = h - 1
//     else      shift = trimmed mean of y[NEW] - trimmed mean of y[OLD]
//               unit = twice the pooled variance of both files, as above
//
// n is the number of values, h the number of values left. `unit` is the variance of the difference
// of one pair of processes. The variance of the shift is unit / weight. weight is the number of
// pairs, or the harmonic mean of both n.
//
// Moderated variance. A few processes say little about their spread, but other cases of similar
// size add information. The units of a size class are assumed to be draws of s0^2 * d0 / chi^2[d0].
// d0 and s0 are fitted to the mean and the variance of ln(unit) over the class (Smyth 2004,
// "moderated t"). A case then uses
//
//     unit' = (d0 * s0^2 + dof * unit) / (d0 + dof), with d0 + dof degrees of freedom
//
// If the spreads of cases differ much, d0 is small, and each case relies on its own unit.
//
// A process per side shows no spread, so a guess is made from the scatter of the shifts of
// all cases around their median. A shift common to all cases is a change; the rest is scatter:
//
//     scale^2 = (10 * assumed^2 + m * (MAD / 0.816)^2) / (10 + m); shift / scale has t of 2 dof
//
// m is the number of cases, 0.816 the median of |t[2]|, and `assumed` comes from the caller.
// Measured on an H200, the same program twice, 100 cases: 18 differ by over 1 %, 5 by over 2.5 %,
// the worst by 5.9 %. That is the tail of t of 2 degrees of freedom, scaled by 0.0055.
//
// Intervals and p use the same t. The errors within processes are the least value of the variance.
// Over all cases, p is corrected by Benjamini and Hochberg.
//
// Looks. A measurement by turns may continue until a case is clear. Each look at the data can give
// a false verdict. Cases are therefore judged at STATS_LOOKS fixed numbers of pairs only:
//
//     8, 12, 18, 27, 40, 60, 91, 136, 205, 307
//
// Each look has the level 5 % / STATS_LOOKS (Bonferroni): p is multiplied by STATS_LOOKS, and the
// interval has that level. In 95 % of cases the intervals of all looks hold together, so any
// stopping rule is valid (Jennison and Turnbull 1989, "repeated confidence intervals"). If no case
// has changed, at most 5 % of comparisons have a false verdict, for any number of cases.
// tests/compare/test_compare_stats.c simulates this.
#ifndef COMPARE_STATS_H
#define COMPARE_STATS_H

#include "base/base.h"

#define STATS_CLASSES 4 // number of size classes

struct estimate {
    // Set by the caller:
    int size_class;
    double assumed; // scale of the shift between two processes if no data tells more
    double within;  // variance of the shift due to errors within processes, 0: unknown
    int looks;      // factor of p; 0 counts as 1
    // Set by estimate_case():
    double shift, unit, weight, dof; // dof = 0: unit is unknown
    // Set by estimate_all(). NAN: not estimated
    bool guessed;    // each side has a single process
    double spread;   // unit', or its guess
    double t_dof;    // degrees of freedom of t
    double error;    // standard error of the shift
    double lo, hi;   // 95 % interval of the shift
    double p;        // p-value of "no shift" for this case alone, corrected for looks
    double p_of_all; // p, corrected for all cases
};

// Estimates the shift of a case from y of each process, at least one per side. Paired sides have
// equally many, in the same order.
int estimate_case(struct estimate *e, const double *y_old, int n_old, const double *y_new,
                  int n_new, bool paired);
// Sets the remaining fields from all cases together.
int estimate_all(struct estimate *list, int64_t count);

// Level of the 95 % interval.
#define STATS_ALPHA 0.05
// Most looks at a measurement by turns.
#define STATS_LOOKS 10
// Returns the number of pairs at look number `look`, from 0.
int stats_look_pairs(int look);
// Returns the factor of p for a case with `pairs` pairs: 1 before the first look, else STATS_LOOKS.
// Records do not tell how many looks there were, so the number of pairs decides.
int stats_look_factor(int pairs);
// Returns the trimmed mean of n values. Sets its variance and degrees of freedom (0: unknown).
// Sorts x.
double stats_location(double *x, int n, double *variance, double *dof);
// Returns the median of n values. Sorts x.
double stats_median(double *x, int64_t n);
// Returns the size class of a time: under 20 us, 0.2 ms, 2 ms, more.
int stats_class(double ms);
const char *stats_class_name(int size_class);
// Returns the number of pairs that find a slowdown of `percent` beyond a threshold of `threshold`
// percent in 95 % of cases: (1.645 / (ln(1 + percent) - ln(1 + threshold)))^2 * unit, at least 3.
int stats_runs_needed(double unit, double percent, double threshold);

#endif
