// What a person sees of a sweep, on stderr: on a terminal a bar, elsewhere a line for each matrix.
#ifndef PROGRESS_H
#define PROGRESS_H

#include "sweep/sweep.h"

struct progress {
    const struct sweep *sweep;
    bool quiet, verbose, terminal;
    int64_t matrices, matrices_done; // in all passes; those that were not there before
    int64_t cases, cases_done;       // likewise
    double start_ms;
    char last[160]; // the last result
};

void progress_start(struct progress *p, const struct sweep *s, bool quiet, bool verbose);
// For struct sweep: arg is the progress.
void progress_tell(const struct sweep_news *news, void *arg);
// The bar goes, and a line says what came of it all.
void progress_end(struct progress *p);

// "3 ok, 1 failed" into `text`; "nothing" of no case.
const char *endings_text(const struct endings *t, char text[256]);
// "1:02:03".
const char *duration_text(double seconds, char text[32]);

#endif
