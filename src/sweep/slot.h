// A place of a sweep, and the worker that is at work there on one matrix. relay.h has those before
// and behind it.
#ifndef SLOT_H
#define SLOT_H

#include "sweep/standby.h"
#include "sweep/sweep.h"

// A matrix in one pass of one round.
struct job {
    const struct sweep_matrix *matrix;
    int pass, round;   // the round from 0
    struct job *later; // the same in the next round; NULL: there is none
    struct texts done; // keys of its cases that have a record; the texts are owned
    // Those that are finished if the matrix has their content; none, once that is known.
    struct resume_list perhaps;
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
    struct relay relay;
    struct spent spent;
    struct job *job;         // NULL: free
    struct job *unfinished;  // takes another worker; NULL: none is
    bool closed;             // no worker can work here
    bool stood_by, plain;    // its worker has; the next one must not have
    bool ready, named, read; // what it has said
    bool alone, measuring;   // and been told
    bool quiet, hushed;      // it times, or waits to; and nothing runs beside it
    bool ahead;              // the one behind it was seen to
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

void seat_init(struct seat *x, struct sweep *s, int place);
// Whether a worker can begin with this job now: one stands by, or the last one is gone.
bool seat_can_start(struct seat *x, const struct job *job);
int seat_start(struct seat *x, struct job *job);
// Whether the worker is at a point where another may get ready; and starts that, for this pass.
bool seat_wants_next(const struct seat *x);
int seat_start_next(struct seat *x, int pass);
// Takes what its workers have written. *done: all of the job is measured, and its worker leaves.
int seat_read(struct seat *x, bool *done);
// Says the words that its worker waits for, once they are true. false: soon they will be.
bool seat_talk(struct seat *x);
// Ends a worker that is over its time or its memory.
void seat_watch(struct seat *x);
// Whether the worker is over; then *next says what is to be done with its job.
enum seat_next { SEAT_FINISHED, SEAT_GO_ON, SEAT_CLOSED, SEAT_INTERRUPTED };
int seat_over(struct seat *x, bool *over, enum seat_next *next);
void seat_free(struct seat *x);
void job_free(struct job *j);
// Counts a case as finished before the sweep began.
int job_add_before(struct sweep *s, struct job *j, const struct resume_found *f);

#endif
