// Stage 3 of `bhsparse`, kernels: rows of more than 512 products, a block a row.
//
// The block has a sorted list of the row's columns and sums. The products of a nonzero of A are
// ascending. The block takes as many of them as it has threads. A column that the list has is found
// by binary search, and the product is added to its sum. The other products are joined to the list
// by merge path: each thread finds its part of the result by binary search, and merges it serially.
//
// The list has a limited buffer. Products that do not fit are left to the next launch, which has a
// larger buffer. The buffer is shared memory, or from 2304 entries on the row's place in C~.
#ifndef SPGEMM_BHSPARSE_MERGE_H
#define SPGEMM_BHSPARSE_MERGE_H

#include "binning.cuh"

// Threads and entries of the largest buffer in shared memory. The next buffers have 2, 3, ... times
// as many entries.
#define MERGE_THREADS 256
#define MERGE_ITEMS   9
#define MERGE_BUFFER  (MERGE_THREADS * MERGE_ITEMS)

// Returns the place of `key` in an ascending list, -1 if the list does not have the key. The list
// may change between calls, so its pointer is not `restrict`.
static __device__ __forceinline__ int32_t find_key(const int32_t *keys, int32_t length, int32_t key)
{
    int32_t low = 0, high = length;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < length && keys[low] == key ? low : -1;
}

