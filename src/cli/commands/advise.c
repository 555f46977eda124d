// spbench advise: measures the candidates for a matrix, and names the call to make.
#include "cli/commands/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/advice.h"
#include "cli/matrices/matrix_check.h"
#include "cli/options/option_values.h"

// The candidates are measured first, then the fastest of them with other k, then with fewer bits.
#define SHARE_FIRST   0.6 // share of the budget for the candidates
#define CASE_LEAST_MS 10  // least time limit of a case

#define ADVISE_BUDGET_MS 10000 // for a matrix, unless -budget is given

// Number of further algorithms for another k or precision. The fastest algorithm of the program,
// the call and its default come first.
#define FURTHER_ALGS 3

static const int64_t other_k[] = {1, 8, 32, 128, 512};

#define ALGS_SIZE 4096
struct session {
    struct options o; // options of the current measurement; texts belong to the command's options
    struct bench_setup setup;
    struct matrix M;
    struct advice a;
    int64_t axis[AXES_MAX]; // values of the axes as asked
    char algs[ALGS_SIZE];   // candidates, comma-separated
    double end_ms;          // clock_ms() at which no further case starts
    bool over;              // the budget is spent
};

// Adds a name unless the list has it.
static void add_alg(char algs[ALGS_SIZE], const char *name)
{
    const size_t length = strlen(name);
    for (const char *p = algs; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == length && !memcmp(p, name, length)) return;
    words_add(algs, ALGS_SIZE, ",", name);
}

// Lists the candidates: `auto`, the algorithms that it picks from, and those of vendors.
static void list_candidates(struct session *s)
{
    const struct op *op = s->a.op;
    const struct algo_entry *chooser = algo_find(op, "auto", s->setup.primary);
    s->algs[0] = 0;
    if (chooser && chooser->algo) add_alg(s->algs, chooser->name);
    for (const struct algo_entry *e = algos; e < algos + algo_count; e++) {
        bool picked = false;
        if (e->op != op || e->device != s->setup.primary || algo_missing(e)) continue;
        for (int i = 0; chooser && chooser->algo && i < PICKS_MAX && chooser->algo->picks[i]; i++)
            picked |= !strcmp(chooser->algo->picks[i], e->name);
        if (picked || (e->algo->vendor && !e->algo->partial)) add_alg(s->algs, e->name);
    }
}

// Adds the case to the advice. Returns an error once the budget is spent, to end the cases.
static int keep_case(const struct result *r, void *arg)
{
    struct session *s = arg;
    struct advice *a = &s->a;
    struct advised_group *g = &a->groups[a->group_count - 1];
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
    if (!g->count++) g->prec = r->c.prec, memcpy(g->axis, r->c.axis, sizeof g->axis);
    s->over = clock_ms() > s->end_ms;
    return s->over ? fail(ERR_UNCHECKED, "the budget is spent") : OK;
}

// Measures algorithms in a group of its own. `share_ms`: time for all of them.
static int measure(struct session *s, const char *algs, double share_ms)
{
    struct advice *a = &s->a;
    s->o.alg = algs;
    int err = bench_setup_replan(&s->setup, &s->o);
    if (err) return err;
    const int64_t cases = s->setup.plan.count;
    s->setup.plan.rule.limit_ms = fmax(CASE_LEAST_MS, share_ms / (double)max64(cases, 1));
    struct advised_group *g = &a->groups[a->group_count++];
    *g = (struct advised_group){.first = a->count};
    err = bench_matrix(&s->setup.plan, &s->setup.devices, &s->M, keep_case, s);
    if (err && s->over) err = OK;
    a->left_out += (int)(cases - g->count);
    if (!g->count) a->group_count--;
    return err;
}

