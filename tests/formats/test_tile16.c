// 16 x 16 tiles: places of their entries, stats, and their list by tile columns. test_formats.c
// tests the way back to csr.
#include "formats/tile16.h"

#include "formats.h"
#include "csr_equal.h"
#include "test.h"
#include "formats/csr.h"

static struct device dev;

// Full, or empty.
static void make_csr(struct csr *A, int32_t m, int32_t n, bool full)
{
    CHECK(!csr_alloc(A, m, n, full ? (int64_t)m * n : 0), "%s", fail_text());
    for (int32_t i = 0; i <= m; i++) A->ptr[i] = full ? (int64_t)i * n : 0;
    for (int64_t p = 0; p < A->nnz; p++) A->idx[p] = (int32_t)(p % n), A->val[p] = (double)p;
}

static struct tile16 *make(const struct csr *A)
{
    return (struct tile16 *)sparse_of(&dev, &format_tile16, A, F64, NULL);
}

// Rows 0, 1 and 17 of an 18 x 20 matrix:  (0, 0) (0, 15) (0, 16) | (1, 3) | (17, 2).
static struct tile16 *make_small(void)
{
    struct csr A;
    CHECK(!csr_alloc(&A, 18, 20, 5), "%s", fail_text());
    const int32_t idx[] = {0, 15, 16, 3, 2};
    for (int32_t i = 0; i <= A.m; i++) A.ptr[i] = i == 0 ? 0 : i == 1 ? 3 : i < 18 ? 4 : 5;
    for (int p = 0; p < 5; p++) A.idx[p] = idx[p], A.val[p] = p + 1;
    struct tile16 *T = make(&A);
    csr_free(&A);
    return T;
}

static void test_layout(void)
{
    struct tile16 *T = make_small();
    if (!T) return;
    CHECK(T->tile_m == 2 && T->tile_n == 2 && T->tiles == 3 && T->nnz == 5,
          "%d x %d tiles, %lld used", T->tile_m, T->tile_n, (long long)T->tiles);
    CHECK(T->ptr[0] == 0 && T->ptr[1] == 2 && T->ptr[2] == 3, "tile rows start at %lld %lld",
          (long long)T->ptr[1], (long long)T->ptr[2]);
    CHECK(T->col[0] == 0 && T->col[1] == 1 && T->col[2] == 0, "columns %d %d %d", T->col[0],
          T->col[1], T->col[2]);
    CHECK(T->start[0] == 0 && T->start[1] == 3 && T->start[2] == 4 && T->start[3] == 5,
          "tiles start at %lld %lld %lld", (long long)T->start[1], (long long)T->start[2],
          (long long)T->start[3]);
    const uint8_t tile_idx[] = {0x00, 0x0f, 0x13, 0x00, 0x12};
    const double val[] = {1, 2, 4, 3, 5};
    const double *stored = T->val;
    for (int q = 0; q < 5; q++)
        CHECK(T->idx[q] == tile_idx[q] && stored[q] == val[q], "nonzero %d: index %02x, value %g",
              q, T->idx[q], stored[q]);
    CHECK(T->used[0] == 0x38009, "used %x", T->used[0]);
    CHECK(T->mask[0] == 0x8001 && T->mask[1] == 8 && T->mask[2] == 0 && T->mask[16] == 1 &&
              T->mask[33] == 4,
          "masks %x %x %x %x %x", T->mask[0], T->mask[1], T->mask[2], T->mask[16], T->mask[33]);
    CHECK(T->row_ptr[0] == 0 && T->row_ptr[1] == 2 && T->row_ptr[2] == 3 && T->row_ptr[15] == 3,
          "row pointers %d %d %d %d", T->row_ptr[0], T->row_ptr[1], T->row_ptr[2], T->row_ptr[15]);
    // 3 tile row starts and 4 tile starts of 8 bytes, 3 tiles of 4 + 16 + 32, 5 nonzeros of 1 + 8,
    // and the bits that say what the tiles use.
    int64_t bytes = sparse_bytes(&T->head);
    CHECK(bytes == 24 + 32 + 156 + 45 + 12, "%lld bytes", (long long)bytes);
    sparse_free(&dev, &T->head);
}

static void check_figures(const struct tile16 *T, double tiles, double nnz_per_tile)
{
    check_figure(&T->head, "tiles", tiles, 2);
    check_figure(&T->head, "nnz_per_tile", nnz_per_tile, 2);
}

static void test_stats(void)
{
    struct tile16 *T = make_small();
    struct csr A;
    if (T) check_figures(T, 3, 5.0 / 3);
    if (T) sparse_free(&dev, &T->head);
    make_csr(&A, 32, 20, true);
    T = make(&A);
    if (T) check_figures(T, 4, 32 * 20 / 4.0);
    if (T) sparse_free(&dev, &T->head);
    csr_free(&A);
    make_csr(&A, 20, 20, false);
    T = make(&A);
    if (T) check_figures(T, 0, 0);
    if (T) sparse_free(&dev, &T->head);
    csr_free(&A);
}

static void test_empty_tile(void)
{
    struct csr A, back = {0};
    make_csr(&A, 16, 16, false);
    struct tile16 *T = make(&A);
    int64_t ptr[] = {0, 1}, start[] = {0, 0};
    int32_t col[] = {0};
    uint8_t row_ptr[TILE] = {0};
    uint16_t mask[TILE] = {0};
    struct tile16 empty = *T;
    empty.tiles = 1, empty.ptr = ptr, empty.start = start, empty.col = col;
    empty.row_ptr = row_ptr, empty.mask = mask;
    empty.used = NULL;
    CHECK(!format_broken(&empty.head), "%s", format_broken(&empty.head));
    CHECK(!format_to_csr(&empty.head, &back), "no way back");
    CHECK(csr_equal(&A, &back), "an empty tile became something");
    csr_free(&back);
    csr_free(&A);
    sparse_free(&dev, &T->head);
}

// The tile columns list every tile once, by column and then by row.
static void test_columns(void)
{
    struct tile16 *T = make_small();
    struct sparse *X;
    CHECK(!sparse_make(&dev, &format_tilecols, &T->head, NULL, &X), "%s", fail_text());
    const struct tilecols *C = tilecols_of(X);
    CHECK(C->ptr[0] == 0 && C->ptr[1] == 2 && C->ptr[2] == 3, "columns start at %d %d", C->ptr[1],
          C->ptr[2]);
    CHECK(C->tile[0] == 0 && C->tile[1] == 2 && C->tile[2] == 1, "tiles %d %d %d", C->tile[0],
          C->tile[1], C->tile[2]);
    CHECK(C->row[0] == 0 && C->row[1] == 1 && C->row[2] == 0, "tile rows %d %d %d", C->row[0],
          C->row[1], C->row[2]);
    CHECK(C->used[0] == 3 && C->used[1] == 2 && C->used[2] == 1, "used rows %x %x %x", C->used[0],
          C->used[1], C->used[2]);
    CHECK(!format_broken(X), "%s", format_broken(X));
    sparse_free(&dev, X);
    sparse_free(&dev, &T->head);
}

TESTS_ON_CPU(dev, test_layout, test_stats, test_empty_tile, test_columns)
