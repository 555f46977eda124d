// Rows with few products or nonzeros: a table in shared memory, LANES threads of a warp for each
// row. The paper has four threads per row and calls them PWARP (algorithm 3).
#ifndef SPGEMM_HASH_PWARP_H
#define SPGEMM_HASH_PWARP_H

#include "bins.cuh"

// H200: eight threads take 0.74 to 1.07 of the time of a warp on rows of 17 to 32 nonzeros, 0.98 in
// the mean. Sixteen threads for rows of up to 64 nonzeros gain nothing.
#define PWARP       4   // LANES at least
#define PWARP_MOST  8   // and at most
#define PWARP_BLOCK 512 // threads

// The rows of a bin.
struct rows {
    const int32_t *list;
    int32_t count;
    int32_t size;  // places of the largest table, or words of a bitmap
    int32_t limit; // nonzeros that a row has at most, and buckets to sort them; numeric only
};

// Words from one row's table of `size` places, a power of two, or its list to the next: so many
// that a warp meets all banks where the threads of each row go over their table together.
static __host__ __device__ __forceinline__ int64_t pwarp_stride(int lanes, int32_t size)
{
    return size + lanes;
}

// The walks below call f(there, row, column, value) for the products of a row of A for each LANES
// threads, which has `length` nonzeros from p on: 0 if there is no row. `row` counts the rows of
// the warp; -1 is the thread's own. All lanes of the warp call f together, those with nothing to do
// with `there` false; else they would part, and each wait for loads of its own.

// The threads of a row take a nonzero each at a time. The start of the next row of S is loaded one
// row ahead.
template <bool VALUES, int LANES, typename T, typename F>
static __device__ __forceinline__ void walk_own(const struct factors<T> &x, int32_t p,
                                                int32_t length, F f)
{
    const int BATCH = 2; // products that a thread loads before it uses the first
    const int64_t end = (int64_t)p + length;
    int64_t at = (int64_t)p + threadIdx.x % LANES;
    uint32_t q = 0, q_end = 0, next = 0, next_end = 0;
    T a = 0, next_a = 0;
    auto load_next = [&]() {
        next = next_end = 0;
        if (at >= end) return;
        const int32_t l = __ldg(x.A_idx + at);
        next = (uint32_t)__ldg(x.S_ptr + l), next_end = (uint32_t)__ldg(x.S_ptr + l + 1);
        if (VALUES) next_a = __ldg(x.A_val + at);
        at += LANES;
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
        for (int k = 0; k < BATCH; k++) f(q + k < q_end, -1, col[k], v[k]);
        q = min(q + BATCH, q_end);
    }
}

// The products of all rows of the warp are dealt out evenly over its lanes: 32 nonzeros of the rows
// at a time, each with a row of S, and BATCH times 32 products of those at a time.
template <bool VALUES, int LANES, typename T, typename F>
static __device__ __forceinline__ void walk_evenly(const struct factors<T> &x, int32_t p,
                                                   int32_t length, F f)
{
    const int BATCH = 2; // products that a thread loads before it uses the first
    const int lane = lane_id();
    // Nonzeros of the warp's rows up to this one and before it: nearly 2^31 at most, as they may
    // name empty rows of S. The products of 32 of them are few.
    const uint32_t upto = warp_scan(lane % LANES == 0 ? (uint32_t)length : 0);
    const uint32_t start = upto - (uint32_t)length, nonzeros = warp_broadcast(upto, WARP - 1);
    for (uint32_t at = 0; at < nonzeros; at += WARP) {
        const uint32_t e = at + lane;
        const int row_lane = lane_of(start, e, LANES);
        const uint32_t mine = __shfl_sync(FULL_MASK, (uint32_t)p - start, row_lane) + e;
        uint32_t begin = 0, count = 0;
        T a = 0;
        if (e < nonzeros) {
            const int32_t l = __ldg(x.A_idx + mine);
            begin = (uint32_t)__ldg(x.S_ptr + l);
            count = (uint32_t)__ldg(x.S_ptr + l + 1) - begin;
            if (VALUES) a = __ldg(x.A_val + mine);
        }
        const uint32_t first = warp_scan(count) - count;
        const uint32_t products = warp_broadcast(first + count, WARP - 1);
        for (uint32_t lo = 0; lo < products; lo += BATCH * WARP) {
            int32_t col[BATCH];
            int row[BATCH];
            T v[BATCH];
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                const uint32_t product = lo + k * WARP + lane;
                if (k > 0 && lo + k * WARP >= products) break;
                const int from = lane_of(first, product, 1);
                const uint32_t q = __shfl_sync(FULL_MASK, begin - first, from) + product;
                const T a_q = VALUES ? warp_broadcast(a, from) : 0;
                row[k] = __shfl_sync(FULL_MASK, row_lane, from) / LANES;
                const bool there = product < products;
                col[k] = there ? __ldg(x.S_idx + q) : 0;
                v[k] = VALUES && there ? a_q * __ldg(x.S_val + q) : 0;
            }
#pragma unroll
            for (int k = 0; k < BATCH; k++)
                if (lo + k * WARP < products)
                    f(lo + k * WARP + lane < products, row[k], col[k], v[k]);
        }
    }
}

