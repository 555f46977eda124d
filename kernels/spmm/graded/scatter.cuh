// How scattered the columns of A are, which tells what caches hold of B: of samples of its
// nonzeros, how many have a column that none before them in the sample has.
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

#endif
