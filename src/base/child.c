#define _GNU_SOURCE // pipe2, readlink
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS        20              // between two calls of waitpid()
#define FIRST_CAPACITY ((int64_t)4096) // bytes of text, doubled when full
#define TEXT_MAX       ((int64_t)64 << 20)

struct child {
    const char *name;
    pid_t pid; // also the process group
    int out;   // read end of the pipe from its stdout and stderr
    char *text;
    int64_t length, capacity; // bytes of text: read, allocated
};

static int add_files(posix_spawn_file_actions_t *actions, const struct child_file *files, int count)
{
    int e = 0;
    for (int i = 0; i < count && !e; i++)
        e = files[i].from < 0
                ? posix_spawn_file_actions_addopen(actions, files[i].to, "/dev/null", O_RDONLY, 0)
                : posix_spawn_file_actions_adddup2(actions, files[i].from, files[i].to);
    return e;
}

int child_spawn(pid_t *pid, const char *file, char *const argv[], char *const env[],
                const struct child_file *files, int file_count)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t normal;
    sigemptyset(&normal);
    sigaddset(&normal, SIGPIPE);
    sigaddset(&normal, SIGXFSZ);
    int e = posix_spawn_file_actions_init(&actions);
    if (e) return e;
    e = posix_spawnattr_init(&attr);
    if (!e) {
        e = add_files(&actions, files, file_count);
        if (!e) e = posix_spawnattr_setpgroup(&attr, 0);
        if (!e) e = posix_spawnattr_setsigdefault(&attr, &normal);
        if (!e) e = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
        if (!e) e = posix_spawnp(pid, file, &actions, &attr, argv, env ? env : environ);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&actions);
    return e;
}

#define SELF "/proc/self/exe"

int child_self(char path[PATH_MAX])
{
    struct stat running, there;
    ssize_t n = readlink(SELF, path, PATH_MAX - 1);
    if (n <= 0 || stat(SELF, &running))
        return fail(ERR_UNSUPPORTED, "the program cannot find itself in /proc");
    path[n] = 0;
    bool same =
        !stat(path, &there) && there.st_dev == running.st_dev && there.st_ino == running.st_ino;
    if (!same) snprintf(path, PATH_MAX, "/proc/%d/exe", (int)getpid());
    return OK;
}

static int start(struct child *c, char *const argv[])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return fail(ERR_UNSUPPORTED, "%s: cannot make a pipe: %s", c->name, strerror(errno));
    const struct child_file files[] = {
        {-1, STDIN_FILENO}, {ends[1], STDOUT_FILENO}, {ends[1], STDERR_FILENO}};
    int e = fcntl(ends[0], F_SETFL, O_NONBLOCK) ? errno : 0;
    if (!e) e = child_spawn(&c->pid, argv[0], argv, NULL, files, COUNT(files));
    close(ends[1]);
    c->out = ends[0];
    if (!e) return OK;
    close(ends[0]);
    return fail(ERR_UNSUPPORTED, "%s: cannot be started: %s", c->name, strerror(e));
}

// Reads all that the pipe holds.
static int drain(struct child *c)
{
    for (;;) {
        if (c->capacity - c->length < 2) {
            if (c->capacity >= TEXT_MAX)
                return fail(ERR_UNSUPPORTED, "%s: prints more than 64 MiB", c->name);
            char *larger = mem_resize(c->text, c->capacity, 2 * c->capacity, 1);
            if (!larger) return ERR_MEMORY;
            c->text = larger, c->capacity *= 2;
        }
        ssize_t n = read(c->out, c->text + c->length, (size_t)(c->capacity - c->length - 1));
        if (n > 0) c->length += n;
        if (n == 0 || (n < 0 && errno != EINTR)) break; // end of file, or the pipe is empty
    }
    c->text[c->length] = 0;
    return OK;
}

// Reads until the child has ended. Does not wait for processes that the child has left behind.
static int follow(struct child *c, double limit_ms, int *state)
{
    double begin = clock_ms();
    for (;;) {
        struct pollfd pipe_state = {.fd = c->out, .events = POLLIN};
        poll(&pipe_state, 1, POLL_MS);
        pid_t pid = waitpid(c->pid, state, WNOHANG);
        bool lost = pid < 0 && errno != EINTR, ended = pid == c->pid;
        if (ended) c->pid = 0;
        int err = drain(c);
        if (err || ended) return err;
        if (lost) return fail(ERR_UNSUPPORTED, "%s: waitpid() failed", c->name);
        if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
        if (clock_ms() - begin > limit_ms)
            return fail(ERR_UNSUPPORTED, "%s: did not end within %g s", c->name, limit_ms * 1e-3);
        // poll() returns at once when the pipe is closed.
        if (pipe_state.revents & POLLHUP && !(pipe_state.revents & POLLIN)) usleep(POLL_MS * 1000);
    }
}

int child_run(char *const argv[], double limit_ms, char **text, int *status)
{
    struct child c = {.name = argv[0], .capacity = FIRST_CAPACITY};
    int state = 0;
    *text = NULL;
    c.text = mem_alloc(FIRST_CAPACITY, 1);
    if (!c.text) return ERR_MEMORY;
    int err = start(&c, argv);
    if (!err) {
        err = follow(&c, limit_ms, &state);
        if (c.pid) { // still running, after an error
            kill(-c.pid, SIGKILL);
            while (waitpid(c.pid, &state, 0) < 0 && errno == EINTR) {}
        }
        close(c.out);
    }
    if (err) {
        mem_free(c.text);
        return err;
    }
    *status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    *text = c.text;
    return OK;
}
