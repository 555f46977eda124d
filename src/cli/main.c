// Sets the wait policy of OpenMP, signal handlers and the exit status.
#include "cli/cli.h"

#include "base/child.h"
#include "base/terminal.h"
#include "base/whole_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPINS_NAME "GOMP_SPINCOUNT"
// Spins of a waiting thread before it sleeps. 2 processors of a Xeon, f32, gen:fem:8; `slowest` of
// ten algorithms over the default of libgomp, 300,000; milliseconds beside 2 busy loops:
//
//     spins     idle: slowest    rowsplit, k = 64    aspt, k = 64
//     5,000     1.30             0.067               0.27
//    20,000     1.08             0.069               0.14
//    50,000     1.02             0.068               0.14
//   300,000     1                6.6                 0.15
#define SPINS          "50000"
#define END_IN_ORDER_S 2 // time for the case in progress to see the interrupt
// timeout(1) sends its signal twice: to its child and to the process group.
#define SAME_SIGNAL_MS 200.0

static bool erases; // terminal_can_erase(), for signal handlers

// Called from signal handlers.
static void end_now(const char *text, int status)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; // a closed stderr is no error
    whole_file_abandon();
    _exit(status);
}

// The first Ctrl-C drops the case in progress and ends the run in order. A long run cannot be
// interrupted: after END_IN_ORDER_S, or at a second Ctrl-C, the program ends here. Records stay
// complete, because each is written when its case ends.
static void interrupt(int signal)
{
    static volatile double first_ms;
    if (!interrupted) {
        first_ms = clock_ms();
        interrupted = 1;
        alarm(END_IN_ORDER_S);
    } else if (signal == SIGALRM || clock_ms() - first_ms > SAME_SIGNAL_MS) {
        end_now(erases ? TERMINAL_ERASE "spbench: interrupted\n" : "spbench: interrupted\n", 130);
    }
}

// SIGBUS: a memory-mapped file was truncated during reading. No other memory can raise this signal.
static void handle_truncated_file(int signal)
{
    (void)signal;
    end_now("spbench: a matrix file became shorter while it was read\n", 3);
}

// SIGPIPE and SIGXFSZ are ignored, so that they become write errors.
static void set_handlers(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    erases = terminal_can_erase();
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before; // SIGHUP stays ignored under nohup
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGBUS, handle_truncated_file);
}

// Opens closed standard descriptors. Otherwise the next file would get the number of stderr and its
// messages. They are opened in the wrong mode, so that their use stays an error.
static void fill_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd) _exit(1);
}

// Lets waiting threads of OpenMP sleep after SPINS spins, unless the user has set their policy.
// libgomp reads the variable when it is loaded, so main() executes the program again. The default
// is 300,000 spins, 16 ms. A waiting thread may hold the processor of the thread that it waits for.
static void set_wait_policy(char **argv)
{
    char path[PATH_MAX];
    const char *policy = getenv("OMP_WAIT_POLICY");
    if ((policy && *policy) || getenv(SPINS_NAME)) return;
    if (!child_self(path) && !setenv(SPINS_NAME, SPINS, true)) execv(path, argv);
    unsetenv(SPINS_NAME);
    fail_drop();
}

int main(int argc, char **argv)
{
    struct outcome outcome = {0};
    set_wait_policy(argv);
    fill_descriptors();
    set_handlers();
    int err = cli_main(argc, argv, &outcome);
    alarm(0);
    if (!err) fail_check_ended();
    if (!err && outcome.exit_now) _exit(0); // cli_main() has flushed stdout
    if (err) fprintf(stderr, "spbench: %s\n", fail_text());
    if (!err && outcome.conclusion == CONCLUSION_REGRESSION) return 1;
    if (err != ERR_USAGE && err != ERR_INTERRUPTED && outcome.conclusion == CONCLUSION_CANNOT_TELL)
        return 3;
    switch (err) {
    case OK: return outcome.bad_result ? 1 : outcome.bad_spec ? 2 : outcome.bad_matrix ? 3 : 0;
    case ERR_USAGE: return 2;
    case ERR_INPUT: return 3;
    case ERR_INTERRUPTED: return 130;
    default: return 1;
    }
}
