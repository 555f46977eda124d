// `auto` and what is below it: features and predicted times by hand, that the least is picked of
// what is told, by counts that are made here the plain way; who refuses, or has no memory, and who
// is taken then; and that nobody's library is ever picked.
#include <math.h>
#include <stdlib.h>

#include "select/auto_rules.h"
#include "cases.h"
#include "picker.h"

static struct device dev;

// ---- Features and times ----

static void test_features(void)
{
    const struct pick_facts f = {.rows = 4,
                                 .columns = 9,
                                 .nonzeros = 12,
                                 .depth = 1e6,
                                 .longest = 6,
                                 .squares = 4 * 9 + 4 * 4,
                                 .tile = 3,
                                 .width = 8};
    const double want[] = {
        1,      log(97), log(97) * log(97), log(5),           log(10), log(1e6 + 1),
        log(4), log(7),  log(501),          log(1 + 2.0 / 3), log(2),  log(4)};
    double x[PICK_FEATURES];
    struct pick_rule rule = {"any", {0}};
    pick_features(&f, x);
    CHECK(COUNT(want) == PICK_FEATURES, "%d features", PICK_FEATURES);
    for (int i = 0; i < PICK_FEATURES; i++) {
        CHECK(fabs(x[i] - want[i]) < 1e-12, "feature %d is %g, not %g", i, x[i], want[i]);
        rule.weight[i] = 0.01 * (i + 1);
    }
    double sum = 0;
    for (int i = 0; i < PICK_FEATURES; i++) sum += 0.01 * (i + 1) * want[i];
    CHECK(fabs(log(pick_us(&rule, x)) - sum) < 1e-12, "%g us", pick_us(&rule, x));
    const struct pick_facts none = {.width = 4};
    pick_features(&none, x);
    for (int i = 1; i < PICK_FEATURES; i++) CHECK(x[i] == 0, "of nothing: %g", x[i]);
}

static void test_unlike(void)
{
    struct pick_rules rules = {.unsure = 1, .list = {{"any", {0}}}};
    double x[PICK_FEATURES] = {1, 2, 3, 4};
    CHECK(!pick_unlike(&rules, x), "no range, but %s", pick_unlike(&rules, x));
    rules.seen[PICK_ROWS] = (struct pick_range){"rows", 3.9, 4.1};
    rules.seen[PICK_TILE] = (struct pick_range){"tile", -0.1, 0.1};
    CHECK(!pick_unlike(&rules, x), "within, but %s", pick_unlike(&rules, x));
    x[PICK_TILE] = 0.2;
    CHECK_TEXT(pick_unlike(&rules, x), "tile");
    x[PICK_ROWS] = 3.8;
    CHECK_TEXT(pick_unlike(&rules, x), "rows");
}

static void test_too_good(void)
{
    struct pick_rules rules = {.unsure = 1, .list = {{"a", {0}}, {"b", {0}}, {"c", {0}}}};
    const double us[] = {20, 4, 10}, alone[] = {INFINITY, 4, INFINITY};
    CHECK(!pick_too_good(&rules, us), "any lead will do");
    memcpy(rules.lead, (double[]){9, 2.6, 9}, 3 * sizeof(double));
    CHECK(!pick_too_good(&rules, us), "b leads by 2.5, it was 2.6");
    rules.lead[1] = 2.5;
    CHECK(!pick_too_good(&rules, us), "b leads by 2.5, as it did");
    memcpy(rules.lead, (double[]){9, 2.4, 9}, 3 * sizeof(double));
    CHECK(pick_too_good(&rules, us), "b never led by 2.5");
    CHECK(!pick_too_good(&rules, alone), "there is nobody to lead");
    rules.lead[1] = PICK_FAR;
    CHECK(!pick_too_good(&rules, (double[]){4000, 4, 4000}), "b was far ahead before");
    rules.lead[1] = 2.4;
    CHECK(!pick_too_good(&rules, (double[]){4, 3, 7.5}), "b leads by 1.33 only");
    rules.lead[2] = 0.8;
    CHECK(pick_too_good(&rules, (double[]){4, 4, 3.9}), "c never led at all");
    rules.list[1].name = NULL;
    CHECK(!pick_too_good(&rules, (double[]){4}), "one alone leads nobody");
}

