// spbench advise: measures the candidates for a matrix, and names the call to make.
#include "cli/commands/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/advice.h"
#include "cli/matrices/matrix_check.h"
#include "cli/options/option_values.h"

#define ADVISE_BUDGET_MS 10000 // for a matrix, unless -budget is given
#define CASE_SHARE       0.125 // part of the budget for a case in the last turn of the race

#define ALGS_SIZE 4096
struct session {
    struct options o; // options of the current measurement; texts belong to the command's options
    struct bench_setup setup;
    struct matrix M;
    struct advice a;
    char algs[ALGS_SIZE]; // candidates, comma-separated
};

// Returns true if the chooser can pick e, or e belongs to a vendor.
static bool is_likely(const struct algo_entry *chooser, const struct algo_entry *e)
{
    bool likely = e == chooser || e->algo->vendor;
    for (int i = 0; chooser && i < PICKS_MAX && chooser->algo->picks[i]; i++)
        likely |= !strcmp(chooser->algo->picks[i], e->name);
    return likely;
}

// Lists the candidates: all algorithms, the likely ones first.
static void list_candidates(struct session *s)
{
    const struct op *op = s->a.op;
    const struct algo_entry *chooser = algo_find(op, "auto", s->setup.primary);
    s->algs[0] = 0;
    for (int likely = 1; likely >= 0; likely--)
        for (const struct algo_entry *e = algos; e < algos + algo_count; e++)
            if (e->op == op && e->device == s->setup.primary && !algo_missing(e) &&
                !e->algo->partial && !e->algo->reference &&
                algo_takes_columns(e, s->a.axis) && is_likely(chooser, e) == likely)
                words_add(s->algs, sizeof s->algs, ",", e->name);
}

// Adds the case to the advice.
static int keep_case(const struct result *r, void *arg)
{
    struct session *s = arg;
    struct advice *a = &s->a;
    if (a->count == ADVISED_MAX) bug("advise: more than %d cases", ADVISED_MAX);
    struct advised *x = &a->list[a->count++];
    *x = (struct advised){.c = r->c,
                          .status = r->status,
                          .rank = result_rank(r, TIMING_SEPARATE),
                          .library = case_library(&r->c),
                          .bound_ms = r->bound_ms,
                          .gather_ms = r->gather_ms,
                          .peak_bytes = r->peak_bytes,
                          .busy = r->timing.busy};
    snprintf(x->reason, sizeof x->reason, "%s", r->reason);
    return OK;
}

static bool has_case(const struct advice *a, const struct bench_case *c)
{
    bool has = false;
    for (int i = 0; i < a->count; i++)
        has |=
            a->list[i].c.entry == c->entry && !memcmp(a->list[i].c.axis, c->axis, sizeof c->axis);
    return has;
}

// Measures the candidates in a race that ends at `end_ms`.
static int measure(struct session *s, double end_ms)
{
    struct advice *a = &s->a;
    struct plan *plan = &s->setup.plan;
    s->o.alg = s->algs;
    int err = bench_setup_replan(&s->setup, &s->o);
    if (err) return err;
    plan->race = true;
    plan->end_ms = end_ms;
    plan->rule.limit_ms = plan->rule.most_ms = CASE_SHARE * s->o.budget_ms;
    err = bench_matrix(plan, &s->setup.devices, &s->M, keep_case, s);
    a->left_out = 0;
    a->left_out_names[0] = 0;
    for (const struct bench_case *c = plan->cases; c < plan->cases + plan->count; c++) {
        if (has_case(a, c)) continue;
        a->left_out++;
        words_add(a->left_out_names, sizeof a->left_out_names, ", ", c->entry->name);
    }
    return err;
}

// Least number of rows whose products are counted to predict the nonzeros of C.
#define PREDICT_ROWS 500

// Predicts the size of a sparse product from a sample of its rows.
static int predict_product(struct session *s)
{
    struct advice *a = &s->a;
    struct source source;
    struct problem p = {.op = a->op, .source = &source, .prec = s->o.precs[0], .seed = s->o.seed};
    struct row row = {0};
    int64_t room = 0, work = 0, count = 0;
    a->products = a->nnz_c = a->c_bytes = NAN;
    if (a->op->result != RESULT_SPARSE) return OK;
    source_init(&source, &s->M.A);
    memcpy(p.axis, a->axis, sizeof p.axis);
    int err = problem_make(&p);
    if (err) goto done;
    const int64_t step = max64(p.rows / PREDICT_ROWS, 1);
    for (int64_t i = 0; i < p.rows; i += step) room = max64(room, a->op->row_room(&p, (int32_t)i));
    err = row_alloc(&row, &p, room);
    for (int64_t i = 0; i < p.rows && !err && !interrupted; i += step) {
        a->op->row(&p, 0, (int32_t)i, &row);
        work += a->op->row_work(&p, (int32_t)i);
        count += row.count;
    }
    a->products = (double)p.work;
    if (!err && work) {
        a->nnz_c = (double)count / (double)work * (double)p.work;
        a->c_bytes = a->nnz_c * (double)(sizeof(int32_t) + type_bytes(prec_out(p.prec)));
    }
    row_free(&row);
    problem_free(&p);
done:
    source_free(&source);
    return err == ERR_UNSUPPORTED ? fail_drop() : err; // the cases have the reason
}

