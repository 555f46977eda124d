// A place of a sweep, and the worker that is at work there on one matrix.
#ifndef SEAT_H
#define SEAT_H

#include "run/sweep.h"

// A matrix in one pass of one round.
struct job {
    const struct sweep_matrix *matrix;
    int pass, round;   // the round from 0
    struct job *later; // the same in the next round; NULL: there is none
    struct texts done; // keys of its cases that have a record; the texts are owned
    struct endings endings;
    int64_t before; // how many there were
    int idle_ends;  // workers that died with no case under way, one after the other
    char *lost;     // why it cannot be loaded; owned
    enum status lost_as;
    char unread[FAIL_TEXT_MAX]; // why it could not; "": it could, or nobody knows yet
    double begin_ms;
};

// The run that the records of a place belong to, by round and pass.
struct voice {
    char run[17];
    char *environment; // its record; NULL: not known yet; owned
    bool written;
};

struct seat {
    struct sweep *sweep;
    int place;
    struct voice *voices; // by round and pass
    struct worker w;
    struct job *job;                                    // NULL: free
    bool closed;                                        // no worker can work here
    enum { NO_RECORD, ENVIRONMENT, CASE, RESULT } next; // what the next line is
    enum status result;                                 // of a result
    char *text;                                         // of it; owned
    char *open; // the record of the case that is under way; owned; NULL: none is
    bool loaded, done, again;
    enum err error;          // it gave up, and says why
    char why[FAIL_TEXT_MAX]; // that, or why it was ended
    bool ended;              // by the sweep, as this:
    enum status ended_as;
    double deadline_ms, since_ms;
    long long oom_kills; // that the system had done when it began
};

int seat_start(struct seat *x, struct job *job);
// Takes what its worker has written.
int seat_read(struct seat *x);
// Ends a worker that is over its time or its memory.
void seat_watch(struct seat *x);
// Whether the worker is over; then the seat is free, and *next says what is to be done with its
// job.
enum seat_next { SEAT_FINISHED, SEAT_GO_ON, SEAT_CLOSED, SEAT_INTERRUPTED };
int seat_over(struct seat *x, bool *over, enum seat_next *next);
void seat_free(struct seat *x);
void job_free(struct job *j);

#endif
