// Keeps a case from spoiling the next. The state of the process is kept before the first case and
// before a plug-in is loaded, set before each case, and compared after its teardown. A difference
// is a failure of the case. Own algorithms run before a plug-in is loaded.
//
//   thing                                   compared                      failure
//   OpenMP's threads, rounding, flushing,
//   affinity, signal mask, nice, policy of
//   scheduling, timers                      after the case                failed
//   signal handlers                         at each look, after the case  failed
//   number of threads                       after the case                failed
//   processor time of runs on the CPU       after timed runs              failed
//   bytes behind blocks on the CPU          at each look, after the case  wrong
//
// A look follows the check. Further looks precede each verification of a timed result, and the
// teardown. A process has one state, which is static.
#ifndef ISOLATION_H
#define ISOLATION_H

#include "algos/algo.h"
#include "measure/timing.h"

// Keeps the present state, in which each case begins, unless a state is kept.
int isolation_start(void);
// Restores the state before a case.
void isolation_begin(void);
// Compares as long as the task exists: a look, see above. Returns ERR_STATE or ERR_WRONG, with the
// reason.
int isolation_look(struct task *t);
// Returns ERR_STATE if timed runs used more processors than the threads of the device, or other
// processes. `processors`: number that the process may use. With no more than threads, only clocks
// can show more.
int isolation_processors(const struct device *d, const struct timing *t, int processors);
// Compares and restores after the teardown of a case, also if the case failed. Waits for threads
// to end, and for threads of a library to rest. Returns as isolation_look().
int isolation_end(struct device *d, const struct algo_entry *entry);
// Returns true if a case left a state that cannot be restored. A new process must run other cases.
bool isolation_spoiled(void);

#endif
