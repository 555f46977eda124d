// Rows with bitmaps or hash tables in global memory: giants, shared by several blocks, and rows too
// long for shared memory. A pool of bounded size holds a chunk of rows at a time. Each step has its
// own kernel. Bitmaps are as in long.cuh, with a slot of bits and ranks for each row.
#ifndef SPGEMM_HASH_TUNED_GLOBAL_H
#define SPGEMM_HASH_TUNED_GLOBAL_H

#include "long.cuh"
#include "spgemm/global_tables.cuh"

#define DENSE_MOST 32768 // most bytes of the dense values of a block in global_add
#define TABLE_COST 4 // use a bitmap of up to this many times the table's bytes: it needs no sort

// Sets the part of row i that this block computes. Returns false if the block has no part.
template <typename T>
static __device__ __forceinline__ bool portion_of(const struct factors<T> &x, int32_t i,
                                                  const int32_t *products, struct portion &mine)
{
    const int64_t length = __ldg(x.A_ptr + i + 1) - __ldg(x.A_ptr + i);
    const int64_t rounds = ceil_div(length, team_round<GLOBAL_BLOCK, T>::SIZE);
    const int64_t wanted = ceil_div(products[i], GLOBAL_SHARE) + ceil_div(length, GLOBAL_NONZEROS);
    const int32_t blocks = (int32_t)min((int64_t)gridDim.x, wanted);
    mine.shares = max(1, (int32_t)(blocks / max(rounds, (int64_t)1)));
    mine.step = max(1, blocks / mine.shares);
    mine.round = (int32_t)blockIdx.x / mine.shares;
    mine.share = (int32_t)blockIdx.x % mine.shares;
    return mine.round < mine.step;
}

// Inserts the columns of row blockIdx.y into its slot. In the numeric phase a table also gets the
// values. In the symbolic phase the new columns of a table are added to nz.
template <bool VALUES, typename T>
static __global__ __launch_bounds__(GLOBAL_BLOCK) void global_insert(
    struct factors<T> x, const int32_t *__restrict__ list, struct pool pool,
    const int32_t *__restrict__ products, int32_t *__restrict__ nz)
{
    __shared__ team_round<GLOBAL_BLOCK, T> round;
    __shared__ int32_t found;
    const int32_t i = list[blockIdx.y];
    unsigned char *slot = pool.memory + blockIdx.y * pool.step;
    struct portion mine;
    if (!portion_of(x, i, products, mine)) return;
    const int32_t p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    if (!pool.size) {
        walk<false, GLOBAL_BLOCK>(x, p, end, true, mine, round, NULL, 0,
                                  [&](int32_t col, T, unsigned) { mark((uint32_t *)slot, col); });
        return;
    }
    int32_t *keys = (int32_t *)slot, fresh = 0;
    T *vals = table_vals<T>(slot, pool.size);
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    walk<VALUES, GLOBAL_BLOCK>(
        x, p, end, true, mine, round, NULL, 0, [&](int32_t col, T v, unsigned) {
            bool is_new;
            const uint32_t h = table_place(keys, (uint32_t)(pool.size - 1), col, is_new);
            if (VALUES) atomicAdd(&vals[h], v);
            fresh += is_new;
        });
    if (VALUES) return;
    fresh = warp_sum(fresh);
    if (lane_id() == 0) atomicAdd(&found, fresh);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&nz[i], found);
}

// Bitmaps, symbolic: counts the columns. A block per row.
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

// Bitmaps, numeric: computes the ranks, writes the columns of C, and clears its values. A block per
// row.
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

