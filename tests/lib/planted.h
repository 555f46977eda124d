// Faults on purpose: functions that must not come to their end, each run in a child process.
#ifndef PLANTED_H
#define PLANTED_H

#include "emu.h"
#include "test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// Runs `f` in a child that then ends normally. Its stderr goes to `text`; true if it failed.
static bool fails(void (*f)(), char *text, size_t size)
{
    int fd[2];
    fflush(stdout);
    if (pipe(fd)) abort();
    pid_t child = fork();
    if (child == 0) {
        dup2(fd[1], 2);
        close(fd[0]);
        emu_set_order(EMU_FORWARD, 1);
        f();
        exit(0);
    }
    close(fd[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(fd[0], text + n, size - 1 - n)) > 0;) n += (size_t)got;
    text[n] = 0;
    close(fd[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

// It must fail, and tell all parts of `report`, in their order. "..." stands between two parts.
static void expect_fault(const char *name, void (*f)(), const char *report)
{
    static char text[1 << 16];
    CHECK(fails(f, text, sizeof text), "%s: nothing stopped it", name);
    const char *from = text;
    for (const char *end; report && from; report = end ? end + 3 : NULL) {
        char part[256];
        end = strstr(report, "...");
        snprintf(part, sizeof part, "%.*s", end ? (int)(end - report) : 255, report);
        from = strstr(from, part);
        CHECK(from, "%s: no \"%s\" in its place in: %s", name, part, text);
    }
}

#endif