// ---- The rules as they are ----

static void test_rule_list(const char *op, enum device_kind kind, const struct pick_rules *of,
                           unsigned layout)
{
    const struct algo_entry *own = algo_find(op_find(op), "auto", kind);
    const struct pick_rule *rules = of->list;
    CHECK(of->unsure >= 1 && of->unsure <= 3, "%s: unsure by %g", op, of->unsure);
    for (int i = 0; i < PICK_FEATURES; i++)
        CHECK(of->seen[i].least <= of->seen[i].most, "%s: range of feature %d", op, i);
    for (int i = 0; rules[0].name && rules[1].name && rules[i].name; i++)
        CHECK(of->lead[i] > 0 && isfinite(of->lead[i]), "%s: lead of %s", op, rules[i].name);
    CHECK(own && rules[0].name, "%s: no auto, or no candidates", op);
    for (; own && rules->name; rules++) {
        const struct algo_entry *e = algo_find(own->op, rules->name, kind);
        CHECK(e && e != own, "%s: %s is no algorithm", op, rules->name);
        for (int i = 0; i < PICK_FEATURES; i++)
            CHECK(isfinite(rules->weight[i]), "%s %s: weight %d", op, rules->name, i);
        if (!e || !e->algo || !own->algo) continue;
        CHECK(!e->algo->vendor && !e->algo->partial && !e->algo->variant, "%s picks %s", op,
              e->name);
        CHECK(!layout || e->algo->layouts & layout, "%s: not %s's layout", op, e->name);
        bool told = false;
        for (int i = 0; i < PICKS_MAX && own->algo->picks[i]; i++)
            told |= !strcmp(own->algo->picks[i], e->name);
        CHECK(told, "%s: %s is not among what it says that it picks", op, e->name);
    }
}

static void test_rules(void)
{
    test_rule_list("spmm", DEVICE_CPU, auto_spmm_cpu_row(), ROW_MAJOR);
    test_rule_list("spmm", DEVICE_CPU, auto_spmm_cpu_col(), COL_MAJOR);
    test_rule_list("sddmm", DEVICE_CPU, auto_sddmm_cpu(), 0);
    test_rule_list("spgemm", DEVICE_CPU, auto_spgemm_cpu(), 0);
    test_rule_list("spmm", DEVICE_CUDA, auto_spmm_cuda_row(), ROW_MAJOR);
    test_rule_list("spmm", DEVICE_CUDA, auto_spmm_cuda_col(), COL_MAJOR);
    test_rule_list("sddmm", DEVICE_CUDA, auto_sddmm_cuda(), 0);
    test_rule_list("spgemm", DEVICE_CUDA, auto_spgemm_cuda(), 0);
}

// ---- What is counted ----

// Every row has a nonzero on the diagonal and, if `band`, its neighbours; some rows have every
// third column, too.
static int make_matrix(int32_t m, int32_t n, bool band, struct csr *A)
{
    const int32_t full = m > 1000 ? 900 : 50;
    int64_t p = 0;
    int err = csr_alloc(A, m, n, (int64_t)m * 3 + ((int64_t)m / full + 1) * n);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < m && !err; i++) {
        A->ptr[i] = p;
        for (int32_t j = 0; j < n; j++) {
            const int32_t apart = abs(j - (int32_t)((int64_t)i * n / m));
            if (apart > (band ? 1 : 0) && (i % full || j % 3)) continue;
            A->idx[p] = j;
            A->val[p++] = (i + j) % 5 - 2;
        }
    }
    if (!err) A->ptr[m] = A->nnz = p;
    return err;
}

