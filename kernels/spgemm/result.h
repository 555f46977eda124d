// What the OpenMP kernels of SpGEMM share: the result's arrays, and the sort of a row.
#ifndef SPGEMM_CPU_H
#define SPGEMM_CPU_H

#include "cpu.h"

#include <string.h>

// t->R with room for the row starts alone. Then R.ptr[i + 1] = nonzeros of row i, and ...
static inline int result_begin(struct task *t)
{
    t->R = (struct csr_dev){.m = t->A.m, .n = t->S.n, .ptr_bytes = 8};
    return device_alloc(t->dev, (int64_t)t->A.m + 1, sizeof(int64_t), &t->R.ptr);
}

// ... this sums them up and allocates columns and values. `longest` is the longest row's length.
static inline int result_allocate(struct task *t, int64_t *longest)
{
    int64_t *ptr = t->R.ptr;
    *longest = ptr[0] = 0;
    for (int32_t i = 0; i < t->R.m; i++) {
        *longest = max64(*longest, ptr[i + 1]);
        ptr[i + 1] += ptr[i];
    }
    t->R.nnz = ptr[t->R.m];
    int err = device_alloc(t->dev, t->R.nnz, sizeof *t->R.idx, (void **)&t->R.idx);
    if (!err) err = device_alloc(t->dev, t->R.nnz, prec_bytes(t->in->prec), &t->R.val);
    return err;
}

// Up to here moving one key at a time beats counting digits.
#define INSERTION_MAX 40

// Sorts keys that differ in their bits from `low` on, which are a column's; what is below them
// comes along. `spare` has room for as many.
static inline void sort_row(uint64_t *restrict key, uint64_t *restrict spare, int64_t count,
                            int low)
{
    if (count <= INSERTION_MAX) {
        for (int64_t p = 1; p < count; p++) {
            uint64_t x = key[p];
            int64_t q = p;
            for (; q > 0 && key[q - 1] > x; q--) key[q] = key[q - 1];
            key[q] = x;
        }
        return;
    }
    int64_t start[4][256];
    memset(start, 0, sizeof start);
    for (int64_t p = 0; p < count; p++)
        for (int d = 0; d < 4; d++) start[d][(key[p] >> (low + 8 * d)) & 255]++;
    uint64_t *from = key, *to = spare;
    for (int d = 0; d < 4; d++) {
        int shift = low + 8 * d;
        if (start[d][(from[0] >> shift) & 255] == count) continue; // the same digit everywhere
        for (int64_t v = 0, sum = 0; v < 256; v++) {
            int64_t here = start[d][v];
            start[d][v] = sum;
            sum += here;
        }
        for (int64_t p = 0; p < count; p++) to[start[d][(from[p] >> shift) & 255]++] = from[p];
        uint64_t *swap = from;
        from = to, to = swap;
    }
    if (from != key) memcpy(key, from, (size_t)count * sizeof *key);
}

#endif
