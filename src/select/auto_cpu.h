// Facts for the choice of `auto` on the CPU, counted in the matrix.
#ifndef AUTO_CPU_H
#define AUTO_CPU_H

// Runs that trials may take. SpMM of 9 matrices, k = 1 to 256, 2 cores: with 8 the choice takes 7
// runs in the median and 11 in the worst tenth; without a bound 12 to 24. 16 cores, bound of 10:
// the pick reaches 0.87 of the fastest candidate, without trials 0.80.
#define AUTO_TRIALS 8
#include "select/auto.h"

static inline void auto_count_rows(const struct task *t, struct pick_facts *f)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t *ptr = A->ptr;
    double squares = 0;
    int64_t longest = 0;
#pragma omp parallel for schedule(static) reduction(+ : squares) reduction(max : longest)
    for (int32_t i = 0; i < A->m; i++) {
        const int64_t length = ptr[i + 1] - ptr[i];
        squares += (double)length * (double)length;
        if (length > longest) longest = length;
    }
    f->squares = squares;
    f->longest = (double)longest;
}

// Counts tiles of A and products with S in a sample of A's tile rows.
static inline int auto_count_tiles(const struct task *t, struct pick_facts *f)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    const int64_t *ptr = A->ptr, *of = S->ptr;
    const int64_t tile_rows = ((int64_t)A->m + AUTO_TILE - 1) / AUTO_TILE;
    const int64_t count = min64(tile_rows, AUTO_SAMPLE);
    int64_t nonzeros = 0, products = 0, tiles = 0;
    // For each tile column, the last tile row that used the tile column.
    int32_t *seen = mem_zero_alloc((int64_t)A->n / AUTO_TILE + 1, sizeof *seen);
    if (!seen) return ERR_MEMORY;
    for (int64_t x = 0; x < count; x++) {
        const int64_t row = auto_sample(x, count, tile_rows) * AUTO_TILE;
        const int64_t end = ptr[min64(row + AUTO_TILE, A->m)];
        nonzeros += end - ptr[row];
        for (int64_t p = ptr[row]; p < end; p++) {
            int32_t *tile = &seen[A->idx[p] / AUTO_TILE];
            products += of[A->idx[p] + 1] - of[A->idx[p]];
            tiles += *tile != x + 1;
            *tile = (int32_t)x + 1;
        }
    }
    mem_free(seen);
    auto_set_sample(f, (double)nonzeros, (double)products, (double)tiles);
    return OK;
}

// prepare() of an operation on dense matrices.
static inline int auto_prepare_dense(struct task *t, const struct pick_rules *rules)
{
    const double from = clock_ms();
    struct pick_facts f = auto_sizes(t, t->in[0].cols);
    auto_count_rows(t, &f);
    return pick_prepare(t, rules, &f, from);
}

static inline int auto_prepare_sparse(struct task *t, const struct pick_rules *rules)
{
    const double from = clock_ms();
    struct pick_facts f = auto_sizes(t, 0);
    int err = auto_count_tiles(t, &f);
    return err ? err : pick_prepare(t, rules, &f, from);
}

#endif
