// Pool of global memory for the bitmaps or tables of a chunk of rows, and the sort of such tables.
#ifndef SPGEMM_HASH_POOL_H
#define SPGEMM_HASH_POOL_H

#include "long.cuh"

#define GLOBAL_BLOCK 256  // threads
#define SORT_CHUNK   2048 // places that the sort of a table takes into shared memory at a time

// The rows of a chunk have a slot each: bits and ranks, or keys and values, keys first.
struct pool {
    unsigned char *memory;
    int64_t step; // bytes of a slot
    int64_t size; // places of a table; 0: slots are bitmaps
};

template <typename T>
static __device__ __forceinline__ T *table_vals(unsigned char *slot, int64_t size)
{
    return (T *)(slot + size * 4);
}

template <typename T>
static __device__ __forceinline__ void order_pair(int32_t *keys, T *vals, int64_t low, int64_t step,
                                                  bool ascending)
{
    const uint32_t a = (uint32_t)keys[low], b = (uint32_t)keys[low + step];
    if ((a > b) != ascending) return;
    const T v = vals[low];
    keys[low] = (int32_t)b;
    keys[low + step] = (int32_t)a;
    vals[low] = vals[low + step];
    vals[low + step] = v;
}

// Does a step of the bitonic sort of the tables: pairs `step` apart, in sequences of `length`.
template <typename T>
static __global__ __launch_bounds__(GLOBAL_BLOCK) void global_sort_step(struct pool pool,
                                                                        int64_t length,
                                                                        int64_t step)
{
    unsigned char *slot = pool.memory + blockIdx.y * pool.step;
    const int64_t stride = (int64_t)gridDim.x * GLOBAL_BLOCK;
    for (int64_t e = (int64_t)blockIdx.x * GLOBAL_BLOCK + threadIdx.x; e < pool.size / 2;
         e += stride) {
        const int64_t low = 2 * e - (e & (step - 1));
        order_pair((int32_t *)slot, table_vals<T>(slot, pool.size), low, step, !(low & length));
    }
}

// All steps below SORT_CHUNK of the sequences of `first` to `last`.
template <typename T>
static __global__ __launch_bounds__(LONG_BLOCK) void global_sort_chunk(struct pool pool,
                                                                       int64_t first, int64_t last)
{
    __shared__ int32_t keys[SORT_CHUNK];
    __shared__ T vals[SORT_CHUNK];
    unsigned char *slot = pool.memory + blockIdx.y * pool.step;
    int32_t *all_keys = (int32_t *)slot;
    T *all_vals = table_vals<T>(slot, pool.size);
    const int count = (int)min((int64_t)SORT_CHUNK, pool.size);
    for (int64_t at = (int64_t)blockIdx.x * count; at < pool.size;
         at += (int64_t)gridDim.x * count) {
        for (int e = (int)threadIdx.x; e < count; e += LONG_BLOCK) {
            keys[e] = all_keys[at + e];
            vals[e] = all_vals[at + e];
        }
        __syncthreads();
        for (int64_t length = first; length <= last; length *= 2)
            for (int step = (int)min(length, (int64_t)count) / 2; step > 0; step /= 2) {
                for (int e = (int)threadIdx.x; e < count / 2; e += LONG_BLOCK) {
                    const int low = 2 * e - (e & (step - 1));
                    order_pair(keys, vals, low, step, !((at + low) & length));
                }
                __syncthreads();
            }
        for (int e = (int)threadIdx.x; e < count; e += LONG_BLOCK) {
            all_keys[at + e] = keys[e];
            all_vals[at + e] = vals[e];
        }
        __syncthreads();
    }
}

// Sorts the tables of `rows` slots: what is empty comes last.
template <typename T>
static void sort_tables(cudaStream_t stream, const struct pool &pool, unsigned blocks,
                        unsigned rows)
{
    const auto in_chunk = global_sort_chunk<T>;
    const auto one_step = global_sort_step<T>;
    const int64_t chunk = min64(SORT_CHUNK, pool.size);
    const dim3 grid(blocks, rows);
    LAUNCH(in_chunk, grid, LONG_BLOCK, 0, stream, pool, (int64_t)2, chunk);
    for (int64_t length = 2 * chunk; length <= pool.size; length *= 2) {
        for (int64_t step = length / 2; step >= chunk; step /= 2)
            LAUNCH(one_step, grid, GLOBAL_BLOCK, 0, stream, pool, length, step);
        LAUNCH(in_chunk, grid, LONG_BLOCK, 0, stream, pool, length, length);
    }
}

#endif
