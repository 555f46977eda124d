// The staged method of tiled-tuned, for a B whose columns fit in shared memory: one kernel on CSR.
// A block copies a slab of B to shared memory, row by row. One load of 16 or 8 bytes then brings
// all elements of B that a nonzero needs. The direct method needs one load per column, each of
// which touches a line for nearly every lane.
//
// range  rows of A of a block. Ranges have about the same work
// slab   N columns of B and C
// team   2^bits neighbouring lanes of a warp, which compute a row. Each lane has other nonzeros of
//        the row and N sums, and the lanes' sums are added at the end
// round  one nonzero per lane
// batch  STAGED_BATCH nonzeros of a lane, loaded together
//
// A team has as many lanes as the block has per row of its range. A row of average length has at
// most STAGED_BATCH nonzeros per lane: if that needs larger teams, the block computes its range in
// several steps.
//
// A team computes rows of up to STAGED_ROUNDS rounds. Its warp computes longer rows of up to
// STAGED_ROUNDS rounds of the warp. The block computes all other rows, one after the other.
//
// Few loads depend on each other: row starts and the first rows of B together, then nonzeros while
// B is in flight.
//
// H200: staging is worth 25 % on dnn_n1024-l1, and next to nothing elsewhere.
#ifndef TILED_STAGED_H
#define TILED_STAGED_H

#include "direct.cuh"

#define STAGED_THREADS        1024 // a multiprocessor has one block and one copy of B
#define STAGED_WARPS          (STAGED_THREADS / WARP)
#define STAGED_ROUNDS         16
#define STAGED_BYTES_A_THREAD 32 // bytes of B that a thread has in flight
#define STAGED_BATCH          4  // nonzeros of a lane, loaded together
#define MOST_RANGES           128

template <typename T> struct staging {
    direct_operands<T> a;
    int32_t n;                      // rows of B
    int least_bits;                 // a team has at least 2^least_bits lanes
    int32_t first[MOST_RANGES + 1]; // first row of each range, then m
};

// The rows of a slab that a thread copies at once, from row i on. Columns past the last column are
// the last column again.
template <typename T, int N> struct slab_rows {
    static const int COUNT = STAGED_BYTES_A_THREAD / (int)sizeof(pack<T, N>);
    pack<T, N> x[COUNT];
};

template <typename T, int N>
static __device__ __forceinline__ slab_rows<T, N> load_rows(const direct_operands<T> &a, int32_t n,
                                                            int64_t slab, int32_t i)
{
    slab_rows<T, N> rows;
#pragma unroll
    for (int e = 0; e < rows.COUNT; e++) {
        const int32_t row = i + e * (int32_t)blockDim.x;
        if (row >= n) break;
#pragma unroll
        for (int s = 0; s < N; s++) {
            const int64_t j = slab * N + s;
            rows.x[e].x[s] = a.B[(j < a.k ? j : a.k - 1) * a.B_ld + row];
        }
    }
    return rows;
}

template <typename T, int N>
static __device__ __forceinline__ void store_rows(pack<T, N> *to, const slab_rows<T, N> &rows,
                                                  int32_t n, int32_t i)
{
#pragma unroll
    for (int e = 0; e < rows.COUNT; e++) {
        const int32_t row = i + e * (int32_t)blockDim.x;
        if (row < n) to[row] = rows.x[e];
    }
}

// Copies a slab. This thread's first rows are loaded already.
template <typename T, int N>
static __device__ __forceinline__ void stage_slab(pack<T, N> *to, const slab_rows<T, N> &first,
                                                  const direct_operands<T> &a, int32_t n,
                                                  int64_t slab)
{
    const int32_t step = first.COUNT * (int32_t)blockDim.x;
    int32_t i = (int32_t)threadIdx.x;
    store_rows(to, first, n, i);
    for (i += step; i < n; i += step) store_rows(to, load_rows<T, N>(a, n, slab, i), n, i);
}

// A batch of a lane: every `step`-th nonzero from p on. The column is -1 past the end.
template <typename T> struct lane_batch {
    int32_t col[STAGED_BATCH];
    T v[STAGED_BATCH];
};

