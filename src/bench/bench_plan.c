// Runs the cases of a plan on a matrix, cases with the same inputs one after the other.
#include "bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "bench/isolation.h"
#include "bench/same_kernel.h"

// Cases with the same inputs, and the data that they share.
struct group {
    const struct plan *plan;
    const struct bench_devices *devices;
    struct operands *operands;         // by device
    struct tiled_counts_cache *counts; // counts of the matrix
    struct problem p;
    struct reference ref[VARIANTS_MAX]; // by variant of the operation
    struct same_kernel same;            // cases of vendors' libraries
    int lost;                   // error that prevented the inputs; OK: none
    char reason[FAIL_TEXT_MAX]; // text of this error
};

// Returns true, with the reason in `r`, if the algorithm, the device or the inputs are missing.
static bool is_hopeless(const struct group *g, const struct bench_device *bd, struct result *r)
{
    const char *missing = algo_missing(r->c.entry);
    if (missing)
        result_fail(r, STATUS_UNSUPPORTED, missing);
    else if (!bd->dev)
        result_fail(r, STATUS_UNSUPPORTED, bd->missing);
    else if (g->lost)
        result_fail(r, status_of(g->lost), g->reason);
    return r->status != STATUS_OK;
}

// Sets the prediction of the algorithm's model for a case with a time; none if memory is lacking.
static int predict_case(const struct group *g, const struct bench_device *bd, struct result *r)
{
    const struct algo *a = r->c.entry->algo;
    if (a->model == MODEL_NONE) return OK;
    struct cutting cut = cutting_of(a, r->c.opt);
    int err =
        tiled_model_predict(g->counts, r->c.prec, g->p.cols, a->model, &cut, &r->stats, &r->model);
    if (err) r->model = (struct tiled_prediction){0};
    tiled_model_gflops(&r->model, r->c.prec, &bd->roof);
    return err == ERR_MEMORY ? fail_drop() : err;
}

static int emit_case(struct group *g, const struct bench_case *c, const struct matrix *matrix,
                     bench_emit emit, void *arg)
{
    struct result r = result_start(c, matrix);
    struct bench_device *bd = bench_device_find(g->devices, c->device);
    if (!bd) bug("no device '%s'", c->device);
    int err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : OK;
    if (!err && !is_hopeless(g, bd, &r)) {
        struct reference *ref = &g->ref[c->entry->algo->variant];
        err = bench_run_case(g->plan, ref, bd, &g->operands[bd - g->devices->list], &r);
    }
    if (!err) err = bench_keep_quiet(g->plan, false);
    if (!err && r.timed) err = predict_case(g, bd, &r);
    if (!err) r.same_as = same_kernel_find(&g->same, &r);
    if (!err) err = emit(&r, arg);
    result_clear(&r);
    if (!err) fail_check_ended();
    return err;
}

// Runs the cases first ... end - 1 of the plan, which have the same inputs.
static int run_group(struct group *g, int64_t first, int64_t end, struct source *source,
                     const struct matrix *matrix, bench_emit emit, void *arg)
{
    const struct bench_case *c = &g->plan->cases[first];
    bool read = !g->lost;
    g->p = (struct problem){
        .op = g->plan->op, .source = source, .prec = c->prec, .seed = g->plan->seed};
    memcpy(g->p.axis, c->axis, sizeof g->p.axis);
    if (read) g->lost = problem_make(&g->p);
    if (read && g->lost) snprintf(g->reason, sizeof g->reason, "%s", fail_text());
    for (int v = 0; v < VARIANTS_MAX; v++) reference_init(&g->ref[v], &g->p);
    for (int d = 0; d < g->devices->count && !g->lost; d++) operands_use(&g->operands[d], &g->p);
    if (!g->lost && g->counts->source != g->p.factor) {
        tiled_counts_free(g->counts);
        tiled_counts_init(g->counts, g->p.factor);
    }
    int err = OK;
    for (int64_t i = first; i < end && !err; i++)
        err = emit_case(g, &g->plan->cases[i], matrix, emit, arg);
    for (int v = 0; v < VARIANTS_MAX; v++) reference_free(&g->ref[v]);
    same_kernel_free(&g->same);
    if (read && !g->lost) problem_free(&g->p);
    if (read) g->lost = OK;
    return err;
}

static int run_plan(struct group *g, const struct matrix *matrix, bench_emit emit, void *arg)
{
    const struct plan *plan = g->plan;
    struct source source;
    struct tiled_counts_cache counts;
    int err = OK;
    source_init(&source, &matrix->A);
    tiled_counts_init(&counts, &source);
    g->counts = &counts;
    g->operands = mem_zero_alloc(g->devices->count, sizeof *g->operands);
    if (!g->operands || isolation_start()) {
        g->lost = ERR_MEMORY;
        snprintf(g->reason, sizeof g->reason, "%s", fail_text());
    }
    for (int d = 0; d < g->devices->count && g->operands; d++) {
        operands_init(&g->operands[d], g->devices->list[d].dev);
        g->operands[d].store.again = STORE_AGAIN_MAX;
    }
    for (int64_t first = 0, end; first < plan->count && !err; first = end) {
        end = first + 1;
        while (end < plan->count && case_same_inputs(&plan->cases[first], &plan->cases[end])) end++;
        err = run_group(g, first, end, &source, matrix, emit, arg);
    }
    for (int d = 0; d < g->devices->count && g->operands; d++) operands_free(&g->operands[d]);
    mem_free(g->operands);
    tiled_counts_free(&counts);
    source_free(&source);
    return err;
}

int bench_matrix(const struct plan *plan, const struct bench_devices *devices,
                 const struct matrix *matrix, bench_emit emit, void *arg)
{
    struct group g = {.plan = plan, .devices = devices};
    return run_plan(&g, matrix, emit, arg);
}

int bench_unread(const struct plan *plan, const struct bench_devices *devices,
                 const struct matrix *matrix, int load_err, const char *why, bench_emit emit,
                 void *arg)
{
    struct group g = {.plan = plan, .devices = devices, .lost = load_err};
    snprintf(g.reason, sizeof g.reason, "%s", why);
    return run_plan(&g, matrix, emit, arg);
}
