#include "sweep/sweep.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/slot.h"

#define POLL_MS        1000.0 // longest time until Ctrl-C is seen
#define PAUSE_POLL_MS  1.0    // between tests whether a process has stopped
#define MEMORY_POLL_MS 50.0   // between tests of the memory of workers
#define END_POLL_MS    10.0   // between tests whether a process without lines has ended
#define LATE_MS        50.0   // lines that are read later do not compare clocks
#define TEXT_MEMORY    4      // estimated bytes of memory for a byte of a matrix' text

// Set when this process goes on after a stop (Ctrl-Z).
static volatile sig_atomic_t continued;
static void note_continued(int signal) { (void)signal, continued = true; }

struct schedule {
    struct sweep *s;
    struct job *jobs; // in the order of starting; size count
    int64_t count;
    int64_t waiting;    // no earlier job is waiting
    bool *begun;        // by job: started or finished
    struct slot *slots; // size s->slot_count
    double looked_ms;   // end of the last wait for lines
    bool soon;          // a worker waits for a standby that is stopping
};

struct resume_ask sweep_ask(const struct sweep *s, const struct sweep_matrix *m, int round)
{
    return (struct resume_ask){m->name, m->path, m->changed, m->file, s->retry, s->race, round + 1};
}

static int by_size(const void *x, const void *y)
{
    const struct job *a = x, *b = y;
    int64_t m = a->matrix->bytes, n = b->matrix->bytes;
    if (a->round != b->round) return a->round - b->round;
    if (m != n) return m < n ? 1 : -1;
    int order = (a->matrix->place > b->matrix->place) - (a->matrix->place < b->matrix->place);
    return order ? order : a->pass - b->pass;
}

// Adds the finished and the unverified cases to a job. Sets *all if all cases are finished: the
// matrix need not be read.
static int add_finished(struct sweep *s, struct job *j, bool *all)
{
    const struct texts *prefixes = &s->passes[j->pass].prefixes;
    struct resume_ask ask = sweep_ask(s, j->matrix, j->round);
    struct resume_list found;
    int err = resume_done(s->resume, &ask, prefixes, &found);
    if (err) return err;
    j->unverified.list = found.list;
    for (int64_t i = 0; i < found.count && !err; i++)
        if (found.list[i].content)
            j->unverified.list[j->unverified.count++] = found.list[i];
        else
            err = job_add_finished(s, j, &found.list[i]);
    *all = resume_has_all(s->resume, &ask, prefixes);
    return err;
}

// Makes the jobs, round by round. The passes of a matrix follow each other: all versions of a
// library find the machine in the same state.
static int make_jobs(struct schedule *q)
{
    struct sweep *s = q->s;
    int64_t count;
    int err = size_mul(s->matrix_count, (int64_t)s->pass_count * s->rounds, &count);
    if (err) return err;
    int64_t each = s->matrix_count * s->pass_count; // in a round
    q->jobs = mem_zero_alloc(count, sizeof *q->jobs);
    q->begun = mem_zero_alloc(count, sizeof *q->begun);
    if (!q->jobs || !q->begun) return ERR_MEMORY;
    for (int64_t i = 0; i < count; i++)
        q->jobs[q->count++] = (struct job){.matrix = &s->matrices[i % each / s->pass_count],
                                           .pass = (int)(i % s->pass_count),
                                           .round = (int)(i / each)};
    if (s->slot_count > 1) qsort(q->jobs, (size_t)q->count, sizeof *q->jobs, by_size);
    for (int64_t i = each; i < count; i++) q->jobs[i - each].later = &q->jobs[i];
    for (int64_t i = 0; i < q->count && !err; i++) {
        err = add_finished(s, &q->jobs[i], &q->begun[i]);
        s->matrices_before += q->begun[i];
    }
    return err;
}

static int make_slots(struct schedule *q)
{
    struct sweep *s = q->s;
    q->slots = mem_zero_alloc(s->slot_count, sizeof *q->slots);
    if (!q->slots) return ERR_MEMORY;
    int err = OK;
    for (int i = 0; i < s->slot_count; i++) {
        struct slot *x = &q->slots[i];
        slot_init(x, s, i);
        int count = s->pass_count * s->rounds;
        x->headers = mem_zero_alloc(count, sizeof *x->headers);
        if (!x->headers) err = ERR_MEMORY;
        if (!i && s->first && s->first->pid) standby_give(&x->standby, s->first, 0);
        for (int v = 0; v < count && !err; v++) err = record_run_id(x->headers[v].run);
    }
    return err;
}

