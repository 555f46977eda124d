#define _GNU_SOURCE // pipe2, memfd_create, environ
#include "sweep/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/process_tree.h"
#include "base/stamp.h"
#include "base/utf8.h"

#define FIRST ((int64_t)1 << 16) // bytes of text at first, doubled as needed
#define HIGH  (WORKER_STAMPS + 1) // first descriptor that a worker does not use
// Largest difference between the worker's time of a sample and that of the system: a share of the
// latter, plus milliseconds. 2 processors, load 7: 4 of 9,847 right samples differ by more.
#define SAMPLE_SHARE 0.2
#define SAMPLE_MS    0.02

void worker_none(struct worker *w)
{
    *w = (struct worker){.channel = -1, .talk = -1, .words = -1, .request = -1, .stamps = -1};
}

// Returns the environment of this process with some variables set. The caller frees the list alone.
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

int worker_add_request(struct worker *w, const char *request)
{
    struct stat facts;
    int e = fstat(w->request, &facts) ? errno : 0;
    off_t at = e ? 0 : facts.st_size;
    for (size_t left = strlen(request); left && !e;) {
        ssize_t n = pwrite(w->request, request, left, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) e = n ? errno : ENOSPC;
        if (n > 0) request += n, left -= (size_t)n, at += n;
    }
    return e ? fail(ERR_DEVICE, "the request of a worker cannot be written: %s", strerror(e)) : OK;
}

void worker_tell(struct worker *w, enum protocol_word word)
{
    char letter = (char)word;
    while (w->words >= 0 && write(w->words, &letter, 1) < 0 && errno == EINTR) {}
}

// SIGSTOP waits for the end of system calls, so that a stopped process holds no lock there.
bool worker_pause(struct worker *w)
{
    siginfo_t facts = {0};
    if (!w->pid) return true;
    if (w->pause == WORKER_RUNS) kill(w->pid, SIGSTOP), w->pause = WORKER_STOPPING;
    if (w->pause == WORKER_STOPPING && !waitid(P_PID, (id_t)w->pid, &facts, WSTOPPED | WNOHANG) &&
        facts.si_pid)
        w->pause = WORKER_STOPPED;
    return w->pause == WORKER_STOPPED;
}

void worker_resume(struct worker *w)
{
    if (w->pid && w->pause != WORKER_RUNS) kill(w->pid, SIGCONT);
    w->pause = WORKER_RUNS;
}

static void close_all(int *fds, int count)
{
    for (int i = 0; i < count; i++) {
        if (fds[i] >= 0) close(fds[i]);
        fds[i] = -1;
    }
}

static int make_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) ? errno : 0; }

// Makes a channel with both ends above the descriptors of a worker. End `own` is ours and never
// blocks.
static int high_pair(int (*make)(int ends[2]), int ends[2], int own)
{
    int low[2], e = make(low);
    if (e) return e;
    for (int i = 0; i < 2; i++) ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, HIGH);
    e = ends[0] < 0 || ends[1] < 0 || fcntl(ends[own], F_SETFL, O_NONBLOCK) ? errno : 0;
    close_all(low, 2);
    return e;
}

// Opens a file in memory for the requests: reading it never waits for a writer.
static int open_request(struct worker *w, const char *request)
{
    int low = memfd_create("request", MFD_CLOEXEC);
    if (low >= 0) w->request = fcntl(low, F_DUPFD_CLOEXEC, HIGH);
    int e = errno;
    close_all(&low, 1);
    if (w->request < 0) return fail(ERR_DEVICE, "no worker can be started: %s", strerror(e));
    return worker_add_request(w, request);
}

static int start(struct worker *w, const struct worker_start *how, const char **settings)
{
    char self[PATH_MAX];
    int channel[2] = {-1, -1}, talk[2] = {-1, -1}, words[2] = {-1, -1}, stamps[2] = {-1, -1};
    int input = how->input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, HIGH) : -1;
    int err = child_self(self);
    if (!err) err = open_request(w, how->request);
    if (err) close_all(&input, 1);
    if (err) return err;
    int e = high_pair(make_pipe, channel, 0);
    if (!e) e = high_pair(make_pipe, talk, 0);
    if (!e) e = high_pair(make_pipe, words, 1);
    if (!e) e = high_pair(stamp_pair, stamps, 0);
    const struct child_file files[] = {{w->request, STDIN_FILENO}, {talk[1], STDOUT_FILENO},
                                       {talk[1], STDERR_FILENO},   {channel[1], WORKER_CHANNEL},
                                       {words[0], WORKER_WORDS},   {stamps[1], WORKER_STAMPS},
                                       {input, WORKER_INPUT}};
    int count = COUNT(files) - (input < 0);
    if (!e) e = child_spawn(&w->pid, self, how->argv, (char *const *)settings, files, count);
    if (e) w->pid = 0;
    close_all(&channel[1], 1);
    close_all(&talk[1], 1);
    close_all(&words[0], 1);
    close_all(&stamps[1], 1);
    close_all(&input, 1);
    w->channel = channel[0];
    w->talk = talk[0];
    w->words = words[1];
    w->stamps = stamps[0];
    return e ? fail(ERR_DEVICE, "no worker can be started: %s", strerror(e)) : OK;
}

int worker_start(struct worker *w, const struct worker_start *how)
{
    worker_none(w);
    const char **settings = settings_over(how->settings);
    w->text = mem_alloc(FIRST, 1);
    w->room = FIRST;
    int err = settings && w->text ? start(w, how, settings) : ERR_MEMORY;
    mem_free(settings);
    if (err) worker_free(w);
    return err;
}

// Makes room for more bytes behind those that are not taken yet.
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

// Reads what the worker prints and keeps the last line, which has the reason of an abort.
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

static void read_stamps(struct worker *w)
{
    double now_ms, ms;
    while (w->stamps >= 0 && stamp_read(w->stamps, &now_ms, &ms)) {
        const double own_ms = now_ms - w->sample_ms;
        w->sample_ms = now_ms;
        if (ms < 0) continue;
        w->samples++;
        if (!(fabs(ms - own_ms) <= SAMPLE_SHARE * own_ms + SAMPLE_MS)) w->odd_samples++;
    }
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
        if (n < 0 && errno == EAGAIN) break;
        close(w->channel);
        w->channel = -1;
    }
    read_stamps(w); // those before the lines, at least
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

void worker_drop_lines(struct worker *w)
{
    close_all(&w->channel, 1);
    w->begin = w->end;
}

void worker_kill(struct worker *w)
{
    struct process_tree tree;
    if (!w->pid) return;
    process_tree_find(w->pid, &tree); // before the children lose their parent
    kill(-w->pid, SIGKILL);
    process_tree_kill(&tree);
}

bool worker_over(struct worker *w, int *state)
{
    siginfo_t facts = {0};
    if (!w->pid) return true;
    int e = waitid(P_PID, (id_t)w->pid, &facts, WEXITED | WNOHANG | WNOWAIT) ? errno : 0;
    if (e == EINTR || (!e && !facts.si_pid)) return false;
    kill(-w->pid, SIGKILL); // its children, while the group number is still its own
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
    close_all(&w->words, 1);
    close_all(&w->request, 1);
    close_all(&w->stamps, 1);
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
