// Standby workers: the next worker of a place gets ready while the current worker measures. The
// standby begins when the current worker has measured its last case, while that worker ends.
//
// The start of a process takes most of the time of a short sweep: 1.1 s a matrix with one H200, 2.0
// s with four, whose drivers wait for each other. A start must not disturb a timing. Rules:
//
// - A standby is started when the worker ahead of it has got ready itself. While that one times
//   anything (conversions, samples, the device's ceilings) the standby is stopped (SIGSTOP), and
//   the timing begins when the system says that it is: it runs while the other one reads and
//   checks. Once it is ready it waits, and does nothing at all.
// - It gets ready without the device: it is loaded, reads its options, counts the devices. What a
//   second process on a GPU does (a context takes memory, and turns with the other one) it does not
//   do before the worker ahead has said that it measures nothing any more.
// - It then opens the device and reads its matrix beside the other's end, which frees all that it
//   had on the device, and neither allocates nor measures there before that process is gone.
//
// So a case has what it had without all this: a process that is one matrix's own, alone at its
// device. (One process for several matrices would start faster still, but what one leaves behind,
// in memory that it should not have written, would be the next one's.) A standby that dies, or
// fails before its first case, is a standby lost: a worker that is started in the plain way takes
// its place, and the matrix loses nothing.
#ifndef STANDBY_H
#define STANDBY_H

#include "sweep/worker_config.h"

struct sweep_matrix;

struct relay {
    struct worker next; // stands by, or gets ready to; not there if its pid is 0
    int pass;           // that it is for
    bool tied, ready; // it ends with this process; it waits
    double until_ms;                   // to get ready
    struct worker last;                // has measured all, and ends; not there if its pid is 0
    const struct sweep_matrix *matrix; // it was on this one
    double leave_ms;                   // for it to be gone
};

void relay_init(struct relay *r);
// Starts the next one. A system that makes no more processes is no error: there is none then.
int relay_start(struct relay *r, const struct crew *crew, const struct duty *duty, int pass);
// Whether one that is not ready yet is under way.
bool relay_is_starting(const struct relay *r);
// Sees to it that nothing runs here beside the worker at work; false: it still does, ask again.
bool relay_hush(struct relay *r);
// From now on it may.
void relay_go_on(struct relay *r);
// Whether one for this pass stands by, or gets ready to.
bool relay_has(struct relay *r, int pass);
// Gives it to *w, which is to be told to begin.
void relay_take(struct relay *r, struct worker *w);
// This worker has said its last word.
void relay_leave(struct relay *r, struct worker *w, const struct sweep_matrix *matrix);
// Takes what both have written, ends what is over its time or has more than so much memory (0: as
// much as there is), and buries what has ended. *gone: the last one's matrix, NULL while that is
// there; how it ended is then in *state and text.
int relay_look(struct relay *r, int64_t memory_bytes, const struct sweep_matrix **gone, int *state,
               char text[FAIL_TEXT_MAX]);
// Ends the one that stands by.
void relay_drop(struct relay *r);
void relay_free(struct relay *r);

#endif
