// Product of two tiles as full tiles, with the sums in registers, and the rule for when it pays.
#ifndef SPGEMM_TILE_FULL_H
#define SPGEMM_TILE_FULL_H

#include "match.cuh"
#include "device/mma.cuh"

// The cost of multiplying two tiles as full tiles is constant. The cost nonzero by nonzero grows
// with the products, and with lanes that add to the same element. H200, f64: the costs are equal at
// 16 to 20 nonzeros per tile. Full tiles take fem:28 from 3.2 to 1.3 ms, ogbl-ddi from 21 to 10 ms.
// Inputs of 16 bits have the same rule, although their costs are not measured.
//
// A kernel with code for both is slower than a kernel without full tiles if no tile is full. With
// option -1 the second kernel is launched if tiles of A have fewer than FULL_MEAN nonzeros. Full
// tiles of 32 and 64 bits are multiplied in f64. If f64 is slow, option -1 launches the second
// kernel for these types.
#define FULL_TILE 20 // geometric mean of the nonzeros of two tiles
#define FULL_MEAN 12 // nonzeros of a tile of A on average
#define SLOW_F64  4  // ratio of f32 to f64 speed from which f64 is slow

// Returns the nonzeros from which a tile counts as full: `wanted`, or the rule above for -1.
// `is_slow`: f64 is slow, and full tiles are multiplied in f64.
static int32_t full_from(int32_t wanted, bool is_slow, const struct tile16 *A)
{
    if (wanted >= 0) return wanted;
    return is_slow || A->nnz < A->tiles * FULL_MEAN ? NO_TILE : FULL_TILE;
}

// Type of the values that tensor cores multiply: the type of the inputs if they have 16 bits, else
// double.
template <typename T> struct full_of {
    typedef double type;
};
template <> struct full_of<f16> {
    typedef f16 type;
};
template <> struct full_of<bf16> {
    typedef bf16 type;
};
template <typename T> using full_value = typename full_of<T>::type;
template <typename T> using full_sum = sum_type<full_value<T>>;

// Values of a lane for one multiplication on tensor cores. A lane has DEPTH columns of A's tile and
// the same rows of S's tile. Values of A are in rows lane / 4 and lane / 4 + 8. Values of S are in
// columns lane / 4 and lane / 4 + 8.
template <typename V> struct fragment {
    static const int DEPTH = sizeof(V) == 2 ? 4 : 1;
    V upper[DEPTH], lower[DEPTH], left[DEPTH], right[DEPTH];
};

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

// Adds the products of all lanes' fragments to the sums of multiply_full(). Called by all lanes.
static __device__ __forceinline__ void multiply_fragment(double sums[2][2][2],
                                                         const fragment<double> &f)
{
    multiply_8x8x4(sums[0][0], f.upper[0], f.left[0]);
    multiply_8x8x4(sums[0][1], f.upper[0], f.right[0]);
    multiply_8x8x4(sums[1][0], f.lower[0], f.left[0]);
    multiply_8x8x4(sums[1][1], f.lower[0], f.right[0]);
}

// Returns a word of two values of 16 bits.
template <typename V> static __device__ __forceinline__ uint32_t word_of(V low, V high)
{
    return (uint32_t)high.bits << 16 | low.bits;
}

// Adds the products of 16-bit fragments, in f32. Columns of A's tile and rows of S's tile are not
// in the order of multiply_16x8x16(). Both have the same order, so the sums are right. For
// q = lane % 4, column 2 q of multiply_16x8x16() is column q of A's tile, 2 q + 1 is q + 4,
// 2 q + 8 is q + 8, and 2 q + 9 is q + 12.
template <typename V>
static __device__ __forceinline__ void multiply_fragment(float sums[2][2][2], const fragment<V> &f)
{
    const uint32_t a[] = {word_of(f.upper[0], f.upper[1]), word_of(f.lower[0], f.lower[1]),
                          word_of(f.upper[2], f.upper[3]), word_of(f.lower[2], f.lower[3])};
    const uint32_t left[] = {word_of(f.left[0], f.left[1]), word_of(f.left[2], f.left[3])};
    const uint32_t right[] = {word_of(f.right[0], f.right[1]), word_of(f.right[2], f.right[3])};
    multiply_16x8x16(V{}, sums[0][0], sums[1][0], a, left);
    multiply_16x8x16(V{}, sums[0][1], sums[1][1], a, right);
}

// Returns the element of a tile's row in the column of bit `bit`. `mask` has the columns of the
// row, and val[at] is its first value.
template <typename T>
static __device__ __forceinline__ full_value<T> element(const T *__restrict__ val, uint32_t at,
                                                        uint32_t mask, uint32_t bit)
{
    at += (uint32_t)__popc(mask & (bit - 1));
    return mask & bit ? (full_value<T>)val[at] : full_value<T>{};
}

// Adds the product of a pair to the warp's sums, on tensor cores. A lane has eight of the 256 sums:
// rows lane / 4 and lane / 4 + 8, columns j, j + 1, j + 8 and j + 9 for j = lane % 4 * 2. The order
// of the sums is always the same. Zeros take the place of absent elements, and add nothing to
// finite values. A value that overflows f16 makes NaN here, and the check calls the result
// unchecked. Called by all lanes.
template <typename T>
static __device__ __forceinline__ void multiply_full(const struct multiply &w, int2 pair,
                                                     full_sum<T> sums[2][2][2])
{
    const int DEPTH = fragment<full_value<T>>::DEPTH;
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
    for (int x = 0; x < 4; x += DEPTH) {
        if (!(common >> (4 * x) & bits_below(4 * DEPTH))) continue;
        fragment<full_value<T>> f;
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            const int k = 4 * (x + d) + lane % 4;
            const uint32_t S_k = __shfl_sync(FULL_MASK, S_row, k), S_k_at = S_start + (S_k >> 16);
            f.upper[d] = element(A_val, A_upper_at, A_upper, 1u << k);
            f.lower[d] = element(A_val, A_lower_at, A_lower, 1u << k);
            f.left[d] = element(S_val, S_k_at, S_k, 1u << i);
            f.right[d] = element(S_val, S_k_at, S_k, 256u << i);
        }
        multiply_fragment(sums, f);
    }
}

// Calls f(q, cell, sum) for each of this lane's sums that is a nonzero of C: nonzero q of its tile,
// in row cell / 16 and column cell % 16. The low half of `row` is the mask of C's row lane % 16,
// the high half its row pointer. Called by all lanes.
template <typename N, typename F>
static __device__ __forceinline__ void each_sum(uint32_t row, const N sums[2][2][2], F f)
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