// Bitmaps, numeric: adds the products to the values of C. `copies`: copies of the dense values of a
// row of C in shared memory. Warp w adds to copy w % copies. The block then adds the sums of the
// copies to C. 0: a row needs more than DENSE_MOST bytes, and threads add to C directly.
template <typename T>
static __global__ __launch_bounds__(GLOBAL_BLOCK, 6) void global_add(
    struct factors<T> x, const int32_t *__restrict__ list, struct pool pool,
    const int32_t *__restrict__ products, int copies, struct result<T> c)
{
    SHARED_DYNAMIC(T, dense);
    __shared__ team_round<GLOBAL_BLOCK, T> round;
    const int32_t i = list[blockIdx.y], p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    const uint32_t *bits = (const uint32_t *)(pool.memory + blockIdx.y * pool.step);
    const int32_t *rank = (const int32_t *)(bits + 2 * bit_groups(x.n));
    struct portion mine;
    if (!portion_of(x, i, products, mine)) return;
    T *vals = c.val + row_start(c, i);
    if (!copies) {
        walk<true, GLOBAL_BLOCK>(
            x, p, end, true, mine, round, NULL, 0,
            [&](int32_t col, T v, unsigned) { atomicAdd(&vals[rank_of(bits, rank, col)], v); });
        return;
    }
    for (int32_t e = (int32_t)threadIdx.x; e < copies * x.n; e += GLOBAL_BLOCK) dense[e] = 0;
    __syncthreads();
    T *own = dense + threadIdx.x / WARP % copies * x.n;
    walk<true, GLOBAL_BLOCK>(x, p, end, true, mine, round, NULL, 0,
                             [&](int32_t col, T v, unsigned) { atomicAdd(&own[col], v); });
    for (int32_t col = (int32_t)threadIdx.x; col < x.n; col += GLOBAL_BLOCK) {
        T sum = 0;
        for (int k = 0; k < copies; k++) sum += dense[k * x.n + col];
        if (sum != 0) atomicAdd(&vals[rank_of(bits, rank, col)], sum);
    }
}

// Computes a chunk of rows, each in a slot of the pool.
template <bool VALUES, typename T>
static int run_chunk(struct task *t, const struct factors<T> &x, const struct pool &pool,
                     const struct bin_rows &rows, const struct result<T> &c,
                     const struct scratch *w)
{
    const auto insert = global_insert<VALUES, T>;
    const auto clear = global_clear<VALUES, T>;
    const auto rank = global_rank<T>;
    const auto add = global_add<T>;
    const auto copy = global_copy<T>;
    cudaStream_t stream = (cudaStream_t)t->dev->stream;
    const int32_t *list = rows.list;
    const unsigned count = (unsigned)rows.count;
    const dim3 grid(blocks_of(t, rows), count);
    if (pool.size)
        LAUNCH(clear, grid, GLOBAL_BLOCK, 0, stream, list, pool, w->nz);
    else
        CUDA_TRY(cudaMemsetAsync(pool.memory, 0, (size_t)(count * pool.step), stream));
    LAUNCH(insert, grid, GLOBAL_BLOCK, 0, stream, x, list, pool, w->products, w->nz);
    if (VALUES && pool.size) {
        sort_tables<T>(stream, pool, grid.x, grid.y);
        LAUNCH(copy, grid, GLOBAL_BLOCK, 0, stream, list, pool, w->nz, c);
    } else if (VALUES) {
        LAUNCH(rank, count, LONG_BLOCK, 0, stream, x.n, list, pool, c);
        const int64_t bytes = x.n * (int64_t)sizeof(T);
        const int copies = (int)min64(DENSE_MOST / bytes, GLOBAL_BLOCK / WARP);
        LAUNCH(add, grid, GLOBAL_BLOCK, copies * bytes, stream, x, list, pool, w->products, copies,
               c);
    } else if (!pool.size) {
        LAUNCH(global_count, count, LONG_BLOCK, 0, stream, x.n, list, pool, w->nz);
    }
    return OK;
}

// Computes `rows` in chunks that fit in a pool of `bytes`. With `bitmap`, uses bitmaps if they cost
// less than tables. The longest row has `longest` products (symbolic) or nonzeros of C (numeric).
template <bool VALUES, typename T>
static int run_global(struct task *t, const struct factors<T> &x, const struct bin_rows &rows,
                      int32_t longest, int64_t bytes, bool bitmap, const struct result<T> &c,
                      const struct scratch *w)
{
    struct pool pool = {};
    const int64_t places = next_power((int64_t)min(longest, x.n) * SLOTS);
    const int64_t table_bytes = places * (int64_t)(4 + (VALUES ? sizeof(T) : 0));
    const int64_t bitmap_bytes = bit_groups(x.n) * (VALUES ? 12 : 8);
    if (!bitmap || bitmap_bytes / TABLE_COST > table_bytes) pool.size = max64(places, 2);
    pool.step = ceil_div(max64(pool.size ? table_bytes : bitmap_bytes, 24), 16) * 16;
    return run_chunks(t, pool, rows, bytes, [&](const struct pool &p, const struct bin_rows &some) {
        return run_chunk<VALUES, T>(t, x, p, some, c, w);
    });
}

#endif
