// Plans for tests of the loop over cases: some algorithms of an operation, each value of its axes
// that has a word, the first two of those that are numbers.
#ifndef PLANS_H
#define PLANS_H

#include "own.h"
#include "bench/bench.h"
#include "test.h"

#define ENTRIES_MAX 64

struct plan_parts {
    struct choice_entry entries[ENTRIES_MAX];
    struct plan_request request;
};

static const enum prec both_precs[] = {F32, F64};

static inline void parts_start(struct plan_parts *x, const struct op *op)
{
    *x = (struct plan_parts){0};
    x->request = (struct plan_request){
        .op = op, .entries = x->entries, .precs = both_precs, .prec_count = 2};
    for (int a = 0; op->axes[a]; a++) {
        struct axis_values *v = &x->request.axes[a];
        int most = op->axes[a]->words ? AXIS_VALUES_MAX : 2;
        while (v->count < most && axis_try(op->axes[a], v->count, &v->value[v->count])) v->count++;
    }
}

// Nothing but the first of each axis and precision.
static inline void parts_one(struct plan_parts *x)
{
    x->request.prec_count = 1;
    for (int a = 0; x->request.op->axes[a]; a++) x->request.axes[a].count = 1;
}

static inline void parts_add(struct plan_parts *x, const struct algo_entry *entry)
{
    struct choice_entry *e = &x->entries[x->request.entry_count++];
    e->entry = entry;
    device_id(entry->device, 0, e->device);
}

// The first value of each axis and precision, for these algorithms.
static inline struct plan_parts parts_of(const struct op *op, const struct algo_entry *const *list)
{
    struct plan_parts x;
    parts_start(&x, op);
    parts_one(&x);
    while (*list) parts_add(&x, *list++);
    return x;
}
#define PARTS(op, ...) parts_of(op, (const struct algo_entry *const[]){__VA_ARGS__, NULL})

// Those of one kind of device.
static inline void parts_add_all(struct plan_parts *x, enum device_kind kind)
{
    for (int e = 0; e < algo_count && x->request.entry_count < ENTRIES_MAX; e++)
        if (algos[e].op == x->request.op && algos[e].device == kind) parts_add(x, &algos[e]);
}

static inline struct plan parts_plan(struct plan_parts *x)
{
    x->request.entries = x->entries; // it may have been copied
    struct plan plan = {.rule = {.reps = 1, .warmup = 3}, .check = CHECK_AUTO, .seed = 3};
    int err = plan_make(&plan, &x->request);
    CHECK(!err, "%s", fail_text());
    return plan;
}

// A device of each kind: the CPU, and for the others why there is none.
struct test_devices {
    struct device cpu;
    struct bench_device list[DEVICE_KINDS];
    struct bench_devices all;
};

static inline int places_open(struct test_devices *x)
{
    *x = (struct test_devices){.all = {x->list, DEVICE_KINDS}};
    int err = device_open("cpu", &x->cpu);
    CHECK(!err, "%s", fail_text());
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        struct bench_device *bd = &x->list[kind];
        device_id((enum device_kind)kind, 0, bd->id);
        snprintf(bd->missing, sizeof bd->missing, "no such device");
    }
    x->list[DEVICE_CPU].dev = &x->cpu;
    x->list[DEVICE_CPU].roof = (struct roof){.memory_gb_s = 10,
                                             .fma_gflops = {30, 15},
                                             .gather_count = 1,
                                             .gathers = {{4096, {1, 1, 1, 1, 1}}}};
    return err;
}

#endif
