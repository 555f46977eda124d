// The lists of shapes make this file long.
#include "exact/shapes.h"

#include <stdlib.h>

static bool diagonal(int32_t i, int32_t j) { return i == j; }
static bool lower(int32_t i, int32_t j) { return j <= i; }
static bool tridiagonal(int32_t i, int32_t j) { return abs(i - j) <= 1; }

int entries_to_csr(struct coo *T, const char *name, struct csr *A)
{
    int err = csr_from_coo(T, A, NULL);
    coo_free(T);
    if (!err && csr_check(A)) bug("%s: %s", name, csr_check(A));
    return err;
}

int shape_build(const struct shape *s, struct csr *A)
{
    int copies = s->copies ? s->copies : 1;
    struct coo T;
    int err = entries_alloc(&T, s->m, s->n, s->build ? s->room : (int64_t)s->m * s->n * copies);
    if (err) return err;
    if (s->build) {
        s->build(&T);
        if (T.nnz > s->room) bug("%s: %lld entries", s->name, (long long)T.nnz);
        return entries_to_csr(&T, s->name, A);
    }
    for (int c = 0; c < copies; c++)
        for (int32_t i = 0; i < s->m; i++)
            for (int32_t q = 0; q < s->n; q++) {
                // 37 and n are coprime in the scrambled shapes, so this is a permutation.
                int32_t j = s->copies ? (q * 37 + 11) % s->n : q;
                if (s->rule(i, j)) add_entry(&T, i, j, value_at(i, j));
            }
    return entries_to_csr(&T, s->name, A);
}

static bool dense_row(int32_t i, int32_t j) { return i == 7 || j == i % 5; }
static bool dense_row_first(int32_t i, int32_t j) { return i == 0 || j == i; }
static bool dense_row_last(int32_t i, int32_t j) { return i == 39 || j == i; }
static bool dense_column(int32_t i, int32_t j) { return (void)i, j == 3; }
static bool only_first_row(int32_t i, int32_t j) { return i == 0 && j % 2; }
static bool only_last_row(int32_t i, int32_t j) { return i == 299 && j % 2; }
static bool first_half_empty(int32_t i, int32_t j) { return i >= 150 && (i + j) % 7 == 0; }
static bool last_half_empty(int32_t i, int32_t j) { return i < 150 && (i + j) % 7 == 0; }
static bool every_other_row(int32_t i, int32_t j) { return i % 2 && (i + 3 * j) % 5 == 0; }
static bool two_far_rows(int32_t i, int32_t j) { return (i == 5 || i == 2990) && j < 40; }
static bool rows_of_32(int32_t i, int32_t j) { return (j + i) % 64 < 32; }
static bool rows_of_33(int32_t i, int32_t j) { return (j + i) % 64 < 33; }
static bool rows_of_4(int32_t i, int32_t j) { return (j + 64 - i % 64) % 16 == 0; }
static bool power_law(int32_t i, int32_t j) { return j * (i + 1) < 400 + (i + j) % 3; }
static bool long_then_short(int32_t i, int32_t j) { return i % 50 == 10 ? true : j == i % 700; }

