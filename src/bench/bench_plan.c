// Runs the cases of a plan on a matrix, cases with the same inputs one after the other.
#include "bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "bench/isolation.h"
#include "bench/race.h"
#include "bench/same_kernel.h"

// Cases with the same inputs, and the data that they share.
struct group {
    const struct plan *plan;
    const struct bench_devices *devices;
    const struct matrix *matrix;
    bench_emit emit;
    void *emit_arg;
    struct operands *operands;         // by device
    struct tiled_counts_cache *counts; // counts of the matrix
    const struct bench_case *first;    // first case of the group
    const struct bench_case *begun; // case whose begin() was called ahead of its inputs; NULL: none
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

// Calls the plan's begin(), once for each measurement.
static int begin_case(struct group *g, const struct bench_case *c)
{
    const bool begun = g->begun == c;
    g->begun = NULL;
    return begun || !g->plan->begin ? OK : g->plan->begin(g->plan->hook_arg, c);
}

// Measures a case by the rule.
static int measure_case(struct group *g, const struct bench_case *c, const struct timing_rule *rule,
                        struct result *r)
{
    struct plan plan = *g->plan;
    struct bench_device *bd = bench_device_find(g->devices, c->device);
    if (!bd) bug("no device '%s'", c->device);
    *r = result_start(c, g->matrix);
    plan.rule = *rule;
    int err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : OK;
    if (!err) err = begin_case(g, c);
    if (!err && !is_hopeless(g, bd, r)) {
        struct reference *ref = &g->ref[c->entry->algo->variant];
        err = bench_run_case(&plan, ref, bd, &g->operands[bd - g->devices->list], r);
    }
    if (!err) err = bench_keep_quiet(&plan, false);
    if (!err && r->timed) err = predict_case(g, bd, r);
    if (err) result_clear(r);
    return err;
}

static int emit_result(const struct result *r, void *arg)
{
    struct group *g = arg;
    struct result told = *r; // the caller keeps the memory
    told.same_as = same_kernel_find(&g->same, r);
    int err = g->emit(&told, g->emit_arg);
    if (!err) fail_check_ended();
    return err;
}

static int emit_case(struct group *g, const struct bench_case *c)
{
    struct result r;
    int err = measure_case(g, c, &g->plan->rule, &r);
    if (err) return err;
    err = emit_result(&r, g);
    result_clear(&r);
    return err;
}

static int measure_in_race(void *arg, int i, const struct timing_rule *rule, struct result *r)
{
    struct group *g = arg;
    return measure_case(g, &g->first[i], rule, r);
}

// Measures the cases of the group. The race ends before the first plug-in. No case of the program
// follows a plug-in.
static int run_cases(struct group *g, int64_t count)
{
    struct race race = {.rule = &g->plan->rule,
                        .end_ms = g->plan->end_ms,
                        .measure = measure_in_race,
                        .emit = emit_result,
                        .arg = g};
    // Without a check no time has a rank.
    const bool races = g->plan->race && !g->plan->profile && g->plan->check != CHECK_OFF;
    while (races && race.count < count && !g->first[race.count].entry->algo->plugin) race.count++;
    int err = race.count ? race_run(&race) : OK;
    for (int64_t i = race.count; i < count && !err; i++) err = emit_case(g, &g->first[i]);
    return err;
}

// Runs `count` cases that have the same inputs.
static int run_group(struct group *g, const struct bench_case *c, int64_t count,
                     struct source *source)
{
    bool read = !g->lost;
    int err = begin_case(g, c);
    if (err) return err;
    g->begun = c;
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
    g->first = c;
    err = run_cases(g, count);
    for (int v = 0; v < VARIANTS_MAX; v++) reference_free(&g->ref[v]);
    same_kernel_free(&g->same);
    if (read && !g->lost) problem_free(&g->p);
    if (read) g->lost = OK;
    return err;
}

static int run_plan(struct group *g)
{
    const struct plan *plan = g->plan;
    struct source source;
    struct tiled_counts_cache counts;
    int err = OK;
    source_init(&source, &g->matrix->A);
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
        err = run_group(g, &plan->cases[first], end - first, &source);
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
    struct group g = {
        .plan = plan, .devices = devices, .matrix = matrix, .emit = emit, .emit_arg = arg};
    return run_plan(&g);
}

int bench_unread(const struct plan *plan, const struct bench_devices *devices,
                 const struct matrix *matrix, int load_err, const char *why, bench_emit emit,
                 void *arg)
{
    struct group g = {.plan = plan,
                      .devices = devices,
                      .matrix = matrix,
                      .emit = emit,
                      .emit_arg = arg,
                      .lost = load_err};
    snprintf(g.reason, sizeof g.reason, "%s", why);
    return run_plan(&g);
}
