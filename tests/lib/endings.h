// How the cases of a plan end, kept to be looked at; and an algorithm of the tests' own operation.
#ifndef ENDINGS_H
#define ENDINGS_H

#include "plans.h"

static struct test_devices places;
static struct matrix M = {.name = (char *)"tiny", .path = (char *)"gen:tiny"};

#define ENDINGS_MAX 64
static struct endings {
    int count;
    struct ending {
        enum status status;
        bool timed;
        enum in_order in_order;
        int64_t peak_bytes, format_bytes, trace_bytes; // trace_bytes: the most at any moment
        struct setup setup;
        char reason[64];
        double opt[ALGO_OPTIONS_MAX];
    } list[ENDINGS_MAX];
} got;

static int keep_result(const struct result *r, void *arg)
{
    (void)arg;
    if (got.count == ENDINGS_MAX) return ERR_MEMORY;
    struct ending *x = &got.list[got.count++];
    *x = (struct ending){.status = r->status, .peak_bytes = r->peak_bytes, .setup = r->setup};
    x->format_bytes = r->prepared ? r->setup.format_bytes : -1;
    x->timed = r->timed;
    x->in_order = r->in_order;
    for (int64_t i = 0; i < r->trace.count; i++)
        x->trace_bytes = max64(x->trace_bytes, r->trace.moments[i].bytes);
    snprintf(x->reason, sizeof x->reason, "%.63s", r->reason);
    memcpy(x->opt, r->c.opt, sizeof x->opt);
    return OK;
}

static inline struct endings run(struct plan_parts *x)
{
    struct plan plan = parts_plan(x);
    got.count = 0;
    int err = bench_matrix(&plan, &places.all, &M, keep_result, NULL);
    CHECK(!err && got.count == plan.count, "error %d, %d results of %lld", err, got.count,
          (long long)plan.count);
    CHECK(!places.cpu.used_bytes, "%lld bytes left", (long long)places.cpu.used_bytes);
    plan_free(&plan);
    return got;
}

// C of the tests' own operation, whatever format A is in.
static int64_t seen_bytes[ENDINGS_MAX]; // on the device while a case runs
static int own_run(struct task *t)
{
    const struct dense_dev *X = &t->in[0];
    seen_bytes[got.count] = t->dev->used_bytes;
    for (int64_t i = 0, q = 0; i < M.A.m; i++)
        for (; q < M.A.ptr[i + 1]; q++) {
            double sum = 0;
            for (int64_t l = 0; l < X->cols; l++)
                sum += type_load(t->prec, X->val, M.A.idx[q] * X->ld + l);
            type_store(t->prec, t->val, q, type_round(t->prec, M.A.val[q]) * sum);
        }
    return OK;
}

static const struct algo_option own_options[] = {{"grain", 4, 1, 64, true, "rows of a share"}, {0}};
static const struct algo on_csr = {.layouts = BOTH_LAYOUTS,
                                   .precs = BOTH_PRECS,
                                   .A = {&format_csr},
                                   .arith = ARITH_DOUBLE,
                                   .options = own_options,
                                   .run = own_run};
static const struct algo_entry csr_entry = {"csr", &own_op, DEVICE_CPU, &on_csr};

#endif
