#define _GNU_SOURCE // pipe2, memfd_create
#include "run/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process_tree.h"
#include "base/utf8.h"

#define FIRST ((int64_t)1 << 16) // bytes of text, doubled as it comes
#define SELF  "/proc/self/exe"

extern char **environ;

void worker_none(struct worker *w) { *w = (struct worker){.channel = -1, .talk = -1}; }

// The environment of this process with some variables set; only the list is owned.
static const char **settings_over(const char *const settings[WORKER_SETTINGS_MAX])
{
    int64_t count = 0, used = 0;
    while (environ[count]) count++;
    const char **all = mem_alloc(count + WORKER_SETTINGS_MAX + 1, sizeof *all);
    if (!all) return NULL;
    for (int64_t i = 0; i < count; i++) {
        bool replaced = false;
        size_t length = strcspn(environ[i], "=") + 1;
        for (int s = 0; s < WORKER_SETTINGS_MAX; s++)
            replaced |= settings[s] && !strncmp(settings[s], environ[i], length);
        if (!replaced) all[used++] = environ[i];
    }
    for (int s = 0; s < WORKER_SETTINGS_MAX; s++)
        if (settings[s]) all[used++] = settings[s];
    all[used] = NULL;
    return all;
}

// A file in memory that can be read from its beginning.
static int order_file(const char *order)
{
    int fd = memfd_create("order", MFD_CLOEXEC);
    for (size_t left = strlen(order); fd >= 0 && left;) {
        ssize_t n = write(fd, order, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            close(fd);
            return -1;
        }
        order += n, left -= (size_t)n;
    }
    if (fd >= 0) lseek(fd, 0, SEEK_SET);
    return fd;
}

// Its descriptors, its group, and the signals as a shell would leave them.
static int spawn(struct worker *w, const struct worker_start *how, const char **settings, int order,
                 int channel, int talk)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t normal;
    sigemptyset(&normal);
    sigaddset(&normal, SIGPIPE);
    sigaddset(&normal, SIGXFSZ);
    int e = posix_spawn_file_actions_init(&files);
    if (e) return e;
    e = posix_spawnattr_init(&attr);
    if (!e) {
        e = posix_spawn_file_actions_adddup2(&files, order, STDIN_FILENO);
        if (!e) e = posix_spawn_file_actions_adddup2(&files, talk, STDOUT_FILENO);
        if (!e) e = posix_spawn_file_actions_adddup2(&files, talk, STDERR_FILENO);
        if (!e) e = posix_spawn_file_actions_adddup2(&files, channel, WORKER_CHANNEL);
        if (!e) e = posix_spawnattr_setpgroup(&attr, 0);
        if (!e) e = posix_spawnattr_setsigdefault(&attr, &normal);
        if (!e) e = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
        if (!e) e = posix_spawn(&w->pid, SELF, &files, &attr, how->argv, (char *const *)settings);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
    return e;
}

static void close_all(int *fds, int count)
{
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0) close(fds[i]);
}

// Both ends above the numbers that the child has them by: each is moved there by itself.
static int high_pipe(int ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC)) return errno;
    for (int i = 0; i < 2; i++) ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, WORKER_CHANNEL + 1);
    int e = ends[0] < 0 || ends[1] < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) ? errno : 0;
    close_all(low, 2);
    return e;
}

int worker_start(struct worker *w, const struct worker_start *how)
{
    int channel[2] = {-1, -1}, talk[2] = {-1, -1};
    worker_none(w);
    const char **settings = settings_over(how->settings);
    w->text = mem_alloc(FIRST, 1);
    w->room = FIRST;
    int order = settings && w->text ? order_file(how->order) : -1;
    int e = order < 0 ? errno : high_pipe(channel);
    if (!e) e = high_pipe(talk);
    if (!e) e = spawn(w, how, settings, order, channel[1], talk[1]);
    int err = !settings || !w->text ? ERR_MEMORY : OK;
    mem_free(settings);
    if (order >= 0) close(order);
    if (!err && e) err = fail(ERR_DEVICE, "no worker can be started: %s", strerror(e));
    close_all(&channel[1], 1);
    close_all(&talk[1], 1);
    if (err) {
        close_all(&channel[0], 1);
        close_all(&talk[0], 1);
        w->pid = 0;
        worker_free(w);
        return err;
    }
    w->channel = channel[0];
    w->talk = talk[0];
    return OK;
}

