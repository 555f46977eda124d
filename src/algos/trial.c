#include "algos/trial.h"

#include <math.h>

#define TRIES 3 // of which the least counts

static int run_one(void *arg)
{
    struct task *t = arg;
    return t->algo->run(t);
}

static int run_many(void *arg)
{
    struct task *t = arg;
    int err = OK;
    for (int i = 0; i < TRIAL_MANY && !err; i++) {
        err = t->algo->run(t);
        if (!err && t->dev->ops->separate) err = t->dev->ops->separate(t->dev);
    }
    return err;
}

struct graph {
    struct device *dev;
    void *graph;
};

static int launch(void *arg)
{
    const struct graph *g = arg;
    return g->dev->ops->graph_launch(g->dev, g->graph);
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
    struct graph g = {t->dev, NULL};
    double all;
    int err = t->dev->ops->graph_make(t->dev, run_many, t, &g.graph);
    if (err) return err;
    err = least_time(t, launch, &g, &all);
    t->dev->ops->graph_free(t->dev, g.graph);
    if (!err) *us = all / TRIAL_MANY;
    return err;
}

int trial_time(struct task *t, double *us)
{
    int err = least_time(t, run_one, t, us);
    const bool graphs = t->dev->ops->graph_make && t->entry->op->result != RESULT_SPARSE;
    if (err || !graphs || *us >= TRIAL_SHORT_US) return err;
    err = time_graph(t, us);
    return err == ERR_UNSUPPORTED ? OK : err;
}
