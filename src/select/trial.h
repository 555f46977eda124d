// Trial runs: rough times that are enough to choose among candidates.
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

// Sets *us to the least time of a run in microseconds, after a run that warms up. The task has to
// be ready. A device without graphs runs the task TRIAL_FEW times in all. A device with graphs
// repeats the launch of a graph, or the run if it cannot be a graph. In a graph an empty kernel
// follows each run. Its time is included. A run of more than `enough` microseconds ends the trial.
// No result is left.
#define TRIAL_FEW 2
int trial_time(struct task *t, double enough, double *us);

#ifdef __cplusplus
}
#endif

#endif
