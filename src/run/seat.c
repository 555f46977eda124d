#include "run/seat.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "run/lost.h"

#define LEAVE_MS  30000.0 // for a worker to end after its last word
#define IDLE_MOST 2       // workers in a row that may die with no case under way

static int copy_text(char **out, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mem_alloc((int64_t)size, 1);
    if (!copy) return ERR_MEMORY;
    memcpy(copy, text, size);
    mem_free(*out);
    *out = copy;
    return OK;
}

void job_free(struct job *j)
{
    texts_free(&j->done);
    mem_free(j->lost);
    j->lost = NULL;
}

static struct voice *voice_of(const struct seat *x, const struct job *job)
{
    return &x->voices[job->round * x->sweep->pass_count + job->pass];
}

int seat_start(struct seat *x, struct job *job)
{
    const struct sweep *s = x->sweep;
    const struct sweep_pass *pass = &s->passes[job->pass];
    struct duty duty = {.matrix = job->matrix->path,
                        .library = pass->library,
                        .setting = s->places[x->place].setting,
                        .run = voice_of(x, job)->run,
                        .done = job->done,
                        .without = pass->without,
                        .lost = job->lost,
                        .lost_as = job->lost_as};
    if (!job->begin_ms) job->begin_ms = clock_ms();
    x->job = job;
    x->next = NO_RECORD;
    x->loaded = x->done = x->again = x->ended = false;
    x->error = OK;
    x->why[0] = 0;
    x->oom_kills = lost_oom_kills();
    x->since_ms = clock_ms();
    x->deadline_ms = x->since_ms + s->timeout_ms;
    return crew_start(s->crew, &duty, &x->w);
}

static void tell(struct seat *x, int kind, const char *text)
{
    struct job *j = x->job;
    struct sweep_news news = {.kind = kind,
                              .matrix = j->matrix,
                              .pass = j->pass,
                              .status = x->result,
                              .text = text,
                              .endings = j->endings,
                              .before = j->before,
                              .seconds = (clock_ms() - j->begin_ms) * 1e-3};
    x->sweep->tell(&news, x->sweep->arg);
}

// Behind the environment that it belongs to, which is written once.
static int write_record(struct seat *x, const char *line)
{
    struct voice *v = voice_of(x, x->job);
    struct record_file *out = x->sweep->out;
    int err = OK;
    if (!v->written)
        err = v->environment ? record_line(out, v->environment)
                             : fail(ERR_DEVICE, "a worker without an environment");
    if (!err) v->written = true;
    return err ? err : record_line(out, line);
}

// The record of a case is there: it is written, and counted as finished.
static int take_result(struct seat *x, const char *record, enum status status, const char *text)
{
    struct job *j = x->job;
    char *key = lost_key(record);
    int err = key ? write_record(x, record) : ERR_INPUT;
    if (!err) err = texts_add(&j->done, key);
    // What came to nothing once is not tried in each round.
    for (struct job *l = j->later; l && !err && !status_is_good(status); l = l->later)
        err = texts_add(&l->done, key);
    if (!err) {
        endings_add(&j->endings, status, key, j->matrix->name);
        endings_add(&x->sweep->endings, status, key, j->matrix->name);
    }
    mem_free(key);
    if (err) return err;
    j->idle_ends = 0;
    x->result = status;
    mem_free(x->open);
    x->open = NULL;
    tell(x, NEWS_CASE, text);
    return OK;
}

// The line that follows one that announced it. It gets its end back.
static int take_record(struct seat *x, char *line)
{
    int next = x->next;
    char *record = NULL;
    x->next = NO_RECORD;
    if (next == CASE) return copy_text(&x->open, line);
    struct voice *v = voice_of(x, x->job);
    if (next == ENVIRONMENT && v->environment) return OK;
    size_t length = strlen(line);
    line[length] = '\n'; // worker_line() has put a 0 in its place, and there is a letter behind
    record = mem_alloc((int64_t)length + 2, 1);
    if (!record) return ERR_MEMORY;
    memcpy(record, line, length + 1);
    record[length + 1] = 0;
    if (next == ENVIRONMENT) {
        v->environment = record;
        return OK;
    }
    int err = take_result(x, record, x->result, x->text ? x->text : "");
    mem_free(record);
    return err;
}

// A word that says why the matrix is not there.
static int take_unread(struct seat *x, const char *why)
{
    // Who does not read it knows less of why than who did.
    if (!x->job->lost) snprintf(x->job->unread, sizeof x->job->unread, "%s", why);
    return OK;
}

static int take_result_word(struct seat *x, const char *line)
{
    char name[32];
    int used = 0;
    if (sscanf(line, "%31s %n", name, &used) != 1 || status_find(name) < 0)
        return fail(ERR_INPUT, "a worker's result has the status '%s'", line);
    x->result = (enum status)status_find(name);
    x->next = RESULT;
    return copy_text(&x->text, line + used);
}

static int take_error(struct seat *x, const char *line)
{
    int code, used = 0;
    if (sscanf(line, "%d %n", &code, &used) != 1) code = ERR_DEVICE;
    x->error = code > OK && code <= ERR_INTERRUPTED ? (enum err)code : ERR_DEVICE;
    snprintf(x->why, sizeof x->why, "%s", line + used);
    return OK;
}

// What follows `word`, NULL if the line begins otherwise.
static const char *after(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) ? NULL : line + length;
}

