#include "measure/in_order.h"

#include "base/secret.h"
#include "measure/prepare.h"

struct look {
    struct verify verify;
    struct device_block blocks[DENSE_MAX + 1]; // dense inputs of a run, and its result
    int count;
};
_Static_assert(DENSE_MAX + 1 <= DEVICE_FLIPS_MAX, "the blocks of a run are inverted at once");

static void add_block(struct look *l, struct device_block b)
{
    if (b.bytes) l->blocks[l->count++] = b;
}

static int flip(const struct look *l, bool late)
{
    struct device *d = l->verify.task->dev;
    return d->ops->flip(d, l->blocks, l->count, late);
}

// Starts the late inversion back, and the run behind it. A graph captures both.
static int flip_and_run(void *arg)
{
    const struct look *l = arg;
    int err = flip(l, true);
    return err ? err : task_run(l->verify.task);
}

// Inverts back at once, after the late inversion could not be started. Returns `err`.
static int flip_back(const struct look *l, int err)
{
    int again = flip(l, false);
    return again ? again : err;
}

// Starts the run behind a late inversion: as a graph of both, or one by one if `graph` is NULL.
static int start(const struct look *l, void *graph)
{
    struct task *t = l->verify.task;
    int err = flip(l, false);
    if (err) return err;
    err = graph ? t->dev->ops->graph_launch(t->dev, graph) : flip(l, true);
    if (err) return flip_back(l, err);
    return graph ? OK : task_run(t);
}

// Sets *out by the result of one run. A wrong result is no error.
static int look(struct look *l, void *graph, enum in_order *out)
{
    struct task *t = l->verify.task;
    int err = output_poison(t);
    if (!err) err = start(l, graph);
    if (err) return err;
    err = verify_after(&l->verify);
    if (!err) *out = ORDER_KEPT;
    if (err != ERR_WRONG) return err;
    *out = ORDER_BROKEN;
    return fail_drop();
}

// The same as a graph. A run that cannot be captured was tested in the stream.
static int look_at_graph(struct look *l, enum in_order *out)
{
    struct device *d = l->verify.task->dev;
    void *graph = NULL;
    int err = d->ops->graph_make(d, flip_and_run, l, &graph);
    if (err) return err == ERR_UNSUPPORTED ? fail_drop() : err;
    err = look(l, graph, out);
    d->ops->graph_free(d, graph);
    return err;
}

int in_order_look(const struct verify *verify, bool graphs, enum in_order *out)
{
    struct task *t = verify->task;
    const struct device_ops *can = t->dev->ops;
    const int64_t peak = t->dev->peak_bytes; // the memory of this test is not the algorithm's
    struct look l = {.verify = *verify};
    l.verify.seed = secret();
    *out = ORDER_NOT_LOOKED;
    if (!can->flip || verify->ref->p->op->result == RESULT_SPARSE) return OK;
    for (int i = 0; i < DENSE_MAX && t->in[i].val; i++)
        add_block(&l, dense_block(&t->in[i], prec_in(t->prec)));
    add_block(&l, output_block(t));
    int err = look(&l, NULL, out);
    if (!err && *out == ORDER_KEPT && graphs && can->graph_make) err = look_at_graph(&l, out);
    t->dev->peak_bytes = peak;
    return err == ERR_UNSUPPORTED ? fail_drop() : err; // this device has no late inversion
}