const struct shape shapes[] = {
    {.name = "no rows and no columns", .m = 0, .n = 0, .rule = none},
    {.name = "no rows", .m = 0, .n = 5, .rule = none},
    {.name = "no columns", .m = 5, .n = 0, .rule = none},
    {.name = "no entries", .m = 4, .n = 4, .rule = none},
    {.name = "1 x 1", .m = 1, .n = 1, .rule = full},
    {.name = "1 x 1 empty", .m = 1, .n = 1, .rule = none},
    {.name = "1 x n", .m = 1, .n = 300, .rule = full},
    {.name = "1 x n, one row of 3", .m = 1, .n = 3, .rule = full},
    {.name = "m x 1", .m = 300, .n = 1, .rule = full},
    {.name = "identity", .m = 70, .n = 70, .rule = diagonal},
    {.name = "wide diagonal", .m = 20, .n = 90, .rule = diagonal},
    {.name = "tall diagonal", .m = 90, .n = 20, .rule = diagonal},
    {.name = "every row length to 80", .m = 80, .n = 80, .rule = lower},
    {.name = "tridiagonal", .m = 100, .n = 100, .rule = tridiagonal},
    {.name = "one dense row", .m = 40, .n = 400, .rule = dense_row},
    {.name = "first row dense", .m = 40, .n = 400, .rule = dense_row_first},
    {.name = "last row dense", .m = 40, .n = 400, .rule = dense_row_last},
    {.name = "one dense column", .m = 200, .n = 9, .rule = dense_column},
    {.name = "only the first row", .m = 300, .n = 90, .rule = only_first_row},
    {.name = "only the last row", .m = 300, .n = 90, .rule = only_last_row},
    {.name = "first half empty", .m = 300, .n = 40, .rule = first_half_empty},
    {.name = "last half empty", .m = 300, .n = 40, .rule = last_half_empty},
    {.name = "every other row empty", .m = 101, .n = 60, .rule = every_other_row},
    {.name = "3000 rows, two of them used", .m = 3000, .n = 50, .rule = two_far_rows},
    {.name = "rows of exactly 32", .m = 24, .n = 64, .rule = rows_of_32},
    {.name = "rows of exactly 33", .m = 24, .n = 64, .rule = rows_of_33},
    {.name = "rows of exactly 4", .m = 128, .n = 64, .rule = rows_of_4},
    {.name = "dense 33 x 33", .m = 33, .n = 33, .rule = full},
    {.name = "dense 3 x 257", .m = 3, .n = 257, .rule = full},
    {.name = "random", .m = 120, .n = 90, .rule = scattered, .options = true},
    {.name = "very sparse", .m = 400, .n = 200, .rule = few},
    {.name = "power law", .m = 120, .n = 400, .rule = power_law},
    {.name = "long rows among short ones", .m = 160, .n = 700, .rule = long_then_short},
    {.name = "unsorted entries", .m = 60, .n = 50, .rule = scattered, .copies = 1},
    {.name = "duplicate entries", .m = 60, .n = 50, .rule = scattered, .copies = 3},
};

const int shape_count = COUNT(shapes);

static bool product_dense_row(int32_t i, int32_t j) { return i == 7 || (i + 2 * j) % 41 == 0; }
static bool product_dense_column(int32_t i, int32_t j) { return j == 13 || (i + 2 * j) % 41 == 0; }
static bool cross(int32_t i, int32_t j) { return i == 0 || j == 0; }
static bool first_row_only(int32_t i, int32_t j) { return (void)j, i == 0; }
static bool permutation(int32_t i, int32_t j) { return (i * 7 + 3) % 50 == j; }
static bool shift(int32_t i, int32_t j) { return j == i + 1; }
static bool arrow(int32_t i, int32_t j) { return i == j || i == 69 || j == 69; }
static bool odd_rows(int32_t i, int32_t j) { return i % 2 && (i + 3 * j) % 9 == 0; }
static bool odd_columns(int32_t i, int32_t j) { return j % 2 && (i + 3 * j) % 9 == 0; }
static bool full_tile(int32_t i, int32_t j) { return i / 16 == 1 && j / 16 == 1; }
static bool full_tiles(int32_t i, int32_t j) { return (i / 16 + j / 16) % 2 == 0; }
static bool tile_corners(int32_t i, int32_t j) { return i % 16 % 15 == 0 && j % 16 % 15 == 0; }
// Most tile rows have more than 32 tiles. Tile row 3 and tile column 7 have a single tile, so that
// lists of tiles meet shorter and longer ones.
static bool many_tiles(int32_t i, int32_t j)
{
    int32_t r = i / 16, c = j / 16;
    return (i + j) % 16 == (7 * r + 3 * c) % 16 && i % 4 == c % 4 && (r != 3 || c == 5) &&
           (c != 7 || r == 2);
}
static bool block_diagonal(int32_t i, int32_t j) { return i / 12 == j / 12; }
static bool product_power_law(int32_t i, int32_t j)
{
    return (j + 1) * (i + 1) < 120 + (i + j) % 3;
}
static bool one_in_five(int32_t i, int32_t j)
{
    return random_at(4, (uint64_t)i * 1000 + (uint64_t)j) % 5 == 0;
}