template <typename T>
static __device__ __forceinline__ lane_batch<T>
load_lane_batch(const direct_operands<T> &a, uint32_t p, uint32_t end, uint32_t step)
{
    lane_batch<T> x;
#pragma unroll
    for (int e = 0; e < STAGED_BATCH; e++) {
        const uint32_t q = p + (uint32_t)e * step; // below 2^31 + 2^12
        x.col[e] = q < end ? a.idx[q] : -1;
        x.v[e] = q < end ? a.val[q] : (T)0;
    }
    return x;
}

// Returns the sums over every `step`-th nonzero from p on. `next` is the first batch. Each batch is
// loaded one batch ahead.
template <typename T, int N>
static __device__ __forceinline__ pack<T, N> sum_batches(const direct_operands<T> &a,
                                                         const pack<T, N> *B, lane_batch<T> next,
                                                         uint32_t p, uint32_t end, uint32_t step)
{
    pack<T, N> sum = {};
    while (p < end) {
        const lane_batch<T> now = next;
        p += STAGED_BATCH * step;
        if (p < end) next = load_lane_batch(a, p, end, step);
#pragma unroll
        for (int e = 0; e < STAGED_BATCH; e++)
            if (now.col[e] >= 0) add_product(sum, now.v[e], B[now.col[e]]);
    }
    return sum;
}

// The sums of a team that a lane holds after add_lanes().
struct lane_sums {
    int first, count;
};

// Adds the N sums of each team of `lanes` lanes. Each of the first steps halves the sums of a lane,
// as in group_sums(). All lanes call this function.
template <typename T, int N>
static __device__ __forceinline__ lane_sums add_lanes(pack<T, N> &sum, int lanes)
{
    lane_sums mine = {0, N};
    int step = lanes / 2;
#pragma unroll
    for (int n = N / 2; n > 0; n /= 2) {
        if (!step) continue;
        const bool upper = lane_id() & step;
#pragma unroll
        for (int i = 0; i < n; i++) {
            const T kept = upper ? sum.x[i + n] : sum.x[i], sent = upper ? sum.x[i] : sum.x[i + n];
            sum.x[i] = kept + __shfl_xor_sync(FULL_MASK, sent, step);
        }
        mine.first += upper ? n : 0;
        mine.count = n;
        step /= 2;
    }
    if (step && lane_id() & (2 * step - 1))
        mine.count = 0; // the first of these lanes holds the sum
    for (; step > 0; step /= 2) sum.x[0] += __shfl_xor_sync(FULL_MASK, sum.x[0], step);
    return mine;
}

template <typename T, int N>
static __device__ __forceinline__ void write_row(const direct_operands<T> &a, const pack<T, N> &sum,
                                                 lane_sums mine, int64_t slab, int32_t row)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int64_t j = slab * N + mine.first + i;
        if (i < mine.count && j < a.k) a.C[j * a.C_ld + row] = sum.x[i];
    }
}

// The operands of a block.
template <typename T, int N> struct staged_block {
    const direct_operands<T> &a;
    const pack<T, N> *B; // slab in shared memory
    T (*part)[N];        // sums of each warp over a row of the block
    int64_t slab;
    int bits; // a team has 2^bits lanes
};

template <typename T, int N>
static __device__ __forceinline__ void staged_by_warp(const staged_block<T, N> &x, int32_t row)
{
    const uint32_t p = (uint32_t)x.a.ptr[row] + (uint32_t)lane_id(),
                   end = (uint32_t)x.a.ptr[row + 1];
    pack<T, N> sum = sum_batches(x.a, x.B, load_lane_batch(x.a, p, end, WARP), p, end, WARP);
    const lane_sums mine = add_lanes(sum, WARP);
    write_row(x.a, sum, mine, x.slab, row);
}

// Computes a row by all threads of the block. The warps' sums are added in the order of the warps.
template <typename T, int N>
static __device__ __forceinline__ void staged_by_block(const staged_block<T, N> &x, int32_t row)
{
    const uint32_t p = (uint32_t)x.a.ptr[row] + threadIdx.x, end = (uint32_t)x.a.ptr[row + 1];
    pack<T, N> sum =
        sum_batches(x.a, x.B, load_lane_batch(x.a, p, end, blockDim.x), p, end, blockDim.x);
    const lane_sums mine = add_lanes(sum, WARP);
    if (mine.count) x.part[threadIdx.x / WARP][mine.first] = sum.x[0];
    __syncthreads();
    const int64_t j = x.slab * N + threadIdx.x;
    if (threadIdx.x < N && j < x.a.k) {
        T all = 0;
        for (unsigned w = 0; w < blockDim.x / WARP; w++) all += x.part[w][threadIdx.x];
        x.a.C[j * x.a.C_ld + row] = all;
    }
    __syncthreads(); // the next row overwrites `part`
}

