// 16 x 16 tiles: csr -> tiles -> csr gives back the same csr, and tile16_check() finds what is
// broken.
#include "formats/tile16.h"

#include "test.h"

typedef bool (*rule)(int32_t i, int32_t j);
static bool none(int32_t i, int32_t j) { return (void)i, (void)j, false; }
static bool full(int32_t i, int32_t j) { return (void)i, (void)j, true; }
static bool diagonal(int32_t i, int32_t j) { return i == j; }
static bool corners(int32_t i, int32_t j) { return i % 16 % 15 == 0 && j % 16 % 15 == 0; }
static bool full_tiles(int32_t i, int32_t j) { return (i / 16 + j / 16) % 3 == 0; }
static bool one_row(int32_t i, int32_t j) { return (void)j, i == 17; }
static bool one_column(int32_t i, int32_t j) { return (void)i, j == 17; }
static bool last_only(int32_t i, int32_t j) { return i >= 40 && j >= 40; }
static bool scattered(int32_t i, int32_t j)
{
    return random_at(1, (uint64_t)i * 4099 + (uint64_t)j) % 11 == 0;
}
static bool very_sparse(int32_t i, int32_t j)
{
    return random_at(2, (uint64_t)i * 4099 + (uint64_t)j) % 211 == 0;
}

// Every seventh value is an explicit zero.
static void make(struct csr *A, int32_t m, int32_t n, rule has)
{
    int64_t nnz = 0;
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++) nnz += has(i, j);
    CHECK(!csr_alloc(A, m, n, nnz), "%s", fail_text());
    A->ptr[0] = 0;
    int64_t p = 0;
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < n; j++) {
            if (!has(i, j)) continue;
            A->idx[p] = j;
            A->val[p] = p % 7 ? random_value(3, (uint64_t)p) : 0;
            p++;
        }
        A->ptr[i + 1] = p;
    }
    CHECK(!csr_check(A), "%s", csr_check(A));
}

// The tile columns list every tile once, by column and then by row.
static void check_columns(const struct tile16 *T)
{
    struct tile16_columns C = {0};
    CHECK(!tile16_columns_make(T, &C), "%s", fail_text());
    CHECK(C.ptr[0] == 0 && C.ptr[T->tile_n] == T->tiles, "%lld tiles in the columns, %lld in rows",
          (long long)C.ptr[T->tile_n], (long long)T->tiles);
    int64_t bad = 0;
    for (int32_t j = 0; j < T->tile_n; j++)
        for (int64_t q = C.ptr[j]; q < C.ptr[j + 1]; q++) {
            int64_t t = C.tile[q];
            bool there = t >= 0 && t < T->tiles && T->col[t] == j && T->ptr[C.row[q]] <= t &&
                         t < T->ptr[C.row[q] + 1];
            bad += !there || (q > C.ptr[j] && C.row[q - 1] >= C.row[q]);
        }
    CHECK(bad == 0, "%lld entries of the tile columns are wrong", (long long)bad);
    tile16_columns_free(&C);
}

static void test_identity(void)
{
    const rule rules[] = {none,    full,       diagonal,  corners,   full_tiles,
                          one_row, one_column, last_only, scattered, very_sparse};
    const int32_t sizes[][2] = {{0, 0},    {0, 5},    {5, 0},   {1, 1},   {1, 300},
                                {300, 1},  {15, 17},  {16, 16}, {17, 15}, {32, 48},
                                {33, 100}, {100, 33}, {64, 64}, {47, 49}, {200, 350}};
    for (size_t f = 0; f < sizeof rules / sizeof *rules; f++)
        for (size_t d = 0; d < sizeof sizes / sizeof *sizes; d++) {
            struct csr A, back = {0};
            struct tile16 T = {0};
            make(&A, sizes[d][0], sizes[d][1], rules[f]);
            CHECK(!tile16_from_csr(&A, &T), "%s", fail_text());
            const char *broken = tile16_check(&T);
            CHECK(!broken, "%s", broken);
            CHECK(!tile16_to_csr(&T, &back), "%s", fail_text());
            CHECK(csr_equal(&A, &back), "%d x %d, rule %d", A.m, A.n, (int)f);
            for (int64_t t = 0; t < T.tiles; t++)
                if (T.start[t] == T.start[t + 1])
                    CHECK(false, "%d x %d, rule %d: tile %lld is empty", A.m, A.n, (int)f,
                          (long long)t);
            check_columns(&T);
            tile16_free(&T);
            csr_free(&back);
            csr_free(&A);
        }
}

