// What all workers of a sweep have in common, and how one of them is started.
#ifndef WORKER_CONFIG_H
#define WORKER_CONFIG_H

#include "base/cpus.h"
#include "sweep/worker.h"
#include "sweep/worker_request.h"

struct crew {
    char *const *words; // of their command line, without the matrix; size word_count
    int word_count;
    struct texts command; // of the sweep
    const char *device;   // -device of a worker
    char expected[16];    // what it must come to; "": not known yet
    int threads;          // of each; 0: as it finds
    int64_t memory_bytes; // of each; 0: what there is
};

// One worker's own.
struct duty {
    const char *matrix;  // path; NULL: a survey, or a standby
    bool standby;        // it waits for the word to begin, and for the rest of its order
    const char *library; // is loaded ahead of all others; NULL: none
    const char *setting; // NAME=VALUE that shows it its device; NULL: none
    const char *cpus;    // its processors; NULL: all
    const char *run;
    struct texts done, maybe, without;
    const char *lost;
    enum status lost_as;
};

int crew_start(const struct crew *crew, const struct duty *duty, struct worker *w);
// A standby of the same setting and library begins.
int crew_begin(const struct crew *crew, const struct duty *duty, struct worker *w);

// A worker that only tells what there would be to do.
struct survey {
    char id[16];           // of the device
    char name[128];        // of the same
    int count;             // of its kind, as far as the worker sees them
    char near[CPUS_TEXT];  // the processors next to it; "": not known
    struct texts prefixes; // of the cases; owned, as are the texts
};
int survey_make(const struct crew *crew, const struct duty *duty, struct survey *out);
void survey_free(struct survey *s);

// A list of texts that are owned.
int texts_add(struct texts *t, const char *text);
void texts_free(struct texts *t);

#endif