// By the plainest ways.
static void count_rows(const struct csr *A, struct pick_facts *f)
{
    for (int32_t i = 0; i < A->m; i++) {
        const double length = (double)(A->ptr[i + 1] - A->ptr[i]);
        f->squares += length * length;
        f->longest = fmax(f->longest, length);
    }
}

// Of 256 tile rows at most, evenly spread.
static void count_tiles(const struct csr *A, const struct csr *S, struct pick_facts *f)
{
    const int64_t rows = (A->m + 15) / 16, looked = min64(rows, 256);
    double nonzeros = 0, products = 0, tiles = 0;
    for (int64_t x = 0; x < looked; x++) {
        const int64_t first = x * rows / looked * 16;
        for (int32_t column = 0; column < A->n; column += 16) {
            bool any = false;
            for (int64_t i = first; i < min64(first + 16, A->m); i++)
                for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
                    if (A->idx[p] / 16 != column / 16) continue;
                    any = true;
                    nonzeros++;
                    products += (double)(S->ptr[A->idx[p] + 1] - S->ptr[A->idx[p]]);
                }
            tiles += any;
        }
    }
    f->depth = nonzeros > 0 ? products / nonzeros : 0;
    f->tile = tiles > 0 ? nonzeros / tiles : 0;
}

static const struct pick_rules *rules_of(const struct problem *p, enum device_kind kind)
{
    const bool cuda = kind == DEVICE_CUDA;
    if (p->op == op_find("sddmm")) return cuda ? auto_sddmm_cuda() : auto_sddmm_cpu();
    if (p->op == op_find("spgemm")) return cuda ? auto_spgemm_cuda() : auto_spgemm_cpu();
    if (p->layout == LAYOUT_ROW) return cuda ? auto_spmm_cuda_row() : auto_spmm_cpu_row();
    return cuda ? auto_spmm_cuda_col() : auto_spmm_cpu_col();
}

