// Another program, run to its end.
#ifndef CHILD_H
#define CHILD_H

#include "base/base.h"

// Runs argv[0], found as a shell would, with nothing to read. What it prints, stdout and stderr as
// they come, is in *text, to be freed with mem_free(); *status is its exit status, 128 and more
// where a signal ended it. One that runs longer than limit_ms is ended, with all that it started.
// ERR_UNSUPPORTED says why there is no such text, and ERR_INTERRUPTED that Ctrl-C came; *text is
// then NULL.
int child_run(char *const argv[], double limit_ms, char **text, int *status);

#endif