// The next shapes are built: their rows of C are chosen, or their columns are far apart. The first
// rows of A select factors, which are later rows. The columns of factors belong to empty rows.

// Rows at each boundary of table I of Nagasaka et al. 2017, one below and one above. The first rows
// are at boundaries of bhsparse's bins.
static const struct row_of_c small_rows[] = {
    {2, 2},
    {3, 1},
    {64, 64},
    {65, 65},
    {65, 33},
    {128, 128},
    {129, 129},
    {129, 65},
    // Each product is a nonzero: both groupings change at once.
    {1, 1},
    {15, 15},
    {16, 16},
    {17, 17},
    {31, 31},
    {32, 32},
    {33, 33},
    {255, 255},
    {256, 256},
    {257, 257},
    {511, 511},
    {512, 512},
    {513, 513},
    {1023, 1023},
    {1024, 1024},
    {1025, 1025},
    // The nonzeros stay in a group when the products leave it.
    {32, 1},
    {33, 1},
    {32, 16},
    {33, 16},
    {33, 17},
    {512, 16},
    {513, 16},
    {513, 17},
    {513, 256},
    {512, 257},
    {1024, 512},
    {1025, 512},
    {1025, 513}};
static const struct row_of_c large_rows[] = {{2047, 2047}, {2048, 2048}, {2049, 2049}, {4095, 4095},
                                             {4096, 4096}, {4097, 4097}, {8191, 8191}, {8192, 8192},
                                             {8193, 8193}, {2049, 1024}, {4096, 2048}, {4097, 2049},
                                             {8192, 4096}, {8193, 4096}, {8193, 4097}};

// Factors. FULL_ROWS rows of FULL columns lie side by side. PIECES rows of 1, 2, 4 ... 512 columns
// follow. ONES rows have the last column only. All but these come twice.
#define FULL_ROWS  8
#define FULL       1024
#define PIECES     10
#define ONES       600
#define FIRST_ONE  (2 * FULL_ROWS + 2 * PIECES)
#define FACTORS    (FIRST_ONE + ONES)
#define CHOSEN_MAX 64
#define CHOSEN_N   (CHOSEN_MAX + FACTORS + FULL_ROWS * FULL + FULL + 1)

static void add_run(struct coo *T, int32_t i, int32_t first, int32_t count)
{
    for (int32_t j = first; j < first + count; j++) add_entry(T, i, j, value_at(i, j));
}

// Picks factors for row i: first disjoint factors for the nonzeros, then factors with the same
// columns for the other products.
static void add_chosen(struct coo *T, int32_t i, const struct row_of_c *c)
{
    int32_t rest = c->nonzeros - 1, again = c->products - c->nonzeros, first = CHOSEN_MAX;
    int32_t fulls = rest / FULL, pieces = rest % FULL, ones = 1;
    for (int32_t f = 0; f < fulls; f++) add_entry(T, i, first + f, value_at(i, f));
    for (int32_t f = 0; f < fulls && again >= FULL; f++, again -= FULL)
        add_entry(T, i, first + FULL_ROWS + f, value_at(i, f + 1));
    for (int32_t e = PIECES - 1; e >= 0; e--) {
        if (!(pieces >> e & 1)) continue;
        add_entry(T, i, first + 2 * FULL_ROWS + e, value_at(i, e));
        if (again < 1 << e) continue;
        add_entry(T, i, first + 2 * FULL_ROWS + PIECES + e, value_at(i, e + 1));
        again -= 1 << e;
    }
    ones += again;
    if (ones > ONES) bug("row %d: %d products are left over", i, again);
    for (int32_t o = 0; o < ones && o < ONES; o++)
        add_entry(T, i, first + FIRST_ONE + o, value_at(i, o) + 1);
}

