// Searches for the row of a nonzero.
#ifndef MERGE_SEARCH_H
#define MERGE_SEARCH_H

#include "kernel.cuh"

// Sets `first` and `last` to the rows of nonzeros p and q >= p. Each step of the search compares 32
// rows. All lanes call this function and get the same result.
static __device__ __forceinline__ void find_rows(const int32_t *__restrict__ ptr, int32_t m,
                                                 int32_t p, int32_t q, int32_t &first,
                                                 int32_t &last)
{
    // The row is in [first, first + width), and the other row in [last, last + width).
    first = last = 0;
    for (int32_t width = m; width > 1;) {
        const int32_t step = (width - 1) / WARP + 1;
        const int64_t i = first + (int64_t)lane_id() * step, j = last + (int64_t)lane_id() * step;
        const int p_after = i < m && ptr[i] <= p, q_after = j < m && ptr[j] <= q;
        first += (__popc(__ballot_sync(FULL_MASK, p_after)) - 1) * step;
        last += (__popc(__ballot_sync(FULL_MASK, q_after)) - 1) * step;
        width = step;
    }
}

// Returns the row of nonzero p, which is among rows [first, last]. Each lane has its own p.
static __device__ __forceinline__ int32_t find_row(const int32_t *__restrict__ ptr, int32_t first,
                                                   int32_t last, int32_t p)
{
    int32_t row = first;
    if (last > first)
        for (int32_t step = 1 << (31 - __clz(last - first)); step; step /= 2)
            if (step <= last - row && ptr[row + step] <= p) row += step;
    return row;
}

#endif
