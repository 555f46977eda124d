#include "sweep/slot.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"
#include "sweep/crash_record.h"

#define IDLE_MOST 2       // workers in a row that may die with no case under way
#define LEAVE_MS  30000.0 // for a worker to end after its last line
#define FOREVER   1e300   // deadline of a worker that waits for another one
#define SIGNAL_MS 200.0   // between the signals of a batch system to two processes
// Largest difference between the clocks of a worker and of this process over a case: a share of
// the own duration, plus milliseconds.
#define CLOCK_SHARE 0.1
#define CLOCK_MS    100.0
#define SAMPLES_LEAST 6 // samples of a case: one alone can be interrupted by other work

static int copy_text(char **out, const char *text)
{
    char *copy = mem_copy_text(text, strlen(text));
    if (!copy) return ERR_MEMORY;
    mem_free(*out);
    *out = copy;
    return OK;
}

void job_free(struct job *j)
{
    texts_free(&j->done);
    mem_free(j->unverified.list);
    mem_free(j->lost);
    j->unverified = (struct resume_list){0};
    j->lost = NULL;
}

int job_add_finished(struct sweep *s, struct job *j, const struct resume_found *f)
{
    j->before++;
    s->cases_before += j->before <= s->passes[j->pass].prefixes.count;
    // A failed case was tried in the first round only, and counts once.
    if (!j->round || status_is_good(f->status)) {
        endings_add(&j->endings, f->status, f->key, f->name);
        endings_add(&s->endings, f->status, f->key, f->name);
    }
    return texts_add(&j->done, f->key);
}

static void set_deadline(struct slot *x)
{
    x->since_ms = clock_ms();
    x->deadline_ms = x->since_ms + x->sweep->timeout_ms;
}

static bool has_loaded(const struct slot *x)
{
    return x->state >= SLOT_PREPARING && x->state <= SLOT_TIMING;
}

// Changes the state. The table in slot.h has the states.
static void enter(struct slot *x, enum slot_state to)
{
    static const enum slot_time counts_as[] = {
        [SLOT_FREE] = SLOT_TIME_IDLE,      [SLOT_STARTING] = SLOT_TIME_STARTING,
        [SLOT_READY] = SLOT_TIME_STARTING, [SLOT_LOADING] = SLOT_TIME_LOADING,
        [SLOT_READ] = SLOT_TIME_LEAVING,   [SLOT_OPENING] = SLOT_TIME_STARTING,
        [SLOT_OPEN] = SLOT_TIME_STARTING,  [SLOT_PREPARING] = SLOT_TIME_PREPARING,
        [SLOT_ASKING] = SLOT_TIME_WAITING, [SLOT_TIMING] = SLOT_TIME_PREPARING,
        [SLOT_CLOSED] = SLOT_TIME_IDLE,
    };
    const double waited_ms = clock_ms() - x->times.since_ms;
    if (to == SLOT_STARTING || to == SLOT_OPENING || (to == SLOT_PREPARING && !has_loaded(x)))
        set_deadline(x);
    if (to == SLOT_READ) x->deadline_ms = FOREVER;
    if (to == SLOT_TIMING) x->since_ms += waited_ms, x->deadline_ms += waited_ms;
    x->state = to;
    slot_times_turn(&x->times, counts_as[to]);
}

// The worker ends in this way, unless a later way of the list is known.
static void end_as(struct slot *x, enum slot_end end)
{
    if (end > x->end) x->end = end;
}

static struct run_header *header_of(const struct slot *x, const struct job *job)
{
    return &x->headers[job->round * x->sweep->pass_count + job->pass];
}

void slot_init(struct slot *x, struct sweep *s, int index)
{
    *x = (struct slot){.sweep = s, .index = index, .announced = LINES};
    worker_none(&x->w);
    standby_init(&x->standby);
    enter(x, SLOT_FREE);
}

// The keys of unverified cases, as a request has them.
static int unverified_texts(const struct resume_list *unverified, struct texts *out)
{
    int err = OK;
    *out = (struct texts){0};
    for (int64_t i = 0; i < unverified->count && !err; i++) {
        const struct resume_found *f = &unverified->list[i];
        char text[CONTENT_LETTERS + 2 + CASE_KEY_MAX];
        snprintf(text, sizeof text, "%s %s", f->content, f->key);
        err = texts_add(out, text);
    }
    return err;
}

