// SELL-P: csr -> SELL-P -> csr gives back the same csr, and sellp_check() finds what is broken.
#include "formats/sellp.h"

#include "test.h"

// `length` ascending columns drawn from the seed; every seventh value is an explicit zero.
static void fill_row(struct csr *A, int32_t i, int64_t length, uint64_t seed)
{
    int64_t p = A->ptr[i], left = length;
    for (int32_t j = 0; j < A->n && left > 0; j++)
        if ((int64_t)(random_at(seed, (uint64_t)i * 1000 + (uint64_t)j) % (uint64_t)(A->n - j)) <
            left) {
            A->idx[p] = j;
            A->val[p] = p % 7 ? random_value(seed, (uint64_t)p) : 0;
            p++, left--;
        }
    A->ptr[i + 1] = p;
}

// Row i has length(i, n) entries.
static void make(struct csr *A, int32_t m, int32_t n, int64_t (*length)(int32_t i, int32_t n))
{
    int64_t nnz = 0;
    for (int32_t i = 0; i < m; i++) nnz += length(i, n);
    CHECK(!csr_alloc(A, m, n, nnz), "%s", fail_text());
    A->ptr[0] = 0;
    for (int32_t i = 0; i < m; i++) fill_row(A, i, length(i, n), 42 + (uint64_t)m);
    CHECK(!csr_check(A), "%s", csr_check(A));
}

static int64_t none(int32_t i, int32_t n) { return (void)i, (void)n, 0; }
static int64_t one(int32_t i, int32_t n) { return (void)i, n > 0; }
static int64_t full(int32_t i, int32_t n) { return (void)i, n; }
static int64_t uneven(int32_t i, int32_t n)
{
    return (int64_t)(random_at(7, (uint64_t)i) % ((uint64_t)n + 1)) / (i % 3 + 1);
}
static int64_t every_fifth(int32_t i, int32_t n) { return i % 5 == 4 ? n / 2 : 0; }
static int64_t first_only(int32_t i, int32_t n) { return i == 0 ? n : 0; }

static void test_identity(void)
{
    int64_t (*const lengths[])(int32_t, int32_t) = {none,   one,         full,
                                                    uneven, every_fifth, first_only};
    const int32_t sizes[][2] = {{0, 0},  {0, 5},  {5, 0},  {1, 1},   {1, 40},   {40, 1},
                                {31, 9}, {32, 9}, {33, 9}, {64, 33}, {100, 100}};
    const int32_t slices[] = {1, 2, 7, 32, 1024}, pads[] = {1, 3, 4, 32};
    for (size_t f = 0; f < sizeof lengths / sizeof *lengths; f++)
        for (size_t d = 0; d < sizeof sizes / sizeof *sizes; d++) {
            struct csr A;
            make(&A, sizes[d][0], sizes[d][1], lengths[f]);
            for (size_t x = 0; x < sizeof slices / sizeof *slices; x++)
                for (size_t y = 0; y < sizeof pads / sizeof *pads; y++) {
                    struct sellp S = {0};
                    struct csr back = {0};
                    CHECK(!sellp_from_csr(&A, slices[x], pads[y], &S), "%s", fail_text());
                    const char *broken = sellp_check(&S);
                    CHECK(!broken, "%s", broken);
                    CHECK(!sellp_to_csr(&S, &back), "%s", fail_text());
                    CHECK(csr_equal(&A, &back), "%d x %d, kind %d, slice %d, pad %d", A.m, A.n,
                          (int)f, slices[x], pads[y]);
                    sellp_free(&S);
                    csr_free(&back);
                }
            csr_free(&A);
        }
}

// [ 1 . 2 ]           slice 2, pad 2: rows 0 and 1 in slice 0, row 2 in slice 1, which has one row
// [ . 0 . ]           of padding below the matrix.
// [ 3 4 5 ]
static void make_small(struct sellp *S)
{
    int64_t ptr[] = {0, 2, 3, 6};
    int32_t idx[] = {0, 2, 1, 0, 1, 2};
    double val[] = {1, 2, 0, 3, 4, 5};
    struct csr A = {3, 3, 6, ptr, idx, val};
    CHECK(!sellp_from_csr(&A, 2, 2, S), "%s", fail_text());
}

static void test_layout(void)
{
    struct sellp S;
    make_small(&S);
    const int32_t idx[] = {0, 1, 2, -1, 0, -1, 1, -1, 2, -1, -1, -1};
    const double val[] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0, 0};
    CHECK(S.slices == 2 && S.stored == 12, "%lld slices, %lld stored", (long long)S.slices,
          (long long)S.stored);
    CHECK(S.ptr[0] == 0 && S.ptr[1] == 4 && S.ptr[2] == 12, "starts %lld %lld %lld",
          (long long)S.ptr[0], (long long)S.ptr[1], (long long)S.ptr[2]);
    for (int q = 0; q < 12 && q < S.stored; q++)
        CHECK(S.idx[q] == idx[q] && S.val[q] == val[q], "entry %d is %d, %g", q, S.idx[q],
              S.val[q]);
    sellp_free(&S);
}

