#include "formats/csb.h"

#include <string.h>

#include "base/sort.h"
#include "formats/csr.h"

enum { BETA };
static const struct algo_option options[] = {
    [BETA] = {"beta", 1024, 1, CSB_BETA_MAX, true, "rows and columns of a block"},
    {0},
};

static int64_t block_count(const struct csb *A) { return (int64_t)A->block_rows * A->block_cols; }

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct csb *A = (struct csb *)X;
    list[0] = (struct array){(void **)&A->ptr, block_count(A) + 1, sizeof *A->ptr};
    list[1] = (struct array){(void **)&A->place, A->nnz, sizeof *A->place};
    list[2] = (struct array){&A->val, A->nnz, type_bytes(A->type)};
    return 3;
}

// Sets the size of blocks to a power of two, at least `beta`. Blocks are made larger until a matrix
// has no more of them than rows and nonzeros. So the block starts take no more memory than CSR.
static void set_blocks(struct csb *X, int32_t beta)
{
    for (int64_t size = 1; size <= CSB_BETA_MAX; size *= 2) {
        X->beta = (int32_t)size;
        X->block_rows = (int32_t)((X->m + size - 1) / size);
        X->block_cols = (int32_t)((X->n + size - 1) / size);
        if (size >= beta && block_count(X) <= X->nnz + X->m) return;
    }
}

// Returns a number that has bit b of x at place 2 b, for 16 bits of x.
static uint32_t spread(uint32_t x)
{
    x = (x | x << 8) & 0x00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f;
    x = (x | x << 2) & 0x33333333;
    return (x | x << 1) & 0x55555555;
}

// Inverse of spread(). Bits at odd places do not count.
static uint32_t gather(uint32_t x)
{
    x &= 0x55555555;
    x = (x | x >> 1) & 0x33333333;
    x = (x | x >> 2) & 0x0f0f0f0f;
    x = (x | x >> 4) & 0x00ff00ff;
    return (x | x >> 8) & 0x0000ffff;
}

// Returns the rank of a place in Morton order.
static uint32_t morton(uint32_t row, uint32_t col) { return spread(row) << 1 | spread(col); }
static uint32_t morton_place(uint32_t rank) { return gather(rank >> 1) << 16 | gather(rank); }

// Sets the starts of the blocks of block row b.
static void count_blocks(const struct csr_dev *A, struct csb *X, int64_t b)
{
    const int64_t *ptr = A->ptr, i = b * X->beta, last = min64(i + X->beta, A->m);
    int64_t *start = X->ptr + b * X->block_cols, sum = ptr[i];
    memset(start, 0, (size_t)X->block_cols * sizeof *start);
    for (int64_t p = ptr[i]; p < ptr[last]; p++) start[A->idx[p] / X->beta]++;
    for (int64_t c = 0; c < X->block_cols; c++) {
        int64_t here = start[c];
        start[c] = sum;
        sum += here;
    }
}

// Fills the blocks of block row b. Its nonzeros have the same range in CSR and in CSB. `key` and
// `spare`: scratch memory for all nonzeros of the matrix.
static void fill_block_row(const struct csr_dev *A, struct csb *X, int64_t b, uint64_t *key,
                           uint64_t *spare)
{
    const int64_t *ptr = A->ptr, first = b * X->beta, last = min64(first + X->beta, A->m);
    const int64_t begin = ptr[first], end = ptr[last];
    int64_t *next = X->ptr + b * X->block_cols; // the end of each block after the first loop
    count_blocks(A, X, b);
    for (int64_t i = first; i < last; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
            uint32_t rank = morton((uint32_t)(i - first), (uint32_t)(A->idx[p] % X->beta));
            key[next[A->idx[p] / X->beta]++] = (uint64_t)rank << 32 | (uint64_t)(p - begin);
        }
    for (int64_t c = 0, q = begin; c < X->block_cols; q = next[c++])
        sort_keys(key + q, spare + q, next[c] - q, 32);
    for (int64_t q = begin; q < end; q++) {
        int64_t p = begin + (int64_t)(key[q] & UINT32_MAX);
        X->place[q] = morton_place((uint32_t)(key[q] >> 32));
        type_store(X->type, X->val, q, type_load(A->type, A->val, p));
    }
    if (!X->block_cols) return;
    memmove(next + 1, next, (size_t)(X->block_cols - 1) * sizeof *next);
    next[0] = begin;
}

static int fill(const struct csr_dev *A, struct csb *X)
{
    uint64_t *key = mem_alloc(A->nnz, sizeof *key), *spare = mem_alloc(A->nnz, sizeof *spare);
    if (key && spare) {
#pragma omp parallel for schedule(dynamic)
        for (int64_t b = 0; b < X->block_rows; b++) fill_block_row(A, X, b, key, spare);
        X->ptr[block_count(X)] = A->nnz;
    }
    mem_free(key);
    mem_free(spare);
    return key && spare ? OK : ERR_MEMORY;
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    const struct csr_dev *A = csr_of(from);
    struct csb *X = (struct csb *)out;
    const int64_t *ptr = A->ptr;
    set_blocks(X, (int32_t)opt[BETA]);
    for (int64_t i = 0; i < A->m; i += X->beta)
        if (ptr[min64(i + X->beta, A->m)] - ptr[i] > UINT32_MAX)
            return fail(ERR_UNSUPPORTED, "csb: a block row has more than 2^32 nonzeros");
    int err = sparse_alloc(d, out);
    return err ? err : fill(A, X);
}

static void describe(const struct sparse *X, struct algo_stats *f)
{
    algo_stats_number(f, "block_size", csb_of(X)->beta);
}

const struct format format_csb = {
    .name = "csb",
    .about = "square blocks, nonzeros of a block in Morton order",
    .size = sizeof(struct csb),
    .options = options,
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .describe = describe,
};
