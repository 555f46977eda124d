// Triplets to csr, against a slow and obvious reference; transposition; allocation failures.
#include <omp.h>
#include <stdlib.h>

#include "data/matrix.h"
#include "csr_equal.h"
#include "test.h"

static struct coo coo_make(int32_t m, int32_t n, int64_t nnz)
{
    return (struct coo){m, n, nnz, mem_alloc(nnz, 4), mem_alloc(nnz, 4), mem_alloc(nnz, 8)};
}

// The orders in which files list their entries.
enum order { ANY, BY_ROWS, BY_ROWS_AND_COLUMNS, BY_COLUMNS, BY_COLUMNS_BACKWARDS };

static enum order sort_order;

struct place {
    int32_t row, col;
    int64_t at;
};

static int place_compare(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    int row = (a->row > b->row) - (a->row < b->row), col = (a->col > b->col) - (a->col < b->col);
    int at = (a->at > b->at) - (a->at < b->at), by = 0;
    if (sort_order == BY_ROWS) by = row;
    if (sort_order == BY_ROWS_AND_COLUMNS) by = row ? row : col;
    if (sort_order == BY_COLUMNS) by = col ? col : row;
    if (sort_order == BY_COLUMNS_BACKWARDS) by = -(col ? col : row);
    return by ? by : at;
}

// Random triplets; `skew` of 1 spreads them evenly, more puts most of them into the first rows.
static struct coo coo_random(int32_t m, int32_t n, int64_t nnz, int skew, enum order order,
                             uint64_t seed)
{
    struct coo A = coo_make(m, n, nnz);
    struct place *places = malloc((size_t)(nnz + 1) * sizeof *places);
    for (int64_t p = 0; p < nnz; p++) {
        double x = (random_value(seed, (uint64_t)p) + 1) / 2, y = x;
        for (int i = 1; i < skew; i++) y *= x;
        places[p] = (struct place){(int32_t)(y * m),
                                   (int32_t)(random_at(seed + 1, (uint64_t)p) % (uint64_t)n), p};
    }
    sort_order = order;
    if (nnz) qsort(places, (size_t)nnz, sizeof *places, place_compare);
    for (int64_t p = 0; p < nnz; p++) {
        A.row[p] = places[p].row;
        A.col[p] = places[p].col;
        A.val[p] = random_value(seed + 2, (uint64_t)p) * 1.1; // sums depend on their order
    }
    free(places);
    return A;
}

// The contract, word by word: sort by row, column and place in the file, then sum from the left.
static struct csr reference(const struct coo *A, double mirror, int64_t *duplicates)
{
    int64_t total = 0;
    struct place *places = malloc((size_t)(2 * A->nnz + 1) * sizeof *places);
    for (int64_t p = 0; p < A->nnz; p++) {
        places[total++] = (struct place){A->row[p], A->col[p], 2 * p};
        if (mirror != 0 && A->row[p] != A->col[p])
            places[total++] = (struct place){A->col[p], A->row[p], 2 * p + 1};
    }
    sort_order = BY_ROWS_AND_COLUMNS;
    if (total) qsort(places, (size_t)total, sizeof *places, place_compare);
    struct csr C;
    csr_alloc(&C, A->m, A->n, total);
    memset(C.ptr, 0, ((size_t)C.m + 1) * sizeof *C.ptr);
    int64_t kept = 0;
    for (int64_t k = 0; k < total; k++) {
        double x = A->val[places[k].at / 2] * (places[k].at & 1 ? mirror : 1);
        if (k && places[k].row == places[k - 1].row && places[k].col == places[k - 1].col) {
            C.val[kept - 1] += x;
            continue;
        }
        C.idx[kept] = places[k].col;
        C.val[kept++] = x;
        C.ptr[places[k].row + 1]++;
    }
    for (int32_t i = 0; i < C.m; i++) C.ptr[i + 1] += C.ptr[i];
    C.nnz = kept;
    *duplicates = total - kept;
    free(places);
    return C;
}

static void compare(const struct coo *A, double mirror, const char *what)
{
    int64_t gone = -1, gone_there;
    struct csr C, R = reference(A, mirror, &gone_there);
    int err = csr_from_coo_mirrored(A, mirror, &C, &gone);
    CHECK(!err, "%s: %s", what, fail_text());
    if (!err) {
        const char *broken = csr_check(&C);
        CHECK(!broken, "%s: %s", what, broken);
        CHECK(csr_equal(&C, &R), "%s: differs from the reference", what);
        CHECK(gone == gone_there, "%s: %lld duplicates, not %lld", what, (long long)gone,
              (long long)gone_there);
        csr_free(&C);
    }
    csr_free(&R);
}

static void test_random(void)
{
    static const struct {
        int32_t m, n;
        int64_t nnz;
        int skew;
    } sizes[] = {
        {1, 1, 1, 1},         {1, 1, 9, 1},
        {1, 50, 33, 1},       {1, 5000, 2000, 1},
        {1, 70000, 40000, 1}, {40, 1, 100, 1},
        {7, 9, 20, 1},        {1000, 1000, 50000, 1},
        {300000, 10, 90, 1},  {50000, 30, 90000, 1},
        {3000, 9, 20000, 4},  {20000, 20000, 100000, 6},
        {2, 100, 60000, 1},   {90000, 90000, 70000, 1},
    };
    static const char *const names[] = {"any order", "by rows", "by rows and columns", "by columns",
                                        "backwards"};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int order = ANY; order <= BY_COLUMNS_BACKWARDS; order++)
            for (int threads = 1; threads <= 3; threads += 2) {
                char what[100];
                snprintf(what, sizeof what, "%d x %d, %lld entries, %s, %d threads", sizes[s].m,
                         sizes[s].n, (long long)sizes[s].nnz, names[order], threads);
                struct coo A = coo_random(sizes[s].m, sizes[s].n, sizes[s].nnz, sizes[s].skew,
                                          (enum order)order, s);
                omp_set_num_threads(threads);
                compare(&A, 0, what);
                if (A.m == A.n) compare(&A, order % 2 ? 1 : -1, what);
                coo_free(&A);
            }
}

