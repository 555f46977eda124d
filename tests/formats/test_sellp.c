// SELL-P: places of its entries, and stats. test_formats.c tests the way back to csr.
#include "formats/sellp.h"

#include "formats.h"
#include "test.h"
#include "formats/csr.h"

static struct device dev;

static struct sellp *make(const struct csr *A, double slice, double pad)
{
    const double opt[] = {slice, pad};
    return (struct sellp *)sparse_of(&dev, &format_sellp, A, F64, opt);
}

// [ 1 . 2 ]           slice 2, pad 2: rows 0 and 1 in slice 0, row 2 in slice 1, which has one row
// [ . 0 . ]           of padding below the matrix.
// [ 3 4 5 ]
static struct sellp *make_small(void)
{
    int64_t ptr[] = {0, 2, 3, 6};
    int32_t idx[] = {0, 2, 1, 0, 1, 2};
    double val[] = {1, 2, 0, 3, 4, 5};
    struct csr A = {3, 3, 6, ptr, idx, val};
    return make(&A, 2, 2);
}

static void test_layout(void)
{
    struct sellp *S = make_small();
    if (!S) return;
    const int32_t idx[] = {0, 1, 2, -1, 0, -1, 1, -1, 2, -1, -1, -1};
    const double val[] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0, 0};
    const double *stored = S->val;
    CHECK(S->slices == 2 && S->stored == 12, "%lld slices, %lld stored", (long long)S->slices,
          (long long)S->stored);
    CHECK(S->ptr[0] == 0 && S->ptr[1] == 4 && S->ptr[2] == 12, "starts %lld %lld %lld",
          (long long)S->ptr[0], (long long)S->ptr[1], (long long)S->ptr[2]);
    for (int q = 0; q < 12 && q < S->stored; q++)
        CHECK(S->idx[q] == idx[q] && stored[q] == val[q], "entry %d is %d, %g", q, S->idx[q],
              stored[q]);
    sparse_free(&dev, &S->head);
}

// Stored entries for each nonzero; 1 where there is none.
static void test_stats(void)
{
    struct sellp *S = make_small();
    int64_t ptr[] = {0, 0, 0};
    struct csr A = {.m = 2, .n = 3, .ptr = ptr};
    if (S) check_figure(&S->head, "padding", 12.0 / 6, 1);
    if (S) sparse_free(&dev, &S->head);
    S = make(&A, 2, 2);
    if (S) check_figure(&S->head, "padding", 1, 1);
    if (S) sparse_free(&dev, &S->head);
}

TESTS_ON_CPU(dev, test_layout, test_stats)