// Warns before the measurement if the product cannot fit in the memory of the device.
static void warn_of_memory(const struct session *s)
{
    char need[32], have[32];
    const struct device *d = s->a.device->dev;
    if (s->o.quiet || !d || isnan(s->a.c_bytes) || s->a.c_bytes <= (double)d->memory_bytes) return;
    fprintf(stderr, "%s: C takes about %s of memory, and %s has %s\n", s->M.name,
            size_text((int64_t)s->a.c_bytes, need), d->id, size_text(d->memory_bytes, have));
}

static int advise_matrix(struct session *s)
{
    struct advice *a = &s->a;
    const double begin_ms = clock_ms();
    a->count = 0;
    int err = predict_product(s);
    if (!err) warn_of_memory(s);
    if (!err) err = measure(s, begin_ms + s->o.budget_ms);
    advice_make(a);
    a->ms = clock_ms() - begin_ms;
    return err;
}

// Returns ERR_USAGE for an option with several values, unless they give the same product.
static int check_single(const struct options *o)
{
    const struct axis *axis;
    if (o->prec_count > 1) return fail(ERR_USAGE, "-prec: advise takes one precision");
    for (int i = 0; (axis = axis_all(i)); i++)
        for (int v = 1; v < o->axes[i].count; v++)
            if (axis_product(axis, o->axes[i].value[v]) != axis_product(axis, o->axes[i].value[0]))
                return fail(ERR_USAGE, "-%s %s: advise takes one value", axis->name,
                            o->axes[i].text);
    return OK;
}

static int open_session(struct session *s, const struct request *q)
{
    s->o = *q->o;
    s->o.alg = "auto";
    if (!s->o.budget_ms) s->o.budget_ms = ADVISE_BUDGET_MS;
    int err = check_single(&s->o);
    if (!err) err = bench_setup_make(&s->setup, &s->o);
    if (!err)
        err = matrix_check_files(q->o, (const char *const *)q->o->operands, q->o->operand_count);
    if (!err) err = bench_setup_open(&s->setup, &s->o);
    if (err) return err;
    s->a.op = s->setup.plan.op;
    s->a.prec = s->o.precs[0];
    memcpy(s->a.axis, s->setup.plan.cases[0].axis, sizeof s->a.axis);
    s->a.device = bench_device_find(&s->setup.devices, s->setup.device);
    s->a.runs = s->o.runs_planned;
    list_candidates(s);
    if (!s->algs[0])
        return fail(ERR_UNSUPPORTED, "no algorithm of %s on %s", s->a.op->name, s->setup.device);
    cli_print_device(&s->setup, &s->o);
    err = bench_setup_measure_roofs(&s->setup, false);
    if (err == ERR_INTERRUPTED) return err;
    if (err && !s->o.quiet) fprintf(stderr, "no roof: %s\n", fail_text());
    return fail_drop(); // the times need no roof
}

int cli_advise(const struct request *q)
{
    const bool as_json = q->o->format && strcmp(q->o->format, text_formats[0]);
    struct json j = {0};
    struct session *s = mem_zero_alloc(1, sizeof *s);
    int err = s ? open_session(s, q) : ERR_MEMORY;
    if (err) goto done;
    json_start(&j);
    json_text(&j, j.root, "schema", "spbench-advice/1");
    cJSON *list = json_array(&j, j.root, "advice");
    for (int i = 0; i < q->o->operand_count && !err; i++) {
        err = matrix_load(q->o->operands[i], q->o->seed, &s->M);
        if (err) {
            err = cli_load_failed(err, q->outcome);
            matrix_free(&s->M);
            continue;
        }
        s->a.matrix = &s->M;
        err = advise_matrix(s);
        if (!err && as_json)
            advice_json(&j, list, &s->a);
        else if (!err)
            advice_print(stdout, &s->a);
        for (int c = 0; c < s->a.count; c++)
            q->outcome->bad_result |= !status_is_good(s->a.list[c].status);
        matrix_free(&s->M);
    }
    if (as_json) {
        int json_err = json_end(&j, stdout); // also the advice before an error
        if (!err) err = json_err;
    }
done:
    json_free(&j);
    if (s) bench_setup_free(&s->setup);
    mem_free(s);
    return err;
}
