// A sweep: many matrices, each in a worker process of its own, on one or several devices. Records
// are written as they come. A case that never ends gets a record from the sweep, which goes on with
// the other cases. SpGEMM allocates in each run: on each of four H200 of one host a run takes 1.03
// to 1.07 times the time on a single H200, as the drivers wait for each other.
//
//   sweep.c           jobs, slots, the main loop
//   slot.h            a device and its worker: states
//   standby.h         the next worker and the last worker of a slot
//   protocol.h        lines and words between a sweep and its workers
//   worker.h          the process of a worker
//   worker_config.h   settings of all workers; surveys
//   worker_request.h  the request to a worker
//   crash_record.h    the record of a case that never ended
//   resume.h          cases that are finished
//   cpu_split.h       processors of workers
//   worker_devices.h  devices of workers, from -device
//   slot_times.h      accounting of time
//
// The worker's side is worker/worker_main.c.
#ifndef SWEEP_H
#define SWEEP_H

#include "records/record.h"
#include "sweep/resume.h"
#include "sweep/slot_times.h"
#include "sweep/worker_config.h"

#define SLOTS_MAX 64

struct sweep_matrix {
    char *path, *name; // as in its records
    int64_t bytes;     // estimated size of its text
    int64_t changed;   // last write of its file, in seconds; INT64_MIN: no file
    int64_t place;     // in the order given
    struct file_mark file;
};

// All cases, or the cases of another version of a vendor's library.
struct sweep_pass {
    const char *library;   // file of the library; NULL: the default one
    struct texts prefixes; // keys of its cases, up to the matrix
    struct texts without;  // keys of cases that the worker leaves out
};

// The device and the processors of a slot.
struct slot_config {
    const char *setting; // NAME=VALUE that makes the device visible; NULL: none
    const char *name;    // for messages
    const char *cpus;    // processors of its workers, as a list; NULL: all
};

// An event for the progress line.
struct sweep_news {
    // First record of a worker, end of a case, end of a matrix, a message.
    enum { NEWS_ENVIRONMENT, NEWS_CASE, NEWS_MATRIX, NEWS_NOTE } kind;
    const struct sweep_matrix *matrix; // NULL: a message without a matrix
    int pass;
    enum status status; // status of the case
    const char *record; // of an environment or a case; else NULL
    const char *text;   // text of a case; of a matrix, the reason why it cannot be read, or NULL
    struct endings endings; // ends of the cases of the matrix, with those of earlier sweeps
    int64_t before;         // cases finished by earlier sweeps
    double seconds;         // time of the matrix
};

struct sweep {
    const struct worker_config *config;
    const struct sweep_matrix *matrices; // size matrix_count
    int64_t matrix_count;
    const struct sweep_pass *passes; // size pass_count
    int pass_count;
    const struct slot_config *slot_configs; // size slot_count
    int slot_count;
    int rounds; // times that each case is measured, in as many runs
    double timeout_ms;
    const struct resume *resume;
    bool retry, race;        // see struct resume_ask
    bool host_bound;         // times depend on the host: one slot measures at a time
    struct record_file *out; // NULL: none
    struct worker *first;    // a standby for the first job, of survey_start(); NULL: none
    void (*tell)(const struct sweep_news *news, void *arg);
    void *arg;
    struct endings endings;                // ends of all cases, with those of earlier sweeps
    int64_t cases_before, matrices_before; // finished by earlier sweeps; in all passes
    double spent_ms[SLOT_TIME_COUNT];      // sums over all slots
};

// Returns the rule by which cases of a matrix are finished in this round, from 0.
struct resume_ask sweep_ask(const struct sweep *s, const struct sweep_matrix *m, int round);
// Runs the sweep. ERR_INTERRUPTED after Ctrl-C: the file is whole, and a sweep can continue it.
int sweep_run(struct sweep *s);

#endif
