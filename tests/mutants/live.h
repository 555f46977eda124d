// A mutant at work: the functions of its algorithm, around those of the right one.
#ifndef MUTANTS_LIVE_H
#define MUTANTS_LIVE_H

#include "kept.h"
#include "operands.h"

static inline struct live *live_of(struct task *t) { return (struct live *)t->entry; }

static inline int live_prepare(struct task *t)
{
    struct live *x = live_of(t);
    x->t = t;
    x->runs = 0;
    x->start = clock_ms();
    x->spoiled = false;
    int err = x->base->prepare ? x->base->prepare(t) : OK;
    if (!err && x->mutant->operands) err = operands_make(x);
    if (!err && x->mutant->begin) err = x->mutant->begin(x);
    return err;
}

// The right algorithm, on the copies of the operands where there are any.
static inline int run_base(struct live *x, struct task *t)
{
    const struct sparse *A = t->A[0];
    struct dense_dev in[DENSE_MAX];
    memcpy(in, t->in, sizeof in);
    if (x->mutant->operands) {
        operands_copy(x);
        x->mutant->operands(x);
        t->A[0] = &x->A.head;
        memcpy(t->in, x->in, sizeof in);
    }
    int err = x->base->run(t);
    t->A[0] = A;
    memcpy(t->in, in, sizeof in);
    return err;
}

static inline int live_run(struct task *t)
{
    struct live *x = live_of(t);
    const struct mutant *m = x->mutant;
    x->t = t;
    x->draws = 0;
    x->runs++;
    if (m->skips && m->skips(x)) {
        x->altered = true;
        return OK;
    }
    if (m->before) m->before(x);
    if (m->keeps && m->keeps(x)) {
        x->altered = true;
        return kept_put(x);
    }
    int err = run_base(x, t);
    if (!err && m->result) m->result(x);
    return err;
}

static inline void live_teardown(struct task *t)
{
    struct live *x = live_of(t);
    x->t = t;
    if (x->mutant->end) x->mutant->end(x);
    if (x->base->teardown) x->base->teardown(t);
    operands_drop(x);
    kept_drop(x);
    mem_free(x->sums);
    x->sums = NULL;
}

static inline void live_start(struct live *x, const struct mutant *m,
                              const struct algo_entry *right)
{
    *x = (struct live){.entry = *right, .algo = *right->algo, .base = right->algo, .mutant = m};
    x->entry.name = m->name;
    x->entry.algo = &x->algo;
    x->algo.prepare = live_prepare;
    x->algo.run = live_run;
    x->algo.teardown = live_teardown;
}

#endif
