// Many matrices, each in a worker of its own, on one device or on several at a time. Records are
// written as they come; for a case that has no end the sweep makes a record, and goes on with the
// rest. SpGEMM allocates in each run: on each of four H200 of one host a run takes 1.03 to 1.07
// times the time on a single H200, as the drivers wait for each other.
//
// The files of it: order.h (what a worker is told), worker.h (its process, and all that both say),
// crew.h (how they are started), seat.h (one at work; seat_lines.h: what it says), relay.h (how the
// next one follows it), shares.h (which processors each has), spent.h (where the time goes),
// resume.h (what is done already), and here who does what when. The worker's own side is
// cli/cli_worker.c.
#ifndef SWEEP_H
#define SWEEP_H

#include "records/record.h"
#include "sweep/resume.h"
#include "sweep/slot_times.h"
#include "sweep/worker_config.h"

#define SEATS_MAX 64 // places

struct sweep_matrix {
    char *path, *name; // as in its records
    int64_t bytes;     // of its text, about
    int64_t changed;   // when its file was written last, in seconds; INT64_MIN: it is in none
    int64_t place;     // in the order given
    struct file_mark file;
};

// The cases once more, with another version of the vendor's library.
struct sweep_pass {
    const char *library;   // its file; NULL: what the program finds by itself
    struct texts prefixes; // of the cases that it has, as keys begin
    struct texts without;  // of those that the worker leaves out
};

struct sweep_place {
    const char *setting; // shows a worker its device; NULL: none
    const char *name;    // for messages
    const char *cpus;    // processors of its workers, as a list; NULL: all
};

// Something has happened.
struct sweep_news {
    enum { NEWS_CASE, NEWS_MATRIX, NEWS_NOTE } kind; // a case or a matrix is over; look at the text
    const struct sweep_matrix *matrix;
    int pass;
    enum status status;     // of the case
    const char *text;       // of the case; of the matrix why it could not be read, or NULL
    struct endings endings; // of the matrix, those of before included
    int64_t before;         // how many of them were there
    double seconds;         // that the matrix took
};

struct sweep {
    const struct crew *crew;
    const struct sweep_matrix *matrices; // size matrix_count
    int64_t matrix_count;
    const struct sweep_pass *passes; // size pass_count
    int pass_count;
    const struct sweep_place *places; // size place_count
    int place_count;
    int rounds; // each case so many times, in as many runs
    double timeout_ms;
    const struct resume *resume;
    bool retry;
    struct record_file *out;
    void (*tell)(const struct sweep_news *news, void *arg);
    void *arg;
    struct endings endings;                // what came of it, those of before included
    int64_t cases_before, matrices_before; // what was there; in all passes
    double spent_ms[SPENT_COUNT];          // of all places
};

// What counts as finished of a matrix in this round, from 0.
struct resume_ask sweep_ask(const struct sweep *s, const struct sweep_matrix *m, int round);
// ERR_INTERRUPTED after Ctrl-C: the file is whole, and the sweep can be gone on with.
int sweep_run(struct sweep *s);

#endif
