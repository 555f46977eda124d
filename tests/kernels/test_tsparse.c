// Tests paths of `tsparse` on CUDA that the exact cases do not reach: pairs that are left out, sums
// of 0, inputs that are not finite, and several blocks of select_items(). No test changes the input
// of another test.
#include "cases.h"

static struct device dev;

struct entry {
    int32_t i, j;
    double x;
};

// Entries of a 24 x 24 matrix, by rows. Rows 1 and 2 are equal in columns 8 and 9. Their products
// cancel in row 0 of A * A, so tile (0, 1) of C is empty.
static const struct entry entries[] = {{0, 1, 3}, {0, 2, -3}, {1, 8, 5},  {1, 9, 7},
                                       {2, 8, 5}, {2, 9, 7},  {2, 17, 2}, {8, 0, 1}};

// Makes an n x n matrix with `count` entries, sorted by rows.
static int make_matrix(struct csr *A, int32_t n, const struct entry *list, int64_t count)
{
    int err = csr_alloc(A, n, n, count);
    CHECK(!err, "%s", fail_text());
    if (err) return err;
    int64_t p = 0;
    for (int32_t i = 0; i < n; i++) {
        A->ptr[i] = p;
        for (; p < count && list[p].i == i; p++) A->idx[p] = list[p].j, A->val[p] = list[p].x;
    }
    A->ptr[n] = p;
    return OK;
}

// Returns the outcome of A * A for the matrix with these entries.
static struct case_outcome run(int32_t n, const struct entry *list, int64_t count, enum prec prec)
{
    const struct op *op = op_find("spgemm");
    const struct algo_entry *e = algo_find(op, "tsparse", DEVICE_CUDA);
    double opt[ALGO_OPTIONS_MAX] = {0};
    struct csr A;
    struct inputs in;
    int err = make_matrix(&A, n, list, count);
    if (err) return (struct case_outcome){.err = err};
    struct case_outcome out = {.err = ERR_MEMORY};
    err = inputs_make(&in, &dev, op, &A, prec, (int64_t[AXES_MAX]){0}, true, 0);
    CHECK(!err, "%s", fail_text());
    if (!err) {
        out = case_run(&in, e, opt, CHECK_FULL);
        CHECK(!out.err && !out.left, "%s: %s, %lld bytes left", prec_name(prec),
              out.err ? fail_text() : "", (long long)out.left);
        inputs_free(&in);
    }
    csr_free(&A);
    return out;
}

// Returns the outcome for `entries` with x in place of entries[1].x.
static struct case_outcome run_changed(double x)
{
    struct entry list[COUNT(entries)];
    memcpy(list, entries, sizeof list);
    list[1].x = x;
    return run(24, list, COUNT(list), F16_F32);
}

static void check_figure(const struct case_outcome *out, const char *name, double want)
{
    const double is = stat_of(out, name);
    CHECK(is == want, "%s is %g, not %g", name, is, want);
}

// Checks an exact result and its stats.
static void check_outcome(const struct case_outcome *out, int64_t all_pairs, int64_t pairs,
                          int64_t c_tiles, int64_t zeros, int64_t nnz)
{
    CHECK(out->check.ok && out->check.error_ratio == 0, "%s", out->check.reason);
    CHECK(out->check.result_nnz == nnz, "%lld nonzeros of C, not %lld",
          (long long)out->check.result_nnz, (long long)nnz);
    check_figure(out, "all_pairs", (double)all_pairs);
    check_figure(out, "pairs", (double)pairs);
    check_figure(out, "c_tiles", (double)c_tiles);
    check_figure(out, "zeros", (double)zeros);
}

static void test_zeros(void)
{
    for (int prec = F16; prec < PRECS; prec++) {
        const struct case_outcome out = run(24, entries, COUNT(entries), (enum prec)prec);
        check_outcome(&out, 7, 4, 4, 2, 5);
    }
}

// Without the cancellation nothing is left out.
static void test_no_zeros(void)
{
    const struct case_outcome out = run_changed(3);
    check_outcome(&out, 7, 4, 4, 0, 7);
}

// Infinity times an absent element is NaN, which must not become a nonzero of C.
static void test_infinite(void)
{
    const struct case_outcome out = run_changed(1e6); // infinite in f16
    CHECK(out.check.blind && strstr(out.check.reason, "overflow"), "%s", out.check.reason);
    CHECK(out.check.result_nnz == 7, "%lld nonzeros of C", (long long)out.check.result_nnz);
}

static void test_empty(void)
{
    const struct case_outcome out = run(24, entries, 0, F16_F32);
    check_outcome(&out, 0, 0, 0, 0, 0);
}

// 17 x 17 tiles with one nonzero each. A tile has its nonzero in column 0 or 1, by the parity of
// its tile column, and in row 0. So a pair has a product if the tile column of A is even. All pairs
// take three blocks of select_items(), and the kept pairs take two. The number of tiles of C is
// odd, so the last warp of multiply_tiles() has one tile.
static void test_blocks(void)
{
    enum { TILES = 17, EVEN = (TILES + 1) / 2, SQUARE = TILES * TILES };
    struct entry list[SQUARE];
    for (int p = 0; p < SQUARE; p++) {
        const int j = p % TILES;
        list[p] = (struct entry){p / TILES * 8, j * 8 + j % 2, 1 + p % 3};
    }
    const struct case_outcome out = run(TILES * 8, list, SQUARE, F16_F32);
    check_outcome(&out, SQUARE * TILES, SQUARE * EVEN, SQUARE, 0, SQUARE);
}

int main(void)
{
    return main_on_cuda(&dev, 0,
                        (void (*const[])(void)){test_zeros, test_no_zeros, test_infinite,
                                                test_empty, test_blocks, NULL});
}
