// A slot of a sweep: a device, and the worker that measures a matrix there. sweep.c gives jobs to
// slots; standby.h has the workers that come before and after.
//
//   state            begins with                     the slot's time is  standby
//   SLOT_FREE        no worker                       idle                runs
//   SLOT_STARTING    the process                     starting            runs
//   SLOT_READY       ready                           starting            runs
//   SLOT_LOADING     opened                          loading             runs
//   SLOT_READ        read                            leaving             is to stop
//   SLOT_OPENING     go, after read                  starting            stopped
//   SLOT_OPEN        device                          starting            runs
//   SLOT_PREPARING   loaded; loud                    preparing           runs
//   SLOT_ASKING      quiet                           waiting             is to stop
//   SLOT_TIMING      go, after quiet                 preparing           stopped
//   SLOT_CLOSED      an error before the matrix      idle                none
//
// SLOT_FREE follows every state when the worker is gone. slot.c changes states in enter() alone.
#ifndef SLOT_H
#define SLOT_H

#include "sweep/standby.h"
#include "sweep/sweep.h"

enum slot_state {
    SLOT_FREE,
    SLOT_STARTING,
    SLOT_READY,
    SLOT_LOADING,
    SLOT_READ,
    SLOT_OPENING,
    SLOT_OPEN,
    SLOT_PREPARING,
    SLOT_ASKING,
    SLOT_TIMING,
    SLOT_CLOSED
};

// The way in which a worker ends. A later way of this list replaces an earlier way.
enum slot_end { END_NONE, END_ERROR, END_KILLED, END_AGAIN, END_DONE };

// A matrix in one pass of one round.
struct job {
    const struct sweep_matrix *matrix;
    int pass, round;   // the round from 0
    struct job *later; // this matrix and pass in the next round; NULL: none
    struct texts done; // keys of its cases that have a record; the texts are owned
    // Cases that are finished if the matrix has their content; empty once the content is known.
    struct resume_list unverified;
    struct endings endings;
    int64_t before; // cases that were finished before the sweep
    int idle_ends;  // workers in a row that died with no case under way
    char *lost;     // reason why the matrix cannot be loaded; owned; NULL: none
    enum status lost_as;
    char unread[FAIL_TEXT_MAX]; // reason why the matrix could not be read; "": none
    double begin_ms;
};

// The run that the records of a slot belong to, by round and pass.
struct run_header {
    char run[17];
    char *environment; // its record; NULL: unknown; owned
    bool written;
};

struct slot {
    struct sweep *sweep;
    int index;                  // in sweep->slot_configs
    struct run_header *headers; // by round and pass; owned
    enum slot_state state;
    enum slot_end end;
    struct worker w;
    struct standby standby;
    struct slot_times times;
    struct job *job;        // NULL: none
    struct job *unfinished; // needs another worker; NULL: none
    bool from_standby;      // the worker was a standby
    bool no_standby;        // the next worker must not be a standby: the last one failed at once
    bool started_standby;   // a standby was started for the time after this worker
    enum protocol_line
        announced;         // LINE_ENVIRONMENT, _CASE, _RESULT: next line is that record; else LINES
    enum status result;    // status of the announced or last result
    char *text;            // its text; owned
    char *open;            // crash record of the case under way; owned; NULL: none
    enum err error;        // error of END_ERROR
    enum status killed_as; // status of END_KILLED
    char why[FAIL_TEXT_MAX];      // text of the error, or reason of the kill
    double deadline_ms, since_ms; // limit of the state or case, and its begin
    bool late;                    // this process reads lines long after they were written
    double case_ms;               // time of the line `case` by the own clock; 0: not compared
    char wrong_clock[128];        // reason to refuse the announced result; "": none
    long long oom_kills;          // kills by the system before the worker started
};

void slot_init(struct slot *x, struct sweep *s, int index);
// Returns true if a worker can start with this job: a standby is there, or the last worker is gone.
bool slot_can_start(struct slot *x, const struct job *job);
int slot_start(struct slot *x, struct job *job);
// Returns true if a standby can start beside the worker.
bool slot_wants_standby(const struct slot *x);
int slot_start_standby(struct slot *x, int pass);
// Reads the lines of the slot's workers. Sets *done if the job is measured and its worker is
// leaving.
int slot_read(struct slot *x, bool *done);
// Sends the word go if the worker waits for it and it is true. Returns false if that needs a
// moment.
bool slot_answer(struct slot *x);
// Returns the time at which the worker is killed. A worker that waits for other slots has none.
double slot_deadline(const struct slot *x);
// Says if the next lines are read long after they were written: then no clocks are compared.
void slot_set_late(struct slot *x, bool late);
// Kills a worker that is over its time or its memory.
void slot_enforce_limits(struct slot *x);
// Reaps a worker that has ended. Sets *over, and *next to the fate of its job.
enum slot_next { SLOT_JOB_FINISHED, SLOT_JOB_GOES_ON, SLOT_JOB_ELSEWHERE, SLOT_INTERRUPTED };
int slot_reap(struct slot *x, bool *over, enum slot_next *next);
void slot_free(struct slot *x);

void job_free(struct job *j);
// Counts a case as finished before the sweep.
int job_add_finished(struct sweep *s, struct job *j, const struct resume_found *f);

#endif