// Runs `auto`: the result is right, what is predicted is as counted here, and the least is picked.
static void expect_least(const struct op *op, const struct csr *A, enum prec prec,
                         const int64_t *axis)
{
    struct inputs in;
    const struct algo_entry *own = algo_find(op, "auto", dev.kind);
    double opt[PARAMS_MAX] = {0}, x[PICK_FEATURES], least = INFINITY;
    int err = inputs_make(&in, &dev, op, A, prec, axis, true, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    set_option(own, opt, "trials", 0);
    struct pick_facts f = {.rows = A->m,
                           .columns = A->n,
                           .nonzeros = (double)A->nnz,
                           .depth = (double)in.p.in[0].cols,
                           .width = (int)prec_bytes(prec)};
    if (in.p.S)
        count_tiles(A, in.p.S, &f);
    else
        count_rows(A, &f);
    pick_features(&f, x);
    struct outcome out = case_run(&in, own, opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s %d x %d: %s", op->name, A->m,
          A->n, out.err ? fail_text() : out.check.reason);
    const struct figure *picked = figures_find(&out.figures, "picked");
    const struct pick_rule *rules = rules_of(&in.p, dev.kind)->list, *best = rules;
    for (const struct pick_rule *r = rules; r->name; r++) {
        char name[32];
        const double us = pick_us(r, x);
        snprintf(name, sizeof name, "%s_us", r->name);
        CHECK(!rules[1].name || fabs(figure_of(&out, name) / us - 1) < 1e-9,
              "%s %s: told %g us, counted here %g", op->name, r->name, figure_of(&out, name), us);
        if (us < least) least = us, best = r;
    }
    CHECK_TEXT(picked ? picked->text : "", best->name);
    CHECK(figure_of(&out, "picked_in_us") > 0, "no time for it");
    inputs_free(&in);
}

static void test_picks(void)
{
    const int32_t sizes[][2] = {{0, 0}, {1, 1}, {33, 47}, {47, 47}, {300, 300}, {4500, 4500}};
    struct csr A;
    for (int s = 0; s < 2 * COUNT(sizes); s++) {
        const int32_t m = sizes[s / 2][0], n = sizes[s / 2][1];
        if (make_matrix(m, n, s % 2, &A)) continue;
        for (int layout = LAYOUT_ROW; layout <= LAYOUT_COL && m < 1000; layout++)
            expect_least(op_find("spmm"), &A, s % 2 ? F32 : F64, (int64_t[AXES_MAX]){20, layout});
        expect_least(op_find("sddmm"), &A, s % 2 ? F32 : F64, (int64_t[AXES_MAX]){7});
        expect_least(op_find("spgemm"), &A, s % 2 ? F64 : F32, (int64_t[AXES_MAX]){m != n});
        csr_free(&A);
    }
}

// A narrow column-major SpMM on CUDA is passed to `graded`.
static void test_narrow(void)
{
    struct csr A;
    if (dev.kind != DEVICE_CUDA || make_matrix(300, 300, true, &A)) return;
    for (int64_t k = 1; k <= 17; k += 5) {
        struct inputs in;
        double opt[PARAMS_MAX] = {0};
        const struct algo_entry *own = algo_find(op_find("spmm"), "auto", dev.kind);
        if (spmm_inputs(&in, &dev, &A, F32, LAYOUT_COL, k, 0)) break;
        set_option(own, opt, "trials", 0);
        const struct outcome out = case_run(&in, own, opt, CHECK_FULL);
        const struct figure *picked = figures_find(&out.figures, "picked");
        CHECK(!out.err && out.check.error_ratio == 0, "k %lld: %s", (long long)k,
              out.err ? fail_text() : out.check.reason);
        CHECK(picked && !strcmp(picked->text, "graded") == (k <= 16), "k %lld: %s", (long long)k,
              picked ? picked->text : "nothing picked");
        inputs_free(&in);
    }
    csr_free(&A);
}

// ---- Who refuses ----

static int pick_now(struct task *t)
{
    const struct pick_facts none = {.width = 4};
    return pick_prepare(t, rules_now, &none, clock_ms());
}

// Runs SpMM, row-major, by these rules. Who is picked, "" if nobody.
static struct outcome pick_by(struct inputs *in, const struct pick_rules *rules, const char *want)
{
    const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker, NULL};
    const double opt[PARAMS_MAX] = {1e6};
    rules_now = rules;
    struct outcome out = case_run(in, &entry, opt, CHECK_FULL);
    const struct figure *picked = figures_find(&out.figures, "picked");
    CHECK_TEXT(picked ? picked->text : "", want);
    CHECK(!want[0] || (!out.err && out.check.error_ratio == 0 && !out.left), "%s: %s", want,
          out.err ? fail_text() : out.check.reason);
    return out;
}

static void test_refusals(struct inputs *in)
{
    // ln(us); tiles are column-major, and the library's is never asked.
    const struct pick_rules rules = {
        .unsure = 1,
        .list = {
            {"rowsplit", {3}}, {"mkl", {0}}, {"tiled", {1}}, {"no-such", {0.5}}, {"aspt", {2.5}}}};
    struct outcome out = pick_by(in, &rules, "aspt");
    const struct figure *refused = figures_find(&out.figures, "tiled_refused");
    CHECK_TEXT(refused ? refused->text : "", "unsupported");
    CHECK(fabs(figure_of(&out, "aspt_us") - exp(2.5)) < 1e-9, "aspt: %g us",
          figure_of(&out, "aspt_us"));
    CHECK(figure_of(&out, "mkl_us") < 0 && figure_of(&out, "no-such_us") < 0, "both are told of");
    CHECK(figure_of(&out, "aspt_bytes") > 0 && figure_of(&out, "panel") > 0,
          "what is told of its format, and by itself");
    const struct pick_rules library = {.unsure = 1, .list = {{"mkl", {0}}}};
    out = pick_by(in, &library, "");
    CHECK(out.err == ERR_UNSUPPORTED && strstr(fail_text(), "nothing to pick"), "%s", fail_text());
    const struct pick_rules column = {.unsure = 1, .list = {{"tiled", {0}}}};
    out = pick_by(in, &column, "");
    CHECK(out.err == ERR_UNSUPPORTED && strstr(fail_text(), "layout"), "%s", fail_text());
}

