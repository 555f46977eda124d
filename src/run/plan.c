#include "run/plan.h"

#include <string.h>

static void set_options(struct bench_case *c, const struct plan_request *r)
{
    const struct algo *algo = c->entry->algo;
    if (!algo) return;
    algo_defaults(algo, c->opt);
    for (int s = 0; s < r->setting_count; s++) {
        int place = algo_param_find(algo, r->settings[s].name);
        if (place >= 0) c->opt[place] = r->settings[s].value;
    }
}

// Whether runs of it may be launched as a graph: asking for none is then another case, and else
// makes no difference.
static bool may_have_graphs(const struct plan_request *r, const struct algo_entry *e)
{
    const struct device_ops *dev = device_list[e->device].ops;
    return dev && dev->graph_make && r->op->result != RESULT_SPARSE && !r->cold;
}

// The i-th combination of the axes' values; the last axis turns fastest.
static void set_axes(struct bench_case *c, const struct plan_request *r, int64_t i)
{
    for (int a = op_axis_count(r->op) - 1; a >= 0; a--) {
        c->axis[a] = r->axes[a].value[i % r->axes[a].count];
        i /= r->axes[a].count;
    }
}

int plan_make(struct plan *plan, const struct plan_request *r)
{
    int64_t combinations = 1, count;
    plan->op = r->op;
    plan->cases = NULL;
    plan->count = 0;
    int err = OK;
    for (int a = 0; r->op->axes[a] && !err; a++)
        err = size_mul(combinations, r->axes[a].count, &combinations);
    if (!err) err = size_mul(combinations, (int64_t)r->prec_count * r->entry_count, &count);
    if (err) return err;
    plan->cases = mem_zero_alloc(count, sizeof *plan->cases);
    if (!plan->cases) return ERR_MEMORY;
    for (int p = 0; p < r->prec_count; p++)
        for (int64_t i = 0; i < combinations; i++)
            for (int e = 0; e < r->entry_count; e++) {
                struct bench_case *c = &plan->cases[plan->count++];
                c->entry = r->entries[e].entry;
                memcpy(c->device, r->entries[e].device, sizeof c->device);
                c->prec = r->precs[p];
                c->cold = r->cold;
                c->stream = r->stream && may_have_graphs(r, c->entry);
                set_axes(c, r, i);
                set_options(c, r);
            }
    return OK;
}

void plan_free(struct plan *plan)
{
    mem_free(plan->cases);
    plan->cases = NULL;
    plan->count = 0;
}