static void build_chosen(struct coo *T, const struct row_of_c *rows, int32_t count)
{
    int32_t first = CHOSEN_MAX, columns = CHOSEN_MAX + FACTORS;
    for (int32_t c = 0; c < count; c++) add_chosen(T, c, &rows[c]);
    for (int32_t f = 0; f < 2 * FULL_ROWS; f++)
        add_run(T, first + f, columns + f % FULL_ROWS * FULL, FULL);
    for (int32_t e = 0; e < 2 * PIECES; e++)
        add_run(T, first + 2 * FULL_ROWS + e, columns + FULL_ROWS * FULL + (1 << e % PIECES),
                1 << e % PIECES);
    for (int32_t o = 0; o < ONES; o++) add_run(T, first + FIRST_ONE + o, CHOSEN_N - 1, 1);
}

static void build_small_rows(struct coo *T) { build_chosen(T, small_rows, COUNT(small_rows)); }
static void build_large_rows(struct coo *T) { build_chosen(T, large_rows, COUNT(large_rows)); }

// Columns that are multiples of a table's size, and more tile columns than fit in 1,024 bits x 16.
#define FAR_N 16401
static void build_far_columns(struct coo *T)
{
    for (int32_t e = 0; e < 9; e++) {
        // Rows 1 .. 9 have up to 64 columns 2^(14 - e) apart, row 0 and rows 10 .. use them all.
        int32_t step = 1 << (14 - e);
        for (int32_t c = 0; c < 64 && c * step < FAR_N; c++)
            add_entry(T, 1 + e, FAR_N - 1 - c * step, value_at(e, c));
        add_entry(T, 0, 1 + e, 1);
        add_entry(T, 10 + e, 1 + e, 2);
        add_entry(T, 20, 1 + e, value_at(20, e));
    }
    for (int32_t c = 0; c < 256; c++) add_entry(T, 21, c * 64, value_at(21, c));
    for (int32_t c = 0; c < 600; c++) add_entry(T, 22, c * 16, value_at(22, c));
    add_entry(T, 23, 21, 1);
    add_entry(T, 23, 22, 1);
    add_entry(T, 16000, 23, 3);
    add_entry(T, FAR_N - 1, FAR_N - 1, 1);
}

// Tiles of C with 191, 192, 193, 255 and 256 nonzeros, the bounds of TileSpGEMM's accumulators.
// Other tiles have nonzeros, but all sums are 0. Block (0, b) of A is the identity, and block (b,
// t) is the wanted tile of C.
#define TILE_BLOCKS 12
static void build_tiles(struct coo *T)
{
    static const int32_t counts[] = {1, 191, 192, 193, 255, 256};
    for (int32_t t = 0; t < COUNT(counts); t++) {
        for (int32_t d = 0; d < 16; d++) add_entry(T, 16 * t + d, 96 + d, 1 + t);
        for (int32_t e = 0; e < counts[t]; e++) {
            int32_t cell = e * 37 % 256; // spread over the tile
            add_entry(T, 96 + cell / 16, 16 * t + cell % 16, value_at(t, e));
        }
    }
    // Rows 112 .. 127: x times row 128 + d, minus x times row 144 + d, which are the same.
    for (int32_t d = 0; d < 16; d++) {
        add_entry(T, 112 + d, 128 + d, 3);
        add_entry(T, 112 + d, 144 + d, -3);
        for (int32_t j = 0; j < 16; j++) {
            add_entry(T, 128 + d, 160 + j, value_at(d, j));
            add_entry(T, 144 + d, 160 + j, value_at(d, j));
        }
        // A single sum in the next tile does not cancel.
        if (d == 5) add_entry(T, 128 + d, 180, 2);
    }
}

