// Standby workers: the next worker of a slot gets ready while the current worker measures, and
// begins when that worker has measured its last case. H100, 40 small matrices, SpMM by three
// algorithms: a sweep takes 18.9 s, without standby workers 25.7 s.
//
// A standby must not disturb a timing:
//
// - A standby is started when the current worker is ready. While that worker times anything
//   (conversions, samples, ceilings of the device), a standby that is not ready yet is stopped
//   (SIGSTOP). A ready standby waits and does nothing.
// - A standby gets ready without the device: the program is loaded, options are parsed, devices are
//   counted. A second process on a GPU takes memory and time slices, so the standby opens the
//   device only after the current worker has measured its last case.
// - The standby then opens the device and reads its matrix while the last worker ends. It allocates
//   and measures on the device when the last process is gone.
//
// As a result, each matrix has its own process, alone on its device. One process for several
// matrices would start faster, but errors of one matrix (writes out of bounds) would reach the
// next. A standby that fails before its first case loses nothing: a new worker takes its place.
#ifndef STANDBY_H
#define STANDBY_H

#include "sweep/worker_config.h"

struct sweep_matrix;

struct standby {
    struct worker next;                // gets ready, or is ready; pid 0: none
    int pass;                          // pass of its job
    bool tied, ready;                  // lines of `next`
    double until_ms;                   // limit for `next` to get ready
    struct worker last;                // has measured its last case, and ends; pid 0: none
    const struct sweep_matrix *matrix; // matrix of `last`
    double leave_ms;                   // limit for `last` to end
};

void standby_init(struct standby *s);
// Starts a standby. If the system starts no process, there is none, without an error.
int standby_start(struct standby *s, const struct worker_config *config,
                  const struct worker_args *args, int pass);
// Takes over a ready worker, such as the worker of survey_start().
void standby_give(struct standby *s, struct worker *w, int pass);
// Returns true if a standby is not ready yet.
bool standby_is_starting(const struct standby *s);
// Stops a standby that is not ready. Returns false if it still runs: call again.
bool standby_pause(struct standby *s);
// Lets the standby run.
void standby_resume(struct standby *s);
// Returns true if there is a standby for this pass.
bool standby_has(struct standby *s, int pass);
// Moves the standby to *w. The caller sends it its second request and the word begin.
void standby_take(struct standby *s, struct worker *w);
// Moves a worker that has written its last line to `last`.
void standby_set_leaving(struct standby *s, struct worker *w, const struct sweep_matrix *matrix);
// Reads the lines of both workers. Kills a worker that is over its time or over `memory_bytes` (0:
// no limit), and reaps workers that have ended. Sets *gone to the matrix of `last` when that has
// ended, with *state and `text`; NULL: not yet.
int standby_poll(struct standby *s, int64_t memory_bytes, const struct sweep_matrix **gone,
                 int *state, char text[FAIL_TEXT_MAX]);
// Ends the standby.
void standby_end(struct standby *s);
void standby_free(struct standby *s);

#endif
