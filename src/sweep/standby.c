#include "sweep/standby.h"

#include <string.h>

#define READY_MS 60000.0 // for a process to start, since it went on last
#define LEAVE_MS 30000.0 // and to end after its last word

void relay_init(struct relay *r)
{
    *r = (struct relay){.matrix = NULL};
    worker_none(&r->next);
    worker_none(&r->last);
}

int relay_start(struct relay *r, const struct crew *crew, const struct duty *duty, int pass)
{
    int err = crew_start(crew, duty, &r->next);
    r->pass = pass;
    r->tied = r->ready = false;
    r->until_ms = clock_ms() + READY_MS;
    return err == ERR_MEMORY ? err : OK;
}

bool relay_is_starting(const struct relay *r) { return r->next.pid && !r->ready; }

bool relay_hush(struct relay *r)
{
    bool stopped = false;
    if (!relay_is_starting(r)) return true;
    // Stopped before it is tied it would stay for ever, should this process be killed now.
    if (r->tied) worker_stop(&r->next, &stopped);
    return stopped;
}

void relay_go_on(struct relay *r)
{
    if (r->next.stopping) r->until_ms = clock_ms() + READY_MS;
    worker_go_on(&r->next);
}

void relay_drop(struct relay *r)
{
    worker_free(&r->next);
    r->tied = r->ready = false;
}

bool relay_has(struct relay *r, int pass)
{
    int state;
    if (r->next.pid && worker_over(&r->next, &state)) relay_drop(r);
    return r->next.pid && r->pass == pass;
}

void relay_take(struct relay *r, struct worker *w)
{
    relay_go_on(r);
    *w = r->next;
    worker_none(&r->next);
    r->tied = r->ready = false;
}

void relay_leave(struct relay *r, struct worker *w, const struct sweep_matrix *matrix)
{
    r->last = *w;
    r->matrix = matrix;
    r->leave_ms = clock_ms() + LEAVE_MS;
    worker_none(w);
}

static int look_at_next(struct relay *r, int64_t memory_bytes)
{
    int state, err = worker_read(&r->next);
    for (char *line; !err && (line = worker_line(&r->next));) {
        r->tied |= !strcmp(line, "tied");
        r->ready |= !strcmp(line, "ready");
    }
    bool late = !r->ready && !r->next.stopping && clock_ms() > r->until_ms;
    bool large = memory_bytes && worker_memory(&r->next) > memory_bytes;
    if (late || large) worker_kill(&r->next);
    if (!err && worker_over(&r->next, &state)) relay_drop(r);
    return err;
}

int relay_look(struct relay *r, int64_t memory_bytes, const struct sweep_matrix **gone, int *state,
               char text[FAIL_TEXT_MAX])
{
    int err = r->next.pid ? look_at_next(r, memory_bytes) : OK;
    *gone = NULL;
    if (err || !r->last.pid) return err;
    err = worker_read(&r->last);
    r->last.begin = r->last.end; // nobody wants to know
    if (clock_ms() > r->leave_ms) worker_kill(&r->last);
    if (err || !worker_over(&r->last, state)) return err;
    *gone = r->matrix;
    worker_end_text(&r->last, *state, text);
    worker_free(&r->last);
    return OK;
}

void relay_free(struct relay *r)
{
    relay_drop(r);
    worker_free(&r->last);
}
