// Rows with few products or nonzeros: a table in shared memory and eight threads of a warp for each
// row.
#ifndef SPGEMM_HASH_TUNED_PWARP_H
#define SPGEMM_HASH_TUNED_PWARP_H

#include "binning.cuh"
#include "sort.cuh"

// H200: eight threads take 0.74 to 1.07 of the time of a warp on rows of 17 to 32 nonzeros, 0.98 in
// the mean. Sixteen threads for rows of up to 64 nonzeros gain nothing.
#define PWARP       8                     // threads of a row
#define PWARP_BLOCK 512                   // threads
#define PWARP_ROWS  (PWARP_BLOCK / PWARP) // rows of a block

// Returns the row of the thread, or -1 if there is none.
static __device__ __forceinline__ int32_t pwarp_row(const struct rows &rows)
{
    const int64_t r = (int64_t)blockIdx.x * PWARP_ROWS + threadIdx.x / PWARP;
    return r < rows.count ? rows.list[r] : -1;
}

// Calls f(there, row, column, value) for the products of the rows of a warp. Each group of PWARP
// threads has row i, or -1 for no row. `row` is the number of the row within the warp. All lanes of
// the warp call f together, with `there` false for lanes without a product. Diverging lanes would
// wait separately for their loads.
//
// The products of all rows of the warp are shared evenly among its lanes. A step loads 32 nonzeros
// of A with their rows of S, then BATCH times 32 products at a time.
template <bool VALUES, typename T, typename F>
static __device__ __forceinline__ void pwarp_walk(const struct factors<T> &x, int32_t i, F f)
{
    const int BATCH = 2; // products that a thread loads before it uses the first
    const int lane = lane_id();
    int32_t p = 0, length = 0;
    if (i >= 0) {
        p = __ldg(x.A_ptr + i);
        length = __ldg(x.A_ptr + i + 1) - p;
    }
    // Nonzeros of the warp's rows up to this row, and before the row. The sum is below 2^31.
    // Products are counted for 32 nonzeros at a time only, so that they fit as well.
    const uint32_t upto = warp_scan(lane % PWARP == 0 ? (uint32_t)length : 0);
    const uint32_t start = upto - (uint32_t)length, nonzeros = warp_broadcast(upto, WARP - 1);
    for (uint32_t at = 0; at < nonzeros; at += WARP) {
        const uint32_t e = at + lane;
        const int row_lane = lane_of(start, e, PWARP);
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
                row[k] = __shfl_sync(FULL_MASK, row_lane, from) / PWARP;
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

static __global__
__launch_bounds__(PWARP_BLOCK) void symbolic_pwarp(struct factors<float> x, struct rows rows,
                                                   const int32_t *__restrict__ products,
                                                   int32_t *__restrict__ nz)
{
    SHARED_DYNAMIC(int32_t, tables);
    const int sub = (int)threadIdx.x % PWARP, place = (int)threadIdx.x / PWARP;
    const int32_t stride = small_stride(PWARP, rows.size);
    int32_t *keys = tables + place * stride;
    const int32_t i = pwarp_row(rows);
    const int32_t size = i >= 0 ? table_size(products[i], rows.size) : 0;
    for (int32_t s = sub; s < size; s += PWARP) keys[s] = EMPTY;
    // The word after the table counts its columns, because any lane may insert one.
    if (sub == 0) keys[rows.size] = 0;
    __syncwarp();
    int32_t *warp_keys = keys - lane_id() / PWARP * stride;
    pwarp_walk<false>(x, i, [&](bool there, int row, int32_t col, float) {
        int32_t *its_keys = warp_keys + row * stride;
        const int32_t its_size = warp_broadcast(size, row * PWARP);
        bool is_new = false;
        if (there) table_place(its_keys, its_size - 1, col, is_new);
        if (is_new) atomicAdd(&its_keys[rows.size], 1);
    });
    __syncwarp();
    if (i >= 0 && sub == 0) nz[i] = keys[rows.size];
}

template <typename T>
static __global__ __launch_bounds__(PWARP_BLOCK) void numeric_pwarp(struct factors<T> x,
                                                                    struct rows rows,
                                                                    const int32_t *__restrict__ nz,
                                                                    struct result<T> c)
{
    SHARED_DYNAMIC(T, memory);
    const int sub = (int)threadIdx.x % PWARP, place = (int)threadIdx.x / PWARP;
    const int32_t stride = small_stride(PWARP, rows.size);
    const int32_t list_stride = small_stride(PWARP, rows.limit);
    T *vals = memory + place * stride;
    int32_t *all_keys = (int32_t *)(memory + PWARP_ROWS * stride);
    int32_t *keys = all_keys + place * stride;
    int32_t *all_found = all_keys + PWARP_ROWS * stride, *found = all_found + place * list_stride;
    uint16_t *where = (uint16_t *)(all_found + PWARP_ROWS * list_stride) + place * list_stride;
    const int32_t i = pwarp_row(rows);
    const int32_t size = i >= 0 ? table_size(nz[i], rows.size) : 0;
    for (int32_t s = sub; s < size; s += PWARP) {
        keys[s] = EMPTY;
        vals[s] = 0;
    }
    __syncwarp();
    const int32_t warp_first = (place - lane_id() / PWARP) * stride; // first table of the warp
    pwarp_walk<true>(x, i, [&](bool there, int row, int32_t col, T v) {
        const int32_t first = warp_first + row * stride;
        const int32_t its_size = warp_broadcast(size, row * PWARP);
        bool is_new;
        const uint32_t h = there ? table_place(all_keys + first, its_size - 1, col, is_new) : 0;
        __syncwarp();
        if (there) atomicAdd(&memory[first + h], v);
    });
    __syncwarp();
    write_small<PWARP>(keys, vals, size, found, where, i >= 0 ? row_start(c, i) : 0, c);
}

#endif
