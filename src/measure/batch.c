#include "measure/batch.h"

static int start_each(void *arg)
{
    const struct batch *b = arg;
    const struct device_ops *ops = b->dev->ops;
    int err = OK;
    for (int i = 0; i < b->count && !err; i++) {
        if (b->inputs) err = b->work->change(b->work->arg, b->inputs == INPUTS_CHANGE);
        if (b->work && !err) err = b->work->run(b->work->arg);
        if (!err && (b->separated || !b->work)) err = ops->separate(b->dev);
    }
    return err;
}

int batch_start(const struct batch *b)
{
    if (b->graph) return b->dev->ops->graph_launch(b->dev, b->graph);
    return start_each((void *)b);
}

int batch_make_graph(struct batch *b)
{
    const struct device_ops *ops = b->dev->ops;
    if (!ops->graph_make) return fail(ERR_UNSUPPORTED, "%s has no graphs", b->dev->id);
    return ops->graph_make(b->dev, start_each, b, &b->graph);
}

void batch_free_graph(struct batch *b)
{
    if (b->graph) b->dev->ops->graph_free(b->dev, b->graph);
    b->graph = NULL;
}