// Returns the estimated host memory of a worker on this matrix.
static int64_t need_of(const struct sweep *s, const struct job *j)
{
    int64_t bytes = min64(j->matrix->bytes, INT64_MAX / TEXT_MEMORY) * TEXT_MEMORY;
    return s->config->memory_bytes ? min64(bytes, s->config->memory_bytes) : bytes;
}

// Returns true if the host has memory for the job beside the estimates of running jobs. A job alone
// always fits.
static bool fits(const struct schedule *q, const struct job *j)
{
    int64_t promised = 0;
    bool alone = true;
    for (int i = 0; i < q->s->slot_count; i++) {
        const struct slot *x = &q->slots[i];
        if (!x->job) continue;
        alone = false;
        promised += max64(need_of(q->s, x->job) - worker_memory(&x->w), 0);
    }
    return alone || need_of(q->s, j) <= mem_available() - promised;
}

// Returns the first waiting job that fits; NULL: none. Among the next jobs, one for each slot, a
// job with the pass of the slot's standby comes first.
static struct job *next_job(struct schedule *q, const struct slot *x)
{
    struct job *first = NULL;
    int looked = 0;
    while (q->waiting < q->count && q->begun[q->waiting]) q->waiting++;
    for (int64_t i = q->waiting; i < q->count && (!first || looked < q->s->slot_count); i++) {
        if (q->begun[i]) continue;
        looked++;
        if (!fits(q, &q->jobs[i])) continue;
        if (!first) first = &q->jobs[i];
        if (!x->standby.next.pid || x->standby.pass == q->jobs[i].pass) return &q->jobs[i];
    }
    return first;
}

// Starts a job in a free slot, if a standby is there or the last worker is gone.
static int start_job(struct schedule *q, struct slot *x)
{
    if (x->job || x->state == SLOT_CLOSED) return OK;
    struct job *job = x->unfinished ? x->unfinished : next_job(q, x);
    bool unfit = job && job != x->unfinished && !standby_has(&x->standby, job->pass);
    if (unfit || (!job && q->waiting == q->count)) standby_end(&x->standby);
    if (!job || !slot_can_start(x, job)) return OK;
    q->begun[job - q->jobs] = true;
    x->unfinished = NULL;
    return slot_start(x, job);
}

// Starts a standby beside a ready worker, if a job is left for it: of the pass of the first job
// that other standby workers leave.
static int start_next(struct schedule *q, struct slot *x)
{
    if (!slot_wants_standby(x)) return OK;
    int64_t taken = 0;
    for (int i = 0; i < q->s->slot_count; i++) taken += q->slots[i].standby.next.pid != 0;
    for (int64_t i = q->waiting; i < q->count; i++)
        if (!q->begun[i] && !taken--) return slot_start_standby(x, q->jobs[i].pass);
    return OK;
}

// Returns true if the slot may time. If the times depend on the host, no other slot is timing, and
// none has asked before.
static bool may_time(const struct schedule *q, const struct slot *x)
{
    bool may = true;
    for (int i = 0; i < q->s->slot_count && q->s->host_bound; i++) {
        const struct slot *y = &q->slots[i];
        may &= y->state != SLOT_TIMING;
        may &= y->state != SLOT_ASKING || y->times.since_ms >= x->times.since_ms;
    }
    return may;
}

static int start_all(struct schedule *q)
{
    int err = OK;
    for (int i = 0; i < q->s->slot_count && !err; i++) err = start_job(q, &q->slots[i]);
    for (int i = 0; i < q->s->slot_count && !err; i++) err = start_next(q, &q->slots[i]);
    q->soon = false;
    for (int i = 0; i < q->s->slot_count && !err; i++)
        if (q->slots[i].state != SLOT_ASKING || may_time(q, &q->slots[i]))
            q->soon |= !slot_answer(&q->slots[i]);
    return err;
}

// Returns true if a worker runs.
static bool any_busy(const struct schedule *q)
{
    for (int i = 0; i < q->s->slot_count; i++)
        if (q->slots[i].job || q->slots[i].standby.last.pid) return true;
    return false;
}

// Adds the channels of a worker to the list for poll(). Sets *ending if it writes nothing any more
// and has not ended.
static int add_channels(const struct worker *w, struct pollfd *list, bool *ending)
{
    if (!w->pid) return 0;
    *ending |= w->channel < 0;
    list[0] = (struct pollfd){w->channel, POLLIN, 0};
    list[1] = (struct pollfd){w->talk, POLLIN, 0};
    return 2;
}

