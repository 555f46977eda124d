// Rows of group 0 in global memory: the second pass of the symbolic phase, and the numeric phase.
#ifndef SPGEMM_HASH_GLOBAL_H
#define SPGEMM_HASH_GLOBAL_H

#include "groups.cuh"

// Inserts the columns of row blockIdx.y into its table. In the numeric phase the table also gets
// the values. In the symbolic phase the new columns are added to nz. Several blocks share a row.
template <bool VALUES, typename T>
static __global__ __launch_bounds__(GLOBAL_BLOCK) void global_insert(
    struct factors<T> x, const int32_t *__restrict__ list, struct pool pool,
    const int32_t *__restrict__ products, int32_t *__restrict__ nz)
{
    __shared__ int32_t found;
    const int32_t i = list[blockIdx.y], p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    const int64_t wanted = ceil_div(products[i], GLOBAL_SHARE) + ceil_div(end - p, GLOBAL_NONZEROS);
    const uint32_t blocks = (uint32_t)min((int64_t)gridDim.x, wanted), warps = GLOBAL_BLOCK / WARP;
    if (blockIdx.x >= blocks) return;
    unsigned char *slot = pool.memory + blockIdx.y * pool.step;
    int32_t *keys = (int32_t *)slot, fresh = 0;
    T *vals = table_vals<T>(slot, pool.size);
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    walk_nonzeros<VALUES>(x, (uint32_t)p + blockIdx.x * warps + threadIdx.x / WARP, (uint32_t)end,
                          blocks * warps, NULL, 0, [&](int32_t col, T v, unsigned) {
                              bool is_new;
                              const uint32_t h =
                                  table_place(keys, (uint32_t)(pool.size - 1), col, is_new);
                              if (VALUES) atomicAdd(&vals[h], v);
                              fresh += is_new;
                          });
    if (VALUES) return;
    fresh = warp_sum(fresh);
    if (lane_id() == 0) atomicAdd(&found, fresh);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&nz[i], found);
}

// Computes `rows` in chunks that fit in a pool of `bytes`. The longest row has `longest` products
// (symbolic) or nonzeros of C (numeric).
template <bool VALUES, typename T>
static int run_global(struct task *t, const struct factors<T> &x, const struct bin_rows &rows,
                      int32_t longest, int64_t bytes, const struct result<T> &c,
                      const struct scratch *w)
{
    struct pool pool = {};
    pool.size = max64(next_power(min(longest, x.n)), 2);
    pool.step = ceil_div(max64(pool.size * (int64_t)(4 + (VALUES ? sizeof(T) : 0)), 24), 16) * 16;
    return run_chunks(t, pool, rows, bytes, [&](const struct pool &p, const struct bin_rows &some) {
        const auto clear = global_clear<VALUES, T>;
        const auto insert = global_insert<VALUES, T>;
        const auto copy = global_copy<T>;
        const dim3 grid(blocks_of(t, some), (unsigned)some.count);
        LAUNCH(clear, grid, GLOBAL_BLOCK, 0, t->dev->stream, some.list, p, w->nz);
        LAUNCH(insert, grid, GLOBAL_BLOCK, 0, t->dev->stream, x, some.list, p, w->products, w->nz);
        if (!VALUES) return (int)OK;
        sort_tables<T>((cudaStream_t)t->dev->stream, p, grid.x, grid.y);
        LAUNCH(copy, grid, GLOBAL_BLOCK, 0, t->dev->stream, some.list, p, w->nz, c);
        return (int)OK;
    });
}

#endif
