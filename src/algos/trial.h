// How long a run takes, told by a few: enough to choose between two, and not a measurement.
#ifndef TRIAL_H
#define TRIAL_H

#include "algos/algo.h"

#ifdef __cplusplus
extern "C" {
#endif

// Runs that take less are timed many at once, as one graph where the device has graphs: starting
// one by one takes as long as they do.
#define TRIAL_SHORT_US 50
#define TRIAL_MANY     32

// The least time of one run of a task that is ready, in microseconds, after one that warms up. In a
// graph runs are kept apart, and what does that is in the time. Of results nothing is left.
int trial_time(struct task *t, double *us);

#ifdef __cplusplus
}
#endif

#endif
