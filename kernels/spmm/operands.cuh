// How the CUDA kernels of SpMM see C = A * B, row-major, and their words for pieces of the work:
//
// slab   neighbouring columns of C, one or more for each lane: a warp sums them up at once
// share  what a warp takes of A at a time: a row, or so many nonzeros
// round  32 nonzeros of a share, one for each lane
// batch  nonzeros of a round whose rows of B are loaded before the first of them is used
// quad   4 nonzeros of a batch, under one branch: what is past the share's end is left out by quads
#ifndef SPMM_OPERANDS_H
#define SPMM_OPERANDS_H

#include "kernel.cuh"

#define QUAD 4

struct sizes {
    int32_t m, k;            // of C
    int32_t slabs;           // that cover the k columns
    uint32_t B_step, C_step; // bytes from one row to the next
};

// For slabs of `vec` columns a lane. ERR_UNSUPPORTED where a step does not fit in 32 bits.
static inline int sizes_set(const struct task *t, int vec, struct sizes *s)
{
    s->m = (int32_t)t->C.rows;
    s->k = (int32_t)t->C.cols;
    s->slabs = (int32_t)ceil_div(t->C.cols, (int64_t)WARP * vec);
    int err = row_step(t, &t->in[0], &s->B_step);
    return err ? err : row_step(t, &t->C, &s->C_step);
}

// Slabs are the slow index of the grid: while one is under way, only its columns of B compete for
// the cache. Where there are more than a grid may have, each block goes on to others.
static inline dim3 slab_grid(int64_t blocks, const struct sizes *s)
{
    return dim3((unsigned)blocks, (unsigned)min64(s->slabs, 65535));
}

// A nonzero, in the lane that has loaded it.
template <typename T> struct nonzero {
    int32_t col;
    T v;
};

// The round that begins where `left` nonzeros are left up to `end`. Lanes that get none of them
// keep what they had: a column that is inside the matrix.
template <typename T>
static __device__ __forceinline__ void
load_round(nonzero<T> &x, int lane, const int32_t *__restrict__ idx, const T *__restrict__ val,
           int32_t end, int32_t left)
{
    if (lane < left) {
        x.col = idx[end - left + lane];
        x.v = val[end - left + lane];
    }
}

// x[q] = the lane's columns, from b on, of the row of B for nonzero first + q of the round, of
// which `left` are left: in quads, as far as there are any. All these loads are independent.
template <int BATCH, typename X, typename T>
static __device__ __forceinline__ void load_batch(X (&x)[BATCH], const T *b, int32_t col, int first,
                                                  int32_t left, uint32_t B_step)
{
#pragma unroll
    for (int q = 0; q < BATCH; q += QUAD) {
        if (first + q >= left) break;
        uint32_t step = B_step;
        opaque(step);
#pragma unroll
        for (int e = q; e < q + QUAD; e++)
            x[e] = *row_at<const X>(b, step, (uint32_t)warp_broadcast(col, first + e));
    }
}

#endif