// Tile row 0 has 32 tiles of one kind and then 16 of the other: with much in them, or with one
// nonzero each. Their products fill a tile of C in tile column 0, and half a tile in the last.
#define MIXED 49
static void build_mixed(struct coo *T, bool dense_first)
{
    for (int32_t x = 1; x < MIXED; x++) {
        bool dense = (x <= 32) == dense_first;
        for (int32_t cell = x % 3; cell < 256 && dense; cell += 4)
            add_entry(T, cell / 16, 16 * x + cell % 16, value_at(x, cell));
        if (!dense) add_entry(T, x % 16, 16 * x + x % 5, value_at(x, x));
        for (int32_t d = 0; d < 16; d++) {
            add_entry(T, 16 * x + d, (d * 7 + x) % 16, value_at(x, d));
            if (d % 2) add_entry(T, 16 * x + d, 16 * MIXED + d / 2, value_at(d, x));
        }
    }
}

static void build_dense_first(struct coo *T) { build_mixed(T, true); }
static void build_dense_last(struct coo *T) { build_mixed(T, false); }

// Values of 0 in A: their products count in the structure of C.
static void build_zeros(struct coo *T)
{
    for (int32_t i = 0; i < 30; i++) {
        add_entry(T, i, i, 0);
        add_entry(T, i, (i * 11 + 4) % 30, i % 3 ? 0 : 2);
        add_entry(T, i, 29 - i, i % 2 ? 1 : 0);
    }
}

// A row of 500 nonzeros and as many products in one element, its factors in one column.
static void build_inner(struct coo *T)
{
    for (int32_t j = 1; j < 501; j++) {
        add_entry(T, 0, j, value_at(0, j));
        add_entry(T, j, 3, value_at(j, 3));
    }
    add_entry(T, 501, 0, 1);
}

// Rows of C whose factors interleave: each factor has columns between those of the others. Row r is
// the sum of 2, 4, 8 or 16 factors. Every fifth step two factors share a column.
#define WOVEN_ROWS    4
#define WOVEN_FACTORS 16
#define WOVEN_STEPS   200
#define WOVEN_FIRST   (WOVEN_ROWS + WOVEN_FACTORS)
#define WOVEN_N       (WOVEN_FIRST + WOVEN_FACTORS * WOVEN_STEPS)
static void build_woven(struct coo *T)
{
    for (int32_t r = 0; r < WOVEN_ROWS; r++)
        for (int32_t f = 0; f < 2 << r; f++) add_entry(T, r, WOVEN_ROWS + f, value_at(r, f));
    for (int32_t f = 0; f < WOVEN_FACTORS; f++)
        for (int32_t c = 0; c < WOVEN_STEPS; c++) {
            int32_t column = WOVEN_FIRST + c * WOVEN_FACTORS;
            add_entry(T, WOVEN_ROWS + f, column + f * 7 % WOVEN_FACTORS, value_at(f, c));
            if (c % 5 == 0)
                add_entry(T, WOVEN_ROWS + f, column + (f * 7 + 7) % WOVEN_FACTORS, value_at(c, f));
        }
}

