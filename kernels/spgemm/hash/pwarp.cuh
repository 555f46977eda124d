// PWARP/ROW (algorithm 3): four threads and a table in shared memory for each row of the block.
#ifndef SPGEMM_HASH_PWARP_H
#define SPGEMM_HASH_PWARP_H

#include "groups.cuh"

static constexpr int PWARP = table_1[GROUP_6].row;         // threads of a row
static constexpr int PWARP_BLOCK = table_1[GROUP_6].block; // threads
static constexpr int PWARP_ROWS = PWARP_BLOCK / PWARP;     // rows of a block

// Returns the row of the thread, or -1 if there is none.
static __device__ __forceinline__ int32_t pwarp_row(const struct bin_rows &rows)
{
    const int64_t r = (int64_t)blockIdx.x * PWARP_ROWS + threadIdx.x / PWARP;
    return r < rows.count ? rows.list[r] : -1;
}

// Calls f(there, column, value) for the products of row i of A; i is -1 without a row. Each thread
// of a row takes a nonzero at a time. The start of the next row of S is loaded one row ahead. All
// lanes of the warp call f together, with `there` false for lanes without a product. Diverging
// lanes would wait separately for their loads.
template <bool VALUES, typename T, typename F>
static __device__ __forceinline__ void pwarp_walk(const struct factors<T> &x, int32_t i, F f)
{
    const int BATCH = 2; // products that a thread loads before it uses the first
    int64_t at = 0, end = 0;
    if (i >= 0) {
        at = (int64_t)__ldg(x.A_ptr + i) + threadIdx.x % PWARP;
        end = __ldg(x.A_ptr + i + 1);
    }
    uint32_t q = 0, q_end = 0, next = 0, next_end = 0;
    T a = 0, next_a = 0;
    auto load_next = [&]() {
        next = next_end = 0;
        if (at >= end) return;
        const int32_t l = __ldg(x.A_idx + at);
        next = (uint32_t)__ldg(x.S_ptr + l), next_end = (uint32_t)__ldg(x.S_ptr + l + 1);
        if (VALUES) next_a = __ldg(x.A_val + at);
        at += PWARP;
    };
    load_next();
    while (__any_sync(FULL_MASK, q < q_end || next < next_end || at < end)) {
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

static __global__ __launch_bounds__(PWARP_BLOCK) void symbolic_pwarp(struct factors<float> x,
                                                                     struct bin_rows rows,
                                                                     int32_t *__restrict__ nz)
{
    constexpr int32_t SIZE = table_1[GROUP_6].products, STRIDE = small_stride(PWARP, SIZE);
    __shared__ int32_t tables[PWARP_ROWS * STRIDE];
    const int sub = (int)threadIdx.x % PWARP;
    int32_t *keys = tables + (int32_t)threadIdx.x / PWARP * STRIDE;
    const int32_t i = pwarp_row(rows);
    for (int32_t s = sub; s < SIZE; s += PWARP) keys[s] = EMPTY;
    __syncwarp();
    int32_t found = 0;
    pwarp_walk<false>(x, i, [&](bool there, int32_t col, float) {
        bool is_new = false;
        if (there) table_place(keys, SIZE - 1, col, is_new);
        found += is_new;
    });
    found = group_sum<PWARP>(found);
    if (i >= 0 && sub == 0) nz[i] = found;
}

template <typename T> static constexpr int64_t pwarp_bytes()
{
    constexpr int32_t size = table_1[GROUP_6].nonzeros;
    return PWARP_ROWS * small_bytes<T>(PWARP, size, size);
}

template <typename T>
static __global__ __launch_bounds__(PWARP_BLOCK) void numeric_pwarp(struct factors<T> x,
                                                                    struct bin_rows rows,
                                                                    struct result<T> c)
{
    SHARED_DYNAMIC(T, memory);
    constexpr int32_t SIZE = table_1[GROUP_6].nonzeros, STRIDE = small_stride(PWARP, SIZE);
    const int sub = (int)threadIdx.x % PWARP, place = (int)threadIdx.x / PWARP;
    T *vals = memory + place * STRIDE;
    int32_t *all_keys = (int32_t *)(memory + PWARP_ROWS * STRIDE),
            *keys = all_keys + place * STRIDE;
    int32_t *all_found = all_keys + PWARP_ROWS * STRIDE, *found = all_found + place * STRIDE;
    uint16_t *where = (uint16_t *)(all_found + PWARP_ROWS * STRIDE) + place * STRIDE;
    const int32_t i = pwarp_row(rows);
    for (int32_t s = sub; s < SIZE; s += PWARP) {
        keys[s] = EMPTY;
        vals[s] = 0;
    }
    __syncwarp();
    pwarp_walk<true>(x, i, [&](bool there, int32_t col, T v) {
        bool is_new;
        const uint32_t h = there ? table_place(keys, SIZE - 1, col, is_new) : 0;
        __syncwarp();
        if (there) atomicAdd(&vals[h], v);
    });
    __syncwarp();
    write_small<PWARP>(keys, vals, i >= 0 ? SIZE : 0, found, where, i >= 0 ? row_start(c, i) : 0,
                       c);
}

#endif
