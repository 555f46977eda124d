// Sorts of the columns of a row of C, from a hash table in shared memory to C.
//
// Comparing all columns with all is the third phase of section III.C of Nagasaka, Nukada, Matsuoka,
// ICPP 2017. Bitmaps, buckets and the bitonic sort, for longer rows, are not from the paper. H200:
// a bitonic sort takes 1.1 to 2.2 times the time of buckets.
#ifndef SPGEMM_HASH_SORT_H
#define SPGEMM_HASH_SORT_H

#include "hash_table.cuh"

#define COUNT_SORT 128 // most columns that are ordered by comparing all with all

// Returns the row stride of small tables in words, for LANES threads per row. The stride avoids
// bank conflicts between the rows of a warp.
static __host__ __device__ constexpr int32_t small_stride(int lanes, int32_t size)
{
    return size + lanes;
}

// Returns the bytes of shared memory for a row of few columns: values, keys, then the columns in
// any order with their places in the table.
template <typename T>
static __host__ __device__ constexpr int64_t small_bytes(int lanes, int32_t size, int32_t limit)
{
    return small_stride(lanes, size) * (int64_t)(sizeof(T) + 4) +
           small_stride(lanes, limit) * (int64_t)6;
}

// Writes a row of few columns, by LANES threads. Lists the columns of the table in `found` and
// their places in `where`, then compares all with all. Size 0: there is no row. By all lanes.
template <int LANES, typename T>
static __device__ __forceinline__ void write_small(const int32_t *keys, const T *vals, int32_t size,
                                                   int32_t *found, uint16_t *where, int64_t start,
                                                   const struct result<T> &c)
{
    const int sub = (int)threadIdx.x % LANES;
    int32_t mine = 0;
    for (int32_t s = sub; s < size; s += LANES) mine += keys[s] != EMPTY;
    const int32_t upto = group_scan<LANES>(mine);
    const int32_t count = __shfl_sync(FULL_MASK, upto, LANES - 1, LANES);
    int32_t at = upto - mine;
    for (int32_t s = sub; s < size; s += LANES)
        if (keys[s] != EMPTY) {
            found[at] = keys[s];
            where[at++] = (uint16_t)s;
        }
    __syncwarp();
    for (int32_t e = sub; e < count; e += LANES) {
        const int32_t col = found[e];
        int32_t rank = 0;
        for (int32_t o = 0; o < count; o++) rank += found[o] < col;
        c.idx[start + rank] = col;
        c.val[start + rank] = vals[where[e]];
    }
}

// Returns the bytes of shared memory for a row of a team: values, keys, and scratch for the sort.
// The scratch has 4 and 2 bytes for each of `limit` columns, or 4 bytes for the next power of two
// if that is more. `limit` is a multiple of 4.
template <typename T>
static __host__ __device__ constexpr int64_t team_bytes(int32_t size, int32_t limit)
{
    const int64_t listed = (int64_t)limit * 6, sorted = next_power(limit) * 4;
    return size * (int64_t)(sizeof(T) + 4) + ((listed > sorted ? listed : sorted) + 15) / 16 * 16;
}

// Finds the least and the greatest column of a non-empty table. `ends` is in shared memory and
// holds INT32_MAX and 0; a warp does not use `ends`. By all threads; ends with a barrier.
template <int TEAM>
static __device__ __forceinline__ void table_ends(const int32_t *keys, int32_t size, int32_t *ends,
                                                  int32_t &low, int32_t &high)
{
    low = INT32_MAX, high = 0;
    for (int32_t s = team_rank<TEAM>(); s < size; s += TEAM)
        if (keys[s] != EMPTY) {
            low = min(low, keys[s]);
            high = max(high, keys[s]);
        }
    low = __reduce_min_sync(FULL_MASK, low);
    high = __reduce_max_sync(FULL_MASK, high);
    if (TEAM == WARP) return;
    if (lane_id() == 0) {
        atomicMin(&ends[0], low);
        atomicMax(&ends[1], high);
    }
    team_sync<TEAM>();
    low = ends[0];
    high = ends[1];
}

