// Rows of medium size: a table in shared memory, a team for each row. In the symbolic phase a
// bitmap replaces a larger table.
#ifndef SPGEMM_HASH_TUNED_TEAM_H
#define SPGEMM_HASH_TUNED_TEAM_H

#include "binning.cuh"
#include "bitmap.cuh"
#include "sort.cuh"

#define TRY_BLOCK 1024 // threads of symbolic_try

// Symbolic. A bitmap replaces a table that is at least as large.
template <int TEAM, int TEAMS>
static __global__
__launch_bounds__(TEAM *TEAMS) void symbolic_team(struct factors<float> x, struct rows rows,
                                                  const int32_t *__restrict__ products,
                                                  int32_t *__restrict__ nz)
{
    SHARED_DYNAMIC(int32_t, tables);
    __shared__ team_round<TEAM, float> rounds[TEAMS];
    __shared__ int32_t found[TEAMS];
    const int team = (int)threadIdx.x / TEAM, me = team_rank<TEAM>();
    const int64_t r = (int64_t)blockIdx.x * TEAMS + team;
    if (r >= rows.count) return;
    const int32_t i = rows.list[r];
    int32_t *keys = tables + (int64_t)team * rows.size;
    int32_t size = table_size(products[i], rows.size), mine = 0;
    const bool bitmap = rows.bit_words && rows.bit_words <= size;
    if (bitmap) size = rows.bit_words;
    const int32_t fill = bitmap ? 0 : EMPTY;
    for (int32_t s = me; s < size / 4; s += TEAM)
        ((int4 *)keys)[s] = make_int4(fill, fill, fill, fill);
    if (me == 0) found[team] = 0;
    team_sync<TEAM>();
    const int32_t p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    const bool even = count_evenly<TEAM>(end - p, products[i]);
    if (bitmap) {
        walk<false, TEAM>(x, p, end, even, whole_row(), rounds[team], NULL, 0,
                          [&](int32_t col, float, unsigned) { mark((uint32_t *)keys, col); });
        for (int32_t s = me; s < size; s += TEAM) mine += __popc((unsigned)keys[s]);
    } else {
        walk<false, TEAM>(x, p, end, even, whole_row(), rounds[team], NULL, 0,
                          [&](int32_t col, float, unsigned) {
                              bool is_new;
                              table_place(keys, size - 1, col, is_new);
                              mine += is_new;
                          });
    }
    mine = warp_sum(mine);
    if (lane_id() == 0 && mine) atomicAdd(&found[team], mine);
    team_sync<TEAM>();
    // rows.list[r] is loaded again: a register for `i` would not fit beside those of the walk.
    if (me == 0) nz[rows.list[r]] = found[team];
}

// Symbolic, for rows that may have more columns than the largest table has places. Rows that fill
// more than 3/4 of the places go to the overflow list. The last quarter has a place for each thread
// that has not yet seen the current count.
static __global__ __launch_bounds__(TRY_BLOCK) void symbolic_try(
    struct factors<float> x, struct rows rows, struct overflow overflow,
    const int32_t *__restrict__ products, int32_t *__restrict__ nz)
{
    SHARED_DYNAMIC(int32_t, keys);
    __shared__ team_round<TRY_BLOCK, float> round;
    __shared__ int32_t found;
    const int32_t i = rows.list[blockIdx.x], size = rows.size, limit = size - size / 4;
    for (int32_t s = (int32_t)threadIdx.x; s < size; s += TRY_BLOCK) keys[s] = EMPTY;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const int32_t p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    const volatile int32_t *count = &found;
    walk<false, TRY_BLOCK>(x, p, end, count_evenly<TRY_BLOCK>(end - p, products[i]), whole_row(),
                           round, &found, limit, [&](int32_t col, float, unsigned) {
                               bool is_new;
                               if (*count > limit) return;
                               table_place(keys, size - 1, col, is_new);
                               if (is_new) atomicAdd(&found, 1);
                           });
    if (threadIdx.x > 0) return;
    if (found > limit)
        overflow.list[atomicAdd(overflow.count, 1)] = i;
    else
        nz[i] = found;
}

// With tables of doubles a multiprocessor holds one block of 1024 threads, which may use all
// registers.
template <int TEAM, int TEAMS, typename T>
static __global__
__launch_bounds__(TEAM *TEAMS, TEAM == 1024 && sizeof(T) == 8 ? 1 : 0) void numeric_team(
    struct factors<T> x, struct rows rows, const int32_t *__restrict__ nz, struct result<T> c)
{
    SHARED_DYNAMIC(unsigned char, memory);
    __shared__ team_round<TEAM, T> rounds[TEAMS];
    __shared__ int32_t ends[2], listed[TEAMS], sums[TEAMS][TEAM / WARP]; // a warp has no `ends`
    const int team = (int)threadIdx.x / TEAM, me = team_rank<TEAM>();
    const int64_t r = (int64_t)blockIdx.x * TEAMS + team;
    if (r >= rows.count) return;
    const int32_t i = rows.list[r], count = nz[i];
    const int32_t size = table_size(count, rows.size);
    T *vals = (T *)(memory + team * team_bytes<T>(rows.size, rows.limit));
    int32_t *keys = (int32_t *)(vals + rows.size);
    uint32_t *scratch = (uint32_t *)(keys + rows.size);
    for (int32_t s = me; s < size; s += TEAM) {
        keys[s] = EMPTY;
        vals[s] = 0;
    }
    if (me == 0) {
        listed[team] = 0;
        if (TEAM > WARP) ends[0] = INT32_MAX, ends[1] = 0;
    }
    team_sync<TEAM>();
    walk<true, TEAM>(x, __ldg(x.A_ptr + i), __ldg(x.A_ptr + i + 1), true, whole_row(), rounds[team],
                     NULL, 0, [&](int32_t col, T v, unsigned lanes) {
                         bool is_new;
                         const uint32_t h = table_place(keys, size - 1, col, is_new);
                         // The barrier lets lanes add together and not one after another. H200:
                         // with the barrier 0.80 of the time on dnn_n1024-l1, 0.97 on graphs, 1.02
                         // on fem:28.
                         __syncwarp(lanes);
                         atomicAdd(&vals[h], v);
                     });
    int32_t low, high;
    table_ends<TEAM>(keys, size, ends, low, high);
    const int64_t start = row_start(c, i);
    const int32_t words = (high - low) / 32 + 1;
    auto put = [&](int32_t s, int32_t rank) {
        c.idx[start + rank] = keys[s];
        c.val[start + rank] = vals[s];
    };
    uint16_t *shorts = (uint16_t *)(scratch + rows.limit); // rows.limit of them
    if (words <= rows.limit)
        return sort_by_range<TEAM>(keys, size, low, words, scratch, shorts, sums[team], put);
    if constexpr (TEAM == WARP) // 4 * WARP nonzeros at most, see plan_tables()
        if (can_sort_places(high, size)) return sort_places(keys, size, count, scratch, put);
    if (count > COUNT_SORT && sort_by_buckets<TEAM>(keys, size, count, low, high, rows.limit,
                                                    shorts, scratch, sums[team], put))
        return;
    sort_by_columns<TEAM>(keys, size, count, scratch, shorts, &listed[team], put);
}

#endif
