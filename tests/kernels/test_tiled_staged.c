// The staged way of `tiled-tuned` on CUDA: who does a row, in every number of columns and ranges;
// which matrices it is for, and how many rows of B it can have.
#include "cases.h"

#include <limits.h>

static struct device dev;

#define STAGED 3 // -opt way=
#define UNITS  4 // multiprocessors that what is decided here is for

static const struct algo_entry *tuned(void)
{
    return algo_find(op_find("spmm"), "tiled-tuned", dev.kind);
}

static void set(double *opt, const char *name, double value)
{
    set_option(tuned(), opt, name, value);
}

// Row i has lengths[i % 8] of the n columns, spread over them; every `each`-th row has `all`.
static int make_rows(const int32_t lengths[8], int32_t m, int32_t n, int32_t each, struct csr *A)
{
    int64_t nnz = 0, p = 0;
    for (int32_t i = 0; i < m; i++) nnz += i % each == each - 1 ? n : lengths[i % 8];
    int err = csr_alloc(A, m, n, nnz);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < m && !err; i++) {
        const int32_t length = i % each == each - 1 ? n : lengths[i % 8];
        A->ptr[i] = p;
        for (int32_t j = 0; j < length; j++, p++) {
            A->idx[p] = (int32_t)((int64_t)j * n / length + (length < n ? i % 2 : 0));
            A->val[p] = (i + j) % 5 - 2;
        }
    }
    if (!err) A->ptr[m] = p;
    return err;
}

static struct outcome run_staged(struct inputs *in, double columns, double ranges, double threads)
{
    double opt[PARAMS_MAX] = {0};
    algo_defaults(tuned()->algo, opt);
    set(opt, "method", STAGED);
    set(opt, "columns", columns);
    set(opt, "row-ranges", ranges);
    set(opt, "threads", threads);
    return case_run(in, tuned(), opt, CHECK_FULL);
}

// Both numbers of columns, and these ranges: all rows, some, and more ranges than rows.
static void expect_right(const struct csr *A, enum prec prec, int64_t k, int threads,
                         const char *what)
{
    static const int ranges[] = {1, 3, 128};
    const int vector = prec == F32 ? 4 : 2;
    struct inputs in;
    for (int i = 0; i < 2 * COUNT(ranges); i++) {
        const int columns = i % 2 ? vector : vector / 2, r = ranges[i / 2];
        if (spmm_inputs(&in, &dev, A, prec, LAYOUT_COL, k, i % 4 * 3)) return;
        struct outcome out = run_staged(&in, columns, r, threads);
        CHECK(!out.err && out.check.error_ratio == 0 && !out.left,
              "%s, %s, k %lld, columns=%d, ranges=%d: %s", what, prec_name(prec), (long long)k,
              columns, r, out.err ? fail_text() : out.check.reason);
        CHECK(figure_of(&out, "columns") == columns && figure_of(&out, "row_ranges") == r,
              "%s: %g columns, %g ranges", what, figure_of(&out, "columns"),
              figure_of(&out, "row_ranges"));
        inputs_free(&in);
    }
}

// Groups have lanes for a quarter of the average row, and of 128 threads, in three ranges of 83
// rows, at least four. They take up to 16 nonzeros a lane, their warps up to 512 and the block the
// others: each of these limits, and one more.
static void test_rows(void)
{
    static const struct {
        const char *what;
        int32_t lengths[8];
    } rows[] = {
        {"short rows", {1, 0, 3, 4, 5, 2, 1, 0}},
        {"groups of one lane", {0, 0, 0, 0, 0, 16, 17, 0}},
        {"groups of two", {0, 0, 0, 0, 0, 0, 32, 33}},
        {"groups of four", {0, 0, 0, 0, 0, 0, 64, 65}},
        {"groups of sixteen", {0, 0, 0, 1, 0, 0, 0, 500}},
        {"warps and blocks", {128, 129, 3, 511, 512, 513, 0, 1001}},
        {"long rows", {514, 1000, 515, 1001, 600, 513, 0, 130}},
    };
    const int64_t columns[] = {1, 4, 7};
    for (int r = 0; r < COUNT(rows); r++) {
        struct csr A;
        if (make_rows(rows[r].lengths, 83, 1003, INT_MAX, &A)) continue;
        for (int c = 0; c < COUNT(columns); c++)
            expect_right(&A, (r + c) % 2 ? F32 : F64, columns[c], 128, rows[r].what);
        csr_free(&A);
    }
}

// More rows than threads: a block goes through its range in several parts, in each of which some
// rows are for warps and for the block.
static void test_many_rows(void)
{
    static const int32_t lengths[8] = {1, 0, 3, 1, 34, 2, 1, 0};
    struct csr A;
    if (make_rows(lengths, 2500, 600, 700, &A)) return;
    expect_right(&A, F32, 5, 96, "many rows");
    expect_right(&A, F64, 1, 1024, "many rows");
    csr_free(&A);
}