// Sorts keys in shared memory, ascending. `count` is a power of two.
template <int TEAM> static __device__ __forceinline__ void sort_bitonic(uint32_t *keys, int count)
{
    for (int length = 2; length <= count; length *= 2)
        for (int step = length / 2; step > 0; step /= 2) {
            for (int i = team_rank<TEAM>(); i < count / 2; i += TEAM) {
                const int low = 2 * i - (i & (step - 1)), high = low + step;
                const uint32_t a = keys[low], b = keys[high];
                if ((a > b) == !(low & length)) {
                    keys[low] = b;
                    keys[high] = a;
                }
            }
            team_sync<TEAM>();
        }
}

// Calls put(place in the table, rank) for each column, by a bitmap of the range of columns. `bits`
// and `before` have room for `words` rounded up to a multiple of 4, and are aligned for four words.
template <int TEAM, typename F>
static __device__ __forceinline__ void sort_by_range(const int32_t *keys, int32_t size, int32_t lo,
                                                     int32_t words, uint32_t *bits,
                                                     uint16_t *before, int32_t *sums, F put)
{
    const int me = team_rank<TEAM>();
    const int32_t fours = (int32_t)ceil_div(words, 4);
    for (int32_t w = me; w < fours; w += TEAM) ((uint4 *)bits)[w] = make_uint4(0, 0, 0, 0);
    team_sync<TEAM>();
    for (int32_t s = me; s < size; s += TEAM)
        if (keys[s] != EMPTY) {
            const uint32_t b = (uint32_t)(keys[s] - lo);
            atomicOr(&bits[b / 32], 1u << (b & 31));
        }
    team_sync<TEAM>();
    int32_t total, done = 0;
    for (int32_t at = 0; at < fours; at += TEAM) {
        const int32_t w = at + me;
        const uint4 four = w < fours ? ((const uint4 *)bits)[w] : make_uint4(0, 0, 0, 0);
        const int32_t first = __popc(four.x), second = first + __popc(four.y);
        const int32_t third = second + __popc(four.z);
        const int32_t upto = done + team_scan<TEAM>(third + __popc(four.w), sums, total);
        if (w < fours)
            ((ushort4 *)before)[w] =
                make_ushort4((uint16_t)upto, (uint16_t)(upto + first), (uint16_t)(upto + second),
                             (uint16_t)(upto + third));
        done += total;
    }
    team_sync<TEAM>();
    for (int32_t s = me; s < size; s += TEAM)
        if (keys[s] != EMPTY) {
            const uint32_t b = (uint32_t)(keys[s] - lo);
            put(s, before[b / 32] + __popc(bits[b / 32] & bits_below(b & 31)));
        }
}

// Replaces the counts of buckets by the starts of buckets. A word of `pairs` has two numbers of 16
// bits. Sets `most` to the largest count among the buckets of the thread, and `squares` to the sum
// of their squares. By all threads, between two barriers.
template <int TEAM>
static __device__ __forceinline__ void
start_buckets(uint32_t *pairs, int32_t buckets, uint32_t *sums, uint32_t &most, uint32_t &squares)
{
    // A thread computes neighbouring buckets.
    const int32_t each = (int32_t)ceil_div(buckets / 2, TEAM);
    const int32_t first = team_rank<TEAM>() * each, last = min(first + each, buckets / 2);
    uint32_t mine = 0, total;
    most = squares = 0;
    for (int32_t w = first; w < last; w++) {
        const uint32_t even = pairs[w] & 0xffff, odd = pairs[w] >> 16;
        mine += even + odd;
        most = max(most, max(even, odd));
        squares += even * even + odd * odd;
    }
    uint32_t start = team_scan<TEAM>(mine, sums, total);
    for (int32_t w = first; w < last; w++) {
        const uint32_t even = pairs[w] & 0xffff, odd = pairs[w] >> 16;
        pairs[w] = start | (start + even) << 16;
        start += even + odd;
    }
}