static struct worker_args args_of(const struct slot *x, const struct sweep_pass *pass)
{
    return (struct worker_args){.library = pass->library,
                                .setting = x->sweep->slot_configs[x->index].setting,
                                .cpus = x->sweep->slot_configs[x->index].cpus,
                                .run = x->headers[0].run,
                                .without = pass->without};
}

bool slot_can_start(struct slot *x, const struct job *job)
{
    return !x->standby.last.pid || (!x->no_standby && standby_has(&x->standby, job->pass));
}

// Starts a process, or lets the standby begin.
static int start_worker(struct slot *x, const struct worker_args *args)
{
    enter(x, SLOT_STARTING);
    if (!x->from_standby) return worker_config_start(x->sweep->config, args, &x->w);
    if (x->standby.ready) enter(x, SLOT_READY);
    standby_take(&x->standby, &x->w);
    return worker_config_begin(x->sweep->config, args, &x->w);
}

int slot_start(struct slot *x, struct job *job)
{
    struct worker_args args = args_of(x, &x->sweep->passes[job->pass]);
    args.matrix = job->matrix->path;
    args.run = header_of(x, job)->run;
    args.done = job->done;
    args.lost = job->lost;
    args.lost_as = job->lost_as;
    if (!job->begin_ms) job->begin_ms = clock_ms();
    x->job = job;
    x->announced = LINES;
    x->end = END_NONE;
    x->error = OK;
    x->why[0] = 0;
    x->started_standby = false;
    x->oom_kills = system_oom_kills();
    x->from_standby = !x->no_standby && standby_has(&x->standby, job->pass);
    x->no_standby = false;
    int err = unverified_texts(&job->unverified, &args.unverified);
    if (!err) err = start_worker(x, &args);
    texts_free(&args.unverified);
    return err;
}

bool slot_wants_standby(const struct slot *x)
{
    return x->job && x->state >= SLOT_READY && !x->started_standby && x->end != END_DONE &&
           !x->standby.next.pid;
}

int slot_start_standby(struct slot *x, int pass)
{
    struct worker_args args = args_of(x, &x->sweep->passes[pass]);
    args.standby = true;
    x->started_standby = true;
    return standby_start(&x->standby, x->sweep->config, &args, pass);
}

bool slot_answer(struct slot *x)
{
    const bool stops = x->state == SLOT_READ || x->state == SLOT_OPENING ||
                       x->state == SLOT_ASKING || x->state == SLOT_TIMING;
    if (!x->job || !x->w.pid) return true;
    if (!stops) standby_resume(&x->standby);
    if (x->state != SLOT_ASKING && (x->state != SLOT_READ || x->standby.last.pid)) return true;
    if (!standby_pause(&x->standby)) return false;
    worker_tell(&x->w, WORD_GO);
    enter(x, x->state == SLOT_READ ? SLOT_OPENING : SLOT_TIMING);
    return true;
}

static void report(struct slot *x, int kind, const char *text, const char *record)
{
    struct job *j = x->job;
    struct sweep_news news = {.kind = kind,
                              .matrix = j->matrix,
                              .pass = j->pass,
                              .status = x->result,
                              .record = record,
                              .text = text,
                              .endings = j->endings,
                              .before = j->before,
                              .seconds = (clock_ms() - j->begin_ms) * 1e-3};
    x->sweep->tell(&news, x->sweep->arg);
}

static void report_matrix(struct slot *x)
{
    report(x, NEWS_MATRIX, x->job->unread[0] ? x->job->unread : NULL, NULL);
}

static int write_line(const struct sweep *s, const char *line)
{
    return s->out ? record_line(s->out, line) : OK;
}

// Writes a record, behind the environment of its run, which is written once.
static int write_record(struct slot *x, const char *line)
{
    struct run_header *h = header_of(x, x->job);
    int err = OK;
    if (!h->written)
        err = h->environment ? write_line(x->sweep, h->environment)
                             : fail(ERR_DEVICE, "a worker without an environment");
    if (!err) h->written = true;
    return err ? err : write_line(x->sweep, line);
}

// Writes and counts the record of a case that has ended.
static int take_result(struct slot *x, const char *record, enum status status, const char *text)
{
    struct job *j = x->job;
    char *key = crash_record_key(record);
    int err = key ? write_record(x, record) : ERR_INPUT;
    if (!err) err = texts_add(&j->done, key);
    // A case that failed, or that a race dropped, is not measured in later rounds.
    const bool is_over = !status_is_good(status) || strstr(record, "\"dropped\":true");
    for (struct job *l = j->later; l && !err && is_over; l = l->later)
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
    report(x, NEWS_CASE, text, record);
    return OK;
}

