#include "algos/trial.h"

#include <math.h>

#define TRIES 3 // of which the least counts

static int run_one(void *arg)
{
    struct task *t = arg;
    return t->algo->run(t);
}

struct many {
    struct task *t;
    int count; // runs
    void *graph;
};

static int run_many(void *arg)
{
    const struct many *m = arg;
    const struct device_ops *device = m->t->dev->ops;
    int err = OK;
    for (int i = 0; i < m->count && !err; i++) {
        err = run_one(m->t);
        if (!err && device->separate) err = device->separate(m->t->dev);
    }
    return err;
}

static int launch(void *arg)
{
    const struct many *m = arg;
    return m->t->dev->ops->graph_launch(m->t->dev, m->graph);
}

// The least time of what `start` starts, behind one that warms up.
static int least_time(struct task *t, int (*start)(void *arg), void *arg, double *us)
{
    *us = INFINITY;
    for (int i = 0; i <= TRIES; i++) {
        double ms;
        int err = t->dev->ops->timer_start(t->dev);
        if (err) return err;
        err = start(arg);
        const int ended = t->dev->ops->timer_stop(t->dev, &ms);
        task_release_result(t);
        if (err || ended) return err ? err : ended;
        if (i > 0) *us = fmin(*us, 1e3 * ms);
    }
    return OK;
}

// The same of many runs as one graph; ERR_UNSUPPORTED where they cannot be one.
static int time_graph(struct task *t, double *us)
{
    const struct device_ops *device = t->dev->ops;
    struct many m = {t, (int)fmax(1, fmin(TRIAL_LONG_US / *us, TRIAL_MANY)), NULL};
    double all;
    int err = device->graph_make(t->dev, run_many, &m, &m.graph);
    if (err) return err;
    err = least_time(t, launch, &m, &all);
    device->graph_free(t->dev, m.graph);
    if (!err) *us = all / m.count;
    return err;
}

int trial_time(struct task *t, double *us)
{
    int err = least_time(t, run_one, t, us);
    const bool graphs = t->dev->ops->graph_make && t->entry->op->result != RESULT_SPARSE;
    if (err || !graphs || *us >= TRIAL_LONG_US) return err;
    err = time_graph(t, us);
    return err == ERR_UNSUPPORTED ? OK : err;
}
