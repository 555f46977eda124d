// The direct way of tiled-tuned, for small matrices: one kernel, straight from CSR and column-major
// B. It has few loads that wait for each other: row starts, then nonzeros, then B.
//
// group  L neighbouring lanes, which take a row of A and SLAB columns of B and C. Each lane has
//        other nonzeros of the row, SLAB sums of its own, and at the end the lanes' are added up
// block  the groups of neighbouring rows, for the same columns of B: what they share is in its L1
//
// A row is done by as many threads as it needs: its group, if that takes it ROUNDS loads of a
// nonzero for each lane; else the warp, if that does; else the block. Warps and blocks go through
// their long rows one after the other, when the short rows are done.
//
// It does not start before the kernel ahead of it has ended: in a CUDA graph on an H200 that makes
// each run 0.24 us longer, which is more than it saves.
#ifndef TILED_DIRECT_H
#define TILED_DIRECT_H

#include "kernel.cuh"

#define SLAB          4
#define ROUNDS        8
#define LEAST_LANES   4 // of a group: one for each sum
#define LEAST_THREADS 128
#define MOST_THREADS  512

template <typename T> struct straight {
    const int32_t *ptr, *idx;
    const T *val, *B;
    T *C;
    int64_t m, k, B_ld, C_ld;
};

template <typename T> static straight<T> straight_of(const struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    return {(const int32_t *)A->ptr,
            A->idx,
            (const T *)A->val,
            (const T *)t->in[0].val,
            (T *)t->C.val,
            t->C.rows,
            t->C.cols,
            t->in[0].ld,
            t->C.ld};
}

// The columns of B of a slab. Those past the last one are the last one again.
template <typename T> struct columns {
    const T *x[SLAB];
};

template <typename T>
static __device__ __forceinline__ columns<T> columns_of(const straight<T> &a, int64_t slab)
{
    columns<T> b;
#pragma unroll
    for (int s = 0; s < SLAB; s++) {
        const int64_t j = slab * SLAB + s;
        b.x[s] = a.B + (j < a.k ? j : a.k - 1) * a.B_ld;
    }
    return b;
}

// The sums over every `step`-th nonzero from p on. A nonzero is loaded while those of B for the one
// before it are under way.
template <typename T>
static __device__ __forceinline__ void sum_up(T (&sum)[SLAB], const straight<T> &a,
                                              const columns<T> &b, uint32_t p, uint32_t end,
                                              uint32_t step)
{
    int32_t col = 0;
    T v = 0;
    if (p < end) col = a.idx[p], v = a.val[p];
    while (p < end) {
        T x[SLAB];
#pragma unroll
        for (int s = 0; s < SLAB; s++) x[s] = b.x[s][col];
        const T now = v;
        p += step; // below 2^31 + 2^9
        if (p < end) col = a.idx[p], v = a.val[p];
#pragma unroll
        for (int s = 0; s < SLAB; s++) sum[s] += now * x[s];
    }
}

// Adds up the sums of LANES lanes and writes them to their row. By all lanes.
template <int LANES, typename T>
static __device__ __forceinline__ void write_sums(const straight<T> &a, T (&sum)[SLAB], int64_t row,
                                                  int64_t slab, bool mine)
{
    const T all = group_sums<LANES>(sum);
    const int lane = lane_id() % LANES, each = LANES / SLAB;
    const int64_t j = slab * SLAB + lane / each;
    if (mine && lane % each == 0 && j < a.k) a.C[j * a.C_ld + row] = all;
}

// The rows of the warp that are for it: of the groups whose first lane is in `rows`.
template <int L, typename T>
static __device__ __forceinline__ void sum_by_warp(const straight<T> &a, const columns<T> &b,
                                                   unsigned rows, int64_t first, int64_t slab)
{
    for (; rows; rows &= rows - 1) {
        const int64_t row = first + (__ffs((int)rows) - 1) / L;
        T sum[SLAB] = {};
        sum_up(sum, a, b, (uint32_t)a.ptr[row] + (uint32_t)lane_id(), (uint32_t)a.ptr[row + 1],
               WARP);
        write_sums<WARP>(a, sum, row, slab, true);
    }
}