static int take_line(struct seat *x, char *line)
{
    const char *rest;
    if (x->next != NO_RECORD) return take_record(x, line);
    if (!strcmp(line, "environment")) return x->next = ENVIRONMENT, OK;
    if (!strcmp(line, "case")) {
        x->next = CASE;
        x->since_ms = clock_ms();
        x->deadline_ms = x->since_ms + x->sweep->timeout_ms;
        return OK;
    }
    if ((rest = after(line, "result "))) return take_result_word(x, rest);
    if ((rest = after(line, "unread "))) return take_unread(x, rest);
    if ((rest = after(line, "error "))) return take_error(x, rest);
    if (after(line, "loaded")) return x->loaded = true, OK;
    if (!strcmp(line, "again")) x->again = true;
    if (!strcmp(line, "done")) x->done = true;
    if (x->again || x->done) x->deadline_ms = clock_ms() + LEAVE_MS;
    return OK;
}

int seat_read(struct seat *x)
{
    int err = worker_read(&x->w);
    for (char *line; !err && (line = worker_line(&x->w));) err = take_line(x, line);
    return err;
}

static void end(struct seat *x, enum status status)
{
    x->ended = true;
    x->ended_as = status;
    worker_kill(&x->w);
}

void seat_watch(struct seat *x)
{
    const struct sweep *s = x->sweep;
    char used[32], limit[32];
    if (!x->job || x->ended) return;
    int64_t most = s->crew->memory_bytes, memory = most ? worker_memory(&x->w) : 0;
    if (most && memory > most) {
        snprintf(x->why, sizeof x->why, "its processes had %s of host memory, over -mem-limit, %s",
                 size_text(memory, used), size_text(most, limit));
        end(x, STATUS_OOM);
    } else if (clock_ms() > x->deadline_ms) {
        snprintf(x->why, sizeof x->why, "%s after %g s (-timeout)",
                 x->open ? "had not ended" : "the matrix was not there",
                 (x->deadline_ms - x->since_ms) * 1e-3);
        end(x, STATUS_TIMEOUT);
    }
}

// Why the worker is no more, where it has not said so, and what its case becomes.
static enum status judge(struct seat *x, int state)
{
    if (x->ended) return x->ended_as;
    if (x->error) return x->error == ERR_MEMORY ? STATUS_OOM : STATUS_FAILED;
    bool killed = WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL;
    if (killed && lost_oom_kills() > x->oom_kills) {
        snprintf(x->why, sizeof x->why, "the system ended its process for lack of memory");
        return STATUS_OOM;
    }
    worker_end_text(&x->w, state, x->why);
    return STATUS_CRASHED;
}

// Others end workers, too: the batch system, before it ends the sweep.
static bool was_interrupted(const struct seat *x, int state)
{
    if (x->ended || x->done) return false;
    if (x->error == ERR_INTERRUPTED) return true;
    if (WIFEXITED(state)) return WEXITSTATUS(state) == 130;
    int signal = WTERMSIG(state);
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

// The worker died with a case under way: that has a record now, the rest takes another worker.
static int lose_case(struct seat *x, enum status status)
{
    char *record = lost_record(x->open, status, x->why), *key = lost_key(x->open);
    int err = record && key ? OK : ERR_INPUT;
    if (!err) {
        int64_t length = case_key_prefix(key, x->job->matrix->name);
        char text[CASE_KEY_MAX + FAIL_TEXT_MAX + 32];
        snprintf(text, sizeof text, "%.*s: %s: %s", (int)length, key, status_name(status), x->why);
        err = take_result(x, record, status, text);
    }
    mem_free(record);
    mem_free(key);
    return err;
}

// It died before there was a case: if it does so again, or was still reading, all cases get that.
static int lose_worker(struct seat *x, enum status status)
{
    struct job *j = x->job;
    if (j->lost)
        return fail(ERR_DEVICE, "%s: even what could not be measured of it is not told: %s",
                    j->matrix->path, x->why);
    if (x->loaded && ++j->idle_ends < IDLE_MOST) return OK;
    j->lost_as = status;
    fail(ERR_INPUT, "%s: %s", j->matrix->path, x->why); // a long name loses its middle
    snprintf(j->unread, sizeof j->unread, "%s", fail_text());
    return copy_text(&j->lost, x->why);
}

static int conclude(struct seat *x, int state, enum seat_next *next)
{
    *next = SEAT_GO_ON;
    if (was_interrupted(x, state)) return *next = SEAT_INTERRUPTED, OK;
    if (x->done) {
        char text[FAIL_TEXT_MAX];
        if (state) tell(x, NEWS_NOTE, worker_end_text(&x->w, state, text));
        return *next = SEAT_FINISHED, OK;
    }
    if (x->again) return OK;
    enum status status = judge(x, state);
    if (x->open) return lose_case(x, status);
    // It could not even open its device, or write to this process.
    if (x->error && !x->loaded) return *next = SEAT_CLOSED, OK;
    return lose_worker(x, status);
}

int seat_over(struct seat *x, bool *over, enum seat_next *next)
{
    int state;
    *over = x->job && worker_over(&x->w, &state);
    if (!*over) return OK;
    int err = seat_read(x); // its last words; what it has left behind may hold the channel open
    if (!err) err = conclude(x, state, next);
    if (!err && *next == SEAT_FINISHED)
        tell(x, NEWS_MATRIX, x->job->unread[0] ? x->job->unread : NULL);
    worker_free(&x->w);
    mem_free(x->open);
    x->open = NULL;
    return err;
}

void seat_free(struct seat *x)
{
    worker_free(&x->w);
    int count = x->sweep->pass_count * x->sweep->rounds;
    for (int i = 0; x->voices && i < count; i++) mem_free(x->voices[i].environment);
    mem_free(x->voices);
    mem_free(x->open);
    mem_free(x->text);
    x->voices = NULL;
    x->open = x->text = NULL;
}