// The n-th allocation of the preparation fails, for every n: the other one is taken, and of the
// first nothing is left.
static void test_no_memory(struct inputs *in)
{
    static const struct pick_rules rules = {.unsure = 1,
                                            .list = {{"aspt", {1}}, {"rowsplit", {2}}}};
    const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker, NULL};
    const int64_t before = dev.used_bytes;
    int refusals = 0;
    bool done = false;
    rules_now = &rules;
    for (int n = 1; n < 1000 && !done; n++) {
        struct task t = {.entry = &entry, .algo = &picker};
        struct setup setup;
        mem_fail_at(n);
        int err = task_prepare(&t, &in->o, &setup);
        mem_fail_at(0);
        const struct figure *refused = figures_find(&t.figures, "aspt_refused");
        const struct figure *picked = figures_find(&t.figures, "picked");
        CHECK(!err, "allocation %d: %s", n, fail_text());
        if (err) continue;
        CHECK_TEXT(picked ? picked->text : "", refused ? "rowsplit" : "aspt");
        CHECK(!refused || !strcmp(refused->text, "no memory"), "allocation %d: %s", n,
              refused->text);
        CHECK(!refused || !figures_find(&t.figures, "aspt_bytes"), "told of one that is not there");
        CHECK(!task_run(&t), "%s", fail_text());
        done = !refused;
        refusals += refused != NULL;
        task_teardown(&t);
        CHECK(dev.used_bytes == before, "allocation %d: %lld bytes are left", n,
              (long long)(dev.used_bytes - before));
    }
    CHECK(done && refusals > 5, "%d allocations failed", refusals);
}

// A device whose graphs are run when they are made, and which counts what is put between runs.
static int separations;

static int count_separation(struct device *d)
{
    (void)d;
    separations++;
    return OK;
}

static int stop_at_once(struct device *d, double *ms)
{
    int err = device_list[d->kind].ops->timer_stop(d, ms);
    *ms = 0.01; // short enough for a graph
    return err;
}

static int make_graph(struct device *d, int (*launch)(void *arg), void *arg, void **graph)
{
    (void)d;
    *graph = &separations;
    return launch(arg);
}

static int launch_graph(struct device *d, void *graph)
{
    (void)d, (void)graph;
    return OK;
}

static void free_graph(struct device *d, void *graph) { (void)d, (void)graph; }

// Trials of runs back to back have nothing between the runs, the others have.
static void test_nothing_between(struct inputs *in)
{
    static const struct pick_rules rules = {.unsure = 2,
                                            .list = {{"aspt", {4}}, {"reference", {4.1}}}};
    const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker, NULL};
    const struct device_ops *own = dev.ops;
    struct device_ops counting = *own;
    counting.separate = count_separation;
    counting.timer_stop = stop_at_once;
    counting.graph_make = make_graph;
    counting.graph_launch = launch_graph;
    counting.graph_free = free_graph;
    rules_now = &rules;
    for (int back = 0; back < 2; back++) {
        struct task t = {.entry = &entry, .algo = &picker, .opt = {1e6, back}};
        struct setup setup;
        separations = 0;
        dev.ops = &counting;
        CHECK(!task_prepare(&t, &in->o, &setup), "%s", fail_text());
        dev.ops = own;
        CHECK(figures_find(&t.figures, "reference_timed_us"), "it was not timed");
        CHECK((separations > 0) == !back, "back %d: %d separations", back, separations);
        task_teardown(&t);
    }
}

