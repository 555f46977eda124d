// The process of a worker: this program, started again in a process group of its own for one
// matrix. A crash, a hang or too much memory end the worker alone. protocol.h has the lines and
// words.
#ifndef WORKER_H
#define WORKER_H

#include "sweep/protocol.h"

#include <sys/types.h>

#define WORKER_SETTINGS_MAX 3

struct worker_start {
    char *const *argv;                         // ends with NULL; argv[0] is the name in /proc
    const char *request;                       // JSON, one line
    bool input;                                // the worker gets the parent's stdin as WORKER_INPUT
    const char *settings[WORKER_SETTINGS_MAX]; // NAME=VALUE, over the environment of this process
};

struct worker {
    pid_t pid;   // process and group; 0: none
    int channel; // lines of the worker; -1: closed
    int talk;    // its stdout and stderr
    int words;   // words to the worker
    int request; // the file that is its stdin
    int stamps;  // stamps of its samples
    double sample_ms;             // time of the last stamp
    int64_t samples, odd_samples; // samples of the case, and those that took another time
    char *text;  // bytes of the channel, size room
    int64_t begin, end, room;
    char said[256]; // last line of talk
    size_t said_length;
    bool said_ended; // the next letter begins a new line
    enum { WORKER_RUNS, WORKER_STOPPING, WORKER_STOPPED } pause;
};

// Sets a worker without a process.
void worker_none(struct worker *w);
int worker_start(struct worker *w, const struct worker_start *how);
// Adds a request behind the first.
int worker_add_request(struct worker *w, const char *request);
// Stops the process (SIGSTOP). Returns false if it has not stopped yet: call again.
bool worker_pause(struct worker *w);
void worker_resume(struct worker *w);
// Sends a word. A worker that has ended gets none.
void worker_tell(struct worker *w, enum protocol_word word);
// Reads all that the worker has written, without waiting. At the end of the channel w->channel is
// -1.
int worker_read(struct worker *w);
// Returns the next whole line of the channel, without its newline; NULL: none. The line is valid
// until the next call of worker_read() or worker_line().
char *worker_line(struct worker *w);
// Drops the lines that are not taken, and closes the channel.
void worker_drop_lines(struct worker *w);
// Kills the process and all that it started, also in process groups of their own (ncu).
void worker_kill(struct worker *w);
// Returns true if the process has ended, and sets *state as waitpid() does.
bool worker_over(struct worker *w, int *state);
// Returns the host memory of the process and its children; 0: unknown.
int64_t worker_memory(const struct worker *w);
void worker_free(struct worker *w);

// Writes "the process ended by signal 11 (Segmentation fault); it said: ..." into `text`.
const char *worker_end_text(const struct worker *w, int state, char text[FAIL_TEXT_MAX]);

#endif
