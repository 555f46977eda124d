// A worker of a sweep, as its parent sees it: this program started again, in a process group of its
// own, for one matrix. A crash, a hang, too much memory then end the worker alone.
//
// It reads its order from stdin (order.h), waits for words on WORKER_WORDS, a letter each, and
// answers on WORKER_CHANNEL, in lines:
//
//     tied                      it ends with its parent
//     ready                     what can be done without device and matrix is done
//  <- begin                     only of a standby: the order is there now, and the device may be
//                               opened: what was measured on it before is over
//     opened                    the device is
//     read                      the matrix has been, or cannot be
//  <- alone                     the process that was at the device before is gone
//     device ID COUNT NAME      what it has opened, and how many of the kind it sees
//     near PROCESSORS           those next to it, as a list, where the system tells; of a survey
//     environment               the next line is that record
//     plan KEY                  of a survey: the key of a case, up to the matrix
//     loaded CASES CONTENT      the matrix is there, what it is, and so many cases are to run
//     unread REASON             it is not, and why
//  <- measure, or watched    it may time; watched: a standby gets ready, so it asks before it does
//     quiet                     of one that is watched: nothing must run beside it from now on
//  <- hushed, or measure      nothing does; measure: and nothing will, it need not ask any more
//     loud                      again something may
//     case                      one begins; the next line is its record, should it never end
//     result STATUS CHECK TIMING TEXT  it has ended, and took so many ms to check and to time; the
//                               next line is its record
//     again                     the device is dead: what is left takes another process
//     done                      nothing is measured any more; what follows is its end
//     error CODE TEXT           it gives up, with this enum err
#ifndef WORKER_H
#define WORKER_H

#include "base/base.h"

#include <sys/types.h>

#define WORKER_CHANNEL      3
#define WORKER_WORDS        4
#define WORKER_SETTINGS_MAX 4

enum worker_word {
    WORD_BEGIN = 'b',
    WORD_ALONE = 'a',
    WORD_MEASURE = 'm',
    WORD_WATCHED = 'w',
    WORD_HUSHED = 'h'
};

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
    int words;   // what it is told
    int order;   // the file that it reads its order from
    char *text;  // of the channel, size room
    int64_t begin, end, room;
    char said[256]; // the last line it printed
    size_t said_length;
    bool said_ended; // the next letter begins a new one
    bool stopping, stopped;
};

// What there is of a worker is 0 but for the -1 that this sets.
void worker_none(struct worker *w);
int worker_start(struct worker *w, const struct worker_start *how);
// Another order behind the first.
int worker_order(struct worker *w, const char *order);
// Stops it where it is, until it is to go on. *stopped: it is by now, else to be asked again.
void worker_stop(struct worker *w, bool *stopped);
void worker_go_on(struct worker *w);
// It gets to know sooner or later; one that has ended does not.
void worker_tell(struct worker *w, enum worker_word word);
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
