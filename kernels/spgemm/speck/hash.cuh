// Step 4, rows with hash tables in shared memory, and step 6, the sort of their columns.
#ifndef SPGEMM_SPECK_HASH_H
#define SPGEMM_SPECK_HASH_H

#include "rows.cuh"

#define HASH_FACTOR 11

// A CUDA block of the smallest kernel has several teams: a multiprocessor holds 32 blocks at most.
#define TEAMS_OF(TEAM)   ((TEAM) == WARP ? 4 : 1)
#define THREADS_OF(TEAM) ((TEAM)*TEAMS_OF(TEAM))

// Least blocks per multiprocessor for the launch bounds, as the registers allow. On sm_90 a thread
// spills 4 bytes at most.
#define SYMBOLIC_HELD(TEAM)   (1536 / THREADS_OF(TEAM))
#define NUMERIC_HELD(TEAM, T) ((sizeof(T) == 8 ? 1280 : 1536) / THREADS_OF(TEAM))

// Returns the place of `key` in the table. Inserts a missing key and sets `is_new`. Probes linearly
// from HASH_FACTOR * key modulo the size. The table must have a free place, or the key.
static __device__ __forceinline__ int32_t find_place(int32_t *keys, const struct table &table,
                                                     int32_t key, bool &is_new)
{
    const uint32_t size = (uint32_t)table.size, hash = (uint32_t)key * HASH_FACTOR;
    uint32_t h = hash - __umulhi(hash, table.magic) * size; // the quotient may be 1 too small
    if (h >= size) h -= size;
    is_new = false;
    for (;;) {
        int32_t there = *(volatile int32_t *)(keys + h);
        if (there == key) return (int32_t)h;
        if (there == EMPTY) {
            there = atomicCAS(keys + h, EMPTY, key);
            is_new = there == EMPTY;
            if (is_new || there == key) return (int32_t)h;
        }
        if (++h == size) h = 0;
    }
}

static __device__ __forceinline__ int row_of(const int32_t *ends, const struct team_rows &rows,
                                             int32_t x)
{
    return rows.rows == 1 ? 0 : upper_bound(ends, 0, rows.rows, x);
}

// Counts the nonzeros of the rows of each team. The analysis has already counted direct rows.
template <int TEAM>
static __global__ __launch_bounds__(THREADS_OF(TEAM), SYMBOLIC_HELD(TEAM)) void symbolic_hash(
    struct factors<float> x, struct team_blocks blocks, struct table table,
    const struct row_facts *__restrict__ facts, int32_t *__restrict__ nz)
{
    SHARED_DYNAMIC(int32_t, tables);
    __shared__ struct team_rows all_rows[TEAMS_OF(TEAM)];
    const int team = (int)threadIdx.x / TEAM, me = team_rank<TEAM>();
    const int64_t b = (int64_t)blockIdx.x * TEAMS_OF(TEAM) + team;
    if (b >= blocks.count) return;
    struct team_rows &rows = all_rows[team];
    int32_t *keys = tables + team * table.size;
    for (int32_t s = me; s < table.size / 4; s += TEAM)
        ((int4 *)keys)[s] = make_int4(EMPTY, EMPTY, EMPTY, EMPTY);
    load_rows<SYMBOLIC, TEAM>(x, block_of(blocks, (int32_t)b), facts, nz, result<float>{}, rows);
    const bool one_row = rows.rows == 1;
    int32_t mine = 0;
    walk_rows<false, TEAM, tagged_nonzero>(
        x, rows.p, rows.p_end, rows.lanes_log,
        [&](uint32_t p) -> struct tagged_nonzero {
            const int r = row_of(rows.end, rows, (int32_t)p);
            if (rows.direct >> r & 1) return {0, 0, 0, 0};
            const int32_t l = __ldg(x.A_idx + p);
            return {(uint32_t)__ldg(x.S_ptr + l), (uint32_t)__ldg(x.S_ptr + l + 1), rows.shift[r],
                    r};
        },
        [&](const struct tagged_nonzero &z, uint32_t, int32_t col, float) {
            bool is_new;
            find_place(keys, table, col + z.tag, is_new);
            if (one_row)
                mine += is_new;
            else if (is_new)
                atomicAdd(&rows.count[z.mark], 1);
            return true;
        },
        [](uint32_t, const struct tagged_nonzero &, uint32_t) {});
    if (one_row) {
        mine = warp_sum(mine);
        if (lane_id() == 0 && mine) atomicAdd(&rows.count[0], mine);
    }
    team_sync<TEAM>();
    if (me < rows.rows && !(rows.direct >> me & 1)) nz[rows.first + me] = rows.count[me];
}