void slot_set_late(struct slot *x, bool late)
{
    x->late = late;
    if (late) x->case_ms = 0;
}

// Compares the duration of a case, and those of most samples, by the worker's clock with those by
// the own clock. Foreign code in the worker can change the worker's clock only.
static void compare_clocks(struct slot *x, double worker_ms)
{
    double own_ms = clock_ms() - x->case_ms;
    x->wrong_clock[0] = 0;
    if (!x->case_ms || worker_ms < 0 || x->result != STATUS_OK) return;
    if (x->w.samples >= SAMPLES_LEAST && 2 * x->w.odd_samples > x->w.samples)
        snprintf(x->wrong_clock, sizeof x->wrong_clock,
                 "%lld of %lld samples took another time than its process measured: its clock is "
                 "wrong",
                 (long long)x->w.odd_samples, (long long)x->w.samples);
    if (fabs(worker_ms - own_ms) > CLOCK_SHARE * own_ms + CLOCK_MS)
        snprintf(x->wrong_clock, sizeof x->wrong_clock,
                 "its process measured %.4g s for the case, which took %.4g s: its clock is wrong",
                 worker_ms * 1e-3, own_ms * 1e-3);
}

// Writes a record with this status for the case under way. Kills the worker and drops the lines
// that the worker has sent. Another worker takes the other cases.
static int lose_case(struct slot *x, enum status status, const char *why)
{
    char *record = crash_record_make(x->open, status, why), *key = crash_record_key(x->open);
    int err = record && key ? OK : ERR_MEMORY;
    if (!err) {
        int64_t length = case_key_prefix(key, x->job->matrix->name);
        char text[CASE_KEY_MAX + FAIL_TEXT_MAX + 32];
        snprintf(text, sizeof text, "%.*s: %s: %s", (int)length, key, status_name(status), why);
        err = take_result(x, record, status, text);
    }
    mem_free(record);
    mem_free(key);
    end_as(x, END_AGAIN);
    worker_kill(&x->w);
    worker_drop_lines(&x->w);
    return err;
}

// Takes a record, which follows the line that announced it, and gives back its newline.
static int take_record(struct slot *x, char *line)
{
    const enum protocol_line kind = x->announced;
    struct run_header *h = header_of(x, x->job);
    x->announced = LINES;
    if (kind == LINE_CASE) return copy_text(&x->open, line);
    if (kind == LINE_ENVIRONMENT && h->environment) return OK;
    if (kind == LINE_RESULT && x->open && x->wrong_clock[0])
        return lose_case(x, STATUS_FAILED, x->wrong_clock);
    size_t length = strlen(line);
    char *record = mem_alloc((int64_t)length + 2, 1);
    if (!record) return ERR_MEMORY;
    memcpy(record, line, length);
    memcpy(record + length, "\n", 2);
    if (kind == LINE_ENVIRONMENT) {
        h->environment = record;
        report(x, NEWS_ENVIRONMENT, NULL, record);
        return OK;
    }
    int err = take_result(x, record, x->result, x->text ? x->text : "");
    mem_free(record);
    return err;
}

static int announce_result(struct slot *x, const char *rest)
{
    char name[32];
    double checking_ms, timing_ms, all_ms;
    int used = 0;
    if (sscanf(rest, "%31s %lf %lf %lf %n", name, &checking_ms, &timing_ms, &all_ms, &used) != 4 ||
        status_find(name) < 0)
        return fail(ERR_INPUT, "a worker's result has the status '%s'", rest);
    x->result = (enum status)status_find(name);
    x->announced = LINE_RESULT;
    compare_clocks(x, all_ms);
    if (has_loaded(x)) slot_times_case(&x->times, checking_ms, timing_ms);
    return copy_text(&x->text, rest + used);
}

