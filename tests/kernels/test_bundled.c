// `bundled` of SpMM on the CPU: which rows it bundles, how they are stored, that shares cut none of
// them, and that a row sees no column but its own. Its results at every k: test_cpu_rows.c.
#include <math.h>

#include "cases.h"
#include "formats/csr.h"
#include "exact/shapes.h"
#include "spmm/bundled/find.h"

static struct device dev;

static const struct algo_entry *bundled(void)
{
    return algo_find(op_find("spmm"), "bundled", DEVICE_CPU);
}

// [ 1  2  3  .  .  4  .  . ]   rows 0 to 2 have three columns in common, and one each of their own;
// [ 5  6  7  .  .  .  8  . ]   rows 4 and 5 have the same ones; row 6 is empty.
// [ 9 10 11  .  .  .  . 12 ]
// [13  .  . 14  .  .  .  . ]
// [ .  .  .  . 15 16 17 18 ]
// [ .  .  .  . 19 20 21 22 ]
// [ .  .  .  .  .  .  .  . ]
static int64_t ptr[] = {0, 4, 8, 12, 14, 18, 22, 22};
static int32_t idx[] = {0, 1, 2, 5, 0, 1, 2, 6, 0, 1, 2, 7, 0, 3, 4, 5, 6, 7, 4, 5, 6, 7};
static double val[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                       12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22};
static const struct csr small = {7, 8, 22, ptr, idx, val};

static void test_storage(void)
{
    static const int32_t columns[] = {0, 1, 2, 5, 6, 7, 4, 5, 6, 7};
    static const double values[] = {1, 5,  9,  2,  6,  10, 3,  7,  11, 4,
                                    8, 12, 15, 19, 16, 20, 17, 21, 18, 22};
    struct task t = {.dev = &dev, .prec = F64};
    struct sparse *A = NULL;
    struct bundles found = {0};
    int err = csr_place(&dev, &small, F64, &A);
    if (!err) err = bundles_find(&t, csr_of(A), (struct bundle_rule){0.75, 3}, &found);
    CHECK(!err && found.count == 2 && found.loads == 12, "%d: %lld bundles, %lld loads", err,
          (long long)found.count, (long long)found.loads);
    if (!err && found.count == 2) {
        const struct bundle *a = &found.list[0], *b = &found.list[1];
        CHECK(a->row == 0 && a->rows == 3 && a->common == 3 && a->idx == 0 && a->val == 0,
              "the first: row %d, %d rows, %lld common", a->row, a->rows, (long long)a->common);
        CHECK(b->row == 4 && b->rows == 2 && b->common == 4 && b->idx == 6 && b->val == 12,
              "the second: row %d, %d rows, %lld common", b->row, b->rows, (long long)b->common);
        CHECK(!memcmp(found.idx, columns, sizeof columns), "columns");
        CHECK(!memcmp(found.val, values, sizeof values), "values");
    }
    bundles_free(&t, &found);
    sparse_free(&dev, A);
}

// The result of a case must be exact; its bundles, and what part of its loads is left.
static void test_case(const struct csr *A, const char *what, double alike, double common,
                      double share, double bundles, double loads)
{
    const int64_t axis[AXES_MAX] = {40, LAYOUT_ROW};
    struct inputs in;
    double opt[ALGO_OPTIONS_MAX] = {0};
    int err = inputs_make(&in, &dev, op_find("spmm"), A, F32, axis, true, 0);
    CHECK(!err, "%s: %s", what, fail_text());
    if (err) return;
    algo_defaults(bundled()->algo, opt);
    set_option(bundled(), opt, "common-percent", alike);
    set_option(bundled(), opt, "common-columns", common);
    set_option(bundled(), opt, "share", share);
    struct case_outcome out = case_run(&in, bundled(), opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && out.left == 0,
          "%s, alike %g, share %g: error %d, ratio %g, %lld bytes left", what, alike, share,
          out.err, out.check.error_ratio, (long long)out.left);
    CHECK(stat_of(&out, "bundles") == bundles, "%s, alike %g: %g bundles", what, alike,
          stat_of(&out, "bundles"));
    CHECK(fabs(stat_of(&out, "loads") - loads) < 1e-9, "%s, alike %g: %g loads", what, alike,
          stat_of(&out, "loads"));
    inputs_free(&in);
}

