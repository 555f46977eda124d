// `auto` and select/pick.h: the rules, the counts, refusals, lack of memory, and trials. A vendor's
// library is never picked.
#include <math.h>
#include <stdlib.h>

#include "select/auto_rules.h"
#include "cases.h"
#include "picker.h"

static struct device dev;

// ---- The rules ----

// `auto` names every candidate of its rules, and each candidate is an algorithm of the program.
static void test_candidates(void)
{
    const struct {
        const char *op;
        enum device_kind kind;
        struct pick_order order;
    } list[] = {{"spmm", DEVICE_CUDA, auto_spmm_row(1, 1, 1, 1, false)},
                {"spmm", DEVICE_CUDA, auto_spmm_narrow},
                {"spmm", DEVICE_CUDA, auto_spmm_col},
                {"sddmm", DEVICE_CUDA, auto_sddmm},
                {"spgemm", DEVICE_CUDA, auto_spgemm(9, 9, 0, 0, 1)},
                {"spgemm", DEVICE_CUDA, auto_spgemm(9, 9, 0, 1e9, 1)},
                {"spgemm", DEVICE_CUDA, auto_spgemm(1, 9999, 0, 1e9, 1)},
                {"spmm", DEVICE_CPU, auto_cpu_spmm_row},
                {"spmm", DEVICE_CPU, auto_cpu_spmm_col},
                {"sddmm", DEVICE_CPU, auto_cpu_sddmm},
                {"spgemm", DEVICE_CPU, auto_cpu_spgemm}};
    for (int i = 0; i < COUNT(list); i++) {
        const struct algo_entry *own = algo_find(op_find(list[i].op), "auto", list[i].kind);
        CHECK(own && list[i].order.names[0], "%s: no auto, or no candidates", list[i].op);
        for (int c = 0; own && c < PICKS_MAX && list[i].order.names[c]; c++) {
            const char *name = list[i].order.names[c];
            const struct algo_entry *e = algo_find(own->op, name, list[i].kind);
            bool told = false;
            for (int p = 0; !told && p < PICKS_MAX && own->algo->picks[p]; p++)
                told = !strcmp(own->algo->picks[p], name);
            CHECK(told && e && e != own, "%s: %s", list[i].op, name);
            CHECK(!e || !(e->algo->vendor || e->algo->partial || e->algo->variant), "%s picks %s",
                  list[i].op, name);
        }
    }
}

// The rule of SpGEMM on both sides of its borders, with 10 multiprocessors.
static void test_spgemm(void)
{
    static const struct {
        int64_t rows, nonzeros;
        double fill, products;
        const char *first, *second;
        bool unsure;
    } list[] = {{41, 1 << 20, 0, 200000, "hash-tuned", "tile-tuned", false},
                {41, 1 << 20, 19.9, 200000, "hash-tuned", "tile-tuned", false},
                {41, 1 << 20, 20, 200000, "hash-tuned", "tile-tuned", true},
                {41, 1 << 20, 20, 199999, "speck", "hash-tuned", false},
                {40, 40 * 512 - 1, 20, 200000, "hash-tuned", "tile-tuned", true},
                {40, 40 * 512, 20, 199999, "esc", "hash-tuned", true},
                {1, 512, 0, 1e9, "esc", "hash-tuned", true},
                {0, 0, 0, 0, "speck", "hash-tuned", false}};
    for (int i = 0; i < COUNT(list); i++) {
        const struct pick_order order =
            auto_spgemm(list[i].rows, list[i].nonzeros, list[i].fill, list[i].products, 10);
        CHECK_TEXT(order.names[0], list[i].first);
        CHECK_TEXT(order.names[1], list[i].second);
        CHECK(order.unsure == list[i].unsure, "number %d: unsure %d", i, order.unsure);
    }
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
    for (int i = 0; i < COUNT(list); i++)
        for (int narrow = 0; narrow < 2; narrow++) {
            const struct pick_order order =
                auto_spmm_row(list[i].rows, list[i].k, list[i].longest, list[i].units, narrow);
            const char *const own = narrow ? "narrow" : "graded";
            const bool both = list[i].rowsplit || list[i].unsure || !narrow;
            CHECK_TEXT(order.names[list[i].rowsplit], own);
            CHECK_TEXT(order.names[!list[i].rowsplit], both ? "rowsplit" : "graded");
            CHECK(order.unsure == list[i].unsure, "case %d: unsure %d", i, order.unsure);
        }
}