static double stop_ms; // time of a run of the device below

static int stop_after(struct device *d, double *ms)
{
    int err = device_list[d->kind].ops->timer_stop(d, ms);
    *ms = stop_ms;
    return err;
}

// Trials end before they take longer than the option allows. A run takes a second, or a picosecond:
// then all other steps take too long.
static void test_bound(struct inputs *in)
{
    static const struct pick_rules csr = {
        .unsure = 2, .list = {{"reference", {4}}, {"rowsplit", {4}}, {"merge", {4}}}};
    static const struct pick_rules converted = {.unsure = 2,
                                                .list = {{"reference", {4}}, {"aspt", {4}}}};
    static const struct {
        const struct pick_rules *rules;
        double ms, trials;
        int timed;
    } list[] = {{&csr, 1e3, 0, 0},   {&csr, 1e3, 3, 0},  {&csr, 1e3, 4, 3},
                {&csr, 1e3, 1e6, 3}, {&csr, 1e-9, 10, 1}, {&converted, 1e3, 10, 1},
                {&converted, 1e3, 30, 2}};
    const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker, NULL};
    const struct device_ops *own = dev.ops;
    struct device_ops fixed = *own;
    fixed.timer_stop = stop_after;
    for (int i = 0; i < COUNT(list); i++) {
        struct task t = {.entry = &entry, .algo = &picker, .opt = {list[i].trials}};
        struct setup setup;
        rules_now = list[i].rules;
        stop_ms = list[i].ms;
        dev.ops = &fixed;
        CHECK(!task_prepare(&t, &in->o, &setup), "%s", fail_text());
        dev.ops = own;
        int timed = 0, picks = 0;
        for (int f = 0; f < t.figures.count; f++) {
            timed += strstr(t.figures.list[f].name, "_timed_us") != NULL;
            picks += !strcmp(t.figures.list[f].name, "picked");
        }
        CHECK(timed == list[i].timed && picks == 1, "case %d: %d timed, %d picked", i, timed,
              picks);
        CHECK(timed > 1 || !strcmp(figures_find(&t.figures, "picked")->text, "reference"),
              "case %d: another one than predicted", i);
        task_teardown(&t);
    }
}

// Of runs back to back all are timed that are not out of the question, sure or not.
static void test_back_to_back(struct inputs *in)
{
    for (int far = 0; far < 2; far++) {
        const double second = 4 + log(PICK_FAR) + (far ? 0.01 : -0.01);
        static struct pick_rules rules;
        rules = (struct pick_rules){.unsure = 1,
                                    .list = {{"aspt", {4}}, {"reference", {second}}}};
        const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker, NULL};
        rules_now = &rules;
        for (int back = 0; back < 2; back++) {
            struct outcome out = case_run(in, &entry, (double[PARAMS_MAX]){1e6, back}, CHECK_FULL);
            const bool timed = figure_of(&out, "reference_timed_us") > 0;
            CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s", fail_text());
            CHECK(timed == (back && !far), "back %d, far %d: timed %d", back, far, timed);
        }
    }
}

