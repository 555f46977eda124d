#include "sweep/slot_lines.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "sweep/crash_record.h"

#define LEAVE_MS 30000.0 // for a worker to end after its last word
#define FOREVER  1e300   // it waits for a word, and nobody for it

int seat_copy_text(char **out, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mem_alloc((int64_t)size, 1);
    if (!copy) return ERR_MEMORY;
    memcpy(copy, text, size);
    mem_free(*out);
    *out = copy;
    return OK;
}

struct voice *seat_voice(const struct seat *x, const struct job *job)
{
    return &x->voices[job->round * x->sweep->pass_count + job->pass];
}

void seat_set_deadline(struct seat *x)
{
    x->since_ms = clock_ms();
    x->deadline_ms = x->since_ms + x->sweep->timeout_ms;
}

void seat_tell(struct seat *x, int kind, const char *text)
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
    struct voice *v = seat_voice(x, x->job);
    struct record_file *out = x->sweep->out;
    int err = OK;
    if (!v->written)
        err = v->environment ? record_line(out, v->environment)
                             : fail(ERR_DEVICE, "a worker without an environment");
    if (!err) v->written = true;
    return err ? err : record_line(out, line);
}

int seat_take_result(struct seat *x, const char *record, enum status status, const char *text)
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
    seat_tell(x, NEWS_CASE, text);
    return OK;
}

// The line that follows one that announced it. It gets its end back.
static int take_record(struct seat *x, char *line)
{
    int next = x->next;
    char *record = NULL;
    x->next = NO_RECORD;
    if (next == CASE) return seat_copy_text(&x->open, line);
    struct voice *v = seat_voice(x, x->job);
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
    int err = seat_take_result(x, record, x->result, x->text ? x->text : "");
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
    double checking_ms, timing_ms;
    int used = 0;
    if (sscanf(line, "%31s %lf %lf %n", name, &checking_ms, &timing_ms, &used) != 3 ||
        status_find(name) < 0)
        return fail(ERR_INPUT, "a worker's result has the status '%s'", line);
    x->result = (enum status)status_find(name);
    x->next = RESULT;
    if (x->measuring) spent_case(&x->spent, checking_ms, timing_ms);
    return seat_copy_text(&x->text, line + used);
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

// It waits until it is told that it may time.
static int take_quiet(struct seat *x)
{
    x->quiet = true;
    x->hushed = false;
    spent_turn(&x->spent, SPENT_WAITING);
    return OK;
}

static int take_loud(struct seat *x)
{
    x->quiet = false;
    return OK;
}

// The matrix is there, or is not.
static int take_read(struct seat *x)
{
    x->read = x->quiet = true;
    x->deadline_ms = FOREVER;
    spent_turn(&x->spent, SPENT_LEAVING);
    return OK;
}

// Of the cases that are finished if the matrix has their content, those that are; the others were
// of another matrix, which is told.
static int settle(struct seat *x, const char *content)
{
    struct job *j = x->job;
    const struct resume_found *other = NULL;
    int64_t anew = 0;
    int err = OK;
    for (int64_t i = 0; i < j->perhaps.count && !err; i++) {
        const struct resume_found *f = &j->perhaps.list[i];
        if (!strcmp(f->content, content))
            err = job_add_before(x->sweep, j, f);
        else
            other = f, anew++;
    }
    if (other) {
        char text[FAIL_TEXT_MAX], path[FAIL_TEXT_MAX / 2];
        snprintf(text, sizeof text,
                 "is another matrix than the one of this name and size in the records, from %s: "
                 "%lld case%s measured anew",
                 utf8_visible(other->path, path, sizeof path), (long long)anew,
                 anew == 1 ? " is" : "s are");
        seat_tell(x, NEWS_NOTE, text);
    }
    mem_free(j->perhaps.list);
    j->perhaps = (struct resume_list){0};
    return err;
}

// "CASES CONTENT", "-" where it has none.
static int take_loaded(struct seat *x, const char *rest)
{
    char content[CONTENT_LETTERS + 1] = "";
    sscanf(rest, "%*s %32s", content);
    x->loaded = true;
    return settle(x, content);
}

static int take_line(struct seat *x, char *line)
{
    const char *rest;
    if (x->next != NO_RECORD) return take_record(x, line);
    if (!strcmp(line, "tied")) return OK;
    if (!strcmp(line, "ready")) return x->ready = true, OK;
    if (!strcmp(line, "opened")) return spent_turn(&x->spent, SPENT_LOADING), OK;
    if (!strcmp(line, "read")) return take_read(x);
    if (!strcmp(line, "quiet")) return take_quiet(x);
    if (!strcmp(line, "loud")) return take_loud(x);
    if (after(line, "device ")) return x->named = true, take_loud(x);
    if (!strcmp(line, "environment")) return x->next = ENVIRONMENT, OK;
    if (!strcmp(line, "case")) {
        x->next = CASE;
        seat_set_deadline(x);
        return OK;
    }
    if ((rest = after(line, "result "))) return take_result_word(x, rest);
    if ((rest = after(line, "unread "))) return take_unread(x, rest);
    if ((rest = after(line, "error "))) return take_error(x, rest);
    if ((rest = after(line, "loaded "))) return take_loaded(x, rest);
    if (!strcmp(line, "again")) x->again = true;
    if (!strcmp(line, "done")) x->done = true;
    if (x->again || x->done) x->deadline_ms = clock_ms() + LEAVE_MS;
    return OK;
}

int seat_take_lines(struct seat *x)
{
    int err = worker_read(&x->w);
    for (char *line; !err && (line = worker_line(&x->w));) err = take_line(x, line);
    return err;
}