// Returns the number of entries of `a` among the first `count` of a and b merged. No key is in both
// lists.
static __device__ __forceinline__ int32_t merge_path(const int32_t *a, int32_t a_length,
                                                     const int32_t *b, int32_t b_length,
                                                     int32_t count)
{
    int32_t low = max(0, count - b_length), high = min(count, a_length);
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (a[middle] < b[count - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Merges two lists in shared memory, the second right behind the first, in place. Together they
// have up to THREADS * ITEMS entries. Between two barriers.
template <int THREADS, int ITEMS, typename T>
static __device__ __forceinline__ void merge_shared(int32_t *keys, T *vals, int32_t a_length,
                                                    int32_t b_length)
{
    const int32_t length = a_length + b_length, each = (int32_t)ceil_div(length, THREADS);
    const int32_t first = min((int32_t)threadIdx.x * each, length);
    const int32_t count = min(each, length - first);
    int32_t a = merge_path(keys, a_length, keys + a_length, b_length, first);
    int32_t b = a_length + first - a;
    int32_t key[ITEMS];
    T val[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; j++)
        if (j < count) {
            const bool from_a = b == length || (a < a_length && keys[a] < keys[b]);
            const int32_t e = from_a ? a++ : b++;
            key[j] = keys[e];
            val[j] = vals[e];
        }
    team_sync<THREADS>();
#pragma unroll
    for (int j = 0; j < ITEMS; j++)
        if (j < count) {
            keys[first + j] = key[j];
            vals[first + j] = val[j];
        }
}

// Adds the products of row r to its list, from (r.a, r.k) on, until the row ends or the list would
// have more than `room` entries. join(is_new, place, key, value, count) puts the `count` new
// entries of the threads into the list, between two barriers. `sums`: see team_scan().
template <int THREADS, typename T, typename F>
static __device__ __forceinline__ void add_products(const factors<T> &x, struct long_row &r,
                                                    int64_t room, const int32_t *keys, T *vals,
                                                    int32_t *sums, F join)
{
    const uint32_t me = threadIdx.x;
    const int32_t row = x.A_ptr[r.row], nonzeros = x.A_ptr[r.row + 1] - row;
    for (; r.a < nonzeros; r.a++, r.k = 0) {
        const int32_t l = x.A_idx[row + r.a], begin = x.S_ptr[l];
        const uint32_t count = (uint32_t)(x.S_ptr[l + 1] - begin);
        const T a = x.A_val[row + r.a];
        for (; r.k < count; r.k += THREADS) {
            const bool mine = me < count - r.k;
            int32_t key = 0, at = -1, all_new;
            T val = 0;
            if (mine) {
                const int32_t q = begin + (int32_t)(r.k + me);
                key = x.S_idx[q];
                val = a * x.S_val[q];
                at = find_key(keys, r.length, key);
            }
            const bool is_new = mine && at < 0;
            const int32_t place = team_scan<THREADS>((int32_t)is_new, sums, all_new);
            if (r.length + (int64_t)all_new > room) return;
            if (at >= 0) vals[at] += val;
            if (all_new == 0) continue;
            join(is_new, place, key, val, all_new);
            r.length += all_new;
        }
    }
    r.a = -1;
}

// Stores the state of a row for the next launch, or its length.
static __device__ __forceinline__ void end_row(const struct long_row &r, struct long_row *queue,
                                               int32_t *length)
{
    if (threadIdx.x > 0) return;
    queue[blockIdx.x].length = r.length;
    queue[blockIdx.x].a = r.a;
    queue[blockIdx.x].k = r.k;
    if (r.a < 0) length[r.row] = r.length;
}

// The buffer is in shared memory. The list comes from C~ and goes there.
template <int THREADS, int ITEMS, typename T>
static __global__ __launch_bounds__(THREADS) void merge_rows(factors<T> x, struct long_row *queue,
                                                             int32_t *length, int32_t *idx, T *val)
{
    constexpr int32_t ROOM = THREADS * ITEMS;
    __shared__ int32_t keys[ROOM], sums[THREADS / WARP];
    __shared__ T vals[ROOM];
    struct long_row r = queue[blockIdx.x];
    for (int32_t e = (int32_t)threadIdx.x; e < r.length; e += THREADS) {
        keys[e] = idx[r.from + e];
        vals[e] = val[r.from + e];
    }
    team_sync<THREADS>();
    add_products<THREADS>(x, r, ROOM, keys, vals, sums,
                          [&](bool is_new, int32_t place, int32_t key, T v, int32_t count) {
                              if (is_new) {
                                  keys[r.length + place] = key;
                                  vals[r.length + place] = v;
                              }
                              team_sync<THREADS>();
                              merge_shared<THREADS, ITEMS>(keys, vals, r.length, count);
                              team_sync<THREADS>();
                          });
    team_sync<THREADS>();
    for (int32_t e = (int32_t)threadIdx.x; e < r.length; e += THREADS) {
        idx[r.at + e] = keys[e];
        val[r.at + e] = vals[e];
    }
    end_row(r, queue, length);
}

// Merges `count` new entries, which are in shared memory, into a list in global memory. The list
// has room behind it. Merge path has two levels: the block makes MERGE_BUFFER entries of the result
// at a time, and each thread a part of these. The last entries come first, so that no entry is
// overwritten before it is read. Between two barriers.
template <typename T>
static __device__ __forceinline__ void merge_global(int32_t *list, T *list_vals, int32_t length,
                                                    const int32_t *fresh, const T *fresh_vals,
                                                    int32_t count, int32_t *keys, T *vals)
{
    const int32_t me = (int32_t)threadIdx.x;
    for (int32_t a_end = length, b_end = count; b_end > 0;) {
        const int32_t first = max(0, a_end + b_end - MERGE_BUFFER);
        const int32_t a = merge_path(list, a_end, fresh, b_end, first), b = first - a;
        const int32_t a_count = a_end - a, b_count = b_end - b;
        for (int32_t e = me; e < a_count; e += MERGE_THREADS) {
            keys[e] = list[a + e];
            vals[e] = list_vals[a + e];
        }
        for (int32_t e = me; e < b_count; e += MERGE_THREADS) {
            keys[a_count + e] = fresh[b + e];
            vals[a_count + e] = fresh_vals[b + e];
        }
        __syncthreads();
        merge_shared<MERGE_THREADS, MERGE_ITEMS>(keys, vals, a_count, b_count);
        __syncthreads();
        for (int32_t e = me; e < a_count + b_count; e += MERGE_THREADS) {
            list[first + e] = keys[e];
            list_vals[first + e] = vals[e];
        }
        a_end = a, b_end = b;
        __syncthreads();
    }
}

// The buffer is the row's place in C~, of `room` entries or the products of the row, if fewer.
template <typename T>
static __global__ __launch_bounds__(MERGE_THREADS) void merge_long_rows(
    factors<T> x, struct long_row *queue, int64_t room, int32_t *length, int32_t *idx, T *val)
{
    __shared__ int32_t keys[MERGE_BUFFER], fresh[MERGE_THREADS], sums[MERGE_THREADS / WARP];
    __shared__ T vals[MERGE_BUFFER], fresh_vals[MERGE_THREADS];
    struct long_row r = queue[blockIdx.x];
    int32_t *list = idx + r.at;
    T *list_vals = val + r.at;
    for (int32_t e = (int32_t)threadIdx.x; e < r.length; e += MERGE_THREADS) {
        list[e] = idx[r.from + e];
        list_vals[e] = val[r.from + e];
    }
    __syncthreads();
    add_products<MERGE_THREADS>(x, r, room, list, list_vals, sums,
                                [&](bool is_new, int32_t place, int32_t key, T v, int32_t count) {
                                    if (is_new) {
                                        fresh[place] = key;
                                        fresh_vals[place] = v;
                                    }
                                    __syncthreads();
                                    merge_global(list, list_vals, r.length, fresh, fresh_vals,
                                                 count, keys, vals);
                                });
    end_row(r, queue, length);
}

#endif
