// TB/ROW (algorithm 4): a block per row, with a table in shared memory.
#ifndef SPGEMM_HASH_TB_H
#define SPGEMM_HASH_TB_H

#include "groups.cuh"

// Calls f(column, value, lanes) for all products of row i. A warp takes a nonzero of A at a time.
template <bool VALUES, int THREADS, typename T, typename F>
static __device__ __forceinline__ void tb_walk(const struct factors<T> &x, int32_t i,
                                               const int32_t *stop, int32_t limit, F f)
{
    walk_nonzeros<VALUES>(x, (uint32_t)__ldg(x.A_ptr + i) + threadIdx.x / WARP,
                          (uint32_t)__ldg(x.A_ptr + i + 1), THREADS / WARP, stop, limit, f);
    __syncthreads();
}

// Counts rows of entry G of table_1. A row of group 0 that fills more than 3/4 of the table goes to
// global memory. The last quarter has a place for each thread that has not yet seen the current
// count.
template <int G>
static __global__ __launch_bounds__(table_1[G].block) void symbolic_tb(struct factors<float> x,
                                                                       struct bin_rows rows,
                                                                       struct overflow overflow,
                                                                       int32_t *__restrict__ nz)
{
    constexpr int THREADS = table_1[G].block;
    constexpr int32_t SIZE = table_1[G].products, LIMIT = SIZE - SIZE / 4;
    __shared__ __align__(16) int32_t keys[SIZE];
    __shared__ int32_t found;
    const int32_t i = rows.list[blockIdx.x];
    for (int32_t s = (int32_t)threadIdx.x; s < SIZE / 4; s += THREADS)
        ((int4 *)keys)[s] = make_int4(EMPTY, EMPTY, EMPTY, EMPTY);
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (G == GROUP_0) {
        const volatile int32_t *count = &found;
        tb_walk<false, THREADS>(x, i, &found, LIMIT, [&](int32_t col, float, unsigned) {
            bool is_new;
            if (*count > LIMIT) return;
            table_place(keys, SIZE - 1, col, is_new);
            if (is_new) atomicAdd(&found, 1);
        });
    } else {
        int32_t mine = 0;
        tb_walk<false, THREADS>(x, i, NULL, 0, [&](int32_t col, float, unsigned) {
            bool is_new;
            table_place(keys, SIZE - 1, col, is_new);
            mine += is_new;
        });
        mine = warp_sum(mine);
        if (lane_id() == 0 && mine) atomicAdd(&found, mine);
        __syncthreads();
    }
    if (threadIdx.x > 0) return;
    if (G == GROUP_0 && found > LIMIT)
        overflow.list[atomicAdd(overflow.count, 1)] = i;
    else
        nz[i] = found;
}

template <int G, typename T> static constexpr int64_t tb_bytes()
{
    return team_bytes<T>(table_1[G].nonzeros, table_1[G].nonzeros);
}

// Blocks per multiprocessor for the launch bounds. With tables of doubles a multiprocessor holds
// one block of 1024 threads, which may use all registers. 0: the compiler chooses.
#define TB_BLOCKS(G, T) (table_1[G].block == 1024 && sizeof(T) == 8 ? 1 : 0)

template <int G, typename T>
static __global__ __launch_bounds__(table_1[G].block, TB_BLOCKS(G, T)) void numeric_tb(
    struct factors<T> x, struct bin_rows rows, const int32_t *__restrict__ nz, struct result<T> c)
{
    constexpr int THREADS = table_1[G].block;
    constexpr int32_t SIZE = table_1[G].nonzeros;
    SHARED_DYNAMIC(unsigned char, memory);
    __shared__ int32_t ends[2], listed, sums[THREADS / WARP];
    T *vals = (T *)memory;
    int32_t *keys = (int32_t *)(vals + SIZE);
    uint32_t *scratch = (uint32_t *)(keys + SIZE);
    uint16_t *shorts = (uint16_t *)(scratch + SIZE);
    const int32_t i = rows.list[blockIdx.x], count = nz[i];
    for (int32_t s = (int32_t)threadIdx.x; s < SIZE; s += THREADS) {
        keys[s] = EMPTY;
        vals[s] = 0;
    }
    if (threadIdx.x == 0) {
        ends[0] = INT32_MAX;
        ends[1] = listed = 0;
    }
    __syncthreads();
    tb_walk<true, THREADS>(x, i, NULL, 0, [&](int32_t col, T v, unsigned) {
        bool is_new;
        const uint32_t h = table_place(keys, SIZE - 1, col, is_new);
        atomicAdd(&vals[h], v);
    });
    int32_t low, high;
    table_ends<THREADS>(keys, SIZE, ends, low, high);
    const int64_t start = row_start(c, i);
    const int32_t words = (high - low) / 32 + 1;
    auto put = [&](int32_t s, int32_t rank) {
        c.idx[start + rank] = keys[s];
        c.val[start + rank] = vals[s];
    };
    if (words <= SIZE) {
        sort_by_range<THREADS>(keys, SIZE, low, words, scratch, shorts, sums, put);
        return;
    }
    if (count > COUNT_SORT &&
        sort_by_buckets<THREADS>(keys, SIZE, count, low, high, SIZE, shorts, scratch, sums, put))
        return;
    sort_by_columns<THREADS>(keys, SIZE, count, scratch, shorts, &listed, put);
}

#endif