// A row by all threads of the block: the warps' sums in the order of the warps.
template <typename T>
static __device__ __forceinline__ void sum_by_block(const straight<T> &a, const columns<T> &b,
                                                    T (*part)[SLAB], int64_t row, int64_t slab)
{
    T sum[SLAB] = {};
    sum_up(sum, a, b, (uint32_t)a.ptr[row] + threadIdx.x, (uint32_t)a.ptr[row + 1], blockDim.x);
    const T warps = group_sums<WARP>(sum);
    const int each = WARP / SLAB;
    if (lane_id() % each == 0) part[threadIdx.x / WARP][lane_id() / each] = warps;
    __syncthreads();
    if (threadIdx.x < SLAB && slab * SLAB + threadIdx.x < a.k) {
        T all = 0;
        for (unsigned w = 0; w < blockDim.x / WARP; w++) all += part[w][threadIdx.x];
        a.C[(slab * SLAB + threadIdx.x) * a.C_ld + row] = all;
    }
    __syncthreads(); // the next row takes the room
}

template <typename T, int L>
static __global__ void __launch_bounds__(MOST_THREADS, 3) multiply_direct(straight<T> a)
{
    __shared__ T part[MOST_THREADS / WARP][SLAB];
    __shared__ unsigned longest[MOST_THREADS / WARP]; // of each warp: rows that are for the block
    const int64_t block_first = (int64_t)blockIdx.x * (blockDim.x / L);
    const int64_t row = block_first + threadIdx.x / L;
    const int64_t warp_first = block_first + threadIdx.x / WARP * (WARP / L);
    uint32_t begin = 0, end = 0;
    if (row < a.m) begin = (uint32_t)a.ptr[row], end = (uint32_t)a.ptr[row + 1];
    const uint32_t size = end - begin;
    const bool leads = lane_id() % L == 0, for_group = row < a.m && size <= ROUNDS * L;
    const unsigned by_warp =
        __ballot_sync(FULL_MASK, leads && size > ROUNDS * L && size <= ROUNDS * WARP);
    const unsigned by_block = __ballot_sync(FULL_MASK, leads && size > ROUNDS * WARP);
    const bool any = __syncthreads_or(by_block != 0);
    if (any) {
        if (lane_id() == 0) longest[threadIdx.x / WARP] = by_block;
        __syncthreads();
    }
    if (!for_group) end = begin;
    for (int64_t slab = blockIdx.y; slab * SLAB < a.k; slab += gridDim.y) {
        const columns<T> b = columns_of(a, slab);
        T sum[SLAB] = {};
        sum_up(sum, a, b, begin + (uint32_t)(lane_id() % L), end, L);
        write_sums<L>(a, sum, row, slab, for_group);
        sum_by_warp<L>(a, b, by_warp, warp_first, slab);
        for (unsigned w = 0; any && w < blockDim.x / WARP; w++)
            for (unsigned rows = longest[w]; rows; rows &= rows - 1)
                sum_by_block(a, b, part, block_first + w * (WARP / L) + (__ffs((int)rows) - 1) / L,
                             slab);
    }
}

// Decisions of prepare().
struct direct {
    int lanes, threads; // of a group, of a block
};

// One nonzero of a row of average length for each lane, or two where the device is full with that.
static void direct_prepare(struct task *t, struct direct *s)
{
    const double mean = (double)t->A[0]->nnz / (double)max64(1, t->C.rows);
    const int64_t rows = t->C.rows * ceil_div(t->C.cols, SLAB);
    const int64_t full = (int64_t)t->dev->units * 2048; // threads
    s->lanes = LEAST_LANES;
    while (s->lanes < WARP && (s->lanes < mean / 2 || (s->lanes < mean && rows * s->lanes < full)))
        s->lanes *= 2;
    // Smaller blocks where there are few, so that all multiprocessors get some.
    s->threads = MOST_THREADS;
    while (s->threads > LEAST_THREADS && rows * s->lanes / s->threads < 2 * t->dev->units)
        s->threads /= 2;
    task_number(t, "lanes", s->lanes);
}

template <typename T, int L> static void start_lanes(const struct task *t, const struct direct *s)
{
    const straight<T> a = straight_of<T>(t);
    const dim3 grid((unsigned)ceil_div(a.m, s->threads / L),
                    (unsigned)min64(ceil_div(a.k, SLAB), 65535));
    auto kernel = multiply_direct<T, L>;
    LAUNCH(kernel, grid, (unsigned)s->threads, 0, t->dev->stream, a);
}

template <typename T> static void direct_start(const struct task *t, const struct direct *s)
{
    if (s->lanes == 4) {
        start_lanes<T, 4>(t, s);
    } else if (s->lanes == 8) {
        start_lanes<T, 8>(t, s);
    } else if (s->lanes == 16) {
        start_lanes<T, 16>(t, s);
    } else {
        start_lanes<T, 32>(t, s);
    }
}

#endif
