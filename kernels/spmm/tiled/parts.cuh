// The second kernel of Tiled SpMM: adds the sums of segments to the sums of cut rows.
#ifndef TILED_PARTS_H
#define TILED_PARTS_H

#include "formats/tiled.h"
#include "kernel.cuh"

#define ADD_BLOCK 128
#define ADD_LONG  32 // parts of a row above which a warp adds them

// Adds the parts of cut rows. A thread has a row and a column of C.
template <typename T>
static __global__ void __launch_bounds__(ADD_BLOCK)
    add_few(struct tiled A, int32_t k, const T *__restrict__ parts, T *__restrict__ C,
            int64_t C_step)
{
    const int64_t c = (int64_t)blockIdx.x * ADD_BLOCK + threadIdx.x;
    const int lane = lane_id();
    const bool mine = c < A.cuts;
    const int64_t begin = mine ? A.cut_part[c] : 0, end = mine ? A.cut_part[c + 1] : 0;
    for (int64_t j = blockIdx.y; j < k; j += gridDim.y) {
        const T *part = parts + j * A.parts;
        T sum = 0;
#pragma unroll 4
        for (int64_t p = begin; p < (end - begin <= ADD_LONG ? end : begin); p++) sum += part[p];
        for (unsigned rest = __ballot_sync(FULL_MASK, end - begin > ADD_LONG); rest;
             rest &= rest - 1) {
            const int owner = __ffs((int)rest) - 1;
            const int64_t last = warp_broadcast(end, owner);
            T share = 0;
            for (int64_t p = warp_broadcast(begin, owner) + lane; p < last; p += WARP)
                share += part[p];
            share = warp_sum(share);
            if (lane == owner) sum = share;
        }
        if (mine) C[A.cut_row[c] + j * C_step] = sum;
    }
}

// Adds the parts of cut rows with many parts. A team has a row and a column of C.
template <typename T, int TEAM>
static __global__ void __launch_bounds__(ADD_BLOCK)
    add_many(struct tiled A, int32_t k, const T *__restrict__ parts, T *__restrict__ C,
             int64_t C_step)
{
    __shared__ T sums[ADD_BLOCK / WARP];
    const int64_t c = ((int64_t)blockIdx.x * ADD_BLOCK + threadIdx.x) / TEAM;
    if (c >= A.cuts) return;
    const int64_t begin = A.cut_part[c], end = A.cut_part[c + 1];
    for (int64_t j = blockIdx.y; j < k; j += gridDim.y) {
        const T *part = parts + j * A.parts;
        T share = 0, sum;
#pragma unroll 4
        for (int64_t p = begin + team_rank<TEAM>(); p < end; p += TEAM) share += part[p];
        team_scan<TEAM>(share, sums, sum);
        if (team_rank<TEAM>() == 0) C[A.cut_row[c] + j * C_step] = sum;
    }
}

#endif
