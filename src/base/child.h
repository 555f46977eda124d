// Other programs: started, and run to their end; and this one, to be started again.
#ifndef CHILD_H
#define CHILD_H

#include "base/base.h"

#include <limits.h>
#include <sys/types.h>

// One that is started has this descriptor `from` of ours as its own `to`; from -1: nothing to read.
struct child_file {
    int from, to;
};
// Starts argv in a process group of its own, with the signals as a shell would leave them. `file`
// is found as a shell does; env NULL: as it is here. Returns errno, or 0.
int child_spawn(pid_t *pid, const char *file, char *const argv[], char *const env[],
                const struct child_file *files, int file_count);
// A path that starts this very program again, though its file may have been written anew since: the
// file's, while that is the one that runs, else one of /proc, which holds until this process ends.
int child_self(char path[PATH_MAX]);

// Runs argv[0], found as a shell would, with nothing to read. What it prints, stdout and stderr as
// they come, is in *text, to be freed with mem_free(); *status is its exit status, 128 and more
// where a signal ended it. One that runs longer than limit_ms is ended, with all that it started.
// ERR_UNSUPPORTED says why there is no such text, and ERR_INTERRUPTED that Ctrl-C came; *text is
// then NULL.
int child_run(char *const argv[], double limit_ms, char **text, int *status);

#endif
