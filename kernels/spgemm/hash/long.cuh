// Part of spgemm_hash.cu: rows that are too long for a table in shared memory, or for one block.
//
// Bitmaps: the columns of a row are marked in a bitmap of n bits, which yields them sorted, and
// with the count of columns before each 64 the place of each, so products are added up where they
// belong in C. One block does all of it in shared memory where that holds 3 n / 16 bytes
// (numeric_long); giants, and rows of wider matrices, use global memory, where several blocks share
// a row and one kernel does each step (global_*).
// Hash tables: the paper's, in global memory; the whole table is then sorted, which moves what is
// empty behind the columns, and copied to C.
#ifndef SPGEMM_HASH_LONG_H
#define SPGEMM_HASH_LONG_H

#include "rows.cuh"

#define LONG_BLOCK   1024 // threads
#define LONG_SMALL   512  // where a third of a multiprocessor's shared memory is enough
#define GLOBAL_BLOCK 256
#define GLOBAL_SHARE 8192 // products that are worth a block of their own
#define SORT_CHUNK   2048 // columns that the sort of a global table takes into shared memory

static __host__ __device__ __forceinline__ int64_t bit_groups(int32_t n) { return ceil_div(n, 64); }

// So many blocks share a multiprocessor at most, for the sake of shared memory, so registers need
// not be saved for more. 0: the compiler's choice; narrow matrices in f32 leave room for four
// blocks.
#define LONG_BLOCKS(TEAM, T) ((TEAM) == LONG_BLOCK ? 1 : sizeof(T) == 4 ? 0 : 3)

// Shared memory: the bitmap, the ranks, and the values where they fit: by place in the row, or, if
// `dense`, by column, which makes the ranks, and the first of two walks, superfluous.
template <int TEAM, typename T>
static __global__ __launch_bounds__(TEAM, LONG_BLOCKS(TEAM, T)) void numeric_long(
    struct factors<T> x, struct rows rows, int dense, const int32_t *__restrict__ nz,
    struct result<T> c)
{
    SHARED_DYNAMIC(unsigned char, memory);
    __shared__ chunk<TEAM, T> chunk;
    __shared__ int32_t sums[TEAM / WARP];
    const int me = (int)threadIdx.x;
    const int32_t i = rows.list[blockIdx.x], groups = (int32_t)bit_groups(x.n);
    const int32_t count = nz[i];
    T *vals = (T *)memory;
    // rows.size values of shared memory come first.
    const bool inside = dense || count <= rows.size;
    uint32_t *bits = (uint32_t *)(memory + (int64_t)rows.size * sizeof(T));
    int32_t *rank = (int32_t *)(bits + 2 * groups);
    const int64_t start = row_start(c, i);
    const int32_t p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    for (int32_t w = me; w < 2 * groups; w += TEAM) bits[w] = 0;
    for (int32_t e = me; e < (dense ? x.n : count); e += TEAM)
        if (inside)
            vals[e] = 0;
        else
            c.val[start + e] = 0;
    __syncthreads();
    if (dense)
        walk<true, TEAM>(x, p, end, x.even, whole_row(), chunk, NULL, 0, [&](int32_t col, T v) {
            mark(bits, col);
            atomicAdd(&vals[col], v);
        });
    else
        walk<false, TEAM>(x, p, end, x.even, whole_row(), chunk, NULL, 0,
                          [&](int32_t col, T) { mark(bits, col); });
    make_ranks<TEAM>(bits, rank, groups, sums);
    write_columns<TEAM>(bits, rank, groups, c.idx + start);
    if (dense) {
        __syncthreads();
        for (int32_t e = me; e < count; e += TEAM) c.val[start + e] = vals[c.idx[start + e]];
        return;
    }
    if (inside) {
        walk<true, TEAM>(x, p, end, x.even, whole_row(), chunk, NULL, 0,
                         [&](int32_t col, T v) { atomicAdd(&vals[rank_of(bits, rank, col)], v); });
        for (int32_t e = me; e < count; e += TEAM) c.val[start + e] = vals[e];
    } else {
        walk<true, TEAM>(x, p, end, x.even, whole_row(), chunk, NULL, 0, [&](int32_t col, T v) {
            atomicAdd(&c.val[start + rank_of(bits, rank, col)], v);
        });
    }
}

// The pool: one slot for each row of a wave, of `step` bytes, for bits and ranks, or keys and
// values. In a table of `size` places, keys come first.
struct pool {
    unsigned char *memory;
    int64_t step;
    int64_t size; // of the tables; 0: bitmaps
};

template <typename T>
static __device__ __forceinline__ T *table_vals(unsigned char *slot, int64_t size)
{
    return (T *)(slot + size * 4);
}

