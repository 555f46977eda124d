// check() of csr, csc, coo, coocols and tilecols: it names each invariant that is broken. Those of the
// other formats are in test_<format>.c.
#include "broken.h"
#include "formats/coo.h"
#include "formats/coocols.h"
#include "formats/csc.h"
#include "formats/csr.h"
#include "formats/tile16.h"
#include "formats/tile8.h"

#define BREAK(place, value, want) BREAK_OF(&X->head, place, value, want)

static struct device dev;

static struct sparse *make_csr(const struct csr *A)
{
    struct sparse *X;
    CHECK(!csr_place(&dev, A, F64, &X), "%s", fail_text());
    return X;
}

// Frees what it is made from.
static struct sparse *make_from(struct sparse *from, const struct format *format)
{
    struct sparse *X = NULL;
    CHECK(from && !sparse_make(&dev, format, from, NULL, &X), "%s", fail_text());
    sparse_free(&dev, from);
    return X;
}

// [ 1 . 2 . ]
// [ . 3 . . ]
// [ 4 5 . 6 ]
static const struct csr small = {
    3, 4, 6, (int64_t[]){0, 2, 3, 6}, (int32_t[]){0, 2, 1, 0, 1, 3}, (double[]){1, 2, 3, 4, 5, 6}};

static void test_csr(void)
{
    struct csr_dev *X = (struct csr_dev *)make_csr(&small);
    if (!X) return;
    int64_t *ptr = X->ptr;
    CHECK_TEXT(what_is_broken(&X->head), "nothing");
    BREAK(X->m, -1, "negative size");
    BREAK(X->n, -1, "negative size");
    BREAK(X->nnz, -1, "negative size");
    BREAK(X->ptr_bytes, 0, "ptr_bytes is neither 4 nor 8");
    BREAK(X->ptr_bytes, 5, "ptr_bytes is neither 4 nor 8");
    BREAK(X->ptr, NULL, "missing array");
    BREAK(X->idx, NULL, "missing array");
    BREAK(X->val, NULL, "missing array");
    BREAK(ptr[0], 1, "ptr[0] is not 0");
    BREAK(ptr[3], 5, "ptr[m] is not nnz");
    BREAK(X->nnz, 5, "ptr[m] is not nnz");
    BREAK(ptr[1], -1, "ptr descends");
    BREAK(ptr[2], 1, "ptr descends");
    BREAK(ptr[2], 7, "ptr descends");
    BREAK(X->idx[0], -1, "column outside the matrix");
    BREAK(X->idx[5], 4, "column outside the matrix");
    BREAK(X->n, 3, "column outside the matrix");
    BREAK(X->idx[1], 0, "columns not ascending");
    BREAK(X->idx[5], 0, "columns not ascending");
    sparse_free(&dev, &X->head);
}

// Row starts of 32 bits, as devices have them, in place of 64.
static void test_narrow(void)
{
    static const int32_t starts[] = {0, 2, 3, 6};
    struct csr_dev *X = (struct csr_dev *)make_csr(&small);
    if (!X) return;
    int32_t *ptr = X->ptr;
    X->ptr_bytes = 4;
    memcpy(ptr, starts, sizeof starts);
    CHECK_TEXT(what_is_broken(&X->head), "nothing");
    BREAK(ptr[0], 1, "ptr[0] is not 0");
    BREAK(ptr[3], 5, "ptr[m] is not nnz");
    BREAK(ptr[2], 1, "ptr descends");
    sparse_free(&dev, &X->head);
}

static void test_csc(void)
{
    struct csc_dev *X = (struct csc_dev *)make_from(make_csr(&small), &format_csc);
    if (!X) return;
    int64_t *ptr = X->ptr;
    CHECK_TEXT(what_is_broken(&X->head), "nothing");
    BREAK(X->m, -1, "negative size");
    BREAK(X->ptr, NULL, "missing array");
    BREAK(ptr[0], 1, "ptr[0] is not 0");
    BREAK(ptr[4], 5, "ptr[n] is not nnz");
    BREAK(ptr[1], 7, "ptr descends");
    BREAK(X->idx[0], -1, "row outside the matrix");
    BREAK(X->m, 2, "row outside the matrix");
    BREAK(X->idx[1], 0, "rows not ascending");
    sparse_free(&dev, &X->head);
}

