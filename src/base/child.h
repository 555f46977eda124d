// Child processes: starting a program, and running a program to its end.
#ifndef CHILD_H
#define CHILD_H

#include "base/base.h"

#include <limits.h>
#include <sys/types.h>

// The descriptor `from` of this process becomes `to` of the child; from -1: /dev/null, for reading.
struct child_file {
    int from, to;
};
// Starts `file`, searched in PATH, with default signal handlers and in its own process group. env
// NULL: the environment of this process. Returns 0 or an errno.
int child_spawn(pid_t *pid, const char *file, char *const argv[], char *const env[],
                const struct child_file *files, int file_count);
// Sets `path` to the running program. If its file has been replaced, the path is in /proc and is
// valid until this process ends.
int child_self(char path[PATH_MAX]);

// Runs argv[0], searched in PATH, with an empty stdin. Sets *text to its stdout and stderr
// together, to be freed with mem_free(). Sets *status to its exit status, or 128 + the signal that
// ended it. After limit_ms its process group is killed. ERR_UNSUPPORTED: no start, or no end within
// limit_ms. ERR_INTERRUPTED: Ctrl-C. *text is then NULL.
int child_run(char *const argv[], double limit_ms, char **text, int *status);

#endif
