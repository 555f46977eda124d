#include "run/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *status_name(enum status status)
{
    static const char *const names[] = {"ok",      "wrong",   "unsupported", "oom",
                                        "timeout", "crashed", "failed",      "skipped"};
    return names[status];
}

int64_t bench_case_count(const struct plan *plan)
{
    return (int64_t)plan->entry_count * plan->prec_count * plan->k_count * plan->layout_count;
}

// What an error of a case becomes in its record.
static enum status status_of(int err)
{
    switch (err) {
    case ERR_UNSUPPORTED: return STATUS_UNSUPPORTED;
    case ERR_MEMORY: return STATUS_OOM;
    default: return STATUS_FAILED;
    }
}

static void set_failure(struct result *r, enum status status, const char *reason)
{
    r->status = status;
    snprintf(r->reason, sizeof r->reason, "%s", reason);
}

static void choose_options(const struct plan *plan, const struct algo *algo, double *opt)
{
    const struct algo_option *o = algo->options;
    for (int i = 0; o && o[i].name; i++) {
        opt[i] = o[i].value;
        for (int s = 0; s < plan->setting_count; s++)
            if (!strcmp(plan->settings[s].name, o[i].name)) opt[i] = plan->settings[s].value;
    }
}

static void release_task(void *arg) { task_release_result(arg); }

static int run_task(void *arg)
{
    struct task *t = arg;
    return t->algo->run(t);
}

// What the time says: rates, bound, distance from the roof.
static void derive_rates(struct result *r, const struct roof *roof)
{
    double ms = r->timing.median;
    double gb_s = (double)r->compulsory_bytes / ms * 1e-6;
    r->gflops = (double)r->flops / ms * 1e-6;
    r->bound_ms = model_bound_ms(roof, r->prec, r->flops, r->compulsory_bytes);
    r->efficiency = r->bound_ms / ms;
    r->cache_resident = roof->copy_gb_s > 0 && gb_s > roof->copy_gb_s;
}

// The phases and the memory of the fastest of a few runs that wait between phases; long ones need
// no second try.
#define PHASE_RUNS    3
#define PHASE_ONCE_MS 1000.0
static int measure_phases(struct task *t, struct result *r)
{
    double best = INFINITY;
    int err = OK, runs = r->timing.median < PHASE_ONCE_MS ? PHASE_RUNS : 1;
    for (int i = 0; i < runs && !err; i++) {
        struct phases phases = {.current = -1};
        struct device_trace trace = {.start = clock_ms()};
        t->phases = &phases;
        t->dev->trace = &trace;
        err = t->algo->run(t);
        if (!err) err = task_phase(t, NULL);
        t->phases = NULL;
        t->dev->trace = NULL;
        task_release_result(t);
        double total = 0;
        for (int p = 0; p < phases.count; p++) total += phases.list[p].ms;
        if (err || total >= best) continue;
        best = total;
        r->phases = phases;
        r->trace = trace;
    }
    return err;
}

// Prepares, checks, then times one case. A wrong result is not timed.
static int measure(const struct plan *plan, struct bench_device *bd, struct operands *o,
                   struct task *t, struct result *r)
{
    bool sparse = ops[t->algo->op].sparse_row != NULL;
    device_peak_reset(bd->dev);
    int err = task_prepare(t, o, &r->setup, &r->format_bytes);
    if (err) return err;
    r->peak_bytes = bd->dev->peak_bytes;
    err = check_task(t, plan->check, &r->check);
    if (err) goto done;
    r->checked = plan->check != CHECK_OFF;
    r->result_nnz = r->check.result_nnz;
    if (sparse) r->compulsory_bytes = ops[t->algo->op].compulsory_bytes(t->in, r->result_nnz);
    if (!r->check.ok) {
        set_failure(r, STATUS_WRONG, r->check.reason);
        goto done;
    }
    // The check may have needed more memory than the product.
    device_peak_reset(bd->dev);
    err =
        timing_measure(bd->dev, run_task, sparse ? release_task : NULL, t, &plan->rule, &r->timing);
    if (!err && sparse) err = measure_phases(t, r);
    if (err) goto done;
    r->timed = true;
    derive_rates(r, &bd->roof);
done:
    r->peak_bytes = max64(r->peak_bytes, bd->dev->peak_bytes) - operands_foreign_bytes(o, t);
    memcpy(r->figures, t->figures, sizeof r->figures);
    r->figure_count = t->figure_count;
    task_release_result(t);
    task_teardown(t);
    return err;
}

