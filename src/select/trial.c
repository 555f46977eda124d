#include "select/trial.h"

#include <math.h>

#define TRIES 3 // tries; the least time counts

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

// Lowers *us to the least time of `start` in `tries` tries.
static int least_time(struct task *t, int (*start)(void *arg), void *arg, int tries, double *us)
{
    for (int i = 0; i < tries; i++) {
        double ms;
        int err = t->dev->ops->timer_start(t->dev);
        if (err) return err;
        err = start(arg);
        const int ended = t->dev->ops->timer_stop(t->dev, &ms);
        task_release_result(t);
        if (err || ended) return err ? err : ended;
        *us = fmin(*us, 1e3 * ms);
    }
    return OK;
}

// Sets *us to the least time of `start` in `tries` tries, after a try that warms up.
static int least_time_warm(struct task *t, int (*start)(void *arg), void *arg, int tries,
                           double *us)
{
    double cold = INFINITY;
    *us = INFINITY;
    int err = least_time(t, start, arg, 1, &cold);
    return err ? err : least_time(t, start, arg, tries, us);
}

// Sets *us to the least time of a run in a graph of many runs. Returns ERR_UNSUPPORTED if the runs
// cannot be a graph.
static int time_graph(struct task *t, double *us)
{
    const struct device_ops *device = t->dev->ops;
    struct many m = {t, (int)fmax(1, fmin(TRIAL_LONG_US / *us, TRIAL_MANY)), NULL};
    double all;
    int err = device->graph_make(t->dev, run_many, &m, &m.graph);
    if (err) return err;
    err = least_time_warm(t, launch, &m, TRIES, &all);
    device->graph_free(t->dev, m.graph);
    if (!err) *us = all / m.count;
    return err;
}

int trial_time(struct task *t, double enough, double *us)
{
    const bool graphs = t->dev->ops->graph_make != NULL;
    int err = least_time_warm(t, run_one, t, TRIAL_FEW - 1, us);
    if (err || *us > enough || !graphs) return err;
    err = *us < TRIAL_LONG_US && t->entry->op->result != RESULT_SPARSE ? time_graph(t, us)
                                                                       : ERR_UNSUPPORTED;
    if (err != ERR_UNSUPPORTED) return err;
    fail_drop();
    return least_time(t, run_one, t, TRIES - 1, us);
}