// Two that are close are timed, and the faster one is taken, whichever is predicted first.
static void test_tries(struct inputs *in)
{
    for (int turn = 0; turn < 2; turn++) {
        const struct pick_rules rules = {
            .unsure = 1.5,
            .list = {{"aspt", {turn ? 4 : 4.2}}, {"reference", {turn ? 4.2 : 4}}, {"tiled", {3}}}};
        const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker, NULL};
        rules_now = &rules;
        struct outcome out = case_run(in, &entry, (double[PARAMS_MAX]){1e6}, CHECK_FULL);
        const double aspt = figure_of(&out, "aspt_timed_us"),
                     plain = figure_of(&out, "reference_timed_us");
        const struct figure *picked = figures_find(&out.figures, "picked");
        CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s", fail_text());
        CHECK(aspt > 0 && plain > 0 && figure_of(&out, "tried_in_us") > aspt + plain,
              "%g and %g us", aspt, plain);
        const bool tiles = picked && !strcmp(picked->text, "aspt");
        CHECK(tiles == (turn ? aspt <= plain : aspt < plain), "%g us, %g us, but the other", aspt,
              plain);
        CHECK((figure_of(&out, "panel") > 0) == tiles, "figures of one that was not taken");
        CHECK(figures_find(&out.figures, "tiled_refused"), "nobody refused");
        out = case_run(in, &entry, (double[PARAMS_MAX]){0}, CHECK_FULL);
        CHECK(figure_of(&out, "aspt_timed_us") < 0 && figure_of(&out, "tried_in_us") < 0,
              "timed with trials=0");
    }
    const struct pick_rules apart = {.unsure = 1.5, .list = {{"aspt", {4}}, {"rowsplit", {4.5}}}};
    struct outcome out = pick_by(in, &apart, "aspt");
    CHECK(figure_of(&out, "aspt_timed_us") < 0, "timed though it is sure");
    const struct pick_rules refused = {.unsure = 1.5, .list = {{"aspt", {4}}, {"tiled", {4.1}}}};
    out = pick_by(in, &refused, "aspt");
    CHECK(figures_find(&out.figures, "tiled_refused") && figure_of(&out, "panel") > 0 &&
              figure_of(&out, "tried_in_us") > figure_of(&out, "aspt_timed_us") &&
              figure_of(&out, "aspt_timed_us") > 0,
          "the second refuses");
}

// All that may be as fast are timed, in any case two of a matrix like which none was seen, and the
// fastest is taken.
static void test_tries_several(struct inputs *in)
{
    const char *const names[] = {"rowsplit", "merge", "aspt", "sellp"};
    const char *const unlike[] = {"", "width", "lead", "width"}; // the feature comes first
    for (int way = 0; way < COUNT(unlike); way++) {
        struct pick_rules rules = {
            .unsure = way ? 1.1 : 1.5,
            .list = {{"sellp", {9}}, {"aspt", {4.3}}, {"merge", {4.2}}, {"rowsplit", {4}}},
            .lead = {9, 9, 9, way >= 2 ? 1.2 : 1.3}}; // exp(0.2) is 1.22
        if (way % 2) rules.seen[PICK_WIDTH] = (struct pick_range){"width", 1, 2};
        const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker, NULL};
        rules_now = &rules;
        struct outcome out = case_run(in, &entry, (double[PARAMS_MAX]){1e6}, CHECK_FULL);
        const struct figure *picked = figures_find(&out.figures, "picked"),
                            *odd = figures_find(&out.figures, "unlike");
        CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s", fail_text());
        double least = INFINITY, sum = 0;
        const char *fastest = "nobody";
        for (int i = 0; i < COUNT(names); i++) {
            char name[32];
            snprintf(name, sizeof name, "%s_timed_us", names[i]);
            const double us = figure_of(&out, name);
            CHECK((us > 0) == (i < (way ? 2 : 3)), "%s: %g us", names[i], us);
            if (us > 0) sum += us;
            if (us > 0 && us < least) least = us, fastest = names[i];
        }
        CHECK_TEXT(picked ? picked->text : "", fastest);
        CHECK_TEXT(odd ? odd->text : "", unlike[way]);
        CHECK(figure_of(&out, "tried_in_us") > sum, "it took less than what was timed");
        CHECK((figure_of(&out, "panel") > 0) == !strcmp(fastest, "aspt"), "figures of another");
    }
    // One that refuses is not compared with; one that is far off is not timed.
    static struct pick_rules rules = {
        .unsure = 1.1,
        .list = {{"rowsplit", {4}}, {"tiled", {4.5}}, {"merge", {5}}, {"sellp", {7}}}};
    rules.seen[PICK_WIDTH] = (struct pick_range){"width", 1, 2};
    const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker, NULL};
    rules_now = &rules;
    for (int far = 0; far < 3; far++) {
        if (far) rules.list[2].weight[0] = 4 + log(PICK_FAR) + 0.01;
        rules.lead[0] = far == 2 ? 1.5 : 2; // so far ahead that it is timed all the same
        struct outcome out = case_run(in, &entry, (double[PARAMS_MAX]){1e6}, CHECK_FULL);
        CHECK(!out.err && figures_find(&out.figures, "tiled_refused"), "tiled did not refuse");
        CHECK((figure_of(&out, "merge_timed_us") > 0) == (far != 1) &&
                  figure_of(&out, "sellp_us") > 0 && figure_of(&out, "sellp_timed_us") < 0,
              "merge %g us, sellp %g us", figure_of(&out, "merge_timed_us"),
              figure_of(&out, "sellp_timed_us"));
    }
}