// Writes to `algs` the fastest algorithms of the first group, with the call and its default.
static void list_fastest(struct session *s, char algs[ALGS_SIZE])
{
    struct advice *a = &s->a;
    const struct advised_group *g = &a->groups[0];
    const struct advised *fixed[] = {g->own, g->call, g->standard};
    bool taken[ADVISED_MAX] = {false};
    algs[0] = 0;
    for (int i = 0; i < COUNT(fixed); i++)
        if (fixed[i]) taken[fixed[i] - a->list] = true;
    for (int n = 0; n < FURTHER_ALGS; n++) {
        int best = -1;
        for (int i = g->first; i < g->first + g->count; i++)
            if (!taken[i] && !a->list[i].rank.dense && !isnan(a->list[i].rank.ms) &&
                (best < 0 || a->list[i].rank.ms < a->list[best].rank.ms))
                best = i;
        if (best >= 0) taken[best] = true;
    }
    for (int i = g->first; i < g->first + g->count; i++)
        if (taken[i]) add_alg(algs, a->list[i].rank.alg);
}

// Returns the values of k in the options; NULL if the operation has no k.
static struct axis_values *k_of(struct session *s)
{
    for (int x = 0; s->a.op->axes[x]; x++)
        if (s->a.op->axes[x] == &axis_k) return &s->o.axes[axis_place(&axis_k)];
    return NULL;
}

// Measures the fastest algorithms for other values of k.
static int measure_other_k(struct session *s, const char *algs)
{
    struct axis_values *k = k_of(s);
    int err = OK;
    if (!k) return OK;
    const struct axis_values asked = *k;
    for (int i = 0; i < COUNT(other_k) && !err && !s->over; i++) {
        if (other_k[i] == asked.value[0]) continue;
        k->value[0] = other_k[i];
        err = measure(s, algs, fmax(s->end_ms - clock_ms(), 0) / (COUNT(other_k) - i + 1));
    }
    *k = asked;
    return err;
}

// Returns the precision with values of half the bits; PRECS: there is none.
static enum prec narrower(enum prec prec) { return prec == F64 ? F32 : prec == F32 ? F16 : PRECS; }

static int measure_fewer_bits(struct session *s, const char *algs)
{
    const enum prec asked = s->o.precs[0];
    if (s->over || narrower(asked) == PRECS) return OK;
    s->o.precs[0] = narrower(asked);
    int err = measure(s, algs, fmax(s->end_ms - clock_ms(), 0));
    s->o.precs[0] = asked;
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
    memcpy(p.axis, s->axis, sizeof p.axis);
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
    return err == ERR_UNSUPPORTED ? OK : err; // the cases have the reason
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
    const double begin_ms = clock_ms(), budget_ms = s->o.budget_ms;
    char algs[ALGS_SIZE];
    s->end_ms = begin_ms + budget_ms;
    s->over = false;
    a->count = a->group_count = a->left_out = 0;
    int err = predict_product(s);
    if (!err) warn_of_memory(s);
    if (!err) err = measure(s, s->algs, SHARE_FIRST * budget_ms);
    if (err) return err;
    advice_make(a);
    list_fastest(s, algs);
    if (algs[0]) err = measure_other_k(s, algs);
    if (!err && algs[0]) err = measure_fewer_bits(s, algs);
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
    memcpy(s->axis, s->setup.plan.cases[0].axis, sizeof s->axis);
    s->a.device = bench_device_find(&s->setup.devices, s->setup.device);
    s->a.runs = s->o.advise.runs;
    list_candidates(s);
    if (!s->algs[0])
        return fail(ERR_UNSUPPORTED, "no algorithm of %s on %s", s->a.op->name, s->setup.device);
    cli_print_device(&s->setup, &s->o);
    err = bench_setup_measure_roofs(&s->setup, false);
    if (err == ERR_INTERRUPTED) return err;
    if (err && !s->o.quiet) fprintf(stderr, "no roof: %s\n", fail_text());
    return OK;
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
        for (int c = 0; c < s->a.groups[0].count; c++)
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