static void test_edges(void)
{
    static const int32_t sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {5, 5}, {1, 1}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct coo A = coo_make(sizes[s][0], sizes[s][1], 0);
        compare(&A, 0, "no entries");
        if (A.m == A.n) compare(&A, 1, "no entries, symmetric");
        coo_free(&A);
    }

    // Explicit zeros stay, also where they are the sum of duplicates.
    struct coo A = coo_make(2, 2, 3);
    memcpy(A.row, (int32_t[]){0, 1, 1}, 12);
    memcpy(A.col, (int32_t[]){1, 0, 0}, 12);
    memcpy(A.val, (double[]){0, 2, -2}, 24);
    struct csr C;
    int64_t gone;
    CHECK(!csr_from_coo(&A, &C, &gone) && C.nnz == 2 && C.val[0] == 0 && C.val[1] == 0 && gone == 1,
          "zeros");
    csr_free(&C);
    CHECK(!csr_from_coo(&A, &C, NULL), "the count of duplicates may be left out");
    csr_free(&C);

    // The largest column that fits.
    A.n = INT32_MAX;
    memcpy(A.row, (int32_t[]){1, 1, 0}, 12);
    memcpy(A.col, (int32_t[]){INT32_MAX - 1, 0, INT32_MAX - 1}, 12);
    compare(&A, 0, "2^31 - 1 columns");
    coo_free(&A);
}

static void test_transpose(void)
{
    struct coo A = coo_random(70, 40, 500, 1, ANY, 3);
    struct csr C = {0}, T = {0}, back = {0}, R;
    int64_t gone;
    CHECK(!csr_from_coo(&A, &C, NULL) && !csr_transpose(&C, &T) && !csr_transpose(&T, &back),
          "transposes");
    CHECK(!csr_check(&T) && csr_equal(&C, &back), "twice transposed is the same");
    struct coo B = {A.n, A.m, A.nnz, A.col, A.row, A.val};
    R = reference(&B, 0, &gone);
    CHECK(csr_equal(&T, &R), "transposed is what transposed triplets give");
    csr_free(&C), csr_free(&T), csr_free(&back), csr_free(&R);
    coo_free(&A);
}

// What csr_check() is for: each broken invariant is found.
static void test_check(void)
{
    int64_t ptr[] = {0, 2, 3};
    int32_t idx[] = {0, 2, 1};
    double val[] = {1, 2, 3};
    struct csr A = {2, 3, 3, ptr, idx, val};
    CHECK(!csr_check(&A), "sound");
    ptr[0] = 1;
    CHECK(csr_check(&A) != NULL, "ptr[0]");
    ptr[0] = 0, ptr[2] = 2;
    CHECK(csr_check(&A) != NULL, "ptr[m]");
    ptr[2] = 3, ptr[1] = 4;
    CHECK(csr_check(&A) != NULL, "descending ptr");
    ptr[1] = 2, idx[1] = 3;
    CHECK(csr_check(&A) != NULL, "column outside");
    idx[1] = -1;
    CHECK(csr_check(&A) != NULL, "negative column");
    idx[1] = 0;
    CHECK(csr_check(&A) != NULL, "column twice");
    idx[1] = 2, A.val = NULL;
    CHECK(csr_check(&A) != NULL, "missing array");
}

// The n-th allocation fails, for every n until none is left to fail: an error, and nothing leaks
// (the sanitized build tells).
static void test_no_memory(void)
{
    for (int order = ANY; order <= BY_ROWS_AND_COLUMNS; order++) {
        struct coo A = coo_random(60, 60, 900, 1, (enum order)order, 1);
        for (int64_t n = 1;; n++) {
            struct csr C;
            mem_fail_at(n);
            int err = csr_from_coo_mirrored(&A, order == ANY, &C, NULL);
            mem_fail_at(0);
            if (!err) {
                CHECK(n >= 4, "order %d: %lld allocations", order, (long long)n - 1);
                csr_free(&C);
                break;
            }
            CHECK(err == ERR_MEMORY, "order %d: allocation %lld: error %d", order, (long long)n,
                  err);
        }
        coo_free(&A);
    }
    struct coo A = coo_random(60, 60, 900, 1, ANY, 1);
    struct csr C, T;
    CHECK(!csr_from_coo(&A, &C, NULL), "%s", fail_text());
    for (int64_t n = 1; n <= 4; n++) {
        mem_fail_at(n);
        int err = csr_transpose(&C, &T);
        mem_fail_at(0);
        CHECK(err == (n <= 3 ? ERR_MEMORY : OK), "transpose, allocation %lld: error %d",
              (long long)n, err);
        if (!err) csr_free(&T);
    }
    csr_free(&C);
    coo_free(&A);
}

TESTS(test_random, test_edges, test_transpose, test_check, test_no_memory)