// Row i of A; -1: there is none. Where no thread of four has a second nonzero, little is gained by
// dealing products out.
template <bool VALUES, int LANES, typename T, typename F>
static __device__ __forceinline__ void pwarp_walk(const struct factors<T> &x, int32_t i, F f)
{
    int32_t p = 0, length = 0;
    if (i >= 0) {
        p = __ldg(x.A_ptr + i);
        length = __ldg(x.A_ptr + i + 1) - p;
    }
    if (x.even && (LANES > PWARP || __any_sync(FULL_MASK, length > LANES)))
        walk_evenly<VALUES, LANES>(x, p, length, f);
    else
        walk_own<VALUES, LANES>(x, p, length, f);
}

template <int LANES, typename T>
static __global__
__launch_bounds__(PWARP_BLOCK) void symbolic_pwarp(struct factors<T> x, struct rows rows,
                                                   const int32_t *__restrict__ products,
                                                   int32_t *__restrict__ nz)
{
    SHARED_DYNAMIC(int32_t, tables);
    const int sub = (int)threadIdx.x % LANES, place = (int)threadIdx.x / LANES;
    const int64_t r = (int64_t)blockIdx.x * (PWARP_BLOCK / LANES) + place;
    const int32_t stride = (int32_t)pwarp_stride(LANES, rows.size);
    int32_t *keys = tables + place * stride;
    const int32_t i = r < rows.count ? rows.list[r] : -1;
    const int32_t size = i >= 0 ? table_size(products[i], x.slack, rows.size) : 0;
    for (int32_t s = sub; s < size; s += LANES) keys[s] = EMPTY;
    // Behind the table: columns that walk_evenly() finds, which any lane may.
    if (sub == 0) keys[rows.size] = 0;
    __syncwarp();
    int32_t *warp_keys = keys - lane_id() / LANES * stride;
    int32_t found = 0;
    pwarp_walk<false, LANES>(x, i, [&](bool there, int row, int32_t col, T) {
        int32_t *its_keys = row < 0 ? keys : warp_keys + row * stride;
        const int32_t its_size = row < 0 ? size : warp_broadcast(size, row * LANES);
        bool is_new = false;
        if (there) table_place(its_keys, its_size - 1, col, is_new);
        if (row < 0)
            found += is_new;
        else if (is_new)
            atomicAdd(&its_keys[rows.size], 1);
    });
    found = group_sum<LANES>(found);
    __syncwarp();
    if (i >= 0 && sub == 0) nz[i] = found + keys[rows.size];
}

// Bytes of shared memory for each row: values, keys, then the columns that are there, in any order,
// and their places.
template <typename T>
static __host__ __device__ int64_t pwarp_bytes(int lanes, int32_t size, int32_t limit)
{
    return pwarp_stride(lanes, size) * (int64_t)(sizeof(T) + 4) + pwarp_stride(lanes, limit) * 6;
}

template <int LANES, typename T>
static __global__ __launch_bounds__(PWARP_BLOCK) void numeric_pwarp(struct factors<T> x,
                                                                    struct rows rows,
                                                                    const int32_t *__restrict__ nz,
                                                                    struct result<T> c)
{
    SHARED_DYNAMIC(T, memory);
    const int ROWS = PWARP_BLOCK / LANES;
    const int sub = (int)threadIdx.x % LANES, place = (int)threadIdx.x / LANES;
    const int64_t r = (int64_t)blockIdx.x * ROWS + place;
    const int32_t stride = (int32_t)pwarp_stride(LANES, rows.size);
    const int32_t list_stride = (int32_t)pwarp_stride(LANES, rows.limit);
    T *vals = memory + place * stride;
    int32_t *all_keys = (int32_t *)(memory + ROWS * stride);
    int32_t *keys = all_keys + place * stride;
    int32_t *all_found = all_keys + ROWS * stride, *found = all_found + place * list_stride;
    uint16_t *where = (uint16_t *)(all_found + ROWS * list_stride) + place * list_stride;
    const int32_t i = r < rows.count ? rows.list[r] : -1;
    const int32_t size = i >= 0 ? table_size(nz[i], x.slack, rows.size) : 0;
    for (int32_t s = sub; s < size; s += LANES) {
        keys[s] = EMPTY;
        vals[s] = 0;
    }
    __syncwarp();
    const int32_t warp_first = (place - lane_id() / LANES) * stride; // first table of the warp
    pwarp_walk<true, LANES>(x, i, [&](bool there, int row, int32_t col, T v) {
        const int32_t first = row < 0 ? place * stride : warp_first + row * stride;
        const int32_t its_size = row < 0 ? size : warp_broadcast(size, row * LANES);
        bool is_new;
        const uint32_t h = there ? table_place(all_keys + first, its_size - 1, col, is_new) : 0;
        __syncwarp();
        if (there) atomicAdd(&memory[first + h], v);
    });
    __syncwarp();
    // Gather: each thread lists what its part of the table holds.
    int32_t mine = 0;
    for (int32_t s = sub; s < size; s += LANES) mine += keys[s] != EMPTY;
    const int32_t upto = group_scan<LANES>(mine);
    const int32_t count = __shfl_sync(FULL_MASK, upto, LANES - 1, LANES);
    int32_t at = upto - mine;
    for (int32_t s = sub; s < size; s += LANES)
        if (keys[s] != EMPTY) {
            found[at] = keys[s];
            where[at++] = (uint16_t)s;
        }
    __syncwarp();
    if (i < 0) return;
    // Sort: the place of a column is the number of those before it.
    const int64_t start = row_start(c, i);
    for (int32_t e = sub; e < count; e += LANES) {
        const int32_t col = found[e];
        int32_t rank = 0;
        for (int32_t o = 0; o < count; o++) rank += found[o] < col;
        c.idx[start + rank] = col;
        c.val[start + rank] = vals[where[e]];
    }
}

#endif
