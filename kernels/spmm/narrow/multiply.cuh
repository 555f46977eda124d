// The kernel: a block computes a tile of A, or clears rows of C.
#ifndef NARROW_MULTIPLY_H
#define NARROW_MULTIPLY_H

#include "sums.cuh"

#define CLEAR_EACH 4 // empty rows of a thread

// The values of A that a lane loads.
template <typename S> struct lane_of_A {
    int32_t j[S::U], head_j;
    typename S::T v[S::U], head_v;
    uint32_t word;
    struct share share;
};

// Loads the nonzeros of a lane, and one nonzero before the tile. Only the last tile
// has places behind the last nonzero. They become zeros in column 0, behind the last row end.
template <typename S>
static __device__ __forceinline__ void load_A(lane_of_A<S> &x, const operands<typename S::T> &a,
                                              int32_t t)
{
    const int lane = lane_id(), warp = (int)threadIdx.x / WARP, thread = (int)threadIdx.x;
    const int32_t begin = t * THREADS * S::U, step = S::TURNED ? WARP : 1;
    const int32_t p = begin + (S::TURNED ? warp * WARP * S::U + lane : thread * S::U);
    const int32_t head = t ? begin - THREADS + thread : thread;
    const struct share *share = a.shares + (int64_t)t * WARPS + warp;
    const uint16_t *word = a.words + (int64_t)t * THREADS + thread;
    if (t + 1 < a.tiles) {
        x.share = load_brief(share);
        if constexpr (S::TURNED) {
#pragma unroll
            for (int u = 0; u < S::U; u++) x.j[u] = load_once(a.idx + p + u * step);
#pragma unroll
            for (int u = 0; u < S::U; u++) x.v[u] = load_once(a.val + p + u * step);
        } else {
            load_run(x.j, a.idx + p);
            load_run(x.v, a.val + p);
        }
        x.word = load_once(word);
        x.head_j = load_once(a.idx + head);
        x.head_v = load_once(a.val + head);
    } else {
        x.head_j = load_if(a.idx + head, t > 0);
        x.head_v = load_if(a.val + head, t > 0);
        x.word = load_once(word);
        x.share = load_brief(share);
#pragma unroll
        for (int u = 0; u < S::U; u++) {
            const bool in = p + u * step < a.nnz;
            x.j[u] = load_if(a.idx + p + u * step, in);
            x.v[u] = load_if(a.val + p + u * step, in);
        }
    }
}

// Clears the rows of C of empty rows of A.
template <typename S>
static __device__ __forceinline__ void clear(const operands<typename S::T> &a, int32_t block)
{
    const int64_t first = a.used + (int64_t)block * CLEAR_EACH * THREADS + threadIdx.x;
    int32_t rows[CLEAR_EACH];
#pragma unroll
    for (int e = 0; e < CLEAR_EACH; e++)
        rows[e] = load_if(a.rows + first + e * THREADS, first + e * THREADS < a.m);
    if (a.early) wait_for_previous();
#pragma unroll
    for (int e = 0; e < CLEAR_EACH; e++) {
        if (first + e * THREADS >= a.m) return;
        typename S::packed *row = row_at<typename S::packed>(a.C, a.C_step, (uint32_t)rows[e]);
        *row = {};
    }
}

