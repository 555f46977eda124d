// Hash tables of columns, for algorithms that compute a row of C with a table. Operands, result,
// the loop over the products of a row (algorithm 4) and the table (algorithm 5) of Yusuke Nagasaka,
// Akira Nukada, Satoshi Matsuoka: High-performance and Memory-saving Sparse General Matrix-Matrix
// Multiplication for NVIDIA Pascal GPU, ICPP 2017.
#ifndef SPGEMM_HASH_TABLE_H
#define SPGEMM_HASH_TABLE_H

#include "kernel.cuh"

#define HASH_SCALE 107               // HASH_SCAL of the paper; value of its authors' code
static constexpr int32_t EMPTY = -1; // no macro, as CUB has this name

// C = A * S.
template <typename T> struct factors {
    const int32_t *A_ptr, *A_idx, *S_ptr, *S_idx;
    const T *A_val, *S_val;
    int32_t m, n; // size of C
};

template <typename T> static factors<T> factors_of(const struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    return {(const int32_t *)A->ptr,
            A->idx,
            (const int32_t *)S->ptr,
            S->idx,
            (const T *)A->val,
            (const T *)S->val,
            A->m,
            S->n};
}

// Arrays of C. Row starts are 64-bit if the products may exceed 2^31.
template <typename T> struct result {
    const void *ptr;
    int32_t wide;
    int32_t *idx;
    T *val;
};

template <typename T> static result<T> result_of(const struct task *t)
{
    return {t->R.ptr, t->R.ptr_bytes == 8, t->R.idx, (T *)t->R.val};
}

template <typename T>
static __device__ __forceinline__ int64_t row_start(const struct result<T> &c, int32_t i)
{
    return c.wide ? ((const int64_t *)c.ptr)[i] : ((const int32_t *)c.ptr)[i];
}

static __host__ __device__ constexpr int64_t next_power(int64_t x)
{
    int64_t p = 1;
    while (p < x) p *= 2;
    return p;
}

// Returns the place of `key` in the table. Inserts a missing key and sets `is_new`. Algorithm 5:
// linear probing, in unsigned arithmetic. The table must have a free place, or the key.
static __device__ __forceinline__ uint32_t table_place(int32_t *keys, uint32_t mask, int32_t key,
                                                       bool &is_new)
{
    uint32_t h = (uint32_t)key * HASH_SCALE & mask;
    is_new = false;
    for (;; h = (h + 1) & mask) {
        int32_t there = *(volatile int32_t *)(keys + h);
        if (there == key) return h;
        if (there != EMPTY) continue;
        there = atomicCAS(keys + h, EMPTY, key);
        is_new = there == EMPTY;
        if (is_new || there == key) return h;
    }
}

// Returns a mask of the first `count` lanes. `count` is at least 1.
static __device__ __forceinline__ unsigned lanes_of(uint32_t count)
{
    return FULL_MASK >> (WARP - min(count, (uint32_t)WARP));
}

// Algorithm 4. Calls f(column, value, lanes) for the products of nonzeros first, first + step, ...
// of A before `end`. The whole warp takes one row of S at a time. The lanes load the starts of 32
// rows of S at once, to wait once for all. `lanes` is a mask of the lanes that make this call
// together. With `stop`, the rest is skipped as soon as *stop > limit.
template <bool VALUES, typename T, typename F>
static __device__ __forceinline__ void walk_nonzeros(const struct factors<T> &x, uint32_t first,
                                                     uint32_t end, uint32_t step,
                                                     const int32_t *stop, int32_t limit, F f)
{
    // Unsigned: a sum of counts below 2^31 stays below 2^32.
    const uint32_t lane = (uint32_t)lane_id();
    const int BATCH = VALUES ? 2 : 4; // products that a lane loads before it uses the first
    for (uint32_t at = first; at < end; at += WARP * step) {
        const uint32_t p = at + lane * step;
        uint32_t begin = 0, row_end = 0;
        T a = 0;
        if (p < end) {
            const int32_t l = __ldg(x.A_idx + p);
            begin = (uint32_t)__ldg(x.S_ptr + l);
            row_end = (uint32_t)__ldg(x.S_ptr + l + 1);
            if (VALUES) a = __ldg(x.A_val + p);
        }
        const int rows = __popc(__ballot_sync(FULL_MASK, p < end));
        for (int r = 0; r < rows; r++) {
            const uint32_t q_end = warp_broadcast(row_end, r);
            const T a_r = VALUES ? warp_broadcast(a, r) : 0;
            uint32_t q = warp_broadcast(begin, r);
            for (; q + BATCH * WARP <= q_end; q += BATCH * WARP) {
                int32_t col[BATCH];
                T v[BATCH];
#pragma unroll
                for (int k = 0; k < BATCH; k++) {
                    col[k] = __ldg(x.S_idx + (q + lane) + k * WARP);
                    v[k] = VALUES ? a_r * __ldg(x.S_val + (q + lane) + k * WARP) : 0;
                }
#pragma unroll
                for (int k = 0; k < BATCH; k++) f(col[k], v[k], FULL_MASK);
            }
#pragma unroll 1 // most rows of S are shorter than the products that the compiler would unroll
            for (q += lane; q < q_end; q += WARP)
                f(__ldg(x.S_idx + q), VALUES ? a_r * __ldg(x.S_val + q) : 0,
                  lanes_of(q_end - q + lane));
            if (stop && __any_sync(FULL_MASK, *(volatile const int32_t *)stop > limit)) return;
        }
    }
}

#endif