const struct shape product_shapes[] = {
    {.name = "no rows and no columns", .m = 0, .n = 0, .rule = none},
    {.name = "no rows", .m = 0, .n = 5, .rule = none},
    {.name = "no columns", .m = 5, .n = 0, .rule = none},
    {.name = "no entries", .m = 4, .n = 4, .rule = none},
    {.name = "1 x 1", .m = 1, .n = 1, .rule = full},
    {.name = "1 x 1 empty", .m = 1, .n = 1, .rule = none},
    {.name = "1 x n", .m = 1, .n = 70, .rule = full},
    {.name = "m x 1", .m = 70, .n = 1, .rule = full},
    {.name = "identity", .m = 70, .n = 70, .rule = diagonal},
    {.name = "permutation", .m = 50, .n = 50, .rule = permutation},
    {.name = "shift", .m = 40, .n = 40, .rule = shift},
    {.name = "lower triangle", .m = 40, .n = 40, .rule = lower},
    {.name = "tridiagonal", .m = 100, .n = 100, .rule = tridiagonal},
    {.name = "dense row", .m = 60, .n = 60, .rule = product_dense_row},
    {.name = "dense column", .m = 60, .n = 60, .rule = product_dense_column},
    {.name = "dense first row and column, C is full", .m = 45, .n = 45, .rule = cross},
    {.name = "one row that hits every row", .m = 45, .n = 45, .rule = first_row_only},
    {.name = "arrow", .m = 70, .n = 70, .rule = arrow},
    {.name = "every other row empty", .m = 61, .n = 61, .rule = odd_rows},
    {.name = "every other column empty", .m = 61, .n = 61, .rule = odd_columns},
    {.name = "one full tile", .m = 40, .n = 40, .rule = full_tile},
    {.name = "full tiles, a checkerboard", .m = 64, .n = 64, .rule = full_tiles},
    {.name = "corners of tiles", .m = 47, .n = 47, .rule = tile_corners},
    {.name = "blocks across tiles", .m = 60, .n = 60, .rule = block_diagonal},
    {.name = "dense 16 x 16", .m = 16, .n = 16, .rule = full},
    {.name = "dense 17 x 17", .m = 17, .n = 17, .rule = full},
    {.name = "dense 33 x 33", .m = 33, .n = 33, .rule = full},
    {.name = "random",
     .m = 90,
     .n = 90,
     .rule = scattered,
     .options = true}, // every ninth, so that the smallest table has the options
    {.name = "tiles everywhere", .m = 600, .n = 600, .rule = many_tiles, .options = true},
    {.name = "very sparse", .m = 150, .n = 150, .rule = few},
    {.name = "dense random", .m = 48, .n = 48, .rule = one_in_five},
    {.name = "power law", .m = 80, .n = 80, .rule = product_power_law},
    {.name = "wide", .m = 20, .n = 150, .rule = scattered},
    {.name = "tall", .m = 150, .n = 20, .rule = scattered},
    {.name = "wide with empty rows and columns", .m = 37, .n = 90, .rule = few},
    {.name = "3 x 200 dense", .m = 3, .n = 200, .rule = full},
    {.name = "unsorted entries", .m = 60, .n = 60, .rule = scattered, .copies = 1},
    {.name = "duplicate entries", .m = 60, .n = 60, .rule = scattered, .copies = 3},
    {.name = "rows at the small boundaries of table I",
     .m = CHOSEN_N,
     .n = CHOSEN_N,
     .build = build_small_rows,
     .chosen = small_rows,
     .chosen_count = COUNT(small_rows),
     .room = 60000,
     .options = true,
     .square = true},
    {.name = "rows at the large boundaries of table I",
     .m = CHOSEN_N,
     .n = CHOSEN_N,
     .build = build_large_rows,
     .chosen = large_rows,
     .chosen_count = COUNT(large_rows),
     .room = 60000,
     .square = true},
    {.name = "columns that meet in a table",
     .m = FAR_N,
     .n = FAR_N,
     .build = build_far_columns,
     .room = 2000},
    {.name = "tiles full, nearly full, and cancelled",
     .m = 16 * TILE_BLOCKS + 5,
     .n = 16 * TILE_BLOCKS + 5,
     .build = build_tiles,
     .room = 4000},
    {.name = "many tiles, dense and sparse",
     .m = 16 * (MIXED + 1),
     .n = 16 * (MIXED + 1),
     .build = build_dense_first,
     .mixed = true,
     .room = 4000,
     .options = true},
    {.name = "many tiles, sparse and dense",
     .m = 16 * (MIXED + 1),
     .n = 16 * (MIXED + 1),
     .build = build_dense_last,
     .mixed = true,
     .room = 4000,
     .options = true},
    {.name = "stored zeros", .m = 30, .n = 30, .build = build_zeros, .room = 90},
    {.name = "many products in one element",
     .m = 502,
     .n = 502,
     .build = build_inner,
     .room = 1001},
    {.name = "long rows whose factors interleave",
     .m = WOVEN_N,
     .n = WOVEN_N,
     .build = build_woven,
     .room = 30 + WOVEN_FACTORS * WOVEN_STEPS * 6 / 5},
};
const int product_shape_count = COUNT(product_shapes);
