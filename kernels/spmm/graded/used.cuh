// How many rows are not empty: what a row has in the mean says little where most have nothing.
#ifndef GRADED_USED_H
#define GRADED_USED_H

#include "kernel.cuh"

#define USED_BLOCK 1024

static __global__ void __launch_bounds__(USED_BLOCK)
    find_used_rows(int32_t m, const int32_t *__restrict__ ptr, int32_t *__restrict__ sum)
{
    const int64_t i = (int64_t)blockIdx.x * USED_BLOCK + threadIdx.x;
    const int used = __syncthreads_count(i < m && ptr[i + 1] > ptr[i]);
    if (threadIdx.x == 0 && used) atomicAdd(sum, used);
}

// They are counted where rows have fewer than 8 nonzeros in the mean; else all rows are taken for
// such.
static inline int count_used_rows(struct task *t, int64_t *out)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    struct device *d = t->dev;
    int32_t *sum = NULL, used = 0;
    *out = A->m;
    if (A->nnz >= 8 * (int64_t)A->m) return OK;
    int err = device_alloc(d, 1, sizeof *sum, (void **)&sum);
    if (!err) err = device_fill(d, sum, 0, sizeof *sum);
    if (!err) {
        LAUNCH(find_used_rows, (unsigned)ceil_div(A->m, USED_BLOCK), USED_BLOCK, 0, d->stream, A->m,
               (const int32_t *)A->ptr, sum);
        err = wait_for(d, t->entry->name, sum, &used, sizeof used);
    }
    device_free(d, sum);
    *out = used;
    return err;
}

#endif