// The rule of narrow on both sides of its borders.
static void test_spmm_narrow(void)
{
    static const struct {
        int64_t k, size;
        bool row_major, narrow;
    } list[] = {{1, 4, true, true},  {1, 4, false, true}, {2, 4, true, true},  {2, 4, false, false},
                {3, 4, true, false}, {1, 8, true, true},  {1, 8, false, true}, {2, 8, true, false},
                {1, 2, true, false}, {4, 2, true, false}};
    for (int i = 0; i < COUNT(list); i++)
        CHECK(auto_is_narrow(list[i].k, list[i].size, list[i].row_major) == list[i].narrow,
              "case %d: not %s", i, list[i].narrow ? "narrow" : "another");
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

static int64_t longest_row(const struct csr *A)
{
    int64_t longest = 0;
    for (int32_t i = 0; i < A->m; i++) longest = max64(longest, A->ptr[i + 1] - A->ptr[i]);
    return longest;
}

// Counts over 256 tile rows at most, evenly spread. Returns the nonzeros of a 16 x 16 tile that has
// any, on average. Sets *products to the estimated products of all rows.
static double fill_of(const struct csr *A, const struct csr *S, double *products)
{
    const int64_t rows = (A->m + 15) / 16, looked = min64(rows, 256);
    double nonzeros = 0, tiles = 0, sum = 0;
    for (int64_t x = 0; x < looked; x++) {
        const int64_t first = x * rows / looked * 16;
        for (int32_t column = 0; column < A->n; column += 16) {
            bool any = false;
            for (int64_t i = first; i < min64(first + 16, A->m); i++)
                for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
                    if (A->idx[p] / 16 != column / 16) continue;
                    any = true;
                    nonzeros++;
                    sum += (double)(S->ptr[A->idx[p] + 1] - S->ptr[A->idx[p]]);
                }
            tiles += any;
        }
    }
    *products = nonzeros > 0 ? sum * ((double)A->nnz / nonzeros) : 0;
    return tiles > 0 ? nonzeros / tiles : 0;
}

static struct pick_order order_of(const struct problem *p)
{
    const bool cuda = dev.kind == DEVICE_CUDA, row = p->layout == LAYOUT_ROW;
    if (p->op == op_find("spgemm")) {
        double products, fill = cuda ? fill_of(p->A, p->S, &products) : 0;
        return cuda ? auto_spgemm(p->A->m, p->A->nnz, fill, products, dev.units) : auto_cpu_spgemm;
    }
    if (p->op == op_find("sddmm")) return cuda ? auto_sddmm : auto_cpu_sddmm;
    if (!cuda) return row ? auto_cpu_spmm_row : auto_cpu_spmm_col;
    const bool narrow = auto_is_narrow(p->in[0].cols, (int64_t)type_bytes(prec_in(p->prec)), row);
    if (row) return auto_spmm_row(p->rows, p->in[0].cols, longest_row(p->A), dev.units, narrow);
    return narrow ? auto_spmm_narrow : auto_spmm_col;
}

