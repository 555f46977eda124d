// The number of rows that are not empty, and the length of the longest row. The mean row length is
// misleading if most rows are empty.
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

static __global__ void __launch_bounds__(USED_BLOCK)
    find_longest_row(int32_t m, const int32_t *__restrict__ ptr, int32_t *__restrict__ longest)
{
    const int64_t i = (int64_t)blockIdx.x * USED_BLOCK + threadIdx.x;
    __shared__ int32_t of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    if (i < m) atomicMax(&of_block, ptr[i + 1] - ptr[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(longest, of_block);
}

// Sets *out to the result of a kernel over the rows of A, one thread per row. The result begins at
// zero.
static inline int ask_rows(struct task *t, void (*kernel)(int32_t, const int32_t *, int32_t *),
                           int32_t *out)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    struct device *d = t->dev;
    int32_t *answer = NULL;
    *out = 0;
    if (A->m == 0) return OK;
    int err = device_alloc(d, 1, sizeof *answer, (void **)&answer);
    if (!err) err = device_fill(d, answer, 0, sizeof *answer);
    if (!err) {
        LAUNCH(kernel, (unsigned)ceil_div(A->m, USED_BLOCK), USED_BLOCK, 0, d->stream, A->m,
               (const int32_t *)A->ptr, answer);
        err = wait_for(d, t->entry->name, answer, out, sizeof *out);
    }
    device_free(d, answer);
    return err;
}

// They are counted where rows have fewer than 8 nonzeros in the mean; else all rows are taken for
// such.
static inline int count_used_rows(struct task *t, int64_t *out)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    *out = A->m;
    if (A->nnz >= 8 * (int64_t)A->m) return OK;
    int32_t used;
    const int err = ask_rows(t, find_used_rows, &used);
    *out = used;
    return err;
}

// Nonzeros of the longest row.
static inline int longest_row(struct task *t, int32_t *out)
{
    return ask_rows(t, find_longest_row, out);
}

#endif
