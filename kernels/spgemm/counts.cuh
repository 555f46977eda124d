// Counters of the device: rows counted by bin, and a copy of the counters for the host.
#ifndef SPGEMM_COUNTS_H
#define SPGEMM_COUNTS_H

#include "kernel.cuh"

// Copies the counters to `seen`, in pinned memory of the host. The last block of the grid writes
// the copy: a device-to-host copy after the kernel takes more time. Called by all threads of all
// blocks at the end of a kernel. C has an int32_t `ended`, which is 0 between kernels.
template <typename C> static __device__ __forceinline__ void tell_host(C *counters, C *seen)
{
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&counters->ended, 1) == (int32_t)gridDim.x - 1;
        if (last) counters->ended = 0;
        __threadfence();
    }
    __syncthreads();
    const int words = (int)(sizeof *counters / sizeof(int32_t));
    for (int w = (int)threadIdx.x; last && w < words; w += (int)blockDim.x)
        ((int32_t *)seen)[w] = ((const volatile int32_t *)counters)[w];
}

// Counts the thread's row in rows[bin], in shared memory, and returns how many rows were counted
// there before it; bin -1: it is in none. By all lanes.
static __device__ __forceinline__ int32_t count_row(int32_t *rows, int bin)
{
    const unsigned same = __match_any_sync(FULL_MASK, bin);
    const int leader = __ffs(same) - 1;
    int32_t place = 0;
    if (lane_id() == leader && bin >= 0) place = atomicAdd(&rows[bin], __popc(same));
    place = __shfl_sync(FULL_MASK, place, leader);
    return place + __popc(same & bits_below(lane_id()));
}

#endif