static void expect_broken(struct sellp *S, const char *want)
{
    const char *broken = sellp_check(S);
    CHECK_TEXT(broken ? broken : "nothing", want);
}

// One invariant after the other is broken, found, and mended.
#define BREAK(place, value, want)                                                                  \
    do {                                                                                           \
        __typeof__(place) kept = place;                                                            \
        place = value;                                                                             \
        expect_broken(&S, want);                                                                   \
        place = kept;                                                                              \
        CHECK(!sellp_check(&S), "not mended after: %s", want);                                     \
    } while (0)

static void test_check(void)
{
    struct sellp S;
    make_small(&S);
    CHECK(!sellp_check(&S), "%s", sellp_check(&S));
    BREAK(S.m, -1, "negative size");
    BREAK(S.n, -1, "negative size");
    BREAK(S.nnz, -1, "negative size");
    BREAK(S.stored, -1, "negative size");
    BREAK(S.slice, 0, "slice or pad below 1");
    BREAK(S.pad, 0, "slice or pad below 1");
    BREAK(S.slices, 1, "slices do not cover m");
    BREAK(S.slices, 3, "slices do not cover m");
    BREAK(S.ptr, NULL, "missing array");
    BREAK(S.idx, NULL, "missing array");
    BREAK(S.val, NULL, "missing array");
    BREAK(S.ptr[0], 1, "ptr[0] is not 0");
    BREAK(S.stored, 11, "ptr[slices] is not stored");
    BREAK(S.ptr[1], -4, "ptr descends");
    BREAK(S.ptr[1], 16, "ptr descends");
    BREAK(S.ptr[1], 3, "a slice is not whole columns");
    BREAK(S.ptr[1], 2, "a width is no multiple of pad");
    BREAK(S.n, 2, "column outside the matrix");
    BREAK(S.idx[2], 0, "columns not ascending");
    BREAK(S.idx[6], 2, "columns not ascending");
    BREAK(S.pad, 1, "a slice is wider than its longest row needs");
    BREAK(S.idx[3], -2, "padding column is not -1");
    BREAK(S.val[3], 1, "padding value is not 0");
    BREAK(S.val[3], __builtin_nan(""), "padding value is not 0");
    BREAK(S.idx[5], 0, "entries below the last row");
    BREAK(S.nnz, 5, "nnz is not the number of entries");
    S.val[6] = 0;
    BREAK(S.idx[6], -1, "entry after padding");
    sellp_free(&S);
}

static void test_refusals(void)
{
    int64_t ptr[] = {0, 1};
    int32_t idx[] = {0};
    double val[] = {1};
    struct csr A = {1, 1, 1, ptr, idx, val};
    struct sellp S = {0};
    CHECK(sellp_from_csr(&A, 0, 1, &S) == ERR_USAGE, "slice 0 accepted");
    CHECK_TEXT(fail_text(), "SELL-P: slice 0 and pad 1 must be at least 1");
    CHECK(sellp_from_csr(&A, 1, 0, &S) == ERR_USAGE, "pad 0 accepted");
    // Padding that no memory holds: 2^61 entries, whose bytes overflow.
    CHECK(sellp_from_csr(&A, 1 << 30, INT32_MAX, &S) == ERR_MEMORY, "huge padding accepted");
    CHECK(!S.ptr, "something was returned");
}

// The n-th allocation fails, for every n until none does.
static void test_allocation_failures(void)
{
    struct csr A, back;
    make(&A, 50, 20, uneven);
    struct sellp S;
    int n, err = ERR_MEMORY;
    for (n = 0; err == ERR_MEMORY && n < 20; n++) {
        mem_fail_at(n + 1);
        err = sellp_from_csr(&A, 4, 4, &S);
    }
    CHECK(!err && n == 4, "error %d, the first try without a failure is number %d", err, n);
    for (n = 0, err = ERR_MEMORY; err == ERR_MEMORY && n < 20; n++) {
        mem_fail_at(n + 1);
        err = sellp_to_csr(&S, &back);
    }
    CHECK(!err && n == 4, "error %d, the first try without a failure is number %d", err, n);
    mem_fail_at(0);
    CHECK(csr_equal(&A, &back), "the csr came back changed");
    csr_free(&A);
    csr_free(&back);
    sellp_free(&S);
}

int main(void)
{
    test_identity();
    test_layout();
    test_check();
    test_refusals();
    test_allocation_failures();
    return TEST_END();
}
