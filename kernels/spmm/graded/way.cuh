// The selection of strips or pieces, made by prepare().
#ifndef GRADED_WAY_H
#define GRADED_WAY_H

#include <math.h>

#include "select/trial.h"
#include "plan.cuh"

// Prepares strips, and goes by them if that was possible.
static inline int go_by_strips(struct task *t, struct plan *s)
{
    int err = strips_make(t, &s->strips);
    s->by_strips = !err && s->strips.rows;
    return err;
}

// Both ways are prepared: times them, and frees the slower one. `before`: what the case told of
// itself when there was neither.
static inline int keep_faster(struct task *t, struct plan *s, const struct figures *before)
{
    double strips_us, pieces_us;
    int err = device_sync(t->dev); // all writes of prepare() end before a run
    if (!err) err = trial_time(t, false, INFINITY, &strips_us);
    s->by_strips = false;
    if (!err) err = trial_time(t, false, INFINITY, &pieces_us);
    if (err) return err;
    s->by_strips = strips_us < pieces_us;
    if (s->by_strips) {
        pieces_free(t->dev, s);
        t->figures = *before;
    } else {
        strips_free(t->dev, &s->strips);
        s->strips = {};
    }
    task_number(t, "strips_timed_us", strips_us);
    task_number(t, "pieces_timed_us", pieces_us);
    return OK;
}

static inline int plan_make(struct task *t, const struct form *forms, int count)
{
    struct plan *s = (struct plan *)mem_zero_alloc(1, sizeof *s);
    const struct figures before = t->figures;
    t->state = s;
    if (!s) return ERR_MEMORY;
    int err = strips_choose(t, &s->strips);
    if (!err && s->strips.rows && !s->strips.unsure) err = go_by_strips(t, s);
    if (err || s->by_strips) return err;
    err = plan_pieces(t, s, forms, count);
    if (!err && s->strips.unsure) err = go_by_strips(t, s);
    return err || !s->by_strips ? err : keep_faster(t, s, &before);
}

static inline void plan_free(struct task *t)
{
    struct plan *s = (struct plan *)t->state;
    if (!s) return;
    strips_free(t->dev, &s->strips);
    pieces_free(t->dev, s);
    task_free_state(t);
}

#endif