static int make_rows(int32_t m, int32_t n, bool (*rule)(int32_t i, int32_t j), struct csr *A)
{
    const struct shape s = {.name = "rows", .m = m, .n = n, .rule = rule};
    return shape_build(&s, A);
}

static bool same(int32_t i, int32_t j) { return (void)i, j % 2; }
// Rows 4 and 5 have the same columns, the others two of their own.
static bool one_pair(int32_t i, int32_t j) { return i == 4 || i == 5 ? j < 2 : j / 2 == i + 1; }
// Four of five columns are those of the rows next to it.
static bool mostly(int32_t i, int32_t j) { return j % 5 ? j / 5 == i / 3 : j / 5 == i; }

static void test_choice(void)
{
    struct csr A;
    test_case(&small, "by hand", 75, 1, 4096, 2, 12. / 22);
    test_case(&small, "by hand", 76, 1, 4096, 1, 18. / 22);
    test_case(&small, "by hand", 101, 1, 4096, 0, 1);
    test_case(&small, "by hand", 75, 4, 4096, 1, 18. / 22);
    test_case(&small, "by hand", 75, 5, 4096, 0, 1);
    for (int share = 1; share <= 24; share++)
        test_case(&small, "by hand", 60, 1, share, 2, 12. / 22);
    // Bundles do not cross blocks of 48 rows: 16 bundles of three rows in a block, then one of two.
    if (!make_rows(98, 12, same, &A)) {
        test_case(&A, "the same columns", 60, 1, 4096, 33, 33. / 98);
        csr_free(&A);
    }
    // One pair of many rows is not worth it; of few it is.
    if (!make_rows(40, 100, one_pair, &A)) {
        test_case(&A, "one pair of 40", 60, 1, 4096, 0, 1);
        csr_free(&A);
    }
    if (!make_rows(10, 100, one_pair, &A)) {
        test_case(&A, "one pair of 10", 60, 1, 4096, 1, 18. / 20);
        csr_free(&A);
    }
}

// What is infinite in a row of B reaches the rows of A that have its column, and no other row of
// their bundles.
static void test_infinity_of(const struct csr *A, int64_t j)
{
    const int64_t k = 32, axis[AXES_MAX] = {k, LAYOUT_ROW};
    struct inputs in;
    struct setup setup;
    struct task t = {.entry = bundled(), .algo = bundled()->algo};
    int err = inputs_make(&in, &dev, op_find("spmm"), A, F32, axis, true, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    algo_defaults(t.algo, t.opt);
    set_option(t.entry, t.opt, "common-columns", 1);
    err = task_prepare(&t, &in.o, &setup);
    const struct algo_stat *bundles = algo_stats_find(&t.stats, "bundles");
    CHECK(!err && bundles && bundles->number == 4, "%s", fail_text());
    for (int64_t c = 0; c < k && !err; c++)
        ((float *)t.in[0].val)[j * t.in[0].ld + c] = (float)INFINITY;
    if (!err) err = task_run(&t);
    for (int32_t i = 0; i < A->m && !err; i++) {
        bool has = false, finite = true, all = true;
        const float *C = (const float *)t.C.val + i * t.C.ld;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) has |= A->idx[p] == j;
        for (int64_t c = 0; c < k; c++) finite &= isfinite(C[c]), all &= !isfinite(C[c]);
        CHECK(has ? all : finite, "row %d, column %lld infinite: %s", i, (long long)j,
              has ? "it is lost" : "it is not this row's");
    }
    CHECK(!err, "%s", fail_text());
    task_teardown(&t);
    inputs_free(&in);
}

static void test_infinity(void)
{
    struct csr A;
    if (make_rows(12, 60, mostly, &A)) return;
    for (int64_t j = 0; j < A.n; j++) test_infinity_of(&A, j);
    csr_free(&A);
}

TESTS_ON_CPU(dev, test_storage, test_choice, test_infinity)
