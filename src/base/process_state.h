// State of the process that a library or an algorithm can change: the number of OpenMP threads,
// rounding, flushing of denormal numbers, affinity, signals, interval timers, nice value,
// scheduling policy. A kept state is restored, and differences are named.
#ifndef PROCESS_STATE_H
#define PROCESS_STATE_H

#include "base/base.h"

#include <signal.h>

#define PROCESS_SIGNALS    64
#define PROCESS_TIMERS     3
#define PROCESS_STATE_TEXT 128 // bytes of the name of a difference

struct thread_state;

struct process_state {
    int team;                       // OpenMP threads of the calling thread's regions
    bool dynamic;                   // OpenMP may use fewer
    int levels;                     // nested active regions, at most
    struct thread_state *threads;   // of the calling thread (0) and its team, size team; owned
    bool has_timer[PROCESS_TIMERS]; // an interval timer runs, such as that of a profiler
    struct sigaction handlers[PROCESS_SIGNALS + 1]; // by signal
    bool has_handler[PROCESS_SIGNALS + 1];          // false: the system refuses to tell
};

// Keeps the present state. ERR_MEMORY: nothing is kept.
int process_state_keep(struct process_state *kept);
void process_state_free(struct process_state *kept);

enum process_change {
    PROCESS_SAME,
    PROCESS_RESTORED,
    PROCESS_STUCK, // the system refuses to restore the state, such as a lower nice value
};
// Restores what differs from `kept`, also in the threads of OpenMP. Sets `what` to the first
// difference, such as "rounding toward zero"; "": none.
enum process_change process_state_restore(const struct process_state *kept,
                                          char what[PROCESS_STATE_TEXT]);
// Returns true, with the difference in `what`, if a signal has another handler. Restores nothing.
bool process_state_handler_changed(const struct process_state *kept, char what[PROCESS_STATE_TEXT]);

#endif