// Room for some more bytes behind those that nobody has taken yet.
static int make_room(struct worker *w)
{
    if (w->begin) {
        memmove(w->text, w->text + w->begin, (size_t)(w->end - w->begin));
        w->end -= w->begin;
        w->begin = 0;
    }
    if (w->room - w->end > FIRST / 4) return OK;
    char *more = mem_resize(w->text, w->room, 2 * w->room, 1);
    if (!more) return ERR_MEMORY;
    w->text = more;
    w->room *= 2;
    return OK;
}

// The last line of what it prints is kept: an abort says there why.
static void listen(struct worker *w)
{
    char piece[4096];
    ssize_t n;
    while (w->talk >= 0 && (n = read(w->talk, piece, sizeof piece)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return;
        for (ssize_t i = 0; i < n; i++) {
            bool end = piece[i] == '\n';
            if (w->said_ended && !end) w->said_length = 0, w->said_ended = false;
            if (end)
                w->said_ended = w->said_length > 0;
            else if (w->said_length < sizeof w->said - 1)
                w->said[w->said_length++] = piece[i];
            w->said[w->said_length] = 0;
        }
    }
    if (w->talk >= 0) close(w->talk);
    w->talk = -1;
}

int worker_read(struct worker *w)
{
    listen(w);
    while (w->channel >= 0) {
        int err = make_room(w);
        if (err) return err;
        ssize_t n = read(w->channel, w->text + w->end, (size_t)(w->room - w->end));
        if (n > 0) w->end += n;
        if (n > 0 || (n < 0 && errno == EINTR)) continue;
        if (n < 0 && errno == EAGAIN) return OK;
        close(w->channel);
        w->channel = -1;
    }
    return OK;
}

char *worker_line(struct worker *w)
{
    char *line = w->text + w->begin;
    char *end = memchr(line, '\n', (size_t)(w->end - w->begin));
    if (!end) return NULL;
    *end = 0;
    w->begin = end + 1 - w->text;
    return line;
}

void worker_kill(struct worker *w)
{
    struct process_tree tree;
    if (!w->pid) return;
    process_tree_find(w->pid, &tree); // while there is a parent to find them by
    kill(-w->pid, SIGKILL);
    process_tree_kill(&tree);
}

bool worker_over(struct worker *w, int *state)
{
    siginfo_t facts = {0};
    if (!w->pid) return true;
    int e = waitid(P_PID, (id_t)w->pid, &facts, WEXITED | WNOHANG | WNOWAIT) ? errno : 0;
    if (e == EINTR || (!e && !facts.si_pid)) return false;
    kill(-w->pid, SIGKILL); // what it has left behind, while the number is still its own
    *state = 0;
    while (waitpid(w->pid, state, 0) < 0 && errno == EINTR) {}
    w->pid = 0;
    listen(w);
    return true;
}

int64_t worker_memory(const struct worker *w)
{
    struct process_tree tree;
    if (!w->pid) return 0;
    process_tree_find(w->pid, &tree);
    return process_tree_memory(&tree);
}

void worker_free(struct worker *w)
{
    int state;
    worker_kill(w);
    while (!worker_over(w, &state)) usleep(1000);
    close_all(&w->channel, 1);
    close_all(&w->talk, 1);
    mem_free(w->text);
    worker_none(w);
}

const char *worker_end_text(const struct worker *w, int state, char text[FAIL_TEXT_MAX])
{
    char said[sizeof w->said], how[128];
    if (WIFSIGNALED(state))
        snprintf(how, sizeof how, "by signal %d (%s)", WTERMSIG(state), strsignal(WTERMSIG(state)));
    else
        snprintf(how, sizeof how, "with exit status %d", WEXITSTATUS(state));
    snprintf(text, FAIL_TEXT_MAX, "the process ended %s%s%s", how, w->said[0] ? "; it said: " : "",
             utf8_visible(w->said, said, sizeof said));
    return text;
}
