// Part of spgemm_hash.cu: rows in global memory, in waves that the pool holds.
#ifndef SPGEMM_HASH_WAVE_H
#define SPGEMM_HASH_WAVE_H

#include "plan.cuh"

// Sorts the tables of a wave: what is empty comes last.
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

// One wave: rows list[0..rows), each in a slot of the pool.
template <bool VALUES, typename T>
static int run_wave(struct task *t, const struct factors<T> &x, const struct pool &pool,
                    const int32_t *list, unsigned rows, const struct result<T> &c,
                    const struct scratch *w)
{
    const auto insert = global_insert<VALUES, T>;
    const auto clear = global_clear<VALUES, T>;
    const auto rank = global_rank<T>;
    const auto add = global_add<T>;
    const auto copy = global_copy<T>;
    cudaStream_t stream = (cudaStream_t)t->dev->stream;
    // Every block beyond those that a row is worth ends at once.
    const unsigned parts = (unsigned)min64(max64(8 * t->dev->units / rows, 1), PARTS_MOST);
    const dim3 grid(parts, rows);
    if (pool.size)
        LAUNCH(clear, grid, GLOBAL_BLOCK, 0, stream, list, pool, w->nz);
    else
        CUDA_TRY(cudaMemsetAsync(pool.memory, 0, (size_t)(rows * pool.step), stream));
    LAUNCH(insert, grid, GLOBAL_BLOCK, 0, stream, x, list, pool, w->products, w->nz);
    if (VALUES && pool.size) {
        sort_tables<T>(stream, pool, parts, rows);
        LAUNCH(copy, grid, GLOBAL_BLOCK, 0, stream, list, pool, w->nz, c);
    } else if (VALUES) {
        LAUNCH(rank, rows, LONG_BLOCK, 0, stream, x.n, list, pool, c);
        LAUNCH(add, grid, GLOBAL_BLOCK, 0, stream, x, list, pool, w->products, c);
    } else if (!pool.size) {
        LAUNCH(global_count, rows, LONG_BLOCK, 0, stream, x.n, list, pool, w->nz);
    }
    return OK;
}

// Rows list[0..count) by tables or bitmaps in global memory, as many at a time as the pool holds.
// The longest has `longest` products (symbolic) or nonzeros of C (numeric).
template <bool VALUES, typename T>
static int run_global(struct task *t, const struct factors<T> &x, const int32_t *list,
                      int32_t count, int32_t longest, const struct result<T> &c,
                      const struct scratch *w)
{
    const struct state *s = (const struct state *)t->state;
    struct pool pool = {};
    const int64_t places = next_power((int64_t)min(longest, x.n) * s->slack);
    const int64_t table_bytes = places * (int64_t)(4 + (VALUES ? sizeof(T) : 0));
    const int64_t bitmap_bytes = bit_groups(x.n) * (VALUES ? 12 : 8);
    if (!s->bitmap || bitmap_bytes / TABLE_COST > table_bytes) pool.size = max64(places, 2);
    pool.step = ceil_div(max64(pool.size ? table_bytes : bitmap_bytes, 24), 16) * 16;
    int64_t slots = max64(min64(min64(count, s->pool_bytes / pool.step), 65535), 1);
    int err = device_alloc(t->dev, slots, (size_t)pool.step, (void **)&pool.memory);
    while (err == ERR_MEMORY && slots > 1) {
        slots /= 2;
        err = device_alloc(t->dev, slots, (size_t)pool.step, (void **)&pool.memory);
    }
    for (int64_t first = 0; first < count && !err; first += slots)
        err = run_wave<VALUES, T>(t, x, pool, list + first, (unsigned)min64(slots, count - first),
                                  c, w);
    device_free(t->dev, pool.memory);
    return err;
}

#endif
