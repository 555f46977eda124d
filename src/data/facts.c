#include "data/facts.h"

#include <math.h>
#include <omp.h>
#include <string.h>

const int32_t facts_panel_rows[FACTS_PANELS] = {32, 64, 128};

static int64_t row_length(const struct csr *A, int64_t i) { return A->ptr[i + 1] - A->ptr[i]; }

void facts_rows(const struct csr *A, struct matrix_facts *s)
{
    // In integers, so that the result does not depend on the order of summing:
    // variance = (m * squares - nnz^2) / m^2. All terms fit in 124 bits.
    unsigned __int128 squares = 0;
    int64_t shortest = A->m ? INT64_MAX : 0, longest = 0, empty = 0;
#pragma omp parallel
    {
        unsigned __int128 my_squares = 0;
#pragma omp for schedule(static) reduction(min : shortest) reduction(max : longest)                \
    reduction(+ : empty)
        for (int64_t i = 0; i < A->m; i++) {
            int64_t length = row_length(A, i);
            shortest = min64(shortest, length);
            longest = max64(longest, length);
            empty += length == 0;
            my_squares += (unsigned __int128)length * (uint64_t)length;
        }
#pragma omp critical(facts_squares)
        squares += my_squares;
    }
    unsigned __int128 spread =
        squares * (uint64_t)A->m - (unsigned __int128)A->nnz * (uint64_t)A->nnz;
    *s = (struct matrix_facts){
        .row_mean = A->m ? (double)A->nnz / A->m : 0,
        .row_min = shortest,
        .row_max = longest,
        .row_cv = A->nnz ? sqrt((double)spread) / (double)A->nnz : 0,
        .empty_rows = empty,
        .empty_cols = -1,
        .bandwidth = -1,
        .products_aa = -1,
        .products_aat = -1,
        .nnz_aa = -1,
        .compression_aa = -1,
        .tiles = -1,
        .tile_mean = -1,
    };
    for (int r = 0; r < FACTS_PANELS; r++) s->reuse[r] = -1;
}

// Sets count[j] to the number of nonzeros in column j.
static void columns_count(const struct csr *A, int32_t *count)
{
    memset(count, 0, (size_t)A->n * sizeof *count);
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < A->nnz; p++) {
#pragma omp atomic
        count[A->idx[p]]++;
    }
}

static int64_t columns_empty(const struct csr *A, const int32_t *count)
{
    int64_t empty = 0;
#pragma omp parallel for schedule(static) reduction(+ : empty)
    for (int64_t j = 0; j < A->n; j++) empty += count[j] == 0;
    return empty;
}

static int64_t bandwidth(const struct csr *A)
{
    int64_t widest = 0;
#pragma omp parallel for schedule(static) reduction(max : widest)
    for (int64_t i = 0; i < A->m; i++) {
        if (!row_length(A, i)) continue;
        int64_t first = A->idx[A->ptr[i]], last = A->idx[A->ptr[i + 1] - 1];
        widest = max64(widest, max64(i - first, last - i));
    }
    return widest;
}

// Returns the sum over nonzeros a_ij of the length of row j of B. B is A; with `count`, B is A^T.
static int64_t products(const struct csr *A, const int32_t *count)
{
    unsigned __int128 sum = 0;
#pragma omp parallel
    {
        unsigned __int128 my_sum = 0;
#pragma omp for schedule(static)
        for (int64_t p = 0; p < A->nnz; p++)
            my_sum += (uint64_t)(count ? count[A->idx[p]] : row_length(A, A->idx[p]));
#pragma omp critical(facts_products)
        sum += my_sum;
    }
    return sum <= INT64_MAX ? (int64_t)sum : -1;
}

// Returns the calling thread's part of `marks`, A->n elements, set to -1. The functions below set
// mark[j] to the last row or panel with column j.
static int32_t *marks_clear(const struct csr *A, int32_t *marks)
{
    int32_t *mark = marks + omp_get_thread_num() * (int64_t)A->n;
    for (int32_t j = 0; j < A->n; j++) mark[j] = -1;
    return mark;
}

// Returns the nonzeros of A * A, by structure.
static int64_t nnz_of_square(const struct csr *A, int32_t *marks, int threads)
{
    int64_t sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        int32_t *mark = marks_clear(A, marks);
#pragma omp for schedule(dynamic, 64)
        for (int32_t i = 0; i < A->m; i++) {
            if (interrupted) continue;
            for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
                int32_t k = A->idx[p];
                for (int64_t q = A->ptr[k]; q < A->ptr[k + 1]; q++) {
                    sum += mark[A->idx[q]] != i;
                    mark[A->idx[q]] = i;
                }
            }
        }
    }
    return sum;
}

// Returns the number of blocks of `height` x `width` elements that hold a nonzero.
static int64_t blocks_used(const struct csr *A, int32_t height, int32_t width, int32_t *marks,
                           int threads)
{
    int64_t sum = 0;
    int32_t panels = (int32_t)(((int64_t)A->m + height - 1) / height);
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        int32_t *mark = marks_clear(A, marks);
#pragma omp for schedule(dynamic, 64)
        for (int32_t panel = 0; panel < panels; panel++) {
            int64_t first = A->ptr[(int64_t)panel * height];
            int64_t last = A->ptr[min64((int64_t)(panel + 1) * height, A->m)];
            for (int64_t p = first; p < last && !interrupted; p++) {
                int32_t block = A->idx[p] / width;
                sum += mark[block] != panel;
                mark[block] = panel;
            }
        }
    }
    return sum;
}

int facts_structure(const struct csr *A, int64_t products_limit, struct matrix_facts *s)
{
    int err = ERR_MEMORY, threads = omp_get_max_threads();
    int32_t *marks = NULL, *count = mem_alloc(A->n, sizeof *count);
    if (!count) goto done;
    marks = mem_alloc(threads * (int64_t)A->n, sizeof *marks);
    if (!marks) goto done;

    columns_count(A, count);
    s->empty_cols = columns_empty(A, count);
    s->bandwidth = bandwidth(A);
    s->products_aat = products(A, count);
    if (A->m == A->n) s->products_aa = products(A, NULL);
    if (s->products_aa >= 0 && s->products_aa <= products_limit) {
        s->nnz_aa = nnz_of_square(A, marks, threads);
        if (s->nnz_aa) s->compression_aa = (double)s->products_aa / (double)s->nnz_aa;
    }
    s->tiles = blocks_used(A, FACTS_TILE, FACTS_TILE, marks, threads);
    if (s->tiles) s->tile_mean = (double)A->nnz / (double)s->tiles;
    for (int r = 0; r < FACTS_PANELS; r++) {
        int64_t columns = blocks_used(A, facts_panel_rows[r], 1, marks, threads);
        if (columns) s->reuse[r] = (double)A->nnz / (double)columns;
    }
    err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : OK;
done:
    mem_free(marks);
    mem_free(count);
    return err;
}
