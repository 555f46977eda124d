#include "measure/chain.h"

static int start_each(void *arg)
{
    const struct chain *c = arg;
    const struct device_ops *ops = c->dev->ops;
    int err = OK;
    for (int i = 0; i < c->count && !err; i++) {
        if (c->work) err = c->work->run(c->work->arg);
        if (!err && (c->separated || !c->work)) err = ops->separate(c->dev);
    }
    return err;
}

int chain_start(const struct chain *c)
{
    if (c->graph) return c->dev->ops->graph_launch(c->dev, c->graph);
    return start_each((void *)c);
}

int chain_make_graph(struct chain *c)
{
    const struct device_ops *ops = c->dev->ops;
    if (!ops->graph_make) return fail(ERR_UNSUPPORTED, "%s has no graphs", c->dev->id);
    return ops->graph_make(c->dev, start_each, c, &c->graph);
}

void chain_free_graph(struct chain *c)
{
    if (c->graph) c->dev->ops->graph_free(c->dev, c->graph);
    c->graph = NULL;
}
