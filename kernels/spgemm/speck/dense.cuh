// Step 4, dense rows: a window of columns in shared memory passes over the range of the row. A
// cursor for each nonzero of A holds the place in its row of S.
#ifndef SPGEMM_SPECK_DENSE_H
#define SPGEMM_SPECK_DENSE_H

#include "rows.cuh"

#define DENSE_BLOCK 1024 // threads
#define DENSE_LOG   10

// Returns the columns of a window of `bytes`. Numeric: a value, a bit and an eighth of a rank each.
static __host__ __device__ constexpr int32_t window_columns(int64_t bytes, int value_bytes)
{
    return (int32_t)(value_bytes ? bytes * 4 / (4 * value_bytes + 1) / 32 * 32 : bytes / 4 * 32);
}

// Two cursors for each nonzero of A. A window reads the cursors that the window before wrote. NULL:
// no row has several windows.
struct cursors {
    int32_t *even, *odd; // for even and for odd windows
};

// Calls add(column, value) for the products of row i in window w, whose columns end before `end`.
template <bool VALUES, typename T, typename F>
static __device__ __forceinline__ void
walk_window(const struct factors<T> &x, int32_t i, const struct row_facts &f, uint32_t w,
            uint32_t windows, uint32_t end, const struct cursors &cursors, F add)
{
    const uint32_t p = (uint32_t)__ldg(x.A_ptr + i), p_end = (uint32_t)__ldg(x.A_ptr + i + 1);
    const int log = choose_lanes((uint32_t)f.products / windows, p_end - p,
                                 (uint32_t)f.longest / windows, DENSE_LOG);
    const int32_t *from = w == 0 ? NULL : w & 1 ? cursors.odd : cursors.even;
    int32_t *to = w + 1 == windows ? NULL : w & 1 ? cursors.even : cursors.odd;
    walk_rows<VALUES, DENSE_BLOCK, nonzero>(
        x, p, p_end, log,
        [&](uint32_t q) -> struct nonzero {
            const int32_t l = __ldg(x.A_idx + q);
            return {(uint32_t)(from ? from[q] : __ldg(x.S_ptr + l)),
                    (uint32_t)__ldg(x.S_ptr + l + 1)};
        },
        [&](const struct nonzero &, uint32_t, int32_t col, T v) {
            if ((uint32_t)col >= end) return false;
            add(col, v);
            return true;
        },
        [&](uint32_t nonzero, const struct nonzero &z, uint32_t q) {
            // A single lane stops at the first column beyond the window, or at the end of the row.
            if (!to || nonzero >= p_end || q > z.end) return;
            if (q == z.begin || (uint32_t)__ldg(x.S_idx + q - 1) < end) to[nonzero] = (int32_t)q;
        });
    __syncthreads();
}

// Counts the nonzeros of a row, a block for each row, with a bit for each column.
static __global__ __launch_bounds__(DENSE_BLOCK) void symbolic_dense(
    struct factors<float> x, struct team_blocks blocks, int32_t window, struct cursors cursors,
    const struct row_facts *__restrict__ facts, int32_t *__restrict__ nz)
{
    SHARED_DYNAMIC(uint32_t, bits);
    __shared__ int32_t found;
    const int32_t i = blocks.queue[blockIdx.x].first;
    const struct row_facts f = facts[i];
    const uint32_t span = (uint32_t)(f.high - f.low + 1);
    const uint32_t windows = (span - 1) / (uint32_t)window + 1;
    if (threadIdx.x == 0) found = 0;
    int32_t mine = 0;
    for (uint32_t w = 0; w < windows; w++) {
        const uint32_t begin = (uint32_t)f.low + w * (uint32_t)window;
        const uint32_t end = min(begin + (uint32_t)window, (uint32_t)f.high + 1);
        const uint32_t words = (end - begin - 1) / 32 + 1;
        for (uint32_t s = threadIdx.x; s < words; s += DENSE_BLOCK) bits[s] = 0;
        __syncthreads();
        walk_window<false>(x, i, f, w, windows, end, cursors, [&](int32_t col, float) {
            const uint32_t e = (uint32_t)col - begin, bit = 1u << (e & 31);
            if (!(*(volatile uint32_t *)(bits + e / 32) & bit)) atomicOr(bits + e / 32, bit);
        });
        for (uint32_t s = threadIdx.x; s < words; s += DENSE_BLOCK) mine += __popc(bits[s]);
    }
    mine = warp_sum(mine);
    if (lane_id() == 0 && mine) atomicAdd(&found, mine);
    __syncthreads();
    if (threadIdx.x == 0) nz[i] = found;
}