// Sorts by buckets of neighbouring columns, for ranges too wide for sort_by_range(). Columns of a
// bucket are compared all with all. If a bucket has more than COUNT_SORT columns, returns false
// without calling put(). `list` has room for the table place of each column, `pairs` for a count of
// 16 bits for each bucket. `buckets` is even and at most hi - lo.
template <int TEAM, typename F>
static __device__ __forceinline__ bool
sort_by_buckets(const int32_t *keys, int32_t size, int32_t count, int32_t lo, int32_t hi,
                int32_t buckets, uint16_t *list, uint32_t *pairs, int32_t *sums, F put)
{
    const int me = team_rank<TEAM>();
    const int shift = __clz(buckets) + 1 - __clz(hi - lo); // (hi - lo) >> shift < buckets
    auto bucket_of = [=](int32_t key) { return (uint32_t)(key - lo) >> shift; };
    auto shift_in_pair = [](uint32_t bucket) { return 16 * (bucket & 1); };
    for (int32_t w = me; w < buckets / 2; w += TEAM) pairs[w] = 0;
    team_sync<TEAM>();
    for (int32_t s = me; s < size; s += TEAM)
        if (keys[s] != EMPTY) {
            const uint32_t b = bucket_of(keys[s]);
            atomicAdd(&pairs[b / 2], 1u << shift_in_pair(b));
        }
    team_sync<TEAM>();
    uint32_t most, squares;
    start_buckets<TEAM>(pairs, buckets, (uint32_t *)sums, most, squares);
    if (team_any<TEAM>(most > COUNT_SORT)) return false;
    for (int32_t s = me; s < size; s += TEAM)
        if (keys[s] != EMPTY) {
            const uint32_t b = bucket_of(keys[s]);
            list[atomicAdd(&pairs[b / 2], 1u << shift_in_pair(b)) >> shift_in_pair(b) & 0xffff] =
                (uint16_t)s;
        }
    team_sync<TEAM>();
    // `pairs` has the bucket ends here. Threads take columns in the order of the list, so that
    // neighbours are written together.
    auto end_of = [&](uint32_t bucket) {
        return (int32_t)(pairs[bucket / 2] >> shift_in_pair(bucket) & 0xffff);
    };
    for (int32_t x = me; x < count; x += TEAM) {
        const int32_t key = keys[list[x]];
        const uint32_t b = bucket_of(key);
        const int32_t begin = b ? end_of(b - 1) : 0, end = end_of(b);
        int32_t rank = begin;
        for (int32_t e = begin; e < end; e++) rank += keys[list[e]] < key;
        put(list[x], rank);
    }
    return true;
}

// Calls put() as sort_by_range() does, from a list of the columns. Up to COUNT_SORT columns are
// compared all with all, as in the paper, each by one thread. More columns are sorted, and each
// column finds its rank by binary search. `where` has the places of the listed columns in the
// table.
template <int TEAM, typename F>
static __device__ __forceinline__ void sort_by_columns(const int32_t *keys, int32_t size,
                                                       int32_t count, uint32_t *cols,
                                                       uint16_t *where, int32_t *listed, F put)
{
    const int me = team_rank<TEAM>();
    const bool few = count <= COUNT_SORT;
    for (int32_t at = 0; at < size; at += TEAM) {
        const bool there = at + me < size && keys[at + me] != EMPTY;
        const unsigned all = __ballot_sync(FULL_MASK, there);
        int32_t to = 0;
        if (lane_id() == 0 && all) to = atomicAdd(listed, __popc(all));
        to = warp_broadcast(to, 0) + __popc(all & bits_below(lane_id()));
        if (there) cols[to] = (uint32_t)keys[at + me];
        if (there && few) where[to] = (uint16_t)(at + me);
    }
    if (!few) {
        const int32_t power = 1 << (32 - __clz(count - 1));
        for (int32_t e = count + me; e < power; e += TEAM) cols[e] = UINT32_MAX;
        team_sync<TEAM>();
        sort_bitonic<TEAM>(cols, power);
    }
    team_sync<TEAM>();
    if (few) {
        for (int32_t x = me; x < count; x += TEAM) {
            const uint32_t col = cols[x];
            int32_t rank = 0;
            for (int32_t e = 0; e < count; e++) rank += cols[e] < col;
            put(where[x], rank);
        }
    } else {
        for (int32_t s = me; s < size; s += TEAM)
            if (keys[s] != EMPTY) put(s, upper_bound((const int32_t *)cols, 0, count, keys[s]) - 1);
    }
}

#endif
