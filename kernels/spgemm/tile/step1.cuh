// Step 1 of TileSpGEMM: the tile columns of a tile row of C. They are the tile columns of all tile
// rows of S that the tile row of A selects.
#ifndef SPGEMM_TILE_STEP1_H
#define SPGEMM_TILE_STEP1_H

#include "formats/tile16.h"
#include "formats/tile_find.cuh"

// Source of find_structure(). `lanes` threads read a tile row of S. Two tiles have a product if a
// used column of the tile of A is a used row of the tile of S.
struct product_source {
    const int64_t *A_ptr, *S_ptr;
    const int32_t *A_col, *S_col;
    const uint32_t *A_used, *S_used;
    uint32_t keep; // all bits: two tiles without a product make a tile of C; 0: they do not
    int32_t lanes;

    __device__ __forceinline__ void span(int32_t i, int32_t *low, int32_t *high) const
    {
        for (int64_t a = A_ptr[i] + threadIdx.x; a < A_ptr[i + 1]; a += blockDim.x) {
            const int32_t k = A_col[a];
            const int64_t begin = S_ptr[k], end = S_ptr[k + 1];
            if (begin == end) continue;
            *low = min(*low, S_col[begin]);
            *high = max(*high, S_col[end - 1]);
        }
    }
    template <typename F> __device__ __forceinline__ void each(int32_t i, F f) const
    {
        const int32_t group = (int32_t)threadIdx.x / lanes, lane = (int32_t)threadIdx.x % lanes;
        const int32_t groups = (int32_t)blockDim.x / lanes;
        for (int64_t a = A_ptr[i] + group; a < A_ptr[i + 1]; a += groups) {
            const int32_t k = A_col[a];
            const uint32_t used = A_used[a] << TILE | keep;
            for (int64_t s = S_ptr[k] + lane; s < S_ptr[k + 1]; s += lanes)
                if (used & S_used[s]) f(S_col[s], 0);
        }
    }
    __device__ __forceinline__ void found(int32_t, int32_t, int64_t) const {}
};

#endif