// Compute the rows from `first` on that are too long for their teams: by the warp, then by the
// block. `rows` and `by_block[w]`: first lanes of these teams in warp w.
template <typename T, int N>
static __device__ __forceinline__ void long_by_warp(const staged_block<T, N> &x, unsigned rows,
                                                    int32_t first)
{
    for (; rows; rows &= rows - 1) {
        const int32_t place = (int32_t)(threadIdx.x & ~(WARP - 1u)) + __ffs((int)rows) - 1;
        staged_by_warp(x, first + (place >> x.bits));
    }
}

template <typename T, int N>
static __device__ __forceinline__ void long_by_block(const staged_block<T, N> &x,
                                                     const unsigned *by_block, int32_t first)
{
    for (int w = 0; w < (int)blockDim.x / WARP; w++)
        for (unsigned rows = by_block[w]; rows; rows &= rows - 1)
            staged_by_block(x, first + ((w * WARP + __ffs((int)rows) - 1) >> x.bits));
    __syncthreads(); // the next rows overwrite the list
}

// Returns the binary logarithm of the lanes of a team, at least `bits`.
static __device__ __forceinline__ int lane_bits(int32_t rows, int bits)
{
    while (WARP >> bits > 1 && (int64_t)rows << (bits + 1) <= blockDim.x) bits++;
    return bits;
}

template <typename T, int N>
static __global__ void __launch_bounds__(STAGED_THREADS) multiply_staged(staging<T> s)
{
    typedef pack<T, N> row_t;
    SHARED_DYNAMIC(row_t, B);
    __shared__ T part[STAGED_WARPS][N];
    __shared__ unsigned by_block[STAGED_WARPS]; // as in long_by_block()
    const int32_t range_end = s.first[blockIdx.y + 1];
    int32_t first = s.first[blockIdx.y];
    const int bits = lane_bits(range_end - first, s.least_bits), lanes = 1 << bits;
    const staged_block<T, N> x = {s.a, B, part, blockIdx.x, bits};
    slab_rows<T, N> rows;
    for (bool staged = false; first < range_end; first += (int32_t)blockDim.x >> bits) {
        const int32_t row = first + ((int32_t)threadIdx.x >> bits);
        uint32_t begin = 0, end = 0;
        if (row < range_end) begin = (uint32_t)s.a.ptr[row], end = (uint32_t)s.a.ptr[row + 1];
        if (!staged) rows = load_rows<T, N>(s.a, s.n, x.slab, (int32_t)threadIdx.x);
        const uint32_t size = end - begin, p = begin + (uint32_t)(lane_id() & (lanes - 1));
        const bool leads = !(lane_id() & (lanes - 1));
        const bool mine = row < range_end && size <= (uint32_t)(STAGED_ROUNDS * lanes);
        const unsigned by_warp = __ballot_sync(FULL_MASK, leads && row < range_end && !mine &&
                                                              size <= STAGED_ROUNDS * WARP);
        const unsigned longest = __ballot_sync(FULL_MASK, leads && size > STAGED_ROUNDS * WARP);
        if (!mine) end = begin;
        const lane_batch<T> next = load_lane_batch(s.a, p, end, (uint32_t)lanes);
        if (!staged) stage_slab((row_t *)B, rows, s.a, s.n, x.slab);
        staged = true;
        if (lane_id() == 0) by_block[threadIdx.x / WARP] = longest;
        const bool any = __syncthreads_or(longest != 0); // B and the list are complete
        row_t sum = sum_batches(s.a, (const row_t *)B, next, p, end, (uint32_t)lanes);
        const lane_sums left = add_lanes(sum, lanes);
        if (mine) write_row(s.a, sum, left, x.slab, row);
        long_by_warp(x, by_warp, first);
        if (any) long_by_block(x, by_block, first);
    }
}

#endif