// Row r of a wave, and the part of it that this block does; false if it has none.
template <typename T>
static __device__ __forceinline__ bool part_of(const struct factors<T> &x, int32_t i,
                                               const int32_t *products, struct part &part)
{
    const int64_t length = __ldg(x.A_ptr + i + 1) - __ldg(x.A_ptr + i);
    const int64_t chunks = ceil_div(length, chunk<GLOBAL_BLOCK, T>::SIZE);
    const int64_t wanted = ceil_div(products[i], GLOBAL_SHARE) + ceil_div(chunks, 16);
    const int32_t parts = (int32_t)min((int64_t)gridDim.x, wanted);
    part.shares = max(1, (int32_t)(parts / max(chunks, (int64_t)1)));
    part.step = max(1, parts / part.shares);
    part.chunk = (int32_t)blockIdx.x / part.shares;
    part.share = (int32_t)blockIdx.x % part.shares;
    return part.chunk < part.step;
}

// Puts the columns of row blockIdx.y into its slot. In the numeric phase a table gets the values,
// too; in the symbolic one nz counts what is new.
template <bool VALUES, typename T>
static __global__ __launch_bounds__(GLOBAL_BLOCK) void global_insert(
    struct factors<T> x, const int32_t *__restrict__ list, struct pool pool,
    const int32_t *__restrict__ products, int32_t *__restrict__ nz)
{
    __shared__ chunk<GLOBAL_BLOCK, T> chunk;
    __shared__ int32_t found;
    const int32_t i = list[blockIdx.y];
    unsigned char *slot = pool.memory + blockIdx.y * pool.step;
    struct part part;
    if (!part_of(x, i, products, part)) return;
    const int32_t p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    if (!pool.size) {
        walk<false, GLOBAL_BLOCK>(x, p, end, x.even, part, chunk, NULL, 0,
                                  [&](int32_t col, T) { mark((uint32_t *)slot, col); });
        return;
    }
    int32_t *keys = (int32_t *)slot, mine = 0;
    T *vals = table_vals<T>(slot, pool.size);
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    walk<VALUES, GLOBAL_BLOCK>(x, p, end, x.even, part, chunk, NULL, 0, [&](int32_t col, T v) {
        bool is_new;
        const uint32_t h = table_place(keys, (uint32_t)(pool.size - 1), col, is_new);
        if (VALUES) atomicAdd(&vals[h], v);
        mine += is_new;
    });
    if (VALUES) return;
    mine = warp_sum(mine);
    if (lane_id() == 0) atomicAdd(&found, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&nz[i], found);
}

// Tables: empties the slots. Counts of the symbolic phase begin at 0.
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

// Bitmaps, symbolic: the count of columns. A block a row.
static __global__ __launch_bounds__(LONG_BLOCK) void global_count(int32_t n,
                                                                  const int32_t *__restrict__ list,
                                                                  struct pool pool,
                                                                  int32_t *__restrict__ nz)
{
    __shared__ unsigned long long sums[LONG_BLOCK / WARP];
    const unsigned long long *bits =
        (const unsigned long long *)(pool.memory + blockIdx.x * pool.step);
    unsigned long long mine = 0, total;
    for (int64_t g = threadIdx.x; g < bit_groups(n); g += LONG_BLOCK) mine += __popcll(bits[g]);
    team_scan<LONG_BLOCK>(mine, sums, total);
    if (threadIdx.x == 0) nz[list[blockIdx.x]] = (int32_t)total;
}

// Bitmaps, numeric: the ranks, the columns of C, and zeros for its values. A block a row.
template <typename T>
static __global__
__launch_bounds__(LONG_BLOCK) void global_rank(int32_t n, const int32_t *__restrict__ list,
                                               struct pool pool, struct result<T> c)
{
    __shared__ int32_t sums[LONG_BLOCK / WARP];
    const int32_t groups = (int32_t)bit_groups(n);
    const uint32_t *bits = (const uint32_t *)(pool.memory + blockIdx.x * pool.step);
    int32_t *rank = (int32_t *)(bits + 2 * (int64_t)groups);
    const int64_t start = row_start(c, list[blockIdx.x]);
    const int32_t count = make_ranks<LONG_BLOCK>(bits, rank, groups, sums);
    write_columns<LONG_BLOCK>(bits, rank, groups, c.idx + start);
    for (int32_t e = (int32_t)threadIdx.x; e < count; e += LONG_BLOCK) c.val[start + e] = 0;
}

// Bitmaps, numeric: the values.
template <typename T>
static __global__ __launch_bounds__(GLOBAL_BLOCK) void global_add(
    struct factors<T> x, const int32_t *__restrict__ list, struct pool pool,
    const int32_t *__restrict__ products, struct result<T> c)
{
    __shared__ chunk<GLOBAL_BLOCK, T> chunk;
    const int32_t i = list[blockIdx.y];
    const uint32_t *bits = (const uint32_t *)(pool.memory + blockIdx.y * pool.step);
    const int32_t *rank = (const int32_t *)(bits + 2 * bit_groups(x.n));
    struct part part;
    if (!part_of(x, i, products, part)) return;
    T *vals = c.val + row_start(c, i);
    walk<true, GLOBAL_BLOCK>(
        x, __ldg(x.A_ptr + i), __ldg(x.A_ptr + i + 1), x.even, part, chunk, NULL, 0,
        [&](int32_t col, T v) { atomicAdd(&vals[rank_of(bits, rank, col)], v); });
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

// One step of the bitonic sort of the tables: pairs `step` apart, in sequences of `length`.
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

// Tables, numeric: the sorted table begins with the row of C.
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

#endif
