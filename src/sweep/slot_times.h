// Where the time of a place goes: at each moment to one of these.
#ifndef SLOT_TIMES_H
#define SLOT_TIMES_H

enum spending {
    SPENT_IDLE,      // nothing is to do, or not enough memory for it
    SPENT_STARTING,  // a process, and its device
    SPENT_LOADING,   // the matrix
    SPENT_LEAVING,   // the process before is not gone yet
    SPENT_WAITING,   // the next process, which gets ready, is to stop, as something is to be timed
    SPENT_PREPARING, // operands, formats
    SPENT_CHECKING,
    SPENT_TIMING, // and looking at what was timed
    SPENT_COUNT
};
extern const char *const spending_names[SPENT_COUNT];

struct spent {
    double ms[SPENT_COUNT];
    enum spending now;
    double since_ms;
};
// What was until now is added up; from now on it is this.
void spent_turn(struct spent *s, enum spending to);
// A case has ended: so much of what counts as preparing was something else.
void spent_case(struct spent *s, double checking_ms, double timing_ms);

#endif