// Runs `auto` without trials. The result must be right, the counts as counted here, and the first
// candidate of the rule picked.
static void expect_first(const struct op *op, const struct csr *A, enum prec prec,
                         const int64_t *axis)
{
    struct inputs in;
    const struct algo_entry *own = algo_find(op, "auto", dev.kind);
    double opt[ALGO_OPTIONS_MAX] = {0};
    int err = inputs_make(&in, &dev, op, A, prec, axis, true, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    set_option(own, opt, "trials", 0);
    const struct pick_order order = order_of(&in.p);
    struct case_outcome out = case_run(&in, own, opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s %d x %d: %s", op->name, A->m,
          A->n, out.err ? fail_text() : out.check.reason);
    const struct algo_stat *picked = algo_stats_find(&out.stats, "picked");
    CHECK_TEXT(picked ? picked->text : "", order.names[0]);
    CHECK(stat_of(&out, "picked_in_us") > 0, "no time for it");
    CHECK(stat_of(&out, "tried_in_us") < 0, "timed with trials=0");
    if (in.p.S && dev.kind == DEVICE_CUDA) {
        double products, fill = fill_of(A, in.p.S, &products);
        CHECK(stat_of(&out, "fill") == fill, "%d x %d: fill %g, counted here %g", A->m, A->n,
              stat_of(&out, "fill"), fill);
        CHECK(stat_of(&out, "products_near") == products, "%d x %d: products %g, counted here %g",
              A->m, A->n, stat_of(&out, "products_near"), products);
    }
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
            expect_first(op_find("spmm"), &A, s % 2 ? F32 : F64, (int64_t[AXES_MAX]){20, layout});
        expect_first(op_find("sddmm"), &A, s % 2 ? F32 : F64, (int64_t[AXES_MAX]){7});
        expect_first(op_find("spgemm"), &A, s % 2 ? F64 : F32, (int64_t[AXES_MAX]){m != n});
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
    if (!err) case_run(&in, own, (double[ALGO_OPTIONS_MAX]){0}, CHECK_FULL); // makes the operands
    const int64_t before = dev.used_bytes;
    for (int n = 1; n < 40 && !err; n++) {
        struct task t = {.entry = own, .algo = own->algo};
        struct setup setup;
        mem_fail_at(n);
        const bool failed = task_prepare(&t, &in.o, &setup) != OK;
        mem_fail_at(0);
        const struct algo_stat *refused = algo_stats_find(&t.stats, "graded_refused"),
                               *picked = algo_stats_find(&t.stats, "picked");
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

static int pick_now(struct task *t) { return pick_by_order(t, order_now, clock_ms()); }

// Runs SpMM, row-major, by this order. Checks the name of the picked candidate; "": none.
static struct case_outcome pick_by(struct inputs *in, struct pick_order order, const char *want)
{
    const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker};
    const double opt[ALGO_OPTIONS_MAX] = {1};
    order_now = &order;
    struct case_outcome out = case_run(in, &entry, opt, CHECK_FULL);
    const struct algo_stat *picked = algo_stats_find(&out.stats, "picked");
    CHECK_TEXT(picked ? picked->text : "", want);
    CHECK(!want[0] || (!out.err && out.check.error_ratio == 0 && !out.left), "%s: %s", want,
          out.err ? fail_text() : out.check.reason);
    return out;
}

// The first is taken, or the next if the first refuses. A library and an unknown name are skipped.
static void test_refusals(struct inputs *in)
{
    static const struct {
        struct pick_order order;
        const char *want, *refused, *why;
    } list[] = {{{{"aspt", "rowsplit"}, false}, "aspt", NULL, NULL},
                {{{"rowsplit", "aspt"}, false}, "rowsplit", NULL, NULL},
                {{{"mkl", "tiled", "aspt"}, false}, "aspt", "tiled_refused", NULL},
                {{{"no-such", "tiled", "aspt"}, false}, "aspt", "tiled_refused", NULL},
                {{{"tiled", "aspt"}, true}, "aspt", "tiled_refused", NULL},
                {{{"mkl"}, false}, "", NULL, "nothing to pick"},
                {{{"tiled"}, false}, "", NULL, "layout"}};
    for (int i = 0; i < COUNT(list); i++) {
        const struct case_outcome out = pick_by(in, list[i].order, list[i].want);
        const struct algo_stat *refused =
            list[i].refused ? algo_stats_find(&out.stats, list[i].refused) : NULL;
        CHECK(!list[i].refused || (refused && !strcmp(refused->text, "unsupported")), "case %d", i);
        CHECK(!list[i].why || (out.err == ERR_UNSUPPORTED && strstr(fail_text(), list[i].why)),
              "case %d: %s", i, fail_text());
        const bool aspt = !strcmp(list[i].want, "aspt");
        CHECK((stat_of(&out, "aspt_bytes") > 0 && stat_of(&out, "panel") > 0) == aspt,
              "case %d: figures of the format, and of the algorithm", i);
        CHECK(stat_of(&out, "aspt_timed_us") < 0, "case %d: one alone was timed", i);
    }
}

// The n-th allocation of the preparation fails, for every n: the other one is taken, and of the
// first nothing is left.
static void test_no_memory(struct inputs *in)
{
    static const struct pick_order order = {{"aspt", "rowsplit"}, false};
    const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker};
    const int64_t before = dev.used_bytes;
    int refusals = 0;
    bool done = false;
    order_now = &order;
    for (int n = 1; n < 1000 && !done; n++) {
        struct task t = {.entry = &entry, .algo = &picker};
        struct setup setup;
        mem_fail_at(n);
        int err = task_prepare(&t, &in->o, &setup);
        mem_fail_at(0);
        const struct algo_stat *refused = algo_stats_find(&t.stats, "aspt_refused");
        const struct algo_stat *picked = algo_stats_find(&t.stats, "picked");
        CHECK(!err, "allocation %d: %s", n, fail_text());
        if (err) continue;
        CHECK_TEXT(picked ? picked->text : "", refused ? "rowsplit" : "aspt");
        CHECK(!refused || !strcmp(refused->text, "no memory"), "allocation %d: %s", n,
              refused->text);
        CHECK(!refused || !algo_stats_find(&t.stats, "aspt_bytes"),
              "a stat of a missing candidate");
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
    static const struct pick_order order = {{"aspt", "reference"}, true};
    const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker};
    const struct device_ops *own = dev.ops;
    struct device_ops counting = *own;
    counting.separate = count_separation;
    counting.timer_stop = stop_at_once;
    counting.graph_make = make_graph;
    counting.graph_launch = launch_graph;
    counting.graph_free = free_graph;
    order_now = &order;
    struct task t = {.entry = &entry, .algo = &picker, .opt = {1}};
    struct setup setup;
    separations = 0;
    dev.ops = &counting;
    CHECK(!task_prepare(&t, &in->o, &setup), "%s", fail_text());
    dev.ops = own;
    CHECK(algo_stats_find(&t.stats, "reference_timed_us"), "it was not timed");
    CHECK(separations > 0, "no separations");
    task_teardown(&t);
}

// All are timed if the order is unsure, and the fastest is taken. With the option `trials` 0 the
// first is taken.
static void test_tries(struct inputs *in)
{
    static const char *const names[] = {"rowsplit", "reference", "aspt"};
    for (int turn = 0; turn < 4; turn++) {
        const bool trials = turn < 3;
        struct pick_order order = {{NULL}, true};
        for (int i = 0; i < 3; i++) order.names[i] = names[(i + turn) % 3];
        const struct algo_entry entry = {"picker", in->p.op, dev.kind, &picker};
        order_now = &order;
        struct case_outcome out =
            case_run(in, &entry, (double[ALGO_OPTIONS_MAX]){trials}, CHECK_FULL);
        const struct algo_stat *picked = algo_stats_find(&out.stats, "picked");
        CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s", fail_text());
        double least = INFINITY, sum = 0;
        const char *fastest = order.names[0];
        for (int i = 0; i < 3; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s_timed_us", order.names[i]);
            const double us = stat_of(&out, name);
            CHECK((us > 0) == trials, "%s: %g us", order.names[i], us);
            if (us > 0) sum += us;
            if (us > 0 && us < least) least = us, fastest = order.names[i];
        }
        CHECK_TEXT(picked ? picked->text : "", fastest);
        CHECK((stat_of(&out, "tried_in_us") > sum) == trials, "%g us for all trials of %g us",
              stat_of(&out, "tried_in_us"), sum);
        CHECK((stat_of(&out, "panel") > 0) == !strcmp(fastest, "aspt"),
              "stats of another algorithm");
    }
    const struct case_outcome out =
        pick_by(in, (struct pick_order){{"aspt", "tiled"}, true}, "aspt");
    CHECK(algo_stats_find(&out.stats, "tiled_refused") && stat_of(&out, "panel") > 0 &&
              stat_of(&out, "aspt_timed_us") > 0,
          "the second refuses");
}

// With the n-th allocation failing, also while runs are timed: nothing is left, and either the
// result is right or there is an error.
static void test_tries_no_memory(void)
{
    static const struct pick_order order = {{"hash", "tile"}, true};
    const struct algo_entry entry = {"picker", op_find("spgemm"), dev.kind, &sparse_picker};
    const double opt[ALGO_OPTIONS_MAX] = {1};
    struct csr A;
    struct inputs in;
    int survived = 0, failures = 0;
    if (make_matrix(60, 60, true, &A)) return;
    int err = inputs_make(&in, &dev, entry.op, &A, F32, (int64_t[AXES_MAX]){0}, true, 0);
    CHECK(!err, "%s", fail_text());
    order_now = &order;
    if (!err) case_run(&in, &entry, opt, CHECK_FULL); // makes the operands
    const int64_t before = dev.used_bytes;
    for (int n = 1; n < 400 && !err; n += 1 + n / 20) {
        struct task t = {.entry = &entry, .algo = &sparse_picker, .opt = {1}};
        struct setup setup;
        mem_fail_at(n);
        int failed = task_prepare(&t, &in.o, &setup);
        mem_fail_at(0);
        survived += !failed;
        failures += algo_stats_find(&t.stats, "hash_refused") != NULL ||
                    algo_stats_find(&t.stats, "tile_refused") != NULL ||
                    !algo_stats_find(&t.stats, "tile_timed_us") ||
                    !algo_stats_find(&t.stats, "hash_timed_us");
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
        test_separated(&in);
        inputs_free(&in);
    }
    csr_free(&A);
}

int main(void)
{
    RUN_ALL(test_candidates, test_spgemm, test_spmm_row, test_spmm_narrow);
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