template <typename S>
static __global__ void __launch_bounds__(THREADS, S::BLOCKS)
    multiply(const __grid_constant__ operands<typename S::T> a)
{
    typedef typename S::T T;
    typedef typename S::packed packed;
    // Sums of each warp: after its last row end, and of its part of the head.
    __shared__ __align__(16) T tails[WARPS][S::W], heads[WARPS][S::W];
    __shared__ __align__(16) char memory[WARPS][S::SHARED];
    const int lane = lane_id(), warp = (int)threadIdx.x / WARP, thread = (int)threadIdx.x;
    const int32_t t = (int32_t)blockIdx.x;
    start_next();
    if (t >= a.tiles) return clear<S>(a, t - a.tiles);
    lane_of_A<S> A;
    load_A<S>(A, a, t);
    if (a.early) wait_for_previous_after(A.j[0]);

    const struct share &d = A.share;
    packed x[S::U], y, more_y[EXTRA];
#pragma unroll
    for (int u = 0; u < S::U; u++)
        x[u] = load_if(row_at<const packed>(a.B, a.B_step, (uint32_t)A.j[u]), true);
    const bool in_head = THREADS - thread <= d.head;
    y = load_if(row_at<const packed>(a.B, a.B_step, (uint32_t)A.head_j), in_head);
    const int32_t count = d.ends & 0xffff;
    int32_t row = d.first + lane;
    if (a.rows && lane < count) row = load_once(a.rows + row);
    T more_v[EXTRA] = {};
    if (d.head > THREADS) { // loads of A wait for `d`
        int32_t more_j[EXTRA];
#pragma unroll
        for (int e = 0; e < EXTRA; e++) {
            const bool in = (e + 2) * THREADS - thread <= d.head;
            const int64_t p = (int64_t)t * THREADS * S::U + thread - (e + 2) * THREADS;
            more_j[e] = load_if(a.idx + p, in);
            more_v[e] = load_if(a.val + p, in);
        }
#pragma unroll
        for (int e = 0; e < EXTRA; e++)
            more_y[e] = load_if(row_at<const packed>(a.B, a.B_step, (uint32_t)more_j[e]),
                                (e + 2) * THREADS - thread <= d.head);
    }

    char *const own = memory[warp];
#pragma unroll
    for (int u = 0; u < S::U; u++)
#pragma unroll
        for (int w = 0; w < S::W; w++) x[u].x[w] *= A.v[u];
    if constexpr (S::TURNED) turn<S>(x, own);
    const uint32_t ends = A.word & bits_below(S::U);
    packed *const sums = (packed *)own + (A.word >> S::U);
    packed sum = sum_lane<S>(x, ends, sums);
    sum_warp<S>(sum, ends != 0, sums);
    if (lane == WARP - 1) *(packed *)&tails[warp][0] = sum;
    // The last threads load a short head. Warps without such threads skip this step.
    if (THREADS - (warp + 1) * WARP < d.head) {
        packed z;
#pragma unroll
        for (int w = 0; w < S::W; w++) {
            z.x[w] = in_head ? A.head_v * y.x[w] : (T)0;
            if (d.head > THREADS)
#pragma unroll
                for (int e = 0; e < EXTRA; e++)
                    z.x[w] += (e + 2) * THREADS - thread <= d.head ? more_v[e] * more_y[e].x[w] : (T)0;
#pragma unroll
            for (int by = 1; by < WARP; by *= 2)
                z.x[w] += __shfl_xor_sync(FULL_MASK, z.x[w], by);
        }
        if (lane == 0) *(packed *)&heads[warp][0] = z;
    }
    __syncthreads();

    packed last = {}; // sum before the warp, since the last row end
    if (d.head > 0)
#pragma unroll
        for (int i = 0; i < WARPS; i++)
            if (THREADS - (i + 1) * WARP < d.head)
                add(last, *(const packed *)&heads[i][0]);
#pragma unroll
    for (int i = 0; i < WARPS - 1; i++)
        if (i < warp) {
            if (d.ends >> (16 + i) & 1) last = {};
            add(last, *(const packed *)&tails[i][0]);
        }
    T *const partial = a.partial + 2 * (int64_t)t * S::W;
    if (d.to && warp == WARPS - 1 && lane == WARP - 1) {
        if (!count) add(sum, last);
        *(packed *)partial = sum;
    }
    const bool first_end = !(d.ends >> 16 & bits_below(warp));
    for (int32_t i = lane; i < count; i += WARP) {
        packed z = ((const packed *)own)[i];
        if (i >= WARP) row = d.first + i;
        if (i >= WARP && a.rows) row = load_once(a.rows + row);
        if (i == 0) add(z, last);
        if (i == 0 && first_end && d.head < 0)
            *(packed *)(partial + S::W) = z;
        else
            *(packed *)row_at<char>(a.C, a.C_step, (uint32_t)row) = z;
    }
    if (d.head < 0) arrive<S>(a, t, -d.head, tails);
    if (d.to) arrive<S>(a, d.to, -a.shares[(int64_t)d.to * WARPS].head, heads);
}

#endif