// Rows 0, 1 and 17 of an 18 x 20 matrix:  (0, 0) (0, 15) (0, 16) | (1, 3) | (17, 2).
static void make_small(struct tile16 *T)
{
    struct csr A;
    CHECK(!csr_alloc(&A, 18, 20, 5), "%s", fail_text());
    const int32_t idx[] = {0, 15, 16, 3, 2};
    for (int32_t i = 0; i <= A.m; i++) A.ptr[i] = i == 0 ? 0 : i == 1 ? 3 : i < 18 ? 4 : 5;
    for (int p = 0; p < 5; p++) A.idx[p] = idx[p], A.val[p] = p + 1;
    CHECK(!tile16_from_csr(&A, T), "%s", fail_text());
    csr_free(&A);
}

static void test_layout(void)
{
    struct tile16 T;
    make_small(&T);
    CHECK(T.tile_m == 2 && T.tile_n == 2 && T.tiles == 3 && T.nnz == 5, "%d x %d tiles, %lld used",
          T.tile_m, T.tile_n, (long long)T.tiles);
    CHECK(T.ptr[0] == 0 && T.ptr[1] == 2 && T.ptr[2] == 3, "tile rows start at %lld %lld",
          (long long)T.ptr[1], (long long)T.ptr[2]);
    CHECK(T.col[0] == 0 && T.col[1] == 1 && T.col[2] == 0, "columns %d %d %d", T.col[0], T.col[1],
          T.col[2]);
    CHECK(T.start[0] == 0 && T.start[1] == 3 && T.start[2] == 4 && T.start[3] == 5,
          "tiles start at %lld %lld %lld", (long long)T.start[1], (long long)T.start[2],
          (long long)T.start[3]);
    const uint8_t tile_idx[] = {0x00, 0x0f, 0x13, 0x00, 0x12};
    const double val[] = {1, 2, 4, 3, 5};
    for (int q = 0; q < 5; q++)
        CHECK(T.idx[q] == tile_idx[q] && T.val[q] == val[q], "nonzero %d: index %02x, value %g", q,
              T.idx[q], T.val[q]);
    CHECK(T.mask[0] == 0x8001 && T.mask[1] == 8 && T.mask[2] == 0 && T.mask[16] == 1 &&
              T.mask[33] == 4,
          "masks %x %x %x %x %x", T.mask[0], T.mask[1], T.mask[2], T.mask[16], T.mask[33]);
    CHECK(T.row_ptr[0] == 0 && T.row_ptr[1] == 2 && T.row_ptr[2] == 3 && T.row_ptr[15] == 3,
          "row pointers %d %d %d %d", T.row_ptr[0], T.row_ptr[1], T.row_ptr[2], T.row_ptr[15]);
    // 3 tile row starts and 4 tile starts of 8 bytes, 3 tiles of 4 + 16 + 32, 5 nonzeros of 1 + 8.
    CHECK(tile16_bytes(&T, 8) == 24 + 32 + 156 + 45, "%lld bytes", (long long)tile16_bytes(&T, 8));
    CHECK(tile16_bytes(&T, 4) == 24 + 32 + 156 + 25, "%lld bytes", (long long)tile16_bytes(&T, 4));
    tile16_free(&T);
}

static void expect_broken(struct tile16 *T, const char *want)
{
    const char *broken = tile16_check(T);
    CHECK_TEXT(broken ? broken : "nothing", want);
}

// One invariant after the other is broken, found, and mended.
#define BREAK(place, value, want)                                                                  \
    do {                                                                                           \
        __typeof__(place) kept = place;                                                            \
        place = value;                                                                             \
        expect_broken(&T, want);                                                                   \
        place = kept;                                                                              \
        CHECK(!tile16_check(&T), "not mended after: %s", want);                                    \
    } while (0)

