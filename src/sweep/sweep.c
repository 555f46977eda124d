#include "sweep/sweep.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/slot.h"

#define LOOK_MS        1000.0 // Ctrl-C is seen after so long at the latest
#define SOON_MS        1.0    // until a process stops that is to
#define MEMORY_LOOK_MS 50.0   // between two looks at the memory of workers
#define END_LOOK_MS    10.0   // at whether one has ended that says nothing any more
#define TEXT_MEMORY    4      // bytes of memory for a byte of a matrix' text, about

struct schedule {
    struct sweep *s;
    struct job *jobs; // in the order in which they begin; size count
    int64_t count;
    int64_t waiting;    // the first that has not begun, or later ones
    bool *begun;        // by job
    struct seat *seats; // size s->place_count
    bool soon;          // a worker waits for what will be true in a moment
};

struct resume_ask sweep_ask(const struct sweep *s, const struct sweep_matrix *m, int round)
{
    return (struct resume_ask){m->name, m->path, m->changed, m->file, s->retry, round + 1};
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

// What is finished of a job, and what may be. *whole: all of it, so that the matrix need not be
// read.
static int look_back(struct sweep *s, struct job *j, bool *whole)
{
    const struct texts *prefixes = &s->passes[j->pass].prefixes;
    struct resume_ask ask = sweep_ask(s, j->matrix, j->round);
    struct resume_list found;
    int err = resume_done(s->resume, &ask, prefixes, &found);
    if (err) return err;
    j->perhaps.list = found.list;
    for (int64_t i = 0; i < found.count && !err; i++)
        if (found.list[i].content)
            j->perhaps.list[j->perhaps.count++] = found.list[i];
        else
            err = job_add_before(s, j, &found.list[i]);
    *whole = resume_has_all(s->resume, &ask, prefixes);
    return err;
}

// Round after round; a matrix in each pass, one after the other, so that all versions of a library
// are measured on a machine in the same state.
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
    if (s->place_count > 1) qsort(q->jobs, (size_t)q->count, sizeof *q->jobs, by_size);
    for (int64_t i = each; i < count; i++) q->jobs[i - each].later = &q->jobs[i];
    for (int64_t i = 0; i < q->count && !err; i++) {
        err = look_back(s, &q->jobs[i], &q->begun[i]);
        s->matrices_before += q->begun[i];
    }
    return err;
}

static int make_seats(struct schedule *q)
{
    struct sweep *s = q->s;
    q->seats = mem_zero_alloc(s->place_count, sizeof *q->seats);
    if (!q->seats) return ERR_MEMORY;
    int err = OK;
    for (int i = 0; i < s->place_count; i++) {
        struct seat *x = &q->seats[i];
        seat_init(x, s, i);
        int count = s->pass_count * s->rounds;
        x->voices = mem_zero_alloc(count, sizeof *x->voices);
        if (!x->voices) err = ERR_MEMORY;
        for (int v = 0; v < count && !err; v++) err = record_run_id(x->voices[v].run);
    }
    return err;
}

// What a worker on this matrix takes of the host's memory, about.
static int64_t need_of(const struct sweep *s, const struct job *j)
{
    int64_t bytes = min64(j->matrix->bytes, INT64_MAX / TEXT_MEMORY) * TEXT_MEMORY;
    return s->crew->memory_bytes ? min64(bytes, s->crew->memory_bytes) : bytes;
}

// Whether there is memory for it beside the others, which may not have taken theirs yet. Alone it
// has all there is.
static bool fits(const struct schedule *q, const struct job *j)
{
    int64_t promised = 0;
    bool alone = true;
    for (int i = 0; i < q->s->place_count; i++) {
        const struct seat *x = &q->seats[i];
        if (!x->job) continue;
        alone = false;
        promised += max64(need_of(q->s, x->job) - worker_memory(&x->w), 0);
    }
    return alone || need_of(q->s, j) <= mem_available() - promised;
}

// The first job that has not begun and that fits, NULL if there is none. Of those that would begin
// about now, as many as there are places, one goes before for whose pass a worker stands by.
static struct job *next_job(struct schedule *q, const struct seat *x)
{
    struct job *first = NULL;
    int looked = 0;
    while (q->waiting < q->count && q->begun[q->waiting]) q->waiting++;
    for (int64_t i = q->waiting; i < q->count && (!first || looked < q->s->place_count); i++) {
        if (q->begun[i]) continue;
        looked++;
        if (!fits(q, &q->jobs[i])) continue;
        if (!first) first = &q->jobs[i];
        if (!x->relay.next.pid || x->relay.pass == q->jobs[i].pass) return &q->jobs[i];
    }
    return first;
}

// Not before the last worker of the place is gone, unless the next one stands by.
static int start_job(struct schedule *q, struct seat *x)
{
    if (x->job || x->closed) return OK;
    struct job *job = x->unfinished ? x->unfinished : next_job(q, x);
    bool unfit = job && job != x->unfinished && !relay_has(&x->relay, job->pass);
    if (unfit || (!job && q->waiting == q->count)) relay_drop(&x->relay);
    if (!job || !seat_can_start(x, job)) return OK;
    q->begun[job - q->jobs] = true;
    x->unfinished = NULL;
    return seat_start(x, job);
}