// A^T in csr, and no memory for it.
static void test_transpose(void)
{
    static int64_t ptr[] = {0, 2, 4, 5, 6};
    static int32_t idx[] = {0, 2, 1, 2, 0, 2};
    static double val[] = {1, 4, 3, 5, 2, 6};
    const struct csr want = {4, 3, 6, ptr, idx, val};
    struct sparse *A = make_csr(&small), *T;
    struct csr got;
    if (!A) return;
    int err = csc_transpose(&dev, A, &T);
    CHECK(!err && T->format == &format_csr && T->m == 4 && T->n == 3, "%s", fail_text());
    if (!err) {
        CHECK_TEXT(what_is_broken(T), "nothing");
        CHECK(!format_csr.to_csr(T, &got) && csr_equal(&got, &want), "not the transpose");
        csr_free(&got);
        sparse_free(&dev, T);
    }
    mem_fail_at(1);
    CHECK(csc_transpose(&dev, A, &T) == ERR_MEMORY && !T, "a matrix without memory");
    mem_fail_at(0);
    sparse_free(&dev, A);
}

static void test_coo(void)
{
    struct coo_dev *X = (struct coo_dev *)make_from(make_csr(&small), &format_coo);
    if (!X) return;
    CHECK_TEXT(what_is_broken(&X->head), "nothing");
    BREAK(X->m, -1, "negative size");
    BREAK(X->n, -1, "negative size");
    BREAK(X->nnz, -1, "negative size");
    BREAK(X->row, NULL, "missing array");
    BREAK(X->col, NULL, "missing array");
    BREAK(X->val, NULL, "missing array");
    BREAK(X->row[0], -1, "row outside the matrix");
    BREAK(X->row[5], 3, "row outside the matrix");
    BREAK(X->m, 2, "row outside the matrix");
    BREAK(X->col[0], -1, "column outside the matrix");
    BREAK(X->col[5], 4, "column outside the matrix");
    BREAK(X->n, 3, "column outside the matrix");
    BREAK(X->row[0], 1, "rows descend");
    BREAK(X->row[5], 1, "rows descend");
    BREAK(X->row[2], 0, "columns not ascending");
    BREAK(X->col[1], 0, "columns not ascending");
    BREAK(X->col[5], 1, "columns not ascending");
    sparse_free(&dev, &X->head);
}

static void test_coocols(void)
{
    struct coocols *X = (struct coocols *)make_from(make_csr(&small), &format_coocols);
    if (!X) return;
    CHECK_TEXT(what_is_broken(&X->head), "nothing");
    BREAK(X->m, -1, "negative size");
    BREAK(X->n, -1, "negative size");
    BREAK(X->nnz, -1, "negative size");
    BREAK(X->row, NULL, "missing array");
    BREAK(X->col, NULL, "missing array");
    BREAK(X->place, NULL, "missing array");
    BREAK(X->val, NULL, "missing array");
    BREAK(X->row[0], -1, "row outside the matrix");
    BREAK(X->row[5], 3, "row outside the matrix");
    BREAK(X->m, 2, "row outside the matrix");
    BREAK(X->col[0], -1, "column outside the matrix");
    BREAK(X->col[5], 4, "column outside the matrix");
    BREAK(X->n, 3, "column outside the matrix");
    BREAK(X->place[0], -1, "place outside the matrix");
    BREAK(X->place[5], 6, "place outside the matrix");
    BREAK(X->col[0], 1, "columns descend");
    BREAK(X->row[1], 0, "rows not ascending");
    BREAK(X->place[1], 0, "places not ascending");
    sparse_free(&dev, &X->head);
}

