// The table-driven test of SpGEMM: every algorithm x precision x A * A and A * A^T x tiny matrix,
// with whole-number values, so that the result must be exact. On the CPU, a GPU, or the emulator.
#include "cases.h"

#include "algos/op_spgemm.h"

static bool dense_row(int32_t i, int32_t j) { return i == 7 || (i + 2 * j) % 41 == 0; }
static bool dense_column(int32_t i, int32_t j) { return j == 13 || (i + 2 * j) % 41 == 0; }
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
// More than 32 tiles in most tile rows; tile row 3 and tile column 7 have one tile alone, so that
// lists of tiles meet shorter and longer ones.
static bool many_tiles(int32_t i, int32_t j)
{
    int32_t r = i / 16, c = j / 16;
    return (i + j) % 16 == (7 * r + 3 * c) % 16 && i % 4 == c % 4 && (r != 3 || c == 5) &&
           (c != 7 || r == 2);
}
static bool block_diagonal(int32_t i, int32_t j) { return i / 12 == j / 12; }
static bool power_law(int32_t i, int32_t j) { return (j + 1) * (i + 1) < 120 + (i + j) % 3; }
static bool one_in_five(int32_t i, int32_t j)
{
    return random_at(4, (uint64_t)i * 1000 + (uint64_t)j) % 5 == 0;
}

static const struct shape shapes[] = {
    {"no rows and no columns", 0, 0, none, 0},
    {"no rows", 0, 5, none, 0},
    {"no columns", 5, 0, none, 0},
    {"no entries", 4, 4, none, 0},
    {"1 x 1", 1, 1, full, 0},
    {"1 x 1 empty", 1, 1, none, 0},
    {"1 x n", 1, 70, full, 0},
    {"m x 1", 70, 1, full, 0},
    {"identity", 70, 70, diagonal, 0},
    {"permutation", 50, 50, permutation, 0},
    {"shift", 40, 40, shift, 0},
    {"lower triangle", 40, 40, lower, 0},
    {"tridiagonal", 100, 100, tridiagonal, 0},
    {"dense row", 60, 60, dense_row, 0},
    {"dense column", 60, 60, dense_column, 0},
    {"dense first row and column, C is full", 45, 45, cross, 0},
    {"one row that hits every row", 45, 45, first_row_only, 0},
    {"arrow", 70, 70, arrow, 0},
    {"every other row empty", 61, 61, odd_rows, 0},
    {"every other column empty", 61, 61, odd_columns, 0},
    {"one full tile", 40, 40, full_tile, 0},
    {"full tiles, a checkerboard", 64, 64, full_tiles, 0},
    {"corners of tiles", 47, 47, tile_corners, 0},
    {"blocks across tiles", 60, 60, block_diagonal, 0},
    {"dense 16 x 16", 16, 16, full, 0},
    {"dense 17 x 17", 17, 17, full, 0},
    {"dense 33 x 33", 33, 33, full, 0},
    {"random", 90, 90, scattered, 0}, // every ninth, so that the smallest table has the options
    {"tiles everywhere", 600, 600, many_tiles, 0},
    {"very sparse", 150, 150, few, 0},
    {"dense random", 48, 48, one_in_five, 0},
    {"power law", 80, 80, power_law, 0},
    {"wide", 20, 150, scattered, 0},
    {"tall", 150, 20, scattered, 0},
    {"wide with empty rows and columns", 37, 90, few, 0},
    {"3 x 200 dense", 3, 200, full, 0},
    {"unsorted entries", 60, 60, scattered, 1},
    {"duplicate entries", 60, 60, scattered, 3},
};

// What follows is built: its rows of C are chosen, or its columns are far apart. The rows that do
// the choosing come first; the columns that they end in belong to rows that are empty.

// Row i * i of C has exactly `products` products and `nonzeros` nonzeros.
struct row_of_c {
    int32_t products, nonzeros;
};

// One below, at and one above each boundary of paper 2's table I.
static const struct row_of_c small_rows[] = {
    // Each product a nonzero: both groupings at once.
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

// Rows to multiply: `full` has 1,024 columns, eight such lie side by side; pieces of 1, 2, 4 ...
// 512 columns lie after them; the last column is that of the ones. All but the ones come twice.
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

// Picks factors for row i: disjoint ones for the nonzeros, then again the same columns for the rest
// of the products.
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
    CHECK(ones <= ONES, "row %d: %d products are left over", i, again);
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

#define COUNT(list) ((int32_t)(sizeof list / sizeof *list))

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

// Tiles of C with 191, 192, 193, 255 and 256 nonzeros, the bounds of paper 5's accumulators, and
// tiles whose sums are all 0 but whose structure is there. Block (0, b) of A times block (b, t):
// an identity times what the tile of C is to be.
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
        // One sum in the next tile does not cancel.
        if (d == 5) add_entry(T, 128 + d, 180, 2);
    }
}

// Tile row 0 has 32 tiles of one kind and then 16 of the other: with much in them, or with one
// nonzero each. What they meet makes a full tile of C in tile column 0 and half a one in the last.
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

static const struct built {
    const char *name;
    int32_t n;
    int64_t room;
    bool aat; // A * A^T, too; else it says nothing new
    void (*build)(struct coo *T);
} built[] = {
    {"rows at the small boundaries of table I", CHOSEN_N, 60000, false, build_small_rows},
    {"rows at the large boundaries of table I", CHOSEN_N, 60000, false, build_large_rows},
    {"columns that meet in a table", FAR_N, 2000, true, build_far_columns},
    {"tiles full, nearly full, and cancelled", 16 * TILE_BLOCKS + 5, 4000, true, build_tiles},
    {"many tiles, dense and sparse", 16 * (MIXED + 1), 4000, true, build_dense_first},
    {"many tiles, sparse and dense", 16 * (MIXED + 1), 4000, true, build_dense_last},
    {"stored zeros", 30, 90, true, build_zeros},
    {"many products in one element", 502, 1001, true, build_inner},
};

