// facts.c: matrices counted by hand, and random ones against a count over a dense copy.
#include "data/gen.h"
#include "data/facts.h"
#include "pictures.h"

#include <math.h>
#include <omp.h>

static struct matrix_facts facts_of(const struct csr *A)
{
    struct matrix_facts s;
    facts_rows(A, &s);
    CHECK(!facts_structure(A, FACTS_PRODUCTS_LIMIT, &s), "%s", fail_text());
    return s;
}

static bool close_to(double x, double y) { return fabs(x - y) <= 1e-12 * (1 + fabs(y)); }

#define SAME(field, want) CHECK(s.field == (want), #field " is %lld", (long long)s.field)
#define NEAR(field, want) CHECK(close_to(s.field, want), #field " is %.17g", s.field)

static void test_by_hand(void)
{
    // Row lengths 2 0 3 1: mean 1.5, squares 14, variance 14 / 4 - 1.5^2 = 1.25.
    struct csr A = from_picture("x..x|....|xx.x|...x");
    struct matrix_facts s = facts_of(&A);
    NEAR(row_mean, 1.5);
    SAME(row_min, 0);
    SAME(row_max, 3);
    NEAR(row_cv, sqrt(1.25) / 1.5);
    SAME(empty_rows, 1);
    SAME(empty_cols, 1);
    SAME(bandwidth, 3);
    SAME(products_aa, 2 + 1 + 2 + 0 + 1 + 1); // row by row: lengths of the rows 0 3, 0 1 3, 3
    SAME(products_aat, 2 * 2 + 1 * 1 + 3 * 3);
    SAME(nnz_aa, 2 + 2 + 1); // {0 3}, {0 3} and {3}
    NEAR(compression_aa, 7.0 / 5);
    SAME(tiles, 1);
    NEAR(tile_mean, 6);
    for (int r = 0; r < FACTS_PANELS; r++) NEAR(reuse[r], 6.0 / 3);
    csr_free(&A);
}

static void test_odd_shapes(void)
{
    struct csr A = from_picture("x.xx|.x..");
    struct matrix_facts s = facts_of(&A);
    SAME(products_aa, -1); // not square
    SAME(nnz_aa, -1);
    NEAR(compression_aa, -1);
    SAME(products_aat, 4);
    SAME(empty_cols, 0);
    csr_free(&A);

    A = from_picture("...|...|...");
    s = facts_of(&A);
    NEAR(row_mean, 0);
    NEAR(row_cv, 0);
    SAME(row_min, 0);
    SAME(row_max, 0);
    SAME(empty_rows, 3);
    SAME(empty_cols, 3);
    SAME(bandwidth, 0);
    SAME(products_aa, 0);
    SAME(nnz_aa, 0);
    NEAR(compression_aa, -1); // 0 / 0
    SAME(tiles, 0);
    NEAR(tile_mean, -1);
    NEAR(reuse[0], -1);
    csr_free(&A);

    A = from_picture(""); // no rows, no columns
    s = facts_of(&A);
    SAME(row_min, 0);
    SAME(row_max, 0);
    SAME(products_aa, 0);
    SAME(tiles, 0);
    NEAR(row_mean, 0);
    csr_free(&A);
}

static void test_known_families(void)
{
    struct csr A;
    CHECK(!gen_matrix("aspect:128:16384", 1, &A), "%s", fail_text()); // 128 x 128, dense
    struct matrix_facts s = facts_of(&A);
    NEAR(row_cv, 0);
    SAME(products_aa, 128 * 128 * 128);
    SAME(nnz_aa, 128 * 128);
    NEAR(compression_aa, 128);
    SAME(tiles, 64);
    NEAR(tile_mean, 256);
    for (int r = 0; r < FACTS_PANELS; r++) NEAR(reuse[r], (double)facts_panel_rows[r]);
    csr_free(&A);

    CHECK(!gen_matrix("stencil:40", 1, &A), "%s", fail_text());
    s = facts_of(&A);
    SAME(bandwidth, 40);
    SAME(products_aa, s.products_aat); // symmetric
    csr_free(&A);
}

static void test_limit(void)
{
    struct csr A = from_picture("xx|xx"); // 8 products
    struct matrix_facts s;
    facts_rows(&A, &s);
    SAME(products_aa, -1); // nothing but the rows yet
    SAME(tiles, -1);
    NEAR(reuse[2], -1);
    CHECK(!facts_structure(&A, 7, &s), "%s", fail_text());
    SAME(products_aa, 8);
    SAME(nnz_aa, -1);
    NEAR(compression_aa, -1);
    CHECK(!facts_structure(&A, 8, &s), "%s", fail_text());
    SAME(nnz_aa, 4);
    csr_free(&A);
}