// Where a worker has got ready, the next one does so, if there is work for it beside those that
// stand by already: of the pass of the first job that these leave.
static int start_next(struct schedule *q, struct seat *x)
{
    if (!seat_wants_next(x)) return OK;
    int64_t taken = 0;
    for (int i = 0; i < q->s->place_count; i++) taken += q->seats[i].relay.next.pid != 0;
    for (int64_t i = q->waiting; i < q->count; i++)
        if (!q->begun[i] && !taken--) return seat_start_next(x, q->jobs[i].pass);
    return OK;
}

static int start_all(struct schedule *q)
{
    int err = OK;
    for (int i = 0; i < q->s->place_count && !err; i++) err = start_job(q, &q->seats[i]);
    for (int i = 0; i < q->s->place_count && !err; i++) err = start_next(q, &q->seats[i]);
    q->soon = false;
    for (int i = 0; i < q->s->place_count && !err; i++) q->soon |= !seat_talk(&q->seats[i]);
    return err;
}

// Whether anything is under way.
static bool any_busy(const struct schedule *q)
{
    for (int i = 0; i < q->s->place_count; i++)
        if (q->seats[i].job || q->seats[i].relay.last.pid) return true;
    return false;
}

// What a worker may write, or that it has ended, ends the wait. *ending: it says nothing any more,
// and is not over yet.
static int look_at(const struct worker *w, struct pollfd *look, bool *ending)
{
    if (!w->pid) return 0;
    *ending |= w->channel < 0;
    look[0] = (struct pollfd){w->channel, POLLIN, 0};
    look[1] = (struct pollfd){w->talk, POLLIN, 0};
    return 2;
}

static int wait_for_news(struct schedule *q)
{
    double now = clock_ms(), until = now + (q->soon ? SOON_MS : LOOK_MS);
    struct pollfd look[6 * SEATS_MAX];
    int used = 0;
    for (int i = 0; i < q->s->place_count; i++) {
        const struct seat *x = &q->seats[i];
        bool ending = x->job && x->ended;
        used += look_at(&x->w, &look[used], &ending);
        used += look_at(&x->relay.next, &look[used], &ending);
        used += look_at(&x->relay.last, &look[used], &ending);
        if (x->job && !x->ended && x->deadline_ms < until) until = x->deadline_ms;
        if (q->s->crew->memory_bytes && now + MEMORY_LOOK_MS < until) until = now + MEMORY_LOOK_MS;
        if (ending && now + END_LOOK_MS < until) until = now + END_LOOK_MS;
    }
    double ms = until - now;
    poll(look, (nfds_t)used, ms < 1 ? 1 : (int)ms + 1);
    return interrupted ? fail(ERR_INTERRUPTED, "interrupted") : OK;
}

// The place has no device any more: its matrix goes to the others.
static int close_seat(struct schedule *q, struct seat *x)
{
    int open = 0;
    x->closed = true;
    for (int i = 0; i < q->s->place_count; i++) open += !q->seats[i].closed;
    if (!open) return fail(x->error, "%s", x->why);
    char text[FAIL_TEXT_MAX + 64];
    snprintf(text, sizeof text, "%s is not used any more: %s", q->s->places[x->place].name, x->why);
    struct sweep_news news = {.kind = NEWS_NOTE, .matrix = x->job->matrix, .text = text};
    q->s->tell(&news, q->s->arg);
    q->begun[x->job - q->jobs] = false;
    q->waiting = 0;
    relay_drop(&x->relay);
    return OK;
}

static int attend(struct schedule *q, struct seat *x)
{
    bool over, done;
    enum seat_next next;
    int err = seat_read(x, &done);
    struct job *job = x->job;
    if (done) {
        job_free(job);
        x->job = NULL;
    }
    if (err || !x->job) return err;
    seat_watch(x);
    err = seat_over(x, &over, &next);
    if (err || !over) return err;
    if (next == SEAT_INTERRUPTED) return fail(ERR_INTERRUPTED, "interrupted");
    if (next == SEAT_GO_ON) x->unfinished = job;
    if (next == SEAT_CLOSED) err = close_seat(q, x);
    if (next == SEAT_FINISHED) job_free(job);
    x->job = NULL;
    return err;
}

static void add_spent(struct sweep *s, struct seat *x)
{
    spent_turn(&x->spent, SPENT_IDLE);
    for (int i = 0; i < SPENT_COUNT; i++) s->spent_ms[i] += x->spent.ms[i];
}

int sweep_run(struct sweep *s)
{
    struct schedule q = {.s = s};
    s->endings = (struct endings){0};
    s->cases_before = s->matrices_before = 0;
    memset(s->spent_ms, 0, sizeof s->spent_ms);
    int err = make_jobs(&q);
    if (!err) err = make_seats(&q);
    while (!err) {
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : start_all(&q);
        if (err || !any_busy(&q)) break;
        err = wait_for_news(&q);
        for (int i = 0; i < s->place_count && !err; i++) err = attend(&q, &q.seats[i]);
    }
    for (int i = 0; q.seats && i < s->place_count; i++) {
        if (!err) add_spent(s, &q.seats[i]);
        seat_free(&q.seats[i]);
    }
    for (int64_t i = 0; i < q.count; i++) job_free(&q.jobs[i]);
    mem_free(q.seats);
    mem_free(q.jobs);
    mem_free(q.begun);
    return err;
}
