// Statistics of a comparison: many cases, each measured in some processes of OLD and of NEW.
//
// Model. y = ln(median ms) of a case in one process. Processes of a file differ by more than the
// intervals within them show, because of memory placement, clocks and neighbours. Part of the
// difference is shared by all cases of a process:
//
//     y[case, file, process] = level[case] + (file is NEW) * shift[case]
//                              + shared[process] + effect[case, process]
//
// The ratio of a case is exp(shift).
//
// Shared noise. Cases with the same processes form a group. d is y[NEW] - y[OLD] of a pair of
// alternating processes; otherwise the values are y of each file. In groups of 4 cases or more:
//
//     effect of pair i = median over cases of (d[case, i] - trimmed mean of d[case])
//     shared variance  = variance of the effects / n, with n - 1 degrees of freedom
//
// The effects, less their mean, are subtracted from d. They take a share of the residuals with
// them, so `unit` below is multiplied by count / (count - 1) of the group. A case that has more
// pairs than show an effect has the shared variance n[effects] / n^2 * variance of the effects.
//
// Own noise. Residuals are heavy-tailed. Means are therefore trimmed by a fifth at either end
// (Yuen), and variances are of winsorized values:
//
//     paired    shift = trimmed mean of d
//               unit = n * (n - 1) / (h * (h - 1)) * winsorized variance of d, dof = h - 1
//     else      shift = trimmed mean of y[NEW] - trimmed mean of y[OLD]
//               unit = twice the pooled variance of both files, as above
//
// n is the number of values, h the number of values left. `unit` is the variance of the difference
// of one pair of processes. The own variance of the shift is unit / weight. weight is the number of
// pairs, or the harmonic mean of both n. Effects are trimmed only if 5 degrees of freedom remain.
//
// Moderated variance. A few processes say little about their spread, but other cases add
// information. The units of a size class are assumed to be draws of s0^2 * d0 / chi^2[d0]. s0
// follows from the mean of ln(unit) over the class, and d0 from the variance of ln(unit) around
// these means (Smyth 2004, "moderated t"). A case then uses
//
//     unit' = (d0 * s0^2 + dof * unit) / (d0 + dof), with d0 + dof degrees of freedom
//
// * The variance of ln(unit) is increased by its standard error, so d0 is rather too small.
// * d0 + dof is at most the sum of dof over the class.
// * unit' is at least a quarter of the upper quartile of units. If times have few values, such as
//   two clocks, the processes of a case agree by chance.
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
// Intervals and p of a case use own + shared variance, with the degrees of freedom of Welch and
// Satterthwaite. The errors within processes are the least value of the own variance.
//
// All cases. If nothing changed, at most 2.5 % of comparisons have a false verdict (STATS_LEVEL).
// Own noise makes one verdict of many false: p is corrected by Benjamini and Hochberg. Shared noise
// makes all verdicts false, so it has a quarter of the level, for any number of cases:
//
//     f        = max(4, m / k) for the k-th of m cases by p
//     p_of_all = 4 * E(min(1, f / 4 * P(|own * t + shared * T| > |shift|)))
//
// p_of_all is at most that of a case with a larger p. The expectation is over T, which has the
// shared degrees of freedom. P is over t, which has the own degrees of freedom. own and shared are
// standard errors. Without shared noise p_of_all is f * p. If p is over a quarter of the level,
// f * p is used, too. In a group of m' cases, n = max(1, f / 4 * m' / m) replaces f / 4, and f / n
// replaces 4.
//
// Noise shared by a part. Cases of one matrix or algorithm can share noise that the median over all
// cases does not show. All of them then change together. The slower cases of a group with p under
// 5 % are therefore estimated again as a group of their own, and so are the faster ones. p_of_all
// is the larger of both. Of 8,000 simulated comparisons in which half of the cases share noise of
// 5 %, 0.4 % end as a regression without a cause; without this step 2.9 % of 2,000.
//
// Looks. A measurement by turns may continue until a case is clear. Each look at the data can give
// a false verdict. Cases are therefore judged at STATS_LOOKS fixed numbers of pairs only:
//
//     8, 12, 18, 27, 40, 60, 91, 136, 205, 307
//
// Each look has a share of 1 / STATS_LOOKS of the level (Bonferroni): p is multiplied by
// STATS_LOOKS, and the interval has that level. In 95 % of cases the intervals of all looks hold
// together, so any stopping rule is valid (Jennison and Turnbull 1989, "repeated confidence
// intervals").
//
// tests/compare/test_compare_noise.c simulates comparisons under 19 kinds of noise,
// tests/compare/test_compare_stats.c the looks.
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
    // Set by estimate_group():
    int group;
    double shift, unit, weight, dof;    // dof = 0: unit is unknown
    double shared_variance, shared_dof; // of the shift, due to shared noise. 0: none
    // Set by estimate_all(). NAN: not estimated
    bool guessed;                 // each side has a single process
    double own_variance, own_dof; // of the shift, due to own noise
    double spread;                // unit', or its guess, and the shared variance of a pair
    double t_dof;                 // degrees of freedom of t
    double error;                 // standard error of the shift
    double lo, hi;                // 95 % interval of the shift
    double p;                     // p-value of "no shift" for this case alone, corrected for looks
    double p_of_all;              // p, corrected for all cases
};

// Times of a case. Paired sides have the same processes.
struct times {
    const double *y[2];    // ln(ms) by process, size n[]
    const int *process[2]; // number of each process in its group, from 0, size n[]
    int n[2];              // at least 1
    bool paired;
};

// Estimates the shifts of `count` cases with the same processes. processes[] is the number of
// processes by side. `group` is a number from 0 that no other group has.
int estimate_group(struct estimate *list, const struct times *times, int64_t count,
                   const int processes[2], int group);
// Sets the remaining fields from all cases together.
int estimate_all(struct estimate *list, int64_t count);
// Raises p_of_all of cases that changed in one direction, by the noise that they share. To be
// called after estimate_all(), for each group, with the arguments of estimate_group().
int estimate_changed(struct estimate *list, const struct times *times, int64_t count,
                     const int processes[2]);

// Level of the 95 % interval.
#define STATS_ALPHA 0.05
// A case has changed if p_of_all is less. At most this share of comparisons has a false verdict.
#define STATS_LEVEL 0.025
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
// Returns the number of pairs that find a slowdown of `percent` beyond a threshold of `threshold`
// percent in 95 % of cases: (1.645 / (ln(1 + percent) - ln(1 + threshold)))^2 * unit, at least 3.
int stats_runs_needed(double unit, double percent, double threshold);

#endif