// Counts the unverified cases whose matrix has this content as finished. Reports the others, which
// were of another matrix.
static int match_finished_cases(struct slot *x, const char *content)
{
    struct job *j = x->job;
    const struct resume_found *other = NULL;
    int64_t others = 0;
    int err = OK;
    for (int64_t i = 0; i < j->unverified.count && !err; i++) {
        const struct resume_found *f = &j->unverified.list[i];
        if (!strcmp(f->content, content))
            err = job_add_finished(x->sweep, j, f);
        else
            other = f, others++;
    }
    if (other) {
        char text[FAIL_TEXT_MAX], path[FAIL_TEXT_MAX / 2];
        snprintf(text, sizeof text,
                 "is another matrix than the one of this name and size in the records, from %s: "
                 "%lld case%s measured anew",
                 utf8_visible(other->path, path, sizeof path), (long long)others,
                 others == 1 ? " is" : "s are");
        report(x, NEWS_NOTE, text, NULL);
    }
    mem_free(j->unverified.list);
    j->unverified = (struct resume_list){0};
    return err;
}

static int take_loaded(struct slot *x, const char *rest)
{
    char content[CONTENT_LETTERS + 1] = "";
    sscanf(rest, "%*s %32s", content);
    enter(x, SLOT_PREPARING);
    return match_finished_cases(x, content);
}

static void take_error(struct slot *x, const char *rest)
{
    const char *text;
    x->error = protocol_error(rest, &text);
    snprintf(x->why, sizeof x->why, "%s", text);
    end_as(x, END_ERROR);
}

static void take_end(struct slot *x, enum slot_end end)
{
    end_as(x, end);
    x->deadline_ms = clock_ms() + LEAVE_MS;
}

static int take_line(struct slot *x, char *line)
{
    const char *rest;
    if (x->announced != LINES) return take_record(x, line);
    const enum protocol_line kind = protocol_parse(line, &rest);
    switch (kind) {
    case LINE_READY: return enter(x, SLOT_READY), OK;
    case LINE_OPENED: return enter(x, SLOT_LOADING), OK;
    case LINE_READ: return enter(x, SLOT_READ), OK;
    case LINE_DEVICE: return enter(x, SLOT_OPEN), OK;
    case LINE_NOTE:
        x->sweep->tell(&(struct sweep_news){.kind = NEWS_NOTE, .text = rest}, x->sweep->arg);
        return OK;
    case LINE_LOADED: return take_loaded(x, rest);
    case LINE_QUIET: return enter(x, SLOT_ASKING), OK;
    case LINE_LOUD: return enter(x, SLOT_PREPARING), OK;
    case LINE_UNREAD: // a worker that did not try to read knows less than the job
        if (!x->job->lost) snprintf(x->job->unread, sizeof x->job->unread, "%s", rest);
        return OK;
    case LINE_ENVIRONMENT: return x->announced = kind, OK;
    case LINE_CASE:
        set_deadline(x);
        x->case_ms = x->late ? 0 : x->since_ms;
        x->w.samples = x->w.odd_samples = 0;
        x->announced = kind;
        return OK;
    case LINE_RESULT: return announce_result(x, rest);
    case LINE_ERROR: return take_error(x, rest), OK;
    case LINE_AGAIN: return take_end(x, END_AGAIN), OK;
    case LINE_DONE: return take_end(x, END_DONE), OK;
    default: return OK;
    }
}

static int take_lines(struct slot *x)
{
    int err = worker_read(&x->w);
    for (char *line; !err && (line = worker_line(&x->w));) err = take_line(x, line);
    return err;
}

// Reaps the worker of the job before, and reports a bad end.
static int reap_leaving(struct slot *x)
{
    char text[FAIL_TEXT_MAX];
    const struct sweep_matrix *gone;
    int state, err = standby_poll(&x->standby, x->sweep->config->memory_bytes, &gone, &state, text);
    if (err || !gone || !state) return err;
    struct sweep_news news = {.kind = NEWS_NOTE, .matrix = gone, .text = text};
    x->sweep->tell(&news, x->sweep->arg);
    return OK;
}

int slot_read(struct slot *x, bool *done)
{
    int err = reap_leaving(x);
    if (!err && x->job) err = take_lines(x);
    *done = !err && x->job && x->end == END_DONE;
    if (!*done) return err;
    report_matrix(x);
    standby_set_leaving(&x->standby, &x->w, x->job->matrix);
    enter(x, SLOT_FREE);
    return OK;
}

static void kill_as(struct slot *x, enum status status)
{
    end_as(x, END_KILLED);
    x->killed_as = status;
    worker_kill(&x->w);
}

double slot_deadline(const struct slot *x)
{
    return x->state == SLOT_ASKING ? FOREVER : x->deadline_ms;
}

