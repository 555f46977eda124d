// How long a run takes, told by a few: enough to choose among a few, and not a measurement.
#ifndef TRIAL_H
#define TRIAL_H

#include "algos/algo.h"

#ifdef __cplusplus
extern "C" {
#endif

// Runs of less than TRIAL_LONG_US are timed as a graph of up to TRIAL_MANY runs, if the device has
// graphs: launches one by one may take as long as the runs. Runs that make their result are timed
// one by one. H200, 93 cases: `auto` takes 1.7 ms to prepare with 32 runs, 0.77 ms with 8 (median),
// for the same choices.
#define TRIAL_LONG_US 1000
#define TRIAL_MANY    8

// The least time of one run of a task that is ready, in microseconds, after one that warms up. In a
// graph an empty kernel stands behind each run, and its time is included, unless they are to be
// back to back. What is no graph is timed run by run in either case. A run of more than `enough`
// microseconds is the last one. No result is left.
int trial_time(struct task *t, bool back, double enough, double *us);

#ifdef __cplusplus
}
#endif

#endif