// Options of `tile` on CUDA that decide together how a tile of C is made.
static const struct {
    double full, window, matches, tnnz, prune;
} together[] = {
    {0, 0, 32, 0, 0},     {0, 32, 32, 256, 1},     {20, 0, 33, 256, 0},
    {20, 2048, 32, 0, 1}, {257, 2048, 33, 256, 0}, {-1, -1, 32, 256, 0},
};

static void test_together(struct device *dev, const struct inputs *in, const char *shape)
{
    const struct algo *algo = NULL;
    struct operands o;
    for (int e = 0; e < algo_count; e++)
        if (!strcmp(algos[e].name, "tile") && wanted(algos[e].algo, dev, LAYOUT_ROW, in->prec))
            algo = algos[e].algo;
    if (!algo || dev->kind != DEVICE_CUDA) return;
    operands_init(&o, dev, in, LAYOUT_ROW);
    for (size_t x = 0; x < sizeof together / sizeof *together; x++) {
        const struct {
            const char *name;
            double value;
        } set[] = {{"full", together[x].full},
                   {"window", together[x].window},
                   {"matches", together[x].matches},
                   {"tnnz", together[x].tnnz},
                   {"prune", together[x].prune}};
        double opt[ALGO_OPTIONS_MAX] = {0};
        char note[128] = "";
        default_options(algo, opt);
        for (int s = 0; s < 5; s++) {
            bool found = false;
            for (int i = 0; algo->options[i].name; i++)
                if (!strcmp(algo->options[i].name, set[s].name))
                    found = true, opt[i] = set[s].value;
            CHECK(found, "tile has no option %s", set[s].name);
            snprintf(note + strlen(note), sizeof note - strlen(note), ", %s=%g", set[s].name,
                     set[s].value);
        }
        test_case(algo, opt, &o, shape, note);
    }
    operands_free(&o);
}

enum tried { DEFAULTS, EACH_OPTION, TOGETHER }; // beyond the defaults, options

static void test_matrix(struct device *dev, const struct csr *A, enum mul mul, const char *name,
                        enum tried options)
{
    for (int prec = F32; prec <= F64; prec++) {
        struct inputs in = {.A = A, .prec = (enum prec)prec, .seed = 7, .mul = mul};
        int err = ops[OP_SPGEMM].make(&in);
        CHECK(!err, "inputs: %s", fail_text());
        if (!err) {
            test_inputs(dev, &in, name);
            if (options && prec == F64) test_options(dev, &in, name, false);
            if (options == TOGETHER) test_together(dev, &in, name);
        }
        inputs_free(&in);
    }
}

// The short table is every third shape.
static void test_device(struct device *dev, int step)
{
    struct csr A;
    for (int32_t s = 0; s < COUNT(shapes); s += step) {
        const struct shape *x = &shapes[s];
        if (shape_build(x, &A)) continue;
        bool options = x->rule == scattered && x->m == x->n && !x->copies;
        for (int mul = x->m == x->n ? MUL_AA : MUL_AAT; mul <= MUL_AAT; mul++)
            test_matrix(dev, &A, (enum mul)mul, x->name,
                        options || (x->rule == many_tiles && mul == MUL_AA) ? EACH_OPTION
                                                                            : DEFAULTS);
        csr_free(&A);
    }
    for (int32_t b = 0; b < COUNT(built); b += step) {
        const struct built *x = &built[b];
        struct coo T;
        CHECK(!entries_alloc(&T, x->n, x->n, x->room), "%s", fail_text());
        x->build(&T);
        CHECK(T.nnz <= x->room, "%s: %lld entries", x->name, (long long)T.nnz);
        if (entries_to_csr(&T, x->name, &A)) continue;
        enum tried options = x->build == build_small_rows ? EACH_OPTION : DEFAULTS;
        if (x->build == build_dense_first || x->build == build_dense_last) options = TOGETHER;
        test_matrix(dev, &A, MUL_AA, x->name, options);
        if (x->aat) test_matrix(dev, &A, MUL_AAT, x->name, DEFAULTS);
        csr_free(&A);
    }
}

// The rows that were built have the products and nonzeros that they were built for.
static void test_chosen(const struct row_of_c *rows, int32_t count, void (*build)(struct coo *T))
{
    struct coo T;
    struct csr A;
    struct sparse_row row;
    if (entries_alloc(&T, CHOSEN_N, CHOSEN_N, 60000)) return;
    build(&T);
    if (entries_to_csr(&T, "chosen rows", &A)) return;
    struct inputs in = {.A = &A, .S = &A, .prec = F64, .mul = MUL_AA};
    CHECK(!sparse_row_alloc(&row, &in), "%s", fail_text());
    for (int32_t c = 0; c < count; c++) {
        int64_t products = 0;
        for (int64_t p = A.ptr[c]; p < A.ptr[c + 1]; p++)
            products += A.ptr[A.idx[p] + 1] - A.ptr[A.idx[p]];
        spgemm_row(&in, c, &row);
        CHECK(products == rows[c].products && row.count == rows[c].nonzeros,
              "row %d: %lld products and %lld nonzeros instead of %d and %d", c,
              (long long)products, (long long)row.count, rows[c].products, rows[c].nonzeros);
    }
    sparse_row_free(&row);
    csr_free(&A);
}

int main(int argc, char **argv)
{
    test_chosen(small_rows, COUNT(small_rows), build_small_rows);
    test_chosen(large_rows, COUNT(large_rows), build_large_rows);
    return cases_main(argc, argv, OP_SPGEMM, test_device);
}