// Row counts whose squares do not fit in 64 bits: the arrays of columns are never looked at.
static void test_large_rows(void)
{
    int64_t ptr[] = {0, 2000000000, 2000000000, 4000000000, 4000000000};
    struct csr A = {.m = 4, .n = INT32_MAX, .nnz = ptr[4], .ptr = ptr};
    struct matrix_facts s;
    facts_rows(&A, &s);
    NEAR(row_mean, 1e9);
    NEAR(row_cv, 1.0);
    SAME(row_max, 2000000000);
}

// Everything again, the slow way, over a dense copy.
static void check_slowly(const char *spec)
{
    enum { MAX = 300 };
    static char dense[MAX][MAX];
    struct csr A;
    CHECK(!gen_matrix(spec, 5, &A) && A.m <= MAX && A.n <= MAX, "%s: %s", spec, fail_text());
    memset(dense, 0, sizeof dense);
    for (int32_t i = 0; i < A.m; i++)
        for (int64_t p = A.ptr[i]; p < A.ptr[i + 1]; p++) dense[i][A.idx[p]] = 1;
    int64_t aa = 0, aat = 0, nnz_aa = 0, wide = 0, empty_cols = 0, blocks[4] = {0};
    for (int i = 0; i < A.m; i++)
        for (int j = 0; j < A.n; j++) {
            if (!dense[i][j]) continue;
            wide = max64(wide, i > j ? i - j : j - i);
            for (int k = 0; k < A.m; k++) aat += dense[k][j];
            for (int k = 0; A.m == A.n && k < A.n; k++) aa += dense[j][k];
        }
    for (int i = 0; A.m == A.n && i < A.m; i++)
        for (int j = 0; j < A.n; j++) {
            bool some = false;
            for (int k = 0; k < A.n && !some; k++) some = dense[i][k] && dense[k][j];
            nnz_aa += some;
        }
    for (int j = 0; j < A.n; j++) {
        bool some = false;
        for (int i = 0; i < A.m; i++) some |= dense[i][j];
        empty_cols += !some;
    }
    static const int high[4] = {16, 32, 64, 128}, across[4] = {16, 1, 1, 1};
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < A.m; i += high[b])
            for (int j = 0; j < A.n; j += across[b]) {
                bool some = false;
                for (int x = i; x < i + high[b] && x < A.m; x++)
                    for (int y = j; y < j + across[b] && y < A.n; y++) some |= dense[x][y];
                blocks[b] += some;
            }

    struct matrix_facts s = facts_of(&A);
    bool square = A.m == A.n;
    CHECK(s.bandwidth == wide, "%s", spec);
    CHECK(s.empty_cols == empty_cols, "%s", spec);
    CHECK(s.products_aat == aat, "%s", spec);
    CHECK(s.products_aa == (square ? aa : -1), "%s", spec);
    CHECK(s.nnz_aa == (square ? nnz_aa : -1), "%s", spec);
    CHECK(s.tiles == blocks[0], "%s", spec);
    for (int r = 0; r < FACTS_PANELS; r++)
        CHECK(close_to(s.reuse[r], (double)A.nnz / (double)blocks[r + 1]), "%s", spec);

    int threads = omp_get_max_threads();
    omp_set_num_threads(3);
    struct matrix_facts again = facts_of(&A);
    omp_set_num_threads(threads);
    CHECK(!memcmp(&s, &again, sizeof s), "%s: 3 threads differ", spec);
    csr_free(&A);
}

static void test_failures(void)
{
    struct csr A;
    CHECK(!gen_matrix("uniform:50:3", 1, &A), "%s", fail_text());
    struct matrix_facts s;
    int n = 1, err;
    while (mem_fail_at(n), (err = facts_structure(&A, 1000, &s)) == ERR_MEMORY && n < 20) n++;
    mem_fail_at(0);
    CHECK(!err && n == 3, "%d at allocation %d", err, n);
    interrupted = 1;
    CHECK(facts_structure(&A, 1000, &s) == ERR_INTERRUPTED, "not interrupted");
    interrupted = 0;
    csr_free(&A);
}

int main(void)
{
    static const char *spec[] = {
        "uniform:200:3",       "rmat:8:4",       "band:150:9",      "fem:4",
        "sparse2d:90:300:700", "skew:300:2:250", "aspect:250:1000", "sparse2d:300:17:400"};
    RUN_ALL(test_by_hand, test_odd_shapes, test_known_families, test_limit, test_large_rows);
    for (size_t t = 0; t < sizeof spec / sizeof *spec; t++) check_slowly(spec[t]);
    test_failures();
    return TEST_END();
}
