// Threads of this process beside the calling thread and its OpenMP team: those of libraries, and
// those that an algorithm has left behind.
#ifndef OTHER_THREADS_H
#define OTHER_THREADS_H

#include "base/base.h"

#define OTHER_THREADS_MAX 1024

struct other_threads {
    int count;                   // at most OTHER_THREADS_MAX; further threads are left out
    int list[OTHER_THREADS_MAX]; // the system's numbers, size count
};

// Finds the threads that are not among the `count` numbers `own`. Sorts `own`. Sets none if
// /proc is missing.
void other_threads_find(struct other_threads *x, int *own, int count);
// Returns the number of threads that are not in `before`.
int other_threads_new(const struct other_threads *x, const struct other_threads *before);
// Returns the number of threads that run or wait for a processor.
int other_threads_running(const struct other_threads *x);
// Returns the processor time of these threads in milliseconds. A thread that has ended counts 0.
double other_threads_used_ms(const struct other_threads *x);

#endif
