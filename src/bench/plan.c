#include "bench/plan.h"

#include <string.h>

// Returns the number of given values of an option. Sets *value to value number i
// modulo this number. Without values, *value stays.
static int64_t opt_value(const struct plan_request *r, const char *name, int64_t i, double *value)
{
    int64_t count = 0, at = 0;
    for (int s = 0; s < r->opt_count; s++) count += !strcmp(r->opts[s].name, name);
    for (int s = 0; s < r->opt_count; s++)
        if (!strcmp(r->opts[s].name, name) && at++ == i % count) *value = r->opts[s].value;
    return count;
}

// Sets *count to the number of combinations of the given values of the options of an algorithm.
static int count_options(const struct plan_request *r, const struct algo_entry *e, int64_t *count)
{
    const struct algo *algo = e->algo;
    double ignored;
    int err = OK;
    *count = 1;
    for (int a = 0; algo_option_at(algo, a) && !err; a++)
        err = size_mul(*count, max64(opt_value(r, algo_option_at(algo, a)->name, 0, &ignored), 1),
                       count);
    return err;
}

// Sets the options to combination i; the last option changes fastest.
static void set_options(struct bench_case *c, const struct plan_request *r, int64_t i)
{
    const struct algo *algo = c->entry->algo;
    int count = 0;
    algo_defaults(algo, c->opt);
    while (algo_option_at(algo, count)) count++;
    for (int a = count - 1; a >= 0; a--)
        i /= max64(opt_value(r, algo_option_at(algo, a)->name, i, &c->opt[a]), 1);
}

// Returns true if runs of the algorithm may be a graph. Only then -launch stream makes another
// case.
static bool may_have_graphs(const struct plan_request *r, const struct algo_entry *e)
{
    const struct device_ops *dev = device_list[e->device].ops;
    return dev && dev->graph_make && r->op->result != RESULT_SPARSE && !r->cold;
}

// Sets the axes to combination i of their values; the last axis changes fastest.
static void set_axes(struct bench_case *c, const struct plan_request *r, int64_t i)
{
    for (int a = op_axis_count(r->op) - 1; a >= 0; a--) {
        c->axis[a] = r->axes[a].value[i % r->axes[a].count];
        i /= r->axes[a].count;
    }
}

// Adds the cases of one precision, one combination of the axes and one algorithm.
static void add_cases(struct plan *plan, const struct plan_request *r, enum prec prec, int64_t axes,
                      const struct choice_entry *chosen, int64_t options)
{
    struct bench_case c = {.entry = chosen->entry,
                           .prec = prec,
                           .cold = r->cold,
                           .stream = r->stream && may_have_graphs(r, chosen->entry)};
    memcpy(c.device, chosen->device, sizeof c.device);
    set_axes(&c, r, axes);
    if (chosen->by_pattern && !algo_takes_columns(c.entry, c.axis)) return;
    for (int64_t i = 0; i < options; i++) {
        set_options(&c, r, i);
        plan->cases[plan->count++] = c;
    }
}

// Returns the part of the plan that has the cases of entry e: the first entry of the same plug-in;
// -1: an algorithm of the program.
static int part_of(const struct plan_request *r, int e)
{
    const struct algo_plugin *plugin = r->entries[e].entry->algo->plugin;
    int first = -1;
    while (plugin && r->entries[++first].entry->algo->plugin != plugin) {}
    return first;
}

int plan_make(struct plan *plan, const struct plan_request *r)
{
    int64_t combinations = 1, inputs, count, each = 0; // each: cases of the same inputs
    int64_t *options = NULL;                           // combinations of each algorithm
    plan->op = r->op;
    plan->cases = NULL;
    plan->count = 0;
    int err = OK;
    for (int a = 0; r->op->axes[a] && !err; a++)
        err = size_mul(combinations, r->axes[a].count, &combinations);
    if (!err) err = size_mul(combinations, r->prec_count, &inputs);
    if (!err) err = size_mul(inputs, r->entry_count, &count);
    if (!err && !(options = mem_alloc(r->entry_count, sizeof *options))) err = ERR_MEMORY;
    for (int e = 0; e < r->entry_count && !err; e++) {
        err = count_options(r, r->entries[e].entry, &options[e]);
        if (!err) err = size_add(each, options[e], &each);
    }
    if (!err) err = size_mul(inputs, each, &count);
    if (!err && !(plan->cases = mem_zero_alloc(count, sizeof *plan->cases))) err = ERR_MEMORY;
    for (int part = -1; part < r->entry_count && !err; part++)
        for (int p = 0; p < r->prec_count; p++)
            for (int64_t i = 0; i < combinations; i++)
                for (int e = 0; e < r->entry_count; e++)
                    if (part_of(r, e) == part)
                        add_cases(plan, r, r->precs[p], i, &r->entries[e], options[e]);
    mem_free(options);
    return err;
}

void plan_free(struct plan *plan)
{
    mem_free(plan->cases);
    plan->cases = NULL;
    plan->count = 0;
}
