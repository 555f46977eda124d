#include "measure/batch.h"

static int start_each(void *arg)
{
    const struct batch *c = arg;
    const struct device_ops *ops = c->dev->ops;
    int err = OK;
    for (int i = 0; i < c->count && !err; i++) {
        if (c->work) err = c->work->run(c->work->arg);
        if (!err && (c->separated || !c->work)) err = ops->separate(c->dev);
    }
    return err;
}

int batch_start(const struct batch *c)
{
    if (c->graph) return c->dev->ops->graph_launch(c->dev, c->graph);
    return start_each((void *)c);
}

int batch_make_graph(struct batch *c)
{
    const struct device_ops *ops = c->dev->ops;
    if (!ops->graph_make) return fail(ERR_UNSUPPORTED, "%s has no graphs", c->dev->id);
    return ops->graph_make(c->dev, start_each, c, &c->graph);
}

void batch_free_graph(struct batch *c)
{
    if (c->graph) c->dev->ops->graph_free(c->dev, c->graph);
    c->graph = NULL;
}
