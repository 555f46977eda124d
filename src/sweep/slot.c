#include "sweep/slot.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "sweep/crash_record.h"
#include "sweep/slot_lines.h"

#define IDLE_MOST 2 // workers in a row that may die with no case under way

void job_free(struct job *j)
{
    texts_free(&j->done);
    mem_free(j->perhaps.list);
    mem_free(j->lost);
    j->perhaps = (struct resume_list){0};
    j->lost = NULL;
}

int job_add_before(struct sweep *s, struct job *j, const struct resume_found *f)
{
    j->before++;
    s->cases_before += j->before <= s->passes[j->pass].prefixes.count;
    // What came to nothing was tried once, and counts once.
    if (!j->round || status_is_good(f->status)) {
        endings_add(&j->endings, f->status, f->key, f->name);
        endings_add(&s->endings, f->status, f->key, f->name);
    }
    return texts_add(&j->done, f->key);
}

// As an order has them.
static int perhaps_texts(const struct resume_list *perhaps, struct texts *out)
{
    int err = OK;
    *out = (struct texts){0};
    for (int64_t i = 0; i < perhaps->count && !err; i++) {
        char text[CONTENT_LETTERS + 2 + CASE_KEY_MAX];
        snprintf(text, sizeof text, "%s %s", perhaps->list[i].content, perhaps->list[i].key);
        err = texts_add(out, text);
    }
    return err;
}

// A worker begins: who stands by, or a new one.
static int start_worker(struct seat *x, const struct duty *duty)
{
    if (!x->stood_by) return crew_start(x->sweep->crew, duty, &x->w);
    x->ready = x->relay.ready;
    relay_take(&x->relay, &x->w);
    return crew_begin(x->sweep->crew, duty, &x->w);
}

void seat_init(struct seat *x, struct sweep *s, int place)
{
    *x = (struct seat){.sweep = s, .place = place};
    worker_none(&x->w);
    relay_init(&x->relay);
    spent_turn(&x->spent, SPENT_IDLE);
}

static struct duty duty_of(const struct seat *x, const struct sweep_pass *pass)
{
    return (struct duty){.library = pass->library,
                         .setting = x->sweep->places[x->place].setting,
                         .cpus = x->sweep->places[x->place].cpus,
                         .run = x->voices[0].run,
                         .without = pass->without};
}

bool seat_can_start(struct seat *x, const struct job *job)
{
    return !x->relay.last.pid || (!x->plain && relay_has(&x->relay, job->pass));
}

int seat_start(struct seat *x, struct job *job)
{
    struct duty duty = duty_of(x, &x->sweep->passes[job->pass]);
    duty.matrix = job->matrix->path;
    duty.run = seat_voice(x, job)->run;
    duty.done = job->done;
    duty.lost = job->lost;
    duty.lost_as = job->lost_as;
    if (!job->begin_ms) job->begin_ms = clock_ms();
    x->job = job;
    x->next = NO_RECORD;
    x->loaded = x->done = x->again = x->ended = false;
    x->ready = x->named = x->read = x->alone = x->measuring = x->ahead = false;
    x->quiet = x->hushed = false;
    x->error = OK;
    x->why[0] = 0;
    x->oom_kills = lost_oom_kills();
    seat_set_deadline(x);
    spent_turn(&x->spent, SPENT_STARTING);
    x->stood_by = !x->plain && relay_has(&x->relay, job->pass);
    x->plain = false;
    int err = perhaps_texts(&job->perhaps, &duty.maybe);
    if (!err) err = start_worker(x, &duty);
    texts_free(&duty.maybe);
    return err;
}

bool seat_wants_next(const struct seat *x)
{
    return x->job && x->ready && !x->ahead && !x->done && !x->relay.next.pid;
}

int seat_start_next(struct seat *x, int pass)
{
    struct duty duty = duty_of(x, &x->sweep->passes[pass]);
    duty.standby = true;
    x->ahead = true;
    return relay_start(&x->relay, x->sweep->crew, &duty, pass);
}

