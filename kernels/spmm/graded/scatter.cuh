// The scatter of the columns of A, which predicts how much of B caches hold. Samples of the
// nonzeros give the number of nonzeros whose column is new in the sample.
#ifndef GRADED_SCATTER_H
#define GRADED_SCATTER_H

#include "kernel.cuh"

#define NEAR        2048  // nonzeros: about what a multiprocessor works on at a time
#define FAR         16384 // nonzeros of a sample: about what the device works on
#define SAMPLES     32    // at most
#define SCATTER_LOG 18    // log2 of the bits in which a sample marks its columns

// New columns among the first NEAR nonzeros of all samples, and among all FAR.
struct new_columns {
    int32_t near, far;
};

// Marks the columns of nonzeros `first` to `end` of a sample; how many of this thread's were new.
// Columns share bits, so of a sample whose columns all differ up to 3 % seem to be there already.
static __device__ __forceinline__ int32_t mark_columns(uint32_t *seen, const int32_t *idx,
                                                       int first, int end)
{
    int32_t found = 0;
    for (int p = first + (int)threadIdx.x; p < end; p += (int)blockDim.x) {
        const uint32_t hash = (uint32_t)idx[p] * 2654435769u >> (32 - SCATTER_LOG);
        const uint32_t bit = 1u << (hash & 31);
        found += !(atomicOr(&seen[hash / 32], bit) & bit);
    }
    return found;
}

// A block for each sample, `step` nonzeros apart.
static __global__ void __launch_bounds__(1024)
    find_new_columns(const int32_t *__restrict__ idx, int64_t step,
                     struct new_columns *__restrict__ all)
{
    const int WORDS = 1 << (SCATTER_LOG - 5);
    __shared__ uint32_t seen[WORDS];
    const int32_t *own = idx + (int64_t)blockIdx.x * step;
    for (int w = (int)threadIdx.x; w < WORDS; w += (int)blockDim.x) seen[w] = 0;
    __syncthreads();
    const int32_t near = mark_columns(seen, own, 0, NEAR);
    __syncthreads();
    const int32_t far = near + mark_columns(seen, own, NEAR, FAR);
    const int32_t near_sum = warp_sum(near), far_sum = warp_sum(far);
    if (lane_id()) return;
    atomicAdd(&all->near, near_sum);
    atomicAdd(&all->far, far_sum);
}

// Shares of nonzeros whose column is new among so many; 0: not known.
struct scatter {
    double near, far;
};

static inline int measure_scatter(struct task *t, struct scatter *out)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t samples = min64(A->nnz / FAR, SAMPLES);
    struct device *d = t->dev;
    struct new_columns *found = NULL, x = {};
    *out = {};
    if (samples == 0) return OK;
    int err = device_alloc(d, 1, sizeof *found, (void **)&found);
    if (!err) err = device_fill(d, found, 0, sizeof *found);
    if (!err) {
        LAUNCH(find_new_columns, (unsigned)samples, 1024, 0, d->stream, A->idx,
               samples > 1 ? (A->nnz - FAR) / (samples - 1) : 0, found);
        err = wait_for(d, t->entry->name, found, &x, sizeof x);
    }
    device_free(d, found);
    out->near = (double)x.near / (double)(samples * NEAR);
    out->far = (double)x.far / (double)(samples * FAR);
    task_number(t, "new_near", out->near);
    task_number(t, "new_far", out->far);
    return err;
}

#endif