static int wait_for_lines(struct schedule *q)
{
    double now = clock_ms(), until = now + (q->soon ? PAUSE_POLL_MS : POLL_MS);
    struct pollfd list[6 * SLOTS_MAX];
    int used = 0;
    for (int i = 0; i < q->s->slot_count; i++) {
        const struct slot *x = &q->slots[i];
        bool ending = x->job && x->end == END_KILLED;
        used += add_channels(&x->w, &list[used], &ending);
        used += add_channels(&x->standby.next, &list[used], &ending);
        used += add_channels(&x->standby.last, &list[used], &ending);
        if (x->job && x->end != END_KILLED) until = fmin(until, slot_deadline(x));
        if (q->s->config->memory_bytes && now + MEMORY_POLL_MS < until)
            until = now + MEMORY_POLL_MS;
        if (ending && now + END_POLL_MS < until) until = now + END_POLL_MS;
    }
    double ms = until - now;
    poll(list, (nfds_t)used, ms < 1 ? 1 : (int)ms + 1);
    // Lines are read late if this process was busy between two waits, or was stopped.
    bool late = continued || now - q->looked_ms > LATE_MS;
    continued = false;
    q->looked_ms = clock_ms();
    late |= q->looked_ms > now + fmax(ms, 1) + 1 + LATE_MS;
    for (int i = 0; i < q->s->slot_count; i++) slot_set_late(&q->slots[i], late);
    return interrupted ? fail(ERR_INTERRUPTED, "interrupted") : OK;
}

// The slot has lost its device: other slots take its matrix.
static int close_slot(struct schedule *q, struct slot *x)
{
    int open = 0;
    for (int i = 0; i < q->s->slot_count; i++) open += q->slots[i].state != SLOT_CLOSED;
    if (!open) return fail(x->error, "%s", x->why);
    char text[FAIL_TEXT_MAX + 64];
    snprintf(text, sizeof text, "%s is not used any more: %s", q->s->slot_configs[x->index].name,
             x->why);
    struct sweep_news news = {.kind = NEWS_NOTE, .matrix = x->job->matrix, .text = text};
    q->s->tell(&news, q->s->arg);
    q->begun[x->job - q->jobs] = false;
    q->waiting = 0;
    standby_end(&x->standby);
    return OK;
}

static int poll_slot(struct schedule *q, struct slot *x)
{
    bool over, done;
    enum slot_next next;
    int err = slot_read(x, &done);
    struct job *job = x->job;
    if (done) {
        job_free(job);
        x->job = NULL;
    }
    if (err || !x->job) return err;
    slot_enforce_limits(x);
    err = slot_reap(x, &over, &next);
    if (err || !over) return err;
    if (next == SLOT_INTERRUPTED) return fail(ERR_INTERRUPTED, "interrupted");
    if (next == SLOT_JOB_GOES_ON) x->unfinished = job;
    if (next == SLOT_JOB_ELSEWHERE) err = close_slot(q, x);
    if (next == SLOT_JOB_FINISHED) job_free(job);
    x->job = NULL;
    return err;
}

static void add_spent(struct sweep *s, struct slot *x)
{
    slot_times_turn(&x->times, SLOT_TIME_IDLE);
    for (int i = 0; i < SLOT_TIME_COUNT; i++) s->spent_ms[i] += x->times.ms[i];
}

int sweep_run(struct sweep *s)
{
    struct schedule q = {.s = s};
    struct sigaction before, note = {.sa_handler = note_continued, .sa_flags = SA_RESTART};
    sigaction(SIGCONT, &note, &before);
    s->endings = (struct endings){0};
    s->cases_before = s->matrices_before = 0;
    memset(s->spent_ms, 0, sizeof s->spent_ms);
    int err = make_jobs(&q);
    if (!err) err = make_slots(&q);
    while (!err) {
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : start_all(&q);
        if (err || !any_busy(&q)) break;
        err = wait_for_lines(&q);
        for (int i = 0; i < s->slot_count && !err; i++) err = poll_slot(&q, &q.slots[i]);
    }
    for (int i = 0; q.slots && i < s->slot_count; i++) {
        if (!err) add_spent(s, &q.slots[i]);
        slot_free(&q.slots[i]);
    }
    sigaction(SIGCONT, &before, NULL);
    for (int64_t i = 0; i < q.count; i++) job_free(&q.jobs[i]);
    mem_free(q.slots);
    mem_free(q.jobs);
    mem_free(q.begun);
    return err;
}