// Replaces the bits of each word by the number of bits in the words before, in `ranks`. Returns the
// number of all bits. Begins with a barrier.
static __device__ __forceinline__ int32_t rank_words(const uint32_t *bits, int32_t *ranks,
                                                     uint32_t words, int32_t *sums)
{
    int32_t before = 0, total;
    for (uint32_t at = 0; at < words; at += DENSE_BLOCK) {
        const uint32_t s = at + threadIdx.x;
        const int32_t upto = team_scan<DENSE_BLOCK>(s < words ? __popc(bits[s]) : 0, sums, total);
        if (s < words) ranks[s] = before + upto;
        before += total;
    }
    __syncthreads();
    return before;
}

// Computes rows, a block for each row. The columns of a window are written in order.
template <typename T>
static __global__ __launch_bounds__(DENSE_BLOCK) void numeric_dense(
    struct factors<T> x, struct team_blocks blocks, int32_t window, struct cursors cursors,
    const struct row_facts *__restrict__ facts, struct result<T> c)
{
    SHARED_DYNAMIC(unsigned char, memory);
    __shared__ int32_t sums[DENSE_BLOCK / WARP];
    T *vals = (T *)memory;
    uint32_t *bits = (uint32_t *)(vals + window);
    int32_t *ranks = (int32_t *)(bits + window / 32);
    const int32_t i = blocks.queue[blockIdx.x].first;
    const int lane = lane_id();
    const struct row_facts f = facts[i];
    const uint32_t span = (uint32_t)(f.high - f.low + 1);
    const uint32_t windows = (span - 1) / (uint32_t)window + 1;
    int64_t start = row_start(c, i);
    for (uint32_t w = 0; w < windows; w++) {
        const uint32_t begin = (uint32_t)f.low + w * (uint32_t)window;
        const uint32_t end = min(begin + (uint32_t)window, (uint32_t)f.high + 1);
        const uint32_t words = (end - begin - 1) / 32 + 1;
        __syncthreads(); // the window before is read
        for (uint32_t e = threadIdx.x; e < end - begin; e += DENSE_BLOCK) vals[e] = 0;
        for (uint32_t s = threadIdx.x; s < words; s += DENSE_BLOCK) bits[s] = 0;
        __syncthreads();
        walk_window<true>(x, i, f, w, windows, end, cursors, [&](int32_t col, T v) {
            const uint32_t e = (uint32_t)col - begin, bit = 1u << (e & 31);
            if (!(*(volatile uint32_t *)(bits + e / 32) & bit)) atomicOr(bits + e / 32, bit);
            atomicAdd(&vals[e], v);
        });
        const int32_t count = rank_words(bits, ranks, words, sums);
        for (uint32_t s = threadIdx.x / WARP; s < words; s += DENSE_BLOCK / WARP) {
            const uint32_t word = bits[s];
            const int64_t to = start + ranks[s] + __popc(word & bits_below(lane));
            if (!(word >> lane & 1)) continue;
            c.idx[to] = (int32_t)(begin + s * 32) + lane;
            c.val[to] = vals[s * 32 + (uint32_t)lane];
        }
        start += count;
    }
}

#endif
