// Rows of few products or nonzeros, whose tables are in shared memory: four threads have a row,
// which the paper calls PWARP (algorithm 3).
#ifndef SPGEMM_HASH_PWARP_H
#define SPGEMM_HASH_PWARP_H

#include "group.cuh"

#define PWARP       4
#define PWARP_BLOCK 512 // threads

// The rows of a group.
struct rows {
    const int32_t *list;
    int32_t count;
    int32_t size;  // places of the largest table, or words of a bitmap
    int32_t limit; // nonzeros that a row has at most; numeric only
};

// Words that hold a table of `size` places in the PWARP kernels, a power of two, or a list: so that
// the threads of a warp, side by side in their rows' tables, are in different banks.
static __host__ __device__ __forceinline__ int64_t pwarp_stride(int32_t size)
{
    return size + PWARP;
}

// Calls f(there, column, value) for the products of row i of A, of which the four threads take a
// nonzero each at a time; -1: there is no row. All lanes of the warp call it together, those with
// nothing to do with `there` false; else they would part, and each wait for loads of its own. Where
// the next row of S begins is loaded a row ahead.
template <bool VALUES, typename T, typename F>
static __device__ __forceinline__ void pwarp_walk(const struct factors<T> &x, int32_t i, F f)
{
    const int BATCH = 2; // products that a thread loads before it uses the first
    int64_t p = 0, end = 0;
    if (i >= 0) {
        p = (int64_t)__ldg(x.A_ptr + i) + threadIdx.x % PWARP;
        end = __ldg(x.A_ptr + i + 1);
    }
    uint32_t q = 0, q_end = 0, next = 0, next_end = 0;
    T a = 0, next_a = 0;
    auto load_next = [&]() {
        next = next_end = 0;
        if (p >= end) return;
        const int32_t l = __ldg(x.A_idx + p);
        next = (uint32_t)__ldg(x.S_ptr + l), next_end = (uint32_t)__ldg(x.S_ptr + l + 1);
        if (VALUES) next_a = __ldg(x.A_val + p);
        p += PWARP;
    };
    load_next();
    while (__any_sync(FULL_MASK, q < q_end || next < next_end || p < end)) {
        if (q >= q_end) {
            q = next, q_end = next_end, a = next_a;
            load_next();
        }
        int32_t col[BATCH];
        T v[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const bool there = q + k < q_end;
            col[k] = there ? __ldg(x.S_idx + q + k) : 0;
            v[k] = VALUES && there ? a * __ldg(x.S_val + q + k) : 0;
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++) f(q + k < q_end, col[k], v[k]);
        q = min(q + BATCH, q_end);
    }
}

template <typename T>
static __global__
__launch_bounds__(PWARP_BLOCK) void symbolic_pwarp(struct factors<T> x, struct rows rows,
                                                   const int32_t *__restrict__ products,
                                                   int32_t *__restrict__ nz)
{
    SHARED_DYNAMIC(int32_t, tables);
    const int sub = (int)threadIdx.x % PWARP, place = (int)threadIdx.x / PWARP;
    const int64_t r = (int64_t)blockIdx.x * (PWARP_BLOCK / PWARP) + place;
    int32_t *keys = tables + place * pwarp_stride(rows.size);
    const int32_t i = r < rows.count ? rows.list[r] : -1;
    const int32_t size = i >= 0 ? table_size(products[i], x.slack, rows.size) : 0;
    for (int32_t s = sub; s < size; s += PWARP) keys[s] = EMPTY;
    __syncwarp();
    int32_t found = 0;
    pwarp_walk<false>(x, i, [&](bool there, int32_t col, T) {
        bool is_new = false;
        if (there) table_place(keys, size - 1, col, is_new);
        found += is_new;
    });
    found = group_sum<PWARP>(found);
    if (i >= 0 && sub == 0) nz[i] = found;
}

// Bytes of shared memory for each row: values, keys, then the columns that are there, in any order,
// and their places.
template <typename T> static __host__ __device__ int64_t pwarp_bytes(int32_t size, int32_t limit)
{
    return pwarp_stride(size) * (int64_t)(sizeof(T) + 4) + pwarp_stride(limit) * 6;
}

template <typename T>
static __global__ __launch_bounds__(PWARP_BLOCK) void numeric_pwarp(struct factors<T> x,
                                                                    struct rows rows,
                                                                    const int32_t *__restrict__ nz,
                                                                    struct result<T> c)
{
    SHARED_DYNAMIC(T, memory);
    const int ROWS = PWARP_BLOCK / PWARP;
    const int sub = (int)threadIdx.x % PWARP, place = (int)threadIdx.x / PWARP;
    const int64_t r = (int64_t)blockIdx.x * ROWS + place;
    const int64_t stride = pwarp_stride(rows.size), list_stride = pwarp_stride(rows.limit);
    T *vals = memory + place * stride;
    int32_t *all_keys = (int32_t *)(memory + ROWS * stride);
    int32_t *keys = all_keys + place * stride;
    int32_t *all_found = all_keys + ROWS * stride, *found = all_found + place * list_stride;
    uint16_t *where = (uint16_t *)(all_found + ROWS * list_stride) + place * list_stride;
    const int32_t i = r < rows.count ? rows.list[r] : -1;
    const int32_t size = i >= 0 ? table_size(nz[i], x.slack, rows.size) : 0;
    for (int32_t s = sub; s < size; s += PWARP) {
        keys[s] = EMPTY;
        vals[s] = 0;
    }
    __syncwarp();
    pwarp_walk<true>(x, i, [&](bool there, int32_t col, T v) {
        bool is_new;
        const uint32_t h = there ? table_place(keys, size - 1, col, is_new) : 0;
        __syncwarp();
        if (there) atomicAdd(&vals[h], v);
    });
    __syncwarp();
    // Gather: each thread lists what its part of the table holds.
    int32_t mine = 0;
    for (int32_t s = sub; s < size; s += PWARP) mine += keys[s] != EMPTY;
    const int32_t upto = group_scan<PWARP>(mine);
    const int32_t count = __shfl_sync(FULL_MASK, upto, PWARP - 1, PWARP);
    int32_t at = upto - mine;
    for (int32_t s = sub; s < size; s += PWARP)
        if (keys[s] != EMPTY) {
            found[at] = keys[s];
            where[at++] = (uint16_t)s;
        }
    __syncwarp();
    if (i < 0) return;
    // Sort: the place of a column is the number of those before it.
    const int64_t start = row_start(c, i);
    for (int32_t e = sub; e < count; e += PWARP) {
        const int32_t col = found[e];
        int32_t rank = 0;
        for (int32_t o = 0; o < count; o++) rank += found[o] < col;
        c.idx[start + rank] = col;
        c.val[start + rank] = vals[where[e]];
    }
}

#endif