// Computes the rows of each team. Direct rows are copied and scaled.
template <int TEAM, typename T>
static __global__ __launch_bounds__(THREADS_OF(TEAM), (NUMERIC_HELD(TEAM, T))) void numeric_hash(
    struct factors<T> x, struct team_blocks blocks, struct table table,
    const struct row_facts *__restrict__ facts, const int32_t *__restrict__ nz, struct result<T> c)
{
    SHARED_DYNAMIC(unsigned char, memory);
    __shared__ struct team_rows all_rows[TEAMS_OF(TEAM)];
    __shared__ int32_t listed[TEAMS_OF(TEAM)], sums[TEAMS_OF(TEAM)][TEAM / WARP];
    const int team = (int)threadIdx.x / TEAM, me = team_rank<TEAM>();
    const int64_t b = (int64_t)blockIdx.x * TEAMS_OF(TEAM) + team;
    if (b >= blocks.count) return;
    struct team_rows &rows = all_rows[team];
    T *vals = (T *)(memory + team * team_bytes<T>(table.size, table.limit));
    int32_t *keys = (int32_t *)(vals + table.size);
    for (int32_t s = me; s < table.size; s += TEAM) {
        keys[s] = EMPTY;
        vals[s] = 0;
    }
    if (me == 0) listed[team] = 0;
    load_rows<NUMERIC, TEAM>(x, block_of(blocks, (int32_t)b), facts, nz, c, rows);
    const int64_t start = rows.start;
    walk_rows<true, TEAM, tagged_nonzero>(
        x, rows.p, rows.p_end, rows.lanes_log,
        [&](uint32_t p) -> struct tagged_nonzero {
            const int r = row_of(rows.end, rows, (int32_t)p);
            const bool direct = rows.direct >> r & 1;
            const int32_t l = __ldg(x.A_idx + p), begin = __ldg(x.S_ptr + l);
            return {(uint32_t)begin, (uint32_t)__ldg(x.S_ptr + l + 1),
                    direct ? rows.out[r] - begin : rows.shift[r], direct};
        },
        [&](const struct tagged_nonzero &z, uint32_t q, int32_t col, T v) {
            if (z.mark) {
                const int64_t to = start + (z.tag + (uint32_t)q);
                c.idx[to] = col;
                c.val[to] = v;
                return true;
            }
            bool is_new;
            const int32_t h = find_place(keys, table, col + z.tag, is_new);
            atomicAdd(&vals[h], v);
            return true;
        },
        [](uint32_t, const struct tagged_nonzero &, uint32_t) {});
    team_sync<TEAM>();
    if (rows.keys == 0) return;
    auto put = [&](int32_t s, int32_t rank) {
        const int32_t key = keys[s];
        const int r = row_of(rows.key_end, rows, key);
        const int64_t to = start + rows.out[r] + rank;
        c.idx[to] = key - rows.shift[r];
        c.val[to] = vals[s];
    };
    uint32_t *scratch = (uint32_t *)(keys + table.size);
    uint16_t *shorts = (uint16_t *)(scratch + table.limit);
    const int32_t words = (rows.span - 1) / 32 + 1;
    if (words <= table.limit)
        return sort_by_range<TEAM>(keys, table.size, 0, words, scratch, shorts, sums[team], put);
    if (rows.keys > COUNT_SORT &&
        sort_by_buckets<TEAM>(keys, table.size, rows.keys, 0, rows.span - 1, table.limit, shorts,
                              scratch, sums[team], put))
        return;
    sort_by_columns<TEAM>(keys, table.size, rows.keys, scratch, shorts, &listed[team], put);
}

#endif
