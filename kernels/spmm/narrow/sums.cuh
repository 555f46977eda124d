// Sums of a tile: of lanes, warps and the block, and of long rows over tiles.
#ifndef NARROW_SUMS_H
#define NARROW_SUMS_H

#include "loads.cuh"
#include "tiles.cuh"

// Shape of the kernel. W: columns of B and C. U: nonzeros of a lane. TURNED: neighbouring lanes load
// neighbouring nonzeros, so that their rows of B share cache lines. The products reach the lanes of
// their sums through shared memory.
template <typename T_, int W_, int U_> struct shape {
    typedef T_ T;
    typedef pack<T_, W_> packed;
    static const int W = W_, U = U_;
    static const bool TURNED = U > 4;
    static const int RUN = U * (int)sizeof(packed), BYTES = WARP * RUN; // products of a lane, a warp
    static const int SHARED = TURNED ? BYTES / 8 * 9 : BYTES;
    static const int WORDS = (U * (W + 1) + 4 * W) * (int)sizeof(T) / 4; // A, B and head in a lane
    static const int OTHER = sizeof(T) == 8 ? 28 : W == 1 ? 24 : 20;
    static const int REGISTERS = WORDS + OTHER < 40 ? 40 : (WORDS + OTHER + 7) / 8 * 8;
    static const int BLOCKS = 65536 / (THREADS * REGISTERS);
};

template <typename T> struct operands {
    const int32_t *idx;
    const T *val;
    const char *B;
    char *C;
    const uint16_t *words;
    const struct share *shares;
    const int32_t *rows; // NULL: no row is empty
    T *partial;          // for each tile: sums at its end, and of the head, of long rows
    int32_t *arrived;    // for the tile in which a long row ends: tiles with their sums
    int32_t nnz, tiles, used, m;
    uint32_t B_step, C_step; // bytes from a row to the next
    bool early;
};

// Moves the products of a warp to the lanes of their sums. In shared memory 16 bytes of padding
// follow each 128 bytes, against bank conflicts. By all lanes.
template <typename S>
static __device__ __forceinline__ void turn(typename S::packed (&x)[S::U], char *own)
{
    const int lane = lane_id(), SIZE = (int)sizeof(typename S::packed);
    const int to = lane * SIZE, from = lane * S::RUN;
#pragma unroll
    for (int u = 0; u < S::U; u++)
        *(typename S::packed *)(own + to + to / 128 * 16 + u * 36 * SIZE) = x[u];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < S::RUN; i += 16) {
        const uint4 y = *(const uint4 *)(own + from + from / 128 * 16 + i);
        memcpy((char *)x + i, &y, 16);
    }
    __syncwarp();
}

// Stores the sum up to each row end of a lane at sums[0], sums[1], ... Returns the sum after the
// last row end.
template <typename S>
static __device__ __forceinline__ typename S::packed
sum_lane(const typename S::packed (&x)[S::U], uint32_t ends, typename S::packed *sums)
{
    typename S::packed sum = {};
#pragma unroll
    for (int u = 0; u < S::U; u++) {
        const bool is_end = ends >> u & 1;
        add(sum, x[u]);
        store_if(sums, sum, is_end);
        sums += is_end;
#pragma unroll
        for (int w = 0; w < S::W; w++) sum.x[w] = is_end ? (typename S::T)0 : sum.x[w];
    }
    return sum;
}

// Adds the sums of the previous lanes, back to the nearest row end, to `sum` and to *first. *first
// is the sum at the first row end of the lane. By all lanes.
template <typename S>
static __device__ __forceinline__ void sum_warp(typename S::packed &sum, bool has_end,
                                                typename S::packed *first)
{
    const int lane = lane_id();
    unsigned more = ~__ballot_sync(FULL_MASK, has_end) & (FULL_MASK << 1);
#pragma unroll
    for (int by = 1; by < WARP; by *= 2) {
        if (!more) break;
#pragma unroll
        for (int w = 0; w < S::W; w++) {
            const typename S::T y = __shfl_up_sync(FULL_MASK, sum.x[w], by);
            if (more >> lane & 1) sum.x[w] += y;
        }
        more &= more << by;
    }
    typename S::packed before;
#pragma unroll
    for (int w = 0; w < S::W; w++) before.x[w] = __shfl_up_sync(FULL_MASK, sum.x[w], 1);
    if (!has_end || lane == 0) return;
    typename S::packed y = *first;
    add(y, before);
    *first = y;
}

// Adds up the parts of the long row that ends in tile `end`, and writes the row to C. `count`: the
// tiles before `end` with nonzeros of the row. Only the block of these tiles that finishes last
// does so. `sums`: shared memory. By all threads.
template <typename S>
static __device__ __forceinline__ void arrive(const operands<typename S::T> &a, int32_t end,
                                              int32_t count, typename S::T (&sums)[WARPS][S::W])
{
    typedef typename S::T T;
    __shared__ bool is_last;
    __syncthreads(); // the sums of this tile are stored
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomic_add_release(a.arrived + end, 1) == count;
        if (is_last) {
            a.arrived[end] = 0;
            __threadfence();
        }
    }
    __syncthreads();
    if (!is_last) return;
    const int thread = (int)threadIdx.x, column = thread % S::W;
    T sum = 0;
#pragma unroll 4
    for (int32_t i = thread / S::W; i <= count; i += THREADS / S::W)
        sum += a.partial[(2 * (int64_t)(end - count + i) + (i == count)) * S::W + column];
#pragma unroll
    for (int by = S::W; by < WARP; by *= 2) sum += __shfl_xor_sync(FULL_MASK, sum, by);
    if (lane_id() < S::W) sums[thread / WARP][column] = sum;
    __syncthreads();
    if (thread >= S::W) return;
    sum = 0;
    for (int w = 0; w < WARPS; w++) sum += sums[w][thread];
    const int32_t first = a.shares[(int64_t)end * WARPS].first, row = a.rows ? a.rows[first] : first;
    row_at<T>(a.C, a.C_step, (uint32_t)row)[thread] = sum;
}

#endif
