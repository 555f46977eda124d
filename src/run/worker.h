// A worker of a sweep, as its parent sees it: this program started again, in a process group of its
// own, for one matrix. A crash, a hang, too much memory then end the worker alone.
//
// It reads its order from stdin (order.h) and answers on WORKER_CHANNEL, in lines:
//
//     device ID COUNT NAME      what it has opened, and how many of the kind it sees
//     environment               the next line is that record
//     plan KEY                  of a survey: the key of a case, up to the matrix
//     loaded CASES              the matrix is there; so many cases are to run
//     unread REASON             it is not, and why
//     case                      one begins; the next line is its record, should it never end
//     result STATUS TEXT        it has ended; the next line is its record
//     again                     the device is dead: what is left takes another process
//     done
//     error CODE TEXT           it gives up, with this enum err
#ifndef WORKER_H
#define WORKER_H

#include "base/base.h"

#include <sys/types.h>

#define WORKER_CHANNEL      3
#define WORKER_SETTINGS_MAX 4

// How one is started.
struct worker_start {
    char *const *argv; // NULL at its end; argv[0] is found in /proc
    const char *order; // the document
    // NAME=VALUE, over the environment of this process.
    const char *settings[WORKER_SETTINGS_MAX];
};

struct worker {
    pid_t pid;   // and group; 0: there is none
    int channel; // what it answers; -1: it has ended
    int talk;    // what it prints
    char *text;  // of the channel, size room
    int64_t begin, end, room;
    char said[256]; // the last line it printed
    size_t said_length;
    bool said_ended; // the next letter begins a new one
};

// What there is of a worker is 0 but for the two -1 that this sets.
void worker_none(struct worker *w);
int worker_start(struct worker *w, const struct worker_start *how);
// Takes what it has written by now, without waiting. At the end of the channel w->channel is -1.
int worker_read(struct worker *w);
// The next whole line of the channel, without its end; NULL: there is none yet. It stays until the
// next call of either.
char *worker_line(struct worker *w);
// Ends it, with all that it started, also where that has a group of its own (ncu, of -counters).
void worker_kill(struct worker *w);
// Whether its process is over; then *state is as of waitpid().
bool worker_over(struct worker *w, int *state);
// The host memory of it and of what it started, in bytes; 0 where that is not known.
int64_t worker_memory(const struct worker *w);
void worker_free(struct worker *w);

// "signal 11 (Segmentation fault)", "exit status 7", and what was its last line.
const char *worker_end_text(const struct worker *w, int state, char text[FAIL_TEXT_MAX]);

#endif
