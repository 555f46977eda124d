// CSB: the places of its nonzeros and the size of blocks. test_formats.c tests the way back to csr.
#include "formats/csb.h"

#include "formats.h"
#include "test.h"
#include "formats/csr.h"

static struct device dev;

static struct csb *make(const struct csr *A, double beta)
{
    return (struct csb *)sparse_of(&dev, &format_csb, A, F64, &beta);
}

// Blocks of 4 x 4, the second and the third with one nonzero, the fourth empty:
// [ 1 2 . . | . ]
// [ . . 3 . | 4 ]
// [ 5 . . . | . ]
// [ . 6 7 . | . ]
// [ 8 . . . | . ]
static struct csb *make_small(void)
{
    int64_t ptr[] = {0, 2, 4, 5, 7, 8};
    int32_t idx[] = {0, 1, 2, 4, 0, 1, 2, 0};
    double val[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct csr A = {5, 5, 8, ptr, idx, val};
    return make(&A, 3);
}

static void test_layout(void)
{
    struct csb *X = make_small();
    if (!X) return;
    const int64_t ptr[] = {0, 6, 7, 8, 8};
    const int row[] = {0, 0, 1, 2, 3, 3, 1, 0}, col[] = {0, 1, 2, 0, 1, 2, 0, 0};
    const double val[] = {1, 2, 3, 5, 6, 7, 4, 8};
    const double *stored = X->val;
    CHECK(X->beta == 4 && X->block_rows == 2 && X->block_cols == 2, "beta %d, %d x %d blocks",
          X->beta, X->block_rows, X->block_cols);
    for (int b = 0; b < 5 && X->beta == 4; b++)
        CHECK(X->ptr[b] == ptr[b], "block %d begins at %lld", b, (long long)X->ptr[b]);
    for (int p = 0; p < 8; p++)
        CHECK(
            csb_row(X->place[p]) == row[p] && csb_col(X->place[p]) == col[p] && stored[p] == val[p],
            "nonzero %d is (%d, %d), %g", p, csb_row(X->place[p]), csb_col(X->place[p]), stored[p]);
    sparse_free(&dev, &X->head);
}

// Blocks of the largest size: places have 16 bits for each of row and column.
static void test_largest(void)
{
    enum { SIDE = 70000 };
    static int64_t ptr[SIDE + 1];
    int32_t idx[] = {65535, 65536, 65535, 69999};
    double val[] = {1, 2, 3, 4};
    for (int i = 0; i <= SIDE; i++) ptr[i] = i <= 65535 ? 0 : i <= 65536 ? 2 : i < SIDE ? 3 : 4;
    struct csr A = {SIDE, SIDE, 4, ptr, idx, val};
    struct csb *X = make(&A, CSB_BETA_MAX);
    if (!X) return;
    const uint32_t place[] = {0xffffffff, 0xffff0000, 0x0000ffff, 4463 << 16 | 4463};
    CHECK(!format_broken(&X->head), "%s", format_broken(&X->head));
    for (int p = 0; p < 4; p++) CHECK(X->place[p] == place[p], "nonzero %d: %x", p, X->place[p]);
    sparse_free(&dev, &X->head);
}

// Blocks grow until there are no more of them than rows and nonzeros: 1 x 16 blocks in place of
// 4 x 64.
static void test_growth(void)
{
    int64_t ptr[5];
    int32_t idx[28];
    double val[28];
    for (int i = 0; i < 5; i++) ptr[i] = 7 * i;
    for (int p = 0; p < 28; p++) idx[p] = 9 * (p % 7), val[p] = p;
    struct csr A = {4, 64, 28, ptr, idx, val};
    struct csb *X = make(&A, 1);
    if (!X) return;
    CHECK(X->beta == 4 && X->block_rows == 1 && X->block_cols == 16, "beta %d, %d x %d blocks",
          X->beta, X->block_rows, X->block_cols);
    check_figure(&X->head, "block_size", 4, 1);
    sparse_free(&dev, &X->head);
}

TESTS_ON_CPU(dev, test_layout, test_largest, test_growth)
