#include "sweep/standby.h"

#include <string.h>

#define READY_MS 60000.0 // limit for a process to get ready, since it was resumed
#define LEAVE_MS 30000.0 // limit for a process to end after its last line

void standby_init(struct standby *s)
{
    *s = (struct standby){.matrix = NULL};
    worker_none(&s->next);
    worker_none(&s->last);
}

int standby_start(struct standby *s, const struct worker_config *config,
                  const struct worker_args *args, int pass)
{
    int err = worker_config_start(config, args, &s->next);
    s->pass = pass;
    s->tied = s->ready = false;
    s->until_ms = clock_ms() + READY_MS;
    return err == ERR_MEMORY ? err : fail_drop(); // a worker that starts later has the reason
}

void standby_give(struct standby *s, struct worker *w, int pass)
{
    s->next = *w;
    s->pass = pass;
    s->tied = s->ready = true;
    worker_none(w);
}

bool standby_is_starting(const struct standby *s) { return s->next.pid && !s->ready; }

// A standby that is stopped before it is tied would stay forever if this process were killed now.
bool standby_pause(struct standby *s)
{
    return !standby_is_starting(s) || (s->tied && worker_pause(&s->next));
}

void standby_resume(struct standby *s)
{
    if (s->next.pause != WORKER_RUNS) s->until_ms = clock_ms() + READY_MS;
    worker_resume(&s->next);
}

void standby_end(struct standby *s)
{
    worker_free(&s->next);
    s->tied = s->ready = false;
}

bool standby_has(struct standby *s, int pass)
{
    int state;
    if (s->next.pid && worker_over(&s->next, &state)) standby_end(s);
    return s->next.pid && s->pass == pass;
}

void standby_take(struct standby *s, struct worker *w)
{
    standby_resume(s);
    *w = s->next;
    worker_none(&s->next);
    s->tied = s->ready = false;
}

void standby_set_leaving(struct standby *s, struct worker *w, const struct sweep_matrix *matrix)
{
    s->last = *w;
    s->matrix = matrix;
    s->leave_ms = clock_ms() + LEAVE_MS;
    worker_none(w);
}

static int poll_next(struct standby *s, int64_t memory_bytes)
{
    const char *rest;
    int state, err = worker_read(&s->next);
    for (char *line; !err && (line = worker_line(&s->next));) {
        const enum protocol_line kind = protocol_parse(line, &rest);
        s->tied |= kind == LINE_TIED;
        s->ready |= kind == LINE_READY;
    }
    bool late = !s->ready && s->next.pause == WORKER_RUNS && clock_ms() > s->until_ms;
    bool large = memory_bytes && worker_memory(&s->next) > memory_bytes;
    if (late || large) worker_kill(&s->next);
    if (!err && worker_over(&s->next, &state)) standby_end(s);
    return err;
}

int standby_poll(struct standby *s, int64_t memory_bytes, const struct sweep_matrix **gone,
                 int *state, char text[FAIL_TEXT_MAX])
{
    int err = s->next.pid ? poll_next(s, memory_bytes) : OK;
    *gone = NULL;
    if (err || !s->last.pid) return err;
    err = worker_read(&s->last);
    s->last.begin = s->last.end; // lines after the last have no reader
    if (clock_ms() > s->leave_ms) worker_kill(&s->last);
    if (err || !worker_over(&s->last, state)) return err;
    *gone = s->matrix;
    worker_end_text(&s->last, *state, text);
    worker_free(&s->last);
    return OK;
}

void standby_free(struct standby *s)
{
    standby_end(s);
    worker_free(&s->last);
}