// A row and columns that reach the last row of B.
static int make_row(int32_t n, struct csr *A)
{
    int err = csr_alloc(A, 1, n, 2);
    CHECK(!err, "%s", fail_text());
    if (err) return err;
    A->idx[0] = 0;
    A->idx[1] = n - 1;
    A->val[0] = A->val[1] = 1;
    A->ptr[0] = 0;
    A->ptr[1] = 2;
    return OK;
}

// Whether a B of n rows is taken; else it must be unsupported.
static bool takes(int32_t n, enum prec prec, int columns)
{
    struct csr A;
    struct inputs in;
    if (make_row(n, &A)) return false;
    if (spmm_inputs(&in, &dev, &A, prec, LAYOUT_COL, 3, 1)) return csr_free(&A), false;
    struct outcome out = run_staged(&in, columns, 0, 32);
    CHECK(out.err ? out.err == ERR_UNSUPPORTED : out.check.error_ratio == 0,
          "%s, %d rows of B, columns=%d: %s", prec_name(prec), n, columns,
          out.err ? fail_text() : out.check.reason);
    inputs_free(&in);
    csr_free(&A);
    return !out.err;
}

// How many rows of B there may be is told by what refuses more. Twice the columns are half as many.
static void test_room(void)
{
    for (int prec = F32; prec <= F64; prec++) {
        const int vector = prec == F32 ? 4 : 2;
        int most = 0;
        CHECK(!takes(1000000, (enum prec)prec, 0), "a million rows");
        const char *told = strstr(fail_text(), "takes up to ");
        CHECK(told && sscanf(told, "takes up to %d", &most) == 1 && most >= 10000, "%s",
              fail_text());
        CHECK(takes(most, (enum prec)prec, 0), "%d rows", most);
        CHECK(!takes(most + 1, (enum prec)prec, 0), "%d rows", most + 1);
        CHECK(!takes(most, (enum prec)prec, vector), "%d rows of %d columns", most, vector);
        CHECK(takes(most / 2 - 64, (enum prec)prec, vector), "half as many rows");
        CHECK(!takes(10, (enum prec)prec, 3), "3 columns");
        CHECK(strstr(fail_text(), prec == F32 ? "columns=3: of f32 it is 2 or 4"
                                              : "columns=3: of f64 it is 1 or 2"),
              "%s", fail_text());
    }
}

// What it does by itself.
static void expect_way(const struct csr *A, int64_t k, bool wanted, double *blocks)
{
    struct inputs in;
    double opt[PARAMS_MAX] = {0};
    if (spmm_inputs(&in, &dev, A, F32, LAYOUT_COL, k, 0)) return;
    algo_defaults(tuned()->algo, opt);
    struct outcome out = case_run(&in, tuned(), opt, CHECK_FULL);
    const struct figure *way = figures_find(&out.figures, "method");
    CHECK(!out.err && out.check.error_ratio == 0, "%s", out.err ? fail_text() : out.check.reason);
    const bool chosen = way && !strcmp(way->text, "staged");
    CHECK(chosen == wanted, "%s", way ? way->text : "no way is told");
    const double columns = figure_of(&out, "columns"), staged = figure_of(&out, "staged_us");
    CHECK((columns > 0) == wanted, "%g columns", columns);
    CHECK(!wanted || staged < figure_of(&out, "direct_us"), "%g us staged, %g direct", staged,
          figure_of(&out, "direct_us"));
    *blocks = columns > 0 ? ceil((double)k / columns) * figure_of(&out, "row_ranges") : staged;
    inputs_free(&in);
}

// Rows that need much of B are for it: there is a block for each multiprocessor. Not a few
// nonzeros, and not where B does not fit, of which no time is told then.
static void test_choice(void)
{
    static const int32_t much[8] = {500, 490, 520, 480, 510, 500, 470, 460}, little[8] = {1};
    double blocks;
    struct csr A;
    dev.units = UNITS;
    if (make_rows(much, 16, 600, INT_MAX, &A)) return;
    expect_way(&A, 16, true, &blocks);
    CHECK(blocks == dev.units, "%g blocks for %d multiprocessors", blocks, dev.units);
    csr_free(&A);
    if (make_rows(little, 40, 300, INT_MAX, &A)) return;
    expect_way(&A, 16, false, &blocks);
    CHECK(blocks > 0, "no time of the staged way is told");
    csr_free(&A);
    if (make_rows(much, 16, 60000, INT_MAX, &A)) return;
    expect_way(&A, 16, false, &blocks);
    CHECK(blocks == -1, "a time of the staged way is told though B does not fit");
    csr_free(&A);
}

int main(void)
{
    static void (*const tests[])(void) = {test_rows, test_many_rows, test_room, test_choice, NULL};
    return main_on_cuda(&dev, 0, tests);
}