void slot_enforce_limits(struct slot *x)
{
    const int64_t most = x->sweep->config->memory_bytes;
    char used[32], limit[32];
    if (!x->job || x->end == END_KILLED) return;
    int64_t memory = most ? worker_memory(&x->w) : 0;
    if (most && memory > most) {
        snprintf(x->why, sizeof x->why, "its processes had %s of host memory, over -mem-limit, %s",
                 size_text(memory, used), size_text(most, limit));
        kill_as(x, STATUS_OOM);
    } else if (clock_ms() > slot_deadline(x)) {
        snprintf(x->why, sizeof x->why, "%s over %g s (-timeout)",
                 x->open ? "took" : "reading the matrix took",
                 (x->deadline_ms - x->since_ms) * 1e-3);
        kill_as(x, STATUS_TIMEOUT);
    }
}

// Returns the status of a case whose worker has ended, and sets x->why unless it is known.
static enum status status_of_end(struct slot *x, int state)
{
    if (x->end == END_KILLED) return x->killed_as;
    if (x->end == END_ERROR) return x->error == ERR_MEMORY ? STATUS_OOM : STATUS_FAILED;
    bool killed = WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL;
    if (killed && system_oom_kills() > x->oom_kills) {
        snprintf(x->why, sizeof x->why, "the system ended its process for lack of memory");
        return STATUS_OOM;
    }
    worker_end_text(&x->w, state, x->why);
    return STATUS_CRASHED;
}

// Returns true if this process is interrupted. If a signal ended the worker, waits for up to
// SIGNAL_MS: a batch system may send the signal to the worker first.
static bool is_interrupted(int state)
{
    const int signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    const bool maybe = signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
    for (double begin = clock_ms(); maybe && !interrupted && clock_ms() - begin < SIGNAL_MS;)
        usleep(1000);
    return interrupted;
}

// The worker died with no case under way. If that happens again, or the matrix was being read, all
// cases of the matrix get this status.
static int lose_worker(struct slot *x, enum status status)
{
    struct job *j = x->job;
    if (j->lost)
        return fail(ERR_DEVICE, "%s: no worker can write the records of its cases: %s",
                    j->matrix->path, x->why);
    if (has_loaded(x) && ++j->idle_ends < IDLE_MOST) return OK;
    j->lost_as = status;
    fail(ERR_INPUT, "%s: %s", j->matrix->path, x->why); // shortens a long name in the middle
    snprintf(j->unread, sizeof j->unread, "%s", fail_text());
    return copy_text(&j->lost, x->why);
}

// Sets *next by the way in which the worker has ended.
static int classify_end(struct slot *x, int state, enum slot_next *next)
{
    *next = SLOT_JOB_GOES_ON;
    if (is_interrupted(state)) return *next = SLOT_INTERRUPTED, OK;
    if (x->end == END_DONE) {
        char text[FAIL_TEXT_MAX];
        if (state) report(x, NEWS_NOTE, worker_end_text(&x->w, state, text), NULL);
        report_matrix(x);
        return *next = SLOT_JOB_FINISHED, OK;
    }
    if (x->end == END_AGAIN) return OK;
    // A standby that fails at once has lost nothing. A new process takes its place and has the
    // reason.
    if (x->from_standby && x->state < SLOT_OPEN && x->end != END_KILLED)
        return x->no_standby = true, OK;
    enum status status = status_of_end(x, state);
    if (x->open) return lose_case(x, status, x->why);
    // The worker could not open its device, or not write to this process.
    if (x->error && !has_loaded(x)) return *next = SLOT_JOB_ELSEWHERE, OK;
    return lose_worker(x, status);
}

int slot_reap(struct slot *x, bool *over, enum slot_next *next)
{
    int state;
    *over = x->job && worker_over(&x->w, &state);
    if (!*over) return OK;
    int err =
        take_lines(x); // the last lines: a process that it left behind can hold the channel open
    if (!err) err = classify_end(x, state, next);
    worker_free(&x->w);
    mem_free(x->open);
    x->open = NULL;
    enter(x, !err && *next == SLOT_JOB_ELSEWHERE ? SLOT_CLOSED : SLOT_FREE);
    return err;
}

void slot_free(struct slot *x)
{
    worker_free(&x->w);
    standby_free(&x->standby);
    int count = x->sweep->pass_count * x->sweep->rounds;
    for (int i = 0; x->headers && i < count; i++) mem_free(x->headers[i].environment);
    mem_free(x->headers);
    mem_free(x->open);
    mem_free(x->text);
    x->headers = NULL;
    x->open = x->text = NULL;
}
