// Accounts the time of a slot: each moment counts for one purpose.
#ifndef SLOT_TIMES_H
#define SLOT_TIMES_H

enum slot_time {
    SLOT_TIME_IDLE,      // no job, or not enough memory for one
    SLOT_TIME_STARTING,  // a process and its device
    SLOT_TIME_LOADING,   // the matrix
    SLOT_TIME_LEAVING,   // the last worker has not ended yet
    SLOT_TIME_WAITING,   // a standby is to stop before anything is timed
    SLOT_TIME_PREPARING, // operands, formats
    SLOT_TIME_CHECKING,
    SLOT_TIME_TIMING, // with verification of timed results
    SLOT_TIME_COUNT
};
extern const char *const slot_time_names[SLOT_TIME_COUNT];

struct slot_times {
    double ms[SLOT_TIME_COUNT];
    enum slot_time now;
    double since_ms; // begin of `now`
};
// Adds the time since the last call to its purpose. The time from now on counts for `to`.
void slot_times_turn(struct slot_times *s, enum slot_time to);
// Moves the times of a case from preparing to checking and timing.
void slot_times_case(struct slot_times *s, double checking_ms, double timing_ms);

#endif
