// The progress of a sweep on stderr: a bar on a terminal, else a line for each matrix.
#ifndef PROGRESS_H
#define PROGRESS_H

#include "sweep/sweep.h"

struct progress {
    const struct sweep *sweep;
    bool quiet, verbose, terminal;
    bool tables;                     // tables are printed in place of lines
    char note[160]; // last message without a matrix; an equal one is not printed again
    int64_t matrices, matrices_done; // in all passes; done by this sweep
    int64_t cases, cases_done;       // likewise
    double start_ms;
    char last[160]; // the last result
};

void progress_start(struct progress *p, const struct sweep *s, bool quiet, bool verbose);
// Shows an event.
void progress_tell(struct progress *p, const struct sweep_news *news);
// Removes the bar before other output.
void progress_clear(const struct progress *p);
// Removes the bar and prints the final line.
void progress_end(struct progress *p);

// Writes "1:02:03" into `text`.
const char *duration_text(double seconds, char text[32]);

#endif