// One case from its entry to a result. Returns only what must end the whole run.
static int run_case(const struct plan *plan, struct bench_device *bd, struct operands *o,
                    const struct inputs *in, int inputs_err, const char *inputs_reason,
                    struct result *r)
{
    const struct algo *algo = r->entry->algo;
    if (!algo || !bd->dev) {
        set_failure(r, STATUS_UNSUPPORTED, algo ? bd->missing : r->entry->missing);
        return OK;
    }
    r->device = bd->dev->id;
    choose_options(plan, algo, r->opt);
    if (inputs_err) {
        set_failure(r, status_of(inputs_err), inputs_reason);
        return OK;
    }
    r->flops = ops[algo->op].flops(in);
    r->products = in->products;
    if (!ops[algo->op].sparse_row) r->compulsory_bytes = ops[algo->op].compulsory_bytes(in, 0);
    struct task t = {.algo = algo};
    memcpy(t.opt, r->opt, sizeof t.opt);
    int err = measure(plan, bd, o, &t, r);
    if (err == ERR_INTERRUPTED) return err;
    if (err) set_failure(r, status_of(err), fail_text());
    return OK;
}

// Every algorithm on one set of inputs; the operands are uploaded once for all.
static int run_inputs(const struct plan *plan, struct bench_device devices[2],
                      const struct matrix *matrix, const struct inputs *in, int inputs_err,
                      enum layout layout, int (*emit)(const struct result *r, void *arg), void *arg)
{
    char reason[256];
    struct operands operands[2] = {0};
    snprintf(reason, sizeof reason, "%s", inputs_err ? fail_text() : "");
    for (int kind = 0; kind < 2; kind++)
        if (devices[kind].dev) operands_init(&operands[kind], devices[kind].dev, in, layout);
    int err = OK;
    for (int e = 0; e < plan->entry_count && !err; e++) {
        const struct algo_entry *entry = plan->entries[e];
        struct bench_device *bd = &devices[entry->device];
        struct result r = {.entry = entry,
                           .matrix = matrix,
                           .prec = in->prec,
                           .k = in->k,
                           .layout = layout,
                           .mul = in->mul,
                           .device = device_kind_name(entry->device)};
        if (interrupted) err = fail(ERR_INTERRUPTED, "interrupted");
        if (!err) err = run_case(plan, bd, &operands[entry->device], in, inputs_err, reason, &r);
        if (!err) err = emit(&r, arg);
        timing_free(&r.timing);
    }
    operands_free(&operands[0]);
    operands_free(&operands[1]);
    return err;
}

// `lost` is why there is no matrix, `why` in words.
static int run_plan(const struct plan *plan, struct bench_device devices[2],
                    const struct matrix *matrix, int lost, const char *why,
                    int (*emit)(const struct result *r, void *arg), void *arg)
{
    int err = OK;
    for (int p = 0; p < plan->prec_count; p++)
        for (int i = 0; i < plan->k_count; i++) {
            struct inputs in = {.A = &matrix->A,
                                .prec = plan->precs[p],
                                .k = plan->ks[i],
                                .seed = plan->seed,
                                .mul = plan->mul};
            int inputs_err = OK;
            if (lost)
                inputs_err = fail((enum err)lost, "%s", why);
            else if (plan->entry_count)
                inputs_err = ops[plan->entries[0]->op].make(&in);
            for (int l = 0; l < plan->layout_count && !err; l++)
                err =
                    run_inputs(plan, devices, matrix, &in, inputs_err, plan->layouts[l], emit, arg);
            inputs_free(&in);
            if (err) return err;
        }
    return OK;
}

int bench_matrix(const struct plan *plan, struct bench_device devices[2],
                 const struct matrix *matrix, int (*emit)(const struct result *r, void *arg),
                 void *arg)
{
    return run_plan(plan, devices, matrix, OK, "", emit, arg);
}

int bench_unread(const struct plan *plan, struct bench_device devices[2],
                 const struct matrix *matrix, int load_err, const char *why,
                 int (*emit)(const struct result *r, void *arg), void *arg)
{
    return run_plan(plan, devices, matrix, load_err, why, emit, arg);
}
