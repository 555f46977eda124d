#include "measure/in_order.h"

#include "measure/prepare.h"
#include "measure/verify.h"

struct look {
    struct verify watch;
    struct device_block blocks[DENSE_MAX + 1]; // what a run reads of dense matrices, and writes
    int count;
};
_Static_assert(DENSE_MAX + 1 <= DEVICE_FLIPS_MAX, "the blocks of a run are inverted at once");

static void add_block(struct look *l, struct device_block b)
{
    if (b.bytes) l->blocks[l->count++] = b;
}

static int flip(const struct look *l, bool late)
{
    struct device *d = l->watch.task->dev;
    return d->ops->flip(d, l->blocks, l->count, late);
}

// What is captured: the late inversion back, and the run behind it.
static int flip_and_run(void *arg)
{
    const struct look *l = arg;
    int err = flip(l, true);
    return err ? err : task_run(l->watch.task);
}

// The late inversion back could not be started: it is done at once, and `err` told.
static int flip_back(const struct look *l, int err)
{
    int again = flip(l, false);
    return again ? again : err;
}

// The run behind a late inversion, as a graph of both or one by one.
static int start(const struct look *l, void *graph)
{
    struct task *t = l->watch.task;
    int err = flip(l, false);
    if (err) return err;
    err = graph ? t->dev->ops->graph_launch(t->dev, graph) : flip(l, true);
    if (err) return flip_back(l, err);
    return graph ? OK : task_run(t);
}

// A wrong result is no error here: it is what is looked for.
static int look(struct look *l, void *graph, enum in_order *out)
{
    int err = verify_before(&l->watch, true);
    if (!err) err = start(l, graph);
    if (err) return err;
    err = verify_after(&l->watch, false);
    if (!err) *out = ORDER_KEPT;
    if (err != ERR_WRONG) return err;
    *out = ORDER_BROKEN;
    return OK;
}

// What cannot be captured has been seen in the stream.
static int look_at_graph(struct look *l, enum in_order *out)
{
    struct device *d = l->watch.task->dev;
    void *graph = NULL;
    int err = d->ops->graph_make(d, flip_and_run, l, &graph);
    if (err) return err == ERR_UNSUPPORTED ? OK : err;
    err = look(l, graph, out);
    d->ops->graph_free(d, graph);
    return err;
}

int in_order_look(struct task *t, struct reference *ref, enum check_mode mode,
                  const struct check *first, bool graphs, enum in_order *out)
{
    const struct device_ops *can = t->dev->ops;
    const int64_t peak = t->dev->peak_bytes; // what looking takes is not the algorithm's
    struct look l = {.watch = {.task = t, .ref = ref, .mode = mode, .first = first}};
    *out = ORDER_NOT_LOOKED;
    if (!can->flip || ref->p->op->result == RESULT_SPARSE) return OK;
    for (int i = 0; i < DENSE_MAX && t->in[i].val; i++)
        add_block(&l, dense_block(&t->in[i], t->prec));
    add_block(&l, output_block(t));
    int err = look(&l, NULL, out);
    if (!err && *out == ORDER_KEPT && graphs && can->graph_make) err = look_at_graph(&l, out);
    t->dev->peak_bytes = peak;
    return err == ERR_UNSUPPORTED ? OK : err; // there is no late inversion here
}