static void test_check(void)
{
    struct tile16 T;
    make_small(&T);
    CHECK(!tile16_check(&T), "%s", tile16_check(&T));
    BREAK(T.m, -1, "negative size");
    BREAK(T.n, -1, "negative size");
    BREAK(T.nnz, -1, "negative size");
    BREAK(T.tiles, -1, "negative size");
    BREAK(T.m, 33, "tile rows do not cover m");
    BREAK(T.n, 16, "tile columns do not cover n");
    BREAK(T.ptr, NULL, "missing array");
    BREAK(T.col, NULL, "missing array");
    BREAK(T.start, NULL, "missing array");
    BREAK(T.row_ptr, NULL, "missing array");
    BREAK(T.mask, NULL, "missing array");
    BREAK(T.idx, NULL, "missing array");
    BREAK(T.val, NULL, "missing array");
    BREAK(T.ptr[0], 1, "ptr[0] is not 0");
    BREAK(T.ptr[2], 2, "ptr[tile_m] is not tiles");
    BREAK(T.ptr[1], -1, "ptr descends");
    BREAK(T.ptr[1], 4, "ptr descends");
    BREAK(T.start[0], 1, "start[0] is not 0");
    BREAK(T.start[3], 6, "start[tiles] is not nnz");
    BREAK(T.start[1], -1, "start descends");
    BREAK(T.start[1], 5, "start descends");
    BREAK(T.col[2], -1, "tile column outside the matrix");
    BREAK(T.col[1], 2, "tile column outside the matrix");
    BREAK(T.col[1], 0, "tile columns not ascending");
    BREAK(T.row_ptr[0], 1, "row_ptr is not what masks say");
    BREAK(T.row_ptr[15], 4, "row_ptr is not what masks say");
    BREAK(T.mask[2 * 16 + 15], 1, "nonzeros below the last row");
    BREAK(T.m, 17, "nonzeros below the last row");
    BREAK(T.mask[16], 0x8000, "column outside the matrix");
    BREAK(T.mask[15], 1, "masks have more bits than the tile nonzeros");
    BREAK(T.mask[0], 0x8003, "an index is not what the mask says");
    BREAK(T.idx[1], 0x0e, "an index is not what the mask says");
    BREAK(T.idx[1], 0x1f, "an index is not what the mask says");
    BREAK(T.mask[33], 0, "row_ptr is not what masks say");
    tile16_free(&T);

    // Empty tiles are legal, 257 nonzeros are not.
    struct csr A;
    make(&A, 32, 32, full);
    CHECK(!tile16_from_csr(&A, &T), "%s", fail_text());
    BREAK(T.start[1], 257, "a tile has more than 256 nonzeros");
    BREAK(T.mask[15], 0x7fff, "masks have fewer bits than the tile nonzeros");
    csr_free(&A);
    tile16_free(&T);
    make(&A, 16, 16, none);
    CHECK(!tile16_from_csr(&A, &T), "%s", fail_text());
    int64_t ptr[] = {0, 1}, start[] = {0, 0};
    int32_t col[] = {0};
    uint8_t row_ptr[TILE] = {0};
    uint16_t mask[TILE] = {0};
    struct tile16 empty = T;
    empty.tiles = 1, empty.ptr = ptr, empty.start = start, empty.col = col;
    empty.row_ptr = row_ptr, empty.mask = mask;
    CHECK(!tile16_check(&empty), "%s", tile16_check(&empty));
    struct csr back = {0};
    CHECK(!tile16_to_csr(&empty, &back), "%s", fail_text());
    CHECK(csr_equal(&A, &back), "an empty tile became something");
    csr_free(&back);
    csr_free(&A);
    tile16_free(&T);
}

// The n-th allocation fails, for every n until none does.
static void test_allocation_failures(void)
{
    struct csr A, back;
    struct tile16 T = {0};
    struct tile16_columns C = {0};
    make(&A, 50, 70, scattered);
    int n, err = ERR_MEMORY;
    for (n = 0; err == ERR_MEMORY && n < 20; n++) {
        mem_fail_at(n + 1);
        err = tile16_from_csr(&A, &T);
        CHECK(!err || !T.ptr, "something was returned");
    }
    CHECK(!err && n == 8, "error %d, the first try without a failure is number %d", err, n);
    for (n = 0, err = ERR_MEMORY; err == ERR_MEMORY && n < 20; n++) {
        mem_fail_at(n + 1);
        err = tile16_to_csr(&T, &back);
    }
    CHECK(!err && n == 4, "error %d, the first try without a failure is number %d", err, n);
    for (n = 0, err = ERR_MEMORY; err == ERR_MEMORY && n < 20; n++) {
        mem_fail_at(n + 1);
        err = tile16_columns_make(&T, &C);
    }
    CHECK(!err && n == 5, "error %d, the first try without a failure is number %d", err, n);
    mem_fail_at(0);
    CHECK(csr_equal(&A, &back), "the csr came back changed");
    csr_free(&A);
    csr_free(&back);
    tile16_free(&T);
    tile16_columns_free(&C);
}

int main(void)
{
    test_identity();
    test_layout();
    test_check();
    test_allocation_failures();
    return TEST_END();
}
