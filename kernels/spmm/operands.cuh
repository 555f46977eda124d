// The operands of the CUDA kernels of row-major SpMM, C = A * B, and their words:
//
// slab   neighbouring columns of C, one or more per lane, which a warp sums up at once
// share  the part of A of one warp: a row, or a fixed number of nonzeros
// round  32 nonzeros of a share, one per lane
// batch  nonzeros of a round whose rows of B are loaded before the first of them is used
// quad   4 nonzeros of a batch under one branch. Quads past the end of the share are skipped
#ifndef SPMM_OPERANDS_H
#define SPMM_OPERANDS_H

#include "device/once.cuh"
#include "kernel.cuh"

#define QUAD 4

struct sizes {
    int32_t m, k;            // rows and columns of C
    int32_t slabs;           // slabs that cover the k columns
    uint32_t B_step, C_step; // bytes from one row to the next
    bool narrow;             // C has 16 bits
};

// Sets *s for slabs of `vec` columns per lane. Returns ERR_UNSUPPORTED if the bytes between rows
// need more than 32 bits.
static inline int sizes_set(const struct task *t, int vec, struct sizes *s)
{
    s->m = (int32_t)t->C.rows;
    s->k = (int32_t)t->C.cols;
    s->slabs = (int32_t)ceil_div(t->C.cols, (int64_t)WARP * vec);
    s->narrow = result_is_narrow(t);
    int err = row_step(t, &t->in[0], &s->B_step);
    return err ? err : row_step(t, &t->C, &s->C_step);
}

// Stores sums of row i of C from column j on.
template <typename T, int VEC>
static __device__ __forceinline__ void store_row(const struct sizes &a, void *C, int32_t i,
                                                 int32_t j, const pack<sum_type<T>, VEC> &sum)
{
    uint32_t step = a.C_step;
    opaque(step);
    store_result<T, VEC>(row_at<char>((char *)C, step, (uint32_t)i), j, a.narrow, sum);
}

// Returns a grid with slabs as the slow index: at any time, the columns of few slabs compete for
// the cache. If there are more slabs than a grid allows, each block computes several.
static inline dim3 slab_grid(int64_t blocks, const struct sizes *s)
{
    return dim3((unsigned)blocks, (unsigned)min64(s->slabs, 65535));
}

// A nonzero in the registers of a lane, with its value in the type of sums.
template <typename S> struct nonzero {
    int32_t col;
    S v;
};

// Loads the round that begins `left` nonzeros before `end`. Lanes past the end keep their nonzero,
// whose column is inside the matrix.
template <typename T>
static __device__ __forceinline__ void
load_round(nonzero<sum_type<T>> &x, int lane, const int32_t *__restrict__ idx,
           const T *__restrict__ val, int32_t end, int32_t left)
{
    if (lane < left) {
        x.col = idx[end - left + lane];
        x.v = widen(val[end - left + lane]);
    }
}

// Load a value, or a pack by one instruction.
template <typename X> static __device__ __forceinline__ X load_from(const X *p) { return *p; }
template <typename T, int VEC>
static __device__ __forceinline__ pack<T, VEC> load_from(const pack<T, VEC> *p)
{
    return load_pack(p);
}

// x[q] = the lane's columns, from b on, of the row of B for nonzero first + q of the round. The
// round has `left` nonzeros, and quads past the end are skipped. All loads are independent.
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
            x[e] = load_from(row_at<const X>(b, step, (uint32_t)warp_broadcast(col, first + e)));
    }
}

#endif
