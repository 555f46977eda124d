// Products of pairs of tiles on tensor cores: nonzeros, then values of the tiles of C.
//
// A warp computes two tiles of C. multiply_16x8x16() takes a pair for each of the two tiles:
//
//     | a0  0 |   | s0 |   | a0 s0 |   added to the first tile of C
//     |  0 a1 | * | s1 | = | a1 s1 |   added to the second tile of C
//
// The paper's 16 x 16 right factor has s0 and s1 on its diagonal. Half of the paper's result is
// zeros. The right factor of 16 x 8 has no such half.
//
// Zeros off the diagonal times an infinite value are NaN. An infinite value of s0 or s1 makes NaN
// in both tiles of C. If inputs overflow f16, the check calls the result unchecked.
#ifndef SPGEMM_TSPARSE_MULTIPLY_H
#define SPGEMM_TSPARSE_MULTIPLY_H

#include "kernel.cuh"
#include "device/mma.cuh"
#include "device/once.cuh"
#include "formats/tile8.h"

#define MULTIPLY_WARPS 2 // warps of a block, as in the paper
#define WARP_TILES     2 // tiles of C of a warp

#define ONE_F16 0x3c00 // the bits of 1 in f16

// Returns the bits of an element of a tile, or 0 if the element is absent. `val` has the values of
// the tile; NULL: all elements are 1 in f16.
template <typename T>
static __device__ __forceinline__ uint32_t element(const T *__restrict__ val, uint64_t mask,
                                                   int bit)
{
    if (!(mask >> bit & 1)) return 0;
    return val ? val[__popcll(mask & (((uint64_t)1 << bit) - 1))].bits : ONE_F16;
}

// Arguments of multiply_tiles().
struct multiply_args {
    struct tile8 A, S, C; // C.start: by the counted nonzeros; not set while counting
    const int2 *pair;     // by tiles of C
    const int64_t *begin; // first pair of each tile of C
    int64_t pairs;
    bool is_narrow; // C has 16 bits
};

// COUNT: sets C.mask to the nonzeros of the product of the patterns of A and S, with all values 1.
// Otherwise writes the sums that are not 0, and sets C.mask to their places. Values of tile t begin
// at C.start[t]. Both set length[t] to the nonzeros of tile t. Inputs that are not finite add no
// nonzeros, although their products with absent elements are NaN.
template <typename T, bool COUNT>
static __global__ void __launch_bounds__(MULTIPLY_WARPS *WARP)
    multiply_tiles(struct multiply_args w, int32_t *__restrict__ length)
{
    const int lane = lane_id(), i = lane / 4, j = lane % 4 * 2;
    const int64_t warp = (int64_t)blockIdx.x * MULTIPLY_WARPS + threadIdx.x / WARP;
    const int64_t first = warp * WARP_TILES;
    if (first >= w.C.tiles) return;
    const int2 *pair[WARP_TILES];
    int32_t count[WARP_TILES];
#pragma unroll
    for (int h = 0; h < WARP_TILES; h++) {
        const int64_t t = first + h;
        const int64_t begin = t < w.C.tiles ? w.begin[t] : w.pairs;
        pair[h] = w.pair + begin;
        count[h] = (int32_t)((t + 1 < w.C.tiles ? w.begin[t + 1] : w.pairs) - begin);
    }
    float sums[WARP_TILES][2] = {}; // of a lane: (i, j) and (i, j + 1) of each tile
    for (int32_t p = 0; p < max(count[0], count[1]); p++) {
        uint32_t a[4] = {}, s[WARP_TILES] = {}; // a[1] and a[2] are off the diagonal
#pragma unroll
        for (int h = 0; h < WARP_TILES; h++) {
            if (p >= count[h]) continue;
            const int2 x = pair[h][p];
            const uint64_t A_mask = w.A.mask[x.x], S_mask = w.S.mask[x.y];
            const T *A_val = COUNT ? NULL : (const T *)w.A.val + w.A.start[x.x];
            const T *S_val = COUNT ? NULL : (const T *)w.S.val + w.S.start[x.y];
            a[3 * h] = element(A_val, A_mask, TILE8 * i + j) |
                       element(A_val, A_mask, TILE8 * i + j + 1) << 16;
            s[h] = element(S_val, S_mask, TILE8 * j + i) |
                   element(S_val, S_mask, TILE8 * (j + 1) + i) << 16;
        }
        multiply_16x8x16(T{}, sums[0], sums[1], a, s);
    }
#pragma unroll
    for (int h = 0; h < WARP_TILES; h++) {
        const int64_t t = first + h;
        if (t >= w.C.tiles) return;
        const uint64_t counted = COUNT ? ~(uint64_t)0 : w.C.mask[t];
        // Lane l has the elements of bits 2 l and 2 l + 1 of the mask.
        const bool left = sums[h][0] != 0 && (counted >> 2 * lane & 1);
        const bool right = sums[h][1] != 0 && (counted >> (2 * lane + 1) & 1);
        const uint32_t both = ((uint32_t)left | (uint32_t)right << 1) << lane % 16 * 2;
        const uint32_t upper = __reduce_or_sync(FULL_MASK, lane < 16 ? both : 0u);
        const uint32_t lower = __reduce_or_sync(FULL_MASK, lane < 16 ? 0u : both);
        const uint64_t mask = upper | (uint64_t)lower << 32;
        if (lane == 0) {
            w.C.mask[t] = mask;
            length[t] = __popcll(mask);
        }
        if (COUNT) continue;
        const int64_t q = w.C.start[t] + __popcll(mask & (((uint64_t)1 << 2 * lane) - 1));
        if (left) store_result<T, 1>(w.C.val, q, w.is_narrow, {sums[h][0]});
        if (right) store_result<T, 1>(w.C.val, q + left, w.is_narrow, {sums[h][1]});
    }
}

// Copies the values of each tile to its place among the nonzeros that remain. A warp per tile.
template <typename W>
static __global__ void __launch_bounds__(MULTIPLY_WARPS *WARP)
    compact_values(int64_t tiles, const int64_t *__restrict__ start,
                   const int64_t *__restrict__ new_start, const W *__restrict__ from,
                   W *__restrict__ to)
{
    const int64_t t = (int64_t)blockIdx.x * MULTIPLY_WARPS + threadIdx.x / WARP;
    if (t >= tiles) return;
    const int64_t begin = new_start[t], end = new_start[t + 1];
    for (int64_t q = begin + lane_id(); q < end; q += WARP) to[q] = from[start[t] + (q - begin)];
}

#endif
