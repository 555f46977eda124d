// The direct method of tiled-tuned, for small matrices: one kernel on CSR and column-major B. Few
// loads depend on each other: row starts, then nonzeros, then B.
//
// team   L neighbouring lanes, which compute a row of A for SLAB columns of B and C. Each lane has
//        other nonzeros of the row and SLAB sums, and the lanes' sums are added at the end
// round  one nonzero per lane
// block  teams of neighbouring rows, for the same columns of B, which reuse B in L1
//
// A row that takes up to ROUNDS rounds of its team is computed by the team. A longer row is
// computed by the warp if that takes up to ROUNDS rounds, otherwise by the block. Warps and blocks
// compute their long rows one after the other, after the short rows.
//
// The kernel does not start before the previous kernel has ended. An early start makes each run in
// a CUDA graph 0.24 us longer on an H200, more than the start saves.
#ifndef TILED_DIRECT_H
#define TILED_DIRECT_H

#include "kernel.cuh"

#define SLAB          4
#define ROUNDS        8
#define LEAST_LANES   4 // lanes of a team: one for each sum
#define LEAST_THREADS 128
#define MOST_THREADS  512

template <typename T> struct direct_operands {
    const int32_t *ptr, *idx;
    const T *val, *B;
    T *C;
    int64_t m, k, B_ld, C_ld;
};

template <typename T> static direct_operands<T> direct_operands_of(const struct task *t)
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

// The columns of B of a slab. Columns past the last column are the last column again.
template <typename T> struct columns {
    const T *x[SLAB];
};

template <typename T>
static __device__ __forceinline__ columns<T> columns_of(const direct_operands<T> &a, int64_t slab)
{
    columns<T> b;
#pragma unroll
    for (int s = 0; s < SLAB; s++) {
        const int64_t j = slab * SLAB + s;
        b.x[s] = a.B + (j < a.k ? j : a.k - 1) * a.B_ld;
    }
    return b;
}

// sum += the products of every `step`-th nonzero from p on. Each nonzero is loaded one step ahead.
template <typename T>
static __device__ __forceinline__ void sum_up(T (&sum)[SLAB], const direct_operands<T> &a,
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

// Adds the sums of LANES lanes and writes the results to C. All lanes call this function.
template <int LANES, typename T>
static __device__ __forceinline__ void write_sums(const direct_operands<T> &a, T (&sum)[SLAB],
                                                  int64_t row, int64_t slab, bool mine)
{
    const T all = group_sums<LANES>(sum);
    const int lane = lane_id() % LANES, each = LANES / SLAB;
    const int64_t j = slab * SLAB + lane / each;
    if (mine && lane % each == 0 && j < a.k) a.C[j * a.C_ld + row] = all;
}

// Computes the rows of a warp that are too long for their teams. `rows`: first lanes of these
// teams.
template <int L, typename T>
static __device__ __forceinline__ void sum_by_warp(const direct_operands<T> &a, const columns<T> &b,
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

// Computes a row by all threads of the block. The warps' sums are added in the order of the warps.
template <typename T>
static __device__ __forceinline__ void sum_by_block(const direct_operands<T> &a,
                                                    const columns<T> &b, T (*part)[SLAB],
                                                    int64_t row, int64_t slab)
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
    __syncthreads(); // the next row overwrites `part`
}

template <typename T, int L>
static __global__ void __launch_bounds__(MOST_THREADS, 3) multiply_direct(direct_operands<T> a)
{
    __shared__ T part[MOST_THREADS / WARP][SLAB];
    __shared__ unsigned longest[MOST_THREADS / WARP]; // rows of each warp that the block computes
    const int64_t block_first = (int64_t)blockIdx.x * (blockDim.x / L);
    const int64_t row = block_first + threadIdx.x / L;
    const int64_t warp_first = block_first + threadIdx.x / WARP * (WARP / L);
    uint32_t begin = 0, end = 0;
    if (row < a.m) begin = (uint32_t)a.ptr[row], end = (uint32_t)a.ptr[row + 1];
    const uint32_t size = end - begin;
    const bool leads = lane_id() % L == 0, for_team = row < a.m && size <= ROUNDS * L;
    const unsigned by_warp =
        __ballot_sync(FULL_MASK, leads && size > ROUNDS * L && size <= ROUNDS * WARP);
    const unsigned by_block = __ballot_sync(FULL_MASK, leads && size > ROUNDS * WARP);
    const bool any = __syncthreads_or(by_block != 0);
    if (any) {
        if (lane_id() == 0) longest[threadIdx.x / WARP] = by_block;
        __syncthreads();
    }
    if (!for_team) end = begin;
    for (int64_t slab = blockIdx.y; slab * SLAB < a.k; slab += gridDim.y) {
        const columns<T> b = columns_of(a, slab);
        T sum[SLAB] = {};
        sum_up(sum, a, b, begin + (uint32_t)(lane_id() % L), end, L);
        write_sums<L>(a, sum, row, slab, for_team);
        sum_by_warp<L>(a, b, by_warp, warp_first, slab);
        for (unsigned w = 0; any && w < blockDim.x / WARP; w++)
            for (unsigned rows = longest[w]; rows; rows &= rows - 1)
                sum_by_block(a, b, part, block_first + w * (WARP / L) + (__ffs((int)rows) - 1) / L,
                             slab);
    }
}

// Decisions of prepare().
struct direct {
    int lanes, threads; // lanes of a team, threads of a block
};

// Sets one nonzero per lane for a row of average length, or two if that fills the device.
static void direct_prepare(struct task *t, struct direct *s)
{
    const double mean = (double)t->A[0]->nnz / (double)max64(1, t->C.rows);
    const int64_t rows = t->C.rows * ceil_div(t->C.cols, SLAB);
    const int64_t full = (int64_t)t->dev->units * 2048; // threads
    s->lanes = LEAST_LANES;
    while (s->lanes < WARP && (s->lanes < mean / 2 || (s->lanes < mean && rows * s->lanes < full)))
        s->lanes *= 2;
    // Few rows get smaller blocks, so that all multiprocessors have blocks.
    s->threads = MOST_THREADS;
    while (s->threads > LEAST_THREADS && rows * s->lanes / s->threads < 2 * t->dev->units)
        s->threads /= 2;
    task_number(t, "lanes", s->lanes);
}

template <typename T, int L> static void start_lanes(const struct task *t, const struct direct *s)
{
    const direct_operands<T> a = direct_operands_of<T>(t);
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