// With the n-th allocation failing, also while runs are timed: nothing is left, and either the
// result is right or there is an error.
static void test_tries_no_memory(void)
{
    static const struct pick_rules rules = {.unsure = 1.5,
                                            .list = {{"hash", {4}}, {"tile", {4.2}}}};
    const struct algo_entry entry = {"picker", op_find("spgemm"), dev.kind, &sparse_picker, NULL};
    const double opt[PARAMS_MAX] = {1e6};
    struct csr A;
    struct inputs in;
    int survived = 0, failures = 0;
    if (make_matrix(60, 60, true, &A)) return;
    int err = inputs_make(&in, &dev, entry.op, &A, F32, (int64_t[AXES_MAX]){0}, true, 0);
    CHECK(!err, "%s", fail_text());
    rules_now = &rules;
    if (!err) case_run(&in, &entry, opt, CHECK_FULL); // makes the operands
    const int64_t before = dev.used_bytes;
    for (int n = 1; n < 400 && !err; n += 1 + n / 20) {
        struct task t = {.entry = &entry, .algo = &sparse_picker, .opt = {1e6}};
        struct setup setup;
        mem_fail_at(n);
        int failed = task_prepare(&t, &in.o, &setup);
        mem_fail_at(0);
        survived += !failed;
        failures += figures_find(&t.figures, "hash_refused") != NULL ||
                    figures_find(&t.figures, "tile_refused") != NULL ||
                    !figures_find(&t.figures, "tile_timed_us") ||
                    !figures_find(&t.figures, "hash_timed_us");
        if (!failed) {
            CHECK(!task_run(&t), "%s", fail_text());
            task_release_result(&t);
        }
        task_teardown(&t);
        CHECK(dev.used_bytes == before, "allocation %d: %lld bytes are left", n,
              (long long)(dev.used_bytes - before));
    }
    CHECK(err || (survived > 50 && failures > 10), "%d went well, %d failed", survived, failures);
    if (!err) inputs_free(&in);
    csr_free(&A);
}

static void test_fallback(void)
{
    struct csr A;
    struct inputs in;
    if (make_matrix(60, 60, true, &A)) return;
    int err = inputs_make(&in, &dev, op_find("spmm"), &A, F32, (int64_t[AXES_MAX]){3}, true, 0);
    CHECK(!err, "%s", fail_text());
    if (!err) {
        test_refusals(&in); // makes the operands, too
        test_no_memory(&in);
        test_tries(&in);
        test_back_to_back(&in);
        test_bound(&in);
        test_nothing_between(&in);
        test_tries_several(&in);
        inputs_free(&in);
    }
    csr_free(&A);
}

int main(void)
{
    test_features();
    test_unlike();
    test_too_good();
    test_rules();
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        if (!open_kind((enum device_kind)kind, &dev)) continue;
        test_picks();
        test_narrow();
        if (kind == DEVICE_CPU) {
            test_fallback();
            test_tries_no_memory();
        }
        device_close(&dev);
    }
    return TEST_END();
}
