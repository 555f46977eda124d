// The only place that decides how the program ends.
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

// A mapped file that somebody shortens while it is read: nothing else here touches such memory.
static void file_shrank(int signal)
{
    static const char text[] = "spbench: a matrix file became shorter while it was read\n";
    (void)signal;
    if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(1);
    _exit(3);
}

// The first Ctrl-C drops the case in flight and ends the run in order; a second one ends it at
// once. A closed pipe is a write error like any other.
static void set_handlers(void)
{
    struct sigaction once = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGTERM, &once, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGBUS, file_shrank);
}

int main(int argc, char **argv)
{
    struct outcome outcome = {0};
    set_handlers();
    int err = cli_main(argc, argv, &outcome);
    if (err) fprintf(stderr, "spbench: %s\n", fail_text());
    switch (err) {
    case OK: return outcome.bad_case ? 1 : outcome.bad_spec ? 2 : outcome.bad_matrix ? 3 : 0;
    case ERR_USAGE: return 2;
    case ERR_INPUT: return 3;
    case ERR_INTERRUPTED: return 130;
    default: return 1;
    }
}
