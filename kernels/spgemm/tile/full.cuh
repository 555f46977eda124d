// Product of two tiles as full tiles, with the sums in registers, and the rule for when it pays.
#ifndef SPGEMM_TILE_FULL_H
#define SPGEMM_TILE_FULL_H

#include "match.cuh"

// The cost of multiplying two tiles as full tiles is constant. The cost nonzero by nonzero grows
// with the products, and with lanes that add to the same element. H200, f64: the costs are equal at
// 16 to 20 nonzeros per tile. Full tiles take fem:28 from 3.2 to 1.3 ms, ogbl-ddi from 21 to 10 ms.
//
// A kernel with code for both is slower than a kernel without full tiles if no tile is full. So the
// kernel without is launched if tiles of A have fewer than FULL_MEAN nonzeros, or f64 is slow.
#define FULL_TILE 20                // geometric mean of the nonzeros of two tiles
#define FULL_MEAN 12                // nonzeros of a tile of A on average
#define NO_TILE   (TILE * TILE + 1) // more than any tile has
#define SLOW_F64  4                 // ratio of f32 to f64 speed from which f64 is slow

// Returns the nonzeros from which a tile counts as full: `wanted`, or the rule above for -1.
static int32_t full_from(int32_t wanted, bool slow_f64, const struct tile16 *A)
{
    if (wanted >= 0) return wanted;
    return slow_f64 || A->nnz < A->tiles * FULL_MEAN ? NO_TILE : FULL_TILE;
}

// c += a * b, 8 x 8 x 4 in double precision, by all lanes. Lane l has a(l / 4, l % 4),
// b(l % 4, l / 4), and in c two neighbours, c(l / 4, l % 4 * 2) first.
static __device__ __forceinline__ void multiply_8x8x4(double c[2], double a, double b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
#else // the emulator; kernels need sm_80
    const int a_lane = lane_id() / 4 * 4, b_lane = lane_id() % 4 * 8;
    for (int k = 0; k < 4; k++) {
        const double a_k = __shfl_sync(FULL_MASK, a, a_lane + k);
        c[0] += a_k * __shfl_sync(FULL_MASK, b, b_lane + k);
        c[1] += a_k * __shfl_sync(FULL_MASK, b, b_lane + 4 + k);
    }
#endif
}

// Returns the element of a tile's row in the column of bit `bit`. `mask` has the columns of the
// row, and val[at] is its first value.
template <typename T>
static __device__ __forceinline__ double element(const T *__restrict__ val, uint32_t at,
                                                 uint32_t mask, uint32_t bit)
{
    at += (uint32_t)__popc(mask & (bit - 1));
    return mask & bit ? (double)val[at] : 0;
}

// Adds the product of a pair to the warp's sums, on tensor cores. A lane has eight of the 256 sums:
// rows lane / 4 and lane / 4 + 8, columns j, j + 1, j + 8 and j + 9 for j = lane % 4 * 2. The order
// of the sums is always the same. All values are finite, so zeros in place of absent elements add
// nothing. Called by all lanes.
template <typename T>
static __device__ __forceinline__ void multiply_full(const struct multiply &w, int2 pair,
                                                     double sums[2][2][2])
{
    const int lane = lane_id(), i = lane / 4;
    const int64_t a = (int64_t)pair.x * TILE + lane % TILE;
    const int64_t s = (int64_t)pair.y * TILE + lane % TILE;
    const uint32_t A_row = w.A.mask[a] | (uint32_t)w.A.row_ptr[a] << 16;
    const uint32_t S_row = w.S.mask[s] | (uint32_t)w.S.row_ptr[s] << 16;
    const uint32_t A_upper = __shfl_sync(FULL_MASK, A_row, i);
    const uint32_t A_lower = __shfl_sync(FULL_MASK, A_row, i + 8);
    const uint32_t common = w.A.used[pair.x] & w.S.used[pair.y] >> TILE; // columns of A, rows of S
    // Places in 32 bits, as a factor has fewer than 2^31 nonzeros.
    const T *A_val = (const T *)w.A.val, *S_val = (const T *)w.S.val;
    const uint32_t A_start = (uint32_t)w.A.start[pair.x], S_start = (uint32_t)w.S.start[pair.y];
    const uint32_t A_upper_at = A_start + (A_upper >> 16), A_lower_at = A_start + (A_lower >> 16);
#pragma unroll 1 // unrolling would take registers from the code around the loop
    for (int x = 0; x < 4; x++) {
        if (!(common >> (4 * x) & 15)) continue;
        const int k = 4 * x + lane % 4;
        const uint32_t S_k = __shfl_sync(FULL_MASK, S_row, k), S_k_at = S_start + (S_k >> 16);
        const double upper = element(A_val, A_upper_at, A_upper, 1u << k);
        const double lower = element(A_val, A_lower_at, A_lower, 1u << k);
        const double left = element(S_val, S_k_at, S_k, 1u << i);
        const double right = element(S_val, S_k_at, S_k, 256u << i);
        multiply_8x8x4(sums[0][0], upper, left);
        multiply_8x8x4(sums[0][1], upper, right);
        multiply_8x8x4(sums[1][0], lower, left);
        multiply_8x8x4(sums[1][1], lower, right);
    }
}

// Calls f(q, cell, sum) for each of this lane's sums that is a nonzero of C: nonzero q of its tile,
// in row cell / 16 and column cell % 16. `row` has the mask of C's row lane % 16, and its row
// pointer
// << 16. Called by all lanes.
template <typename F>
static __device__ __forceinline__ void each_sum(uint32_t row, const double sums[2][2][2], F f)
{
    const int lane = lane_id();
#pragma unroll
    for (int x = 0; x < 8; x++) {
        const int i = lane / 4 + x / 4 * 8, j = lane % 4 * 2 + x / 2 % 2 * 8 + x % 2;
        const uint32_t mine = __shfl_sync(FULL_MASK, row, i);
        if (mine >> j & 1)
            f((int)(mine >> 16) + __popc(mine & bits_below(j)), i << 4 | j,
              sums[x / 4][x / 2 % 2][x % 2]);
    }
}

#endif