// An 18 x 20 matrix of the tiles (0, 0), (1, 0) and (0, 1):  (0, 0) (0, 16) | (17, 2).
static void test_tilecols(void)
{
    int64_t ptr[19];
    int32_t idx[] = {0, 16, 2};
    double val[] = {1, 2, 3};
    struct csr A = {18, 20, 3, ptr, idx, val};
    for (int i = 0; i <= A.m; i++) ptr[i] = i == 0 ? 0 : i < A.m ? 2 : 3;
    struct sparse *tiles = make_from(make_csr(&A), &format_tile16);
    struct tilecols *X = (struct tilecols *)make_from(tiles, &format_tilecols);
    if (!X) return;
    CHECK_TEXT(what_is_broken(&X->head), "nothing");
    BREAK(X->ptr[1], 4, "ptr descends");
    BREAK(X->n, 16, "tile columns do not cover n");
    BREAK(X->n, 33, "tile columns do not cover n");
    BREAK(X->tile_n, 1, "tile columns do not cover n");
    BREAK(X->ptr, NULL, "missing array");
    BREAK(X->row, NULL, "missing array");
    BREAK(X->tile, NULL, "missing array");
    BREAK(X->used, NULL, "missing array");
    BREAK(X->ptr[0], 1, "ptr[0] is not 0");
    BREAK(X->ptr[2], 2, "ptr[tile_n] is not tiles");
    BREAK(X->tiles, 2, "ptr[tile_n] is not tiles");
    BREAK(X->ptr[1], -1, "ptr descends");
    BREAK(X->row[0], -1, "tile row outside the matrix");
    BREAK(X->row[1], 2, "tile row outside the matrix");
    BREAK(X->m, 16, "tile row outside the matrix");
    BREAK(X->tile[0], -1, "tile outside the matrix");
    BREAK(X->tile[2], 3, "tile outside the matrix");
    BREAK(X->used[0], 0, "an empty tile");
    BREAK(X->used[2], 0, "an empty tile");
    BREAK(X->row[1], 0, "tile rows not ascending");
    BREAK(X->tile[1], 0, "tiles not ascending");
    sparse_free(&dev, &X->head);
}

// An 11 x 12 matrix of the tiles (0, 0), (0, 1) and (1, 0):  (0, 0) (2, 7) (2, 8) | (10, 2).
static void test_tile8(void)
{
    int64_t ptr[] = {0, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 4};
    int32_t idx[] = {0, 7, 8, 2};
    double val[] = {1, 2, 3, 4};
    struct csr A = {11, 12, 4, ptr, idx, val};
    struct tile8 *X = (struct tile8 *)make_from(make_csr(&A), &format_tile8);
    if (!X) return;
    CHECK_TEXT(what_is_broken(&X->head), "nothing");
    CHECK(X->tiles == 3 && X->ptr[1] == 2 && X->mask[0] == (1 | 1ull << 23) &&
              X->mask[1] == 1ull << 16 && X->mask[2] == 1ull << 18,
          "%lld tiles, %llx %llx", (long long)X->tiles, (unsigned long long)X->mask[0],
          (unsigned long long)X->mask[1]);
    BREAK(X->m, -1, "negative size");
    BREAK(X->n, -1, "negative size");
    BREAK(X->nnz, -1, "negative size");
    BREAK(X->tiles, -1, "negative size");
    BREAK(X->m, 17, "tile rows do not cover m");
    BREAK(X->n, 8, "tile columns do not cover n");
    BREAK(X->ptr, NULL, "missing array");
    BREAK(X->row, NULL, "missing array");
    BREAK(X->col, NULL, "missing array");
    BREAK(X->start, NULL, "missing array");
    BREAK(X->mask, NULL, "missing array");
    BREAK(X->val, NULL, "missing array");
    BREAK(X->ptr[0], 1, "ptr[0] is not 0");
    BREAK(X->ptr[2], 2, "ptr[tile_m] is not tiles");
    BREAK(X->ptr[1], 4, "ptr descends");
    BREAK(X->start[0], 1, "start[0] is not 0");
    BREAK(X->start[3], 5, "start[tiles] is not nnz");
    BREAK(X->ptr[1], 1, "row and ptr differ");
    BREAK(X->row[2], 0, "row and ptr differ");
    BREAK(X->col[2], -1, "tile column outside the matrix");
    BREAK(X->col[1], 2, "tile column outside the matrix");
    BREAK(X->col[1], 0, "tile columns not ascending");
    BREAK(X->start[1], 1, "start and masks differ");
    BREAK(X->mask[0], 1, "start and masks differ");
    BREAK(X->mask[2], 1ull << 26, "nonzeros below the last row");
    BREAK(X->m, 10, "nonzeros below the last row");
    BREAK(X->mask[1], 1ull << 20, "column outside the matrix");
    sparse_free(&dev, &X->head);
}

TESTS_ON_CPU(dev, test_csr, test_narrow, test_csc, test_transpose, test_coo, test_coocols,
             test_tilecols, test_tile8)
