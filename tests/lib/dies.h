// What has to end in bug() is done in a child, so that the test goes on.
#ifndef DIES_H
#define DIES_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

// Whether deed(arg) aborts, and says `says` on stderr before it does so.
static inline int dies(void (*deed)(void *arg), void *arg, const char *says)
{
    char text[4096];
    size_t used = 0;
    ssize_t got;
    int ends[2], status = 0;
    fflush(stdout);
    if (pipe(ends)) return 0;
    pid_t child = fork();
    if (!child) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        deed(arg);
        _exit(0);
    }
    close(ends[1]);
    while (used < sizeof text - 1 && (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)got;
    close(ends[0]);
    text[used] = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 0;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(text, says) != NULL;
}

#endif
