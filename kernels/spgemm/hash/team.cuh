// Rows of medium size: a table in shared memory, a team for each row (algorithm 4).
#ifndef SPGEMM_HASH_TEAM_H
#define SPGEMM_HASH_TEAM_H

#include "pwarp.cuh"
#include "sort.cuh"

// Rows that did not fit.
struct overflow {
    int32_t *list; // NULL: every row fits
    int32_t *count;
};

// Symbolic. Where the bitmap of a row is no larger than its table would be, it takes its place.
// With `overflow`, rows of more than 3/4 of the table's places are left to others: the last quarter
// has a place for each thread that has not yet seen the others' counts.
template <int TEAM, int TEAMS, typename T>
static __global__ __launch_bounds__(TEAM *TEAMS) void symbolic_team(
    struct factors<T> x, struct rows rows, struct overflow overflow,
    const int32_t *__restrict__ products, int32_t *__restrict__ nz)
{
    SHARED_DYNAMIC(int32_t, tables);
    __shared__ team_round<TEAM, T> rounds[TEAMS];
    __shared__ int32_t found[TEAMS];
    const int team = (int)threadIdx.x / TEAM, me = team_rank<TEAM>();
    const int64_t r = (int64_t)blockIdx.x * TEAMS + team;
    if (r >= rows.count) return;
    const int32_t i = rows.list[r];
    int32_t *keys = tables + (int64_t)team * rows.size;
    int32_t size = table_size(products[i], x.slack, rows.size), limit = INT32_MAX;
    const bool bitmap = x.bit_words && x.bit_words <= size;
    if (bitmap) size = x.bit_words;
    const int32_t fill = bitmap ? 0 : EMPTY;
    for (int32_t s = me; s < size / 4; s += TEAM)
        ((int4 *)keys)[s] = make_int4(fill, fill, fill, fill);
    if (me == 0) found[team] = 0;
    team_sync<TEAM>();
    const int32_t p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    const bool even = count_evenly<TEAM>(x, end - p, products[i]);
    int32_t mine = 0;
    if (bitmap) {
        walk<false, TEAM>(x, p, end, even, whole_row(), rounds[team], NULL, 0,
                          [&](int32_t col, T, unsigned) { mark((uint32_t *)keys, col); });
        for (int32_t s = me; s < size; s += TEAM) mine += __popc((unsigned)keys[s]);
    } else if (!overflow.list) {
        walk<false, TEAM>(x, p, end, even, whole_row(), rounds[team], NULL, 0,
                          [&](int32_t col, T, unsigned) {
                              bool is_new;
                              table_place(keys, size - 1, col, is_new);
                              mine += is_new;
                          });
    } else {
        volatile int32_t *count = &found[team];
        limit = size - size / 4;
        walk<false, TEAM>(x, p, end, even, whole_row(), rounds[team], &found[team], limit,
                          [&](int32_t col, T, unsigned) {
                              bool is_new;
                              if (*count > limit) return;
                              table_place(keys, size - 1, col, is_new);
                              if (is_new) atomicAdd(&found[team], 1);
                          });
    }
    mine = warp_sum(mine);
    if (lane_id() == 0 && mine) atomicAdd(&found[team], mine);
    team_sync<TEAM>();
    if (me > 0) return;
    if (found[team] > limit)
        overflow.list[atomicAdd(overflow.count, 1)] = i;
    else
        nz[i] = found[team];
}

// Bytes of shared memory for each row of a team: values, keys, and scratch for the sort: 4 and 2
// bytes for each column a row may have, and room for a power of two of columns. `limit` is a
// multiple of 4.
template <typename T> static __host__ __device__ int64_t team_bytes(int32_t size, int32_t limit)
{
    const int64_t scratch = max((int64_t)limit * 6, next_power(limit) * 4);
    return size * (int64_t)(sizeof(T) + 4) + ceil_div(scratch, 16) * 16;
}

// A multiprocessor holds one block of 1024 threads with tables of doubles, which may use all
// registers.
template <int TEAM, int TEAMS, typename T>
static __global__
__launch_bounds__(TEAM *TEAMS, TEAM == 1024 && sizeof(T) == 8 ? 1 : 0) void numeric_team(
    struct factors<T> x, struct rows rows, const int32_t *__restrict__ nz, struct result<T> c)
{
    SHARED_DYNAMIC(unsigned char, memory);
    __shared__ team_round<TEAM, T> rounds[TEAMS];
    __shared__ int32_t lows[TEAMS], highs[TEAMS], listed[TEAMS], sums[TEAMS][TEAM / WARP];
    const int team = (int)threadIdx.x / TEAM, me = team_rank<TEAM>();
    const int64_t r = (int64_t)blockIdx.x * TEAMS + team;
    if (r >= rows.count) return;
    const int32_t i = rows.list[r], count = nz[i];
    const int32_t size = table_size(count, x.slack, rows.size);
    T *vals = (T *)(memory + team * team_bytes<T>(rows.size, rows.limit));
    int32_t *keys = (int32_t *)(vals + rows.size);
    uint32_t *scratch = (uint32_t *)(keys + rows.size);
    for (int32_t s = me; s < size; s += TEAM) {
        keys[s] = EMPTY;
        vals[s] = 0;
    }
    if (me == 0) {
        lows[team] = INT32_MAX;
        highs[team] = listed[team] = 0;
    }
    team_sync<TEAM>();
    walk<true, TEAM>(x, __ldg(x.A_ptr + i), __ldg(x.A_ptr + i + 1), x.even, whole_row(),
                     rounds[team], NULL, 0, [&](int32_t col, T v, unsigned lanes) {
                         bool is_new;
                         const uint32_t h = table_place(keys, size - 1, col, is_new);
                         // Lanes meet, to add at once and not one after another. In a full table
                         // they would wait for the longest search, so there they do not. H200: with
                         // the barrier 0.80 of the time on dnn_n1024-l1, 0.97 on graphs, 1.02 on
                         // fem:28.
                         if (x.slack > 1) __syncwarp(lanes);
                         atomicAdd(&vals[h], v);
                     });
    int32_t low = INT32_MAX, high = 0;
    for (int32_t s = me; s < size; s += TEAM)
        if (keys[s] != EMPTY) {
            low = min(low, keys[s]);
            high = max(high, keys[s]);
        }
    low = __reduce_min_sync(FULL_MASK, low);
    high = __reduce_max_sync(FULL_MASK, high);
    if (TEAM > WARP) {
        if (lane_id() == 0) {
            atomicMin(&lows[team], low);
            atomicMax(&highs[team], high);
        }
        team_sync<TEAM>();
        low = lows[team];
        high = highs[team];
    }
    const int64_t start = row_start(c, i);
    const int32_t words = (high - low) / 32 + 1;
    auto put = [&](int32_t s, int32_t rank) {
        c.idx[start + rank] = keys[s];
        c.val[start + rank] = vals[s];
    };
    uint16_t *shorts = (uint16_t *)(scratch + rows.limit); // rows.limit of them
    if (words <= rows.limit)
        return sort_by_range<TEAM>(keys, size, low, words, scratch, shorts, sums[team], put);
    if constexpr (TEAM == WARP) // without slack as in the paper
        if (x.slack > 1 && can_sort_places(high, size, count))
            return sort_places(keys, size, count, scratch, put);
    if (count > COUNT_SORT && sort_by_buckets<TEAM>(keys, size, count, low, high, rows.limit,
                                                    shorts, scratch, sums[team], put))
        return;
    sort_by_columns<TEAM>(keys, size, count, scratch, shorts, &listed[team], put);
}

#endif
