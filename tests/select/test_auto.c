// `auto` and what is below it: features and predicted times by hand, that the least is picked of
// what is told, by counts that are made here the plain way; who refuses, or has no memory, and who
// is taken then; and that nobody's library is ever picked.
#include <math.h>
#include <stdlib.h>

#include "select/auto_dense.h"
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
    test_rule_list("spgemm", DEVICE_CUDA, auto_spgemm_cuda(), 0);
}

// The rule of row-major SpMM on both sides of its borders. A multiprocessor has 16 warps at the
// border. Both candidates are timed above 8 and up to 32.
static void test_spmm_row(void)
{
    static const struct {
        int64_t rows, k, longest;
        int units;
        bool rowsplit, unsure;
    } list[] = {
        {0, 1, 0, 132, true, false},
        {1056, 1, 40, 132, true, false},
        {1057, 1, 40, 132, true, true},
        {1056, 32, 40, 132, true, false},
        {1056, 33, 40, 132, true, true},
        {2112, 32, 40, 132, true, true},
        {2113, 32, 40, 132, false, true},
        {4224, 32, 40, 132, false, true},
        {4225, 32, 40, 132, false, false},
        {2112, 65, 1, 132, false, false},
        {1, 1, 41, 132, false, false},
        {2112, 32, 41, 132, false, false},
        {16, 16, 3, 1, true, true},
        {17, 16, 3, 1, false, true},
        {1ll << 31, 512, 1, 132, false, false},
    };
    for (int i = 0; i < COUNT(list); i++) {
        const struct pick_order order =
            auto_spmm_row(list[i].rows, list[i].k, list[i].longest, list[i].units);
        CHECK(!strcmp(order.names[!list[i].rowsplit], "rowsplit") &&
                  !strcmp(order.names[list[i].rowsplit], "graded"),
              "case %d: %s, then %s", i, order.names[0], order.names[1]);
        CHECK(order.unsure == list[i].unsure, "case %d: unsure %d", i, order.unsure);
    }
}

// `auto` names every candidate of its dense rules.
static void test_dense_candidates(void)
{
    const struct pick_order orders[] = {auto_spmm_row(1, 1, 1, 1), auto_spmm_col(), auto_sddmm()};
    for (int i = 0; i < 2 * COUNT(orders); i++) {
        const char *name = orders[i / 2].names[i % 2], *op = i / 2 < 2 ? "spmm" : "sddmm";
        const struct algo_entry *own = algo_find(op_find(op), "auto", DEVICE_CUDA);
        bool told = !name || !own->algo; // a build without CUDA has no descriptors
        for (int p = 0; !told && own->algo->picks[p]; p++)
            told = !strcmp(own->algo->picks[p], name);
        CHECK(told && (!name || algo_find(own->op, name, DEVICE_CUDA)), "%s: %s", op, name);
    }
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
    if (p->op == op_find("spgemm")) return cuda ? auto_spgemm_cuda() : auto_spgemm_cpu();
    if (cuda) return NULL;
    if (p->op == op_find("sddmm")) return auto_sddmm_cpu();
    return p->layout == LAYOUT_ROW ? auto_spmm_cpu_row() : auto_spmm_cpu_col();
}

// Returns the first candidate of the rule for a dense operation on CUDA.
static const char *first_of(const struct problem *p, double longest)
{
    if (p->op == op_find("sddmm")) return auto_sddmm().names[0];
    if (p->layout == LAYOUT_COL) return auto_spmm_col().names[0];
    return auto_spmm_row(p->rows, p->in[0].cols, (int64_t)longest, dev.units).names[0];
}

// Runs `auto`. The result must be right, and predictions as counted here. The candidate with the
// least prediction must be picked, or the first of the rule.
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
                           .width = (int)type_bytes(prec)};
    if (in.p.S)
        count_tiles(A, in.p.S, &f);
    else
        count_rows(A, &f);
    pick_features(&f, x);
    struct outcome out = case_run(&in, own, opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s %d x %d: %s", op->name, A->m,
          A->n, out.err ? fail_text() : out.check.reason);
    const struct figure *picked = figures_find(&out.figures, "picked");
    const struct pick_rules *of = rules_of(&in.p, dev.kind);
    const struct pick_rule *rules = of ? of->list : NULL;
    const char *best = of ? "" : first_of(&in.p, f.longest);
    for (const struct pick_rule *r = rules; r && r->name; r++) {
        char name[32];
        const double us = pick_us(r, x);
        snprintf(name, sizeof name, "%s_us", r->name);
        CHECK(!rules[1].name || fabs(figure_of(&out, name) / us - 1) < 1e-9,
              "%s %s: told %g us, counted here %g", op->name, r->name, figure_of(&out, name), us);
        if (us < least) least = us, best = r->name;
    }
    CHECK_TEXT(picked ? picked->text : "", best);
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

