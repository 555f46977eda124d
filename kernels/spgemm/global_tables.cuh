// Hash tables in global memory, for rows too long for shared memory. A pool of bounded size holds
// the tables of a chunk of rows at a time. Several blocks fill a table. In the numeric phase the
// whole table is sorted, which moves empty places behind the columns, and copied to C.
#ifndef SPGEMM_GLOBAL_TABLES_H
#define SPGEMM_GLOBAL_TABLES_H

#include "bins_host.cuh"

#define GLOBAL_BLOCK    256  // threads
#define GLOBAL_SHARE    8192 // products per block of a row
#define GLOBAL_NONZEROS 4096 // nonzeros of A per additional block
#define SHARES_MOST     256  // most blocks of a row
#define SORT_BLOCK      1024 // threads of global_sort_chunk
#define SORT_CHUNK      2048 // places of a table that are sorted in shared memory at once

// Memory for a chunk of rows, a slot for each row: keys, then values.
struct pool {
    unsigned char *memory;
    int64_t step; // bytes of a slot
    int64_t size; // places of a table; 0: slots have no tables
};

template <typename T>
static __device__ __forceinline__ T *table_vals(unsigned char *slot, int64_t size)
{
    return (T *)(slot + size * 4);
}

// Clears the slots. Sets the counts of the symbolic phase to 0.
template <bool VALUES, typename T>
static __global__
__launch_bounds__(GLOBAL_BLOCK) void global_clear(const int32_t *__restrict__ list,
                                                  struct pool pool, int32_t *__restrict__ nz)
{
    unsigned char *slot = pool.memory + blockIdx.y * pool.step;
    int32_t *keys = (int32_t *)slot;
    T *vals = table_vals<T>(slot, pool.size);
    const int64_t step = (int64_t)gridDim.x * GLOBAL_BLOCK;
    for (int64_t s = (int64_t)blockIdx.x * GLOBAL_BLOCK + threadIdx.x; s < pool.size; s += step) {
        keys[s] = EMPTY;
        if (VALUES) vals[s] = 0;
    }
    if (!VALUES && blockIdx.x == 0 && threadIdx.x == 0) nz[list[blockIdx.y]] = 0;
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

// Does all steps below SORT_CHUNK of the bitonic sort, in sequences of `first` to `last`.
template <typename T>
static __global__ __launch_bounds__(SORT_BLOCK) void global_sort_chunk(struct pool pool,
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
        for (int e = (int)threadIdx.x; e < count; e += SORT_BLOCK) {
            keys[e] = all_keys[at + e];
            vals[e] = all_vals[at + e];
        }
        __syncthreads();
        for (int64_t length = first; length <= last; length *= 2)
            for (int step = (int)min(length, (int64_t)count) / 2; step > 0; step /= 2) {
                for (int e = (int)threadIdx.x; e < count / 2; e += SORT_BLOCK) {
                    const int low = 2 * e - (e & (step - 1));
                    order_pair(keys, vals, low, step, !((at + low) & length));
                }
                __syncthreads();
            }
        for (int e = (int)threadIdx.x; e < count; e += SORT_BLOCK) {
            all_keys[at + e] = keys[e];
            all_vals[at + e] = vals[e];
        }
        __syncthreads();
    }
}

// Sorts the tables of `rows` slots. Empty places come last.
template <typename T>
static void sort_tables(cudaStream_t stream, const struct pool &pool, unsigned blocks,
                        unsigned rows)
{
    const auto in_chunk = global_sort_chunk<T>;
    const auto one_step = global_sort_step<T>;
    const int64_t chunk = min64(SORT_CHUNK, pool.size);
    const dim3 grid(blocks, rows);
    LAUNCH(in_chunk, grid, SORT_BLOCK, 0, stream, pool, (int64_t)2, chunk);
    for (int64_t length = 2 * chunk; length <= pool.size; length *= 2) {
        for (int64_t step = length / 2; step >= chunk; step /= 2)
            LAUNCH(one_step, grid, GLOBAL_BLOCK, 0, stream, pool, length, step);
        LAUNCH(in_chunk, grid, SORT_BLOCK, 0, stream, pool, length, length);
    }
}

// Copies the rows to C. A sorted table begins with the columns of its row.
template <typename T>
static __global__
__launch_bounds__(GLOBAL_BLOCK) void global_copy(const int32_t *__restrict__ list, struct pool pool,
                                                 const int32_t *__restrict__ nz, struct result<T> c)
{
    unsigned char *slot = pool.memory + blockIdx.y * pool.step;
    const int32_t i = list[blockIdx.y], count = nz[i];
    const int64_t start = row_start(c, i);
    for (int64_t e = (int64_t)blockIdx.x * GLOBAL_BLOCK + threadIdx.x; e < count;
         e += (int64_t)gridDim.x * GLOBAL_BLOCK) {
        c.idx[start + e] = ((const int32_t *)slot)[e];
        c.val[start + e] = table_vals<T>(slot, pool.size)[e];
    }
}

// Calls run_chunk(pool, rows) for chunks of `rows` that fit in a pool of up to `bytes`, at least
// one slot. Sets pool.memory. pool.step is the bytes of a slot.
template <typename F>
static int run_chunks(struct task *t, struct pool pool, const struct bin_rows &rows, int64_t bytes,
                      F run_chunk)
{
    int64_t slots = max64(min64(min64(rows.count, bytes / pool.step), 65535), 1);
    int err = device_alloc(t->dev, slots, (size_t)pool.step, (void **)&pool.memory);
    while (err == ERR_MEMORY && slots > 1) {
        fail_drop();
        slots /= 2;
        err = device_alloc(t->dev, slots, (size_t)pool.step, (void **)&pool.memory);
    }
    for (int64_t first = 0; first < rows.count && !err; first += slots)
        err =
            run_chunk(pool, bin_rows{rows.list + first, (int32_t)min64(slots, rows.count - first)});
    device_free(t->dev, pool.memory);
    return err;
}

// Returns the blocks launched for each row of a chunk. Blocks that a row does not need end at once.
static unsigned blocks_of(const struct task *t, const struct bin_rows &rows)
{
    return (unsigned)min64(max64(8 * t->dev->units / rows.count, 1), SHARES_MOST);
}

#endif