// The worker is the last to be told: what it waits for is true then.
bool seat_talk(struct seat *x)
{
    if (!x->job || !x->w.pid) return true;
    if (!x->quiet) relay_go_on(&x->relay);
    if (x->loaded && !x->measuring) {
        worker_tell(&x->w, relay_is_starting(&x->relay) ? WORD_WATCHED : WORD_MEASURE);
        x->measuring = true;
        seat_set_deadline(x);
        spent_turn(&x->spent, SPENT_PREPARING);
    }
    bool first = x->read && !x->alone; // it is to look at the device
    if (!x->quiet || x->hushed || (first && x->relay.last.pid)) return true;
    if (!relay_hush(&x->relay)) return false;
    worker_tell(&x->w, first                          ? WORD_ALONE
                       : relay_is_starting(&x->relay) ? WORD_HUSHED
                                                      : WORD_MEASURE);
    x->alone = x->hushed = true;
    double waited_ms = clock_ms() - x->spent.since_ms; // for others: it has as long as without
    x->since_ms += waited_ms;
    x->deadline_ms += waited_ms;
    if (first) seat_set_deadline(x);
    spent_turn(&x->spent, first ? SPENT_STARTING : SPENT_PREPARING);
    return true;
}

// The worker before is gone; how it ended is told, if badly.
static int bury(struct seat *x)
{
    char text[FAIL_TEXT_MAX];
    const struct sweep_matrix *gone;
    int state, err = relay_look(&x->relay, x->sweep->crew->memory_bytes, &gone, &state, text);
    if (err || !gone || !state) return err;
    struct sweep_news news = {.kind = NEWS_NOTE, .matrix = gone, .text = text};
    x->sweep->tell(&news, x->sweep->arg);
    return OK;
}

static void tell_matrix(struct seat *x)
{
    seat_tell(x, NEWS_MATRIX, x->job->unread[0] ? x->job->unread : NULL);
}

int seat_read(struct seat *x, bool *done)
{
    int err = bury(x);
    if (!err && x->job) err = seat_take_lines(x);
    *done = !err && x->job && x->done;
    if (!*done) return err;
    tell_matrix(x);
    relay_leave(&x->relay, &x->w, x->job->matrix);
    spent_turn(&x->spent, SPENT_IDLE);
    return OK;
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
        err = seat_take_result(x, record, status, text);
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
    return seat_copy_text(&j->lost, x->why);
}

static int conclude(struct seat *x, int state, enum seat_next *next)
{
    *next = SEAT_GO_ON;
    if (was_interrupted(x, state)) return *next = SEAT_INTERRUPTED, OK;
    if (x->done) {
        char text[FAIL_TEXT_MAX];
        if (state) seat_tell(x, NEWS_NOTE, worker_end_text(&x->w, state, text));
        tell_matrix(x);
        return *next = SEAT_FINISHED, OK;
    }
    if (x->again) return OK;
    // One that stood by has lost nothing yet: who is started in its place says what is wrong.
    if (x->stood_by && !x->named && !x->ended) return x->plain = true, OK;
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
    int err =
        seat_take_lines(x); // its last words; what it has left behind may hold the channel open
    if (!err) err = conclude(x, state, next);
    worker_free(&x->w);
    mem_free(x->open);
    x->open = NULL;
    spent_turn(&x->spent, SPENT_IDLE);
    return err;
}

void seat_free(struct seat *x)
{
    worker_free(&x->w);
    relay_free(&x->relay);
    int count = x->sweep->pass_count * x->sweep->rounds;
    for (int i = 0; x->voices && i < count; i++) mem_free(x->voices[i].environment);
    mem_free(x->voices);
    mem_free(x->open);
    mem_free(x->text);
    x->voices = NULL;
    x->open = x->text = NULL;
}