// Fails the n-th allocation on the host. Column-major SpMM takes graded, naive if graded lacks
// memory, or returns an error. No device memory stays allocated.
static void test_column_no_memory(void)
{
    const struct op *op = op_find("spmm");
    const struct algo_entry *own = algo_find(op, "auto", dev.kind);
    const int64_t axis[AXES_MAX] = {20, LAYOUT_COL};
    struct csr A;
    struct inputs in;
    int refusals = 0;
    if (make_matrix(300, 300, true, &A)) return;
    int err = inputs_make(&in, &dev, op, &A, F32, axis, true, 0);
    CHECK(!err, "%s", fail_text());
    if (!err) case_run(&in, own, (double[PARAMS_MAX]){0}, CHECK_FULL); // makes the operands
    const int64_t before = dev.used_bytes;
    for (int n = 1; n < 40 && !err; n++) {
        struct task t = {.entry = own, .algo = own->algo};
        struct setup setup;
        mem_fail_at(n);
        const bool failed = task_prepare(&t, &in.o, &setup) != OK;
        mem_fail_at(0);
        const struct figure *refused = figures_find(&t.figures, "graded_refused"),
                            *picked = figures_find(&t.figures, "picked");
        if (!failed) {
            CHECK_TEXT(picked ? picked->text : "", refused ? "naive" : "graded");
            CHECK(!task_run(&t), "%s", fail_text());
            refusals += refused != NULL;
        }
        task_teardown(&t);
        CHECK(dev.used_bytes == before, "allocation %d: %lld bytes are left", n,
              (long long)(dev.used_bytes - before));
    }
    CHECK(err || refusals, "graded never refused");
    if (!err) inputs_free(&in);
    csr_free(&A);
}

// ---- Who refuses ----

static const struct pick_order *order_now; // NULL: rules_now

static int pick_now(struct task *t)
{
    const struct pick_facts none = {.width = 4};
    if (order_now) return pick_by_order(t, order_now, clock_ms());
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

// Runs of a trial have an empty kernel between them.
static void test_separated(struct inputs *in)
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
    struct task t = {.entry = &entry, .algo = &picker, .opt = {1e6}};
    struct setup setup;
    separations = 0;
    dev.ops = &counting;
    CHECK(!task_prepare(&t, &in->o, &setup), "%s", fail_text());
    dev.ops = own;
    CHECK(figures_find(&t.figures, "reference_timed_us"), "it was not timed");
    CHECK(separations > 0, "no separations");
    task_teardown(&t);
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
    } list[] = {{&csr, 1e3, 0, 0},       {&csr, 1e3, 3, 0},   {&csr, 1e3, 4, 3},
                {&csr, 1e3, 1e6, 3},     {&csr, 1e-9, 10, 1}, {&converted, 1e3, 10, 1},
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

// Candidates without predictions: the first is taken, or the second if the first refuses. If both
// are timed, the faster is taken.
static void test_order(struct inputs *in)
{
    static const struct {
        struct pick_order order;
        const char *want, *refused;
    } list[] = {{{{"aspt", "rowsplit"}, false}, "aspt", NULL},
                {{{"rowsplit", "aspt"}, false}, "rowsplit", NULL},
                {{{"tiled", "aspt"}, false}, "aspt", "tiled_refused"},
                {{{"tiled", "aspt"}, true}, "aspt", "tiled_refused"},
                {{{"mkl", "aspt"}, false}, "aspt", NULL},
                {{{"mkl", NULL}, false}, "", NULL},
                {{{"tiled", NULL}, false}, "", NULL}};
    for (int i = 0; i < COUNT(list); i++) {
        order_now = &list[i].order;
        const struct outcome out = pick_by(in, NULL, list[i].want);
        CHECK(!list[i].refused || figures_find(&out.figures, list[i].refused), "case %d", i);
        CHECK(list[i].want[0] || out.err == ERR_UNSUPPORTED, "case %d: error %d", i, out.err);
        CHECK(figure_of(&out, "aspt_us") < 0 && figure_of(&out, "aspt_timed_us") < 0,
              "case %d has a prediction or a trial time", i);
    }
    for (int turn = 0; turn < 4; turn++) {
        const bool trials = turn / 2, aspt_first = turn % 2;
        const struct pick_order order = {
            {aspt_first ? "aspt" : "reference", aspt_first ? "reference" : "aspt"}, true};
        const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker, NULL};
        order_now = &order;
        struct outcome out = case_run(in, &entry, (double[PARAMS_MAX]){trials * 1e6}, CHECK_FULL);
        const double aspt = figure_of(&out, "aspt_timed_us"),
                     plain = figure_of(&out, "reference_timed_us");
        const struct figure *picked = figures_find(&out.figures, "picked");
        CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s", fail_text());
        CHECK((aspt > 0) == trials && (plain > 0) == trials, "%g and %g us", aspt, plain);
        const bool aspt_faster = aspt < plain || (aspt == plain && aspt_first);
        CHECK_TEXT(picked ? picked->text : "",
                   (trials ? aspt_faster : aspt_first) ? "aspt" : "reference");
    }
    order_now = NULL;
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
        test_bound(&in);
        test_separated(&in);
        test_tries_several(&in);
        test_order(&in);
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
    test_spmm_row();
    test_dense_candidates();
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        if (!open_kind((enum device_kind)kind, &dev)) continue;
        test_picks();
        if (kind == DEVICE_CUDA) test_column_no_memory();
        if (kind == DEVICE_CPU) {
            test_fallback();
            test_tries_no_memory();
        }
        device_close(&dev);
    }
    return TEST_END();
}
