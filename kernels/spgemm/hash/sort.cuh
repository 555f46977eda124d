// Puts the columns of a row in order, which are in a table in shared memory.
#ifndef SPGEMM_HASH_SORT_H
#define SPGEMM_HASH_SORT_H

#include "table.cuh"

#define COUNT_SORT 128 // columns that are put in order by comparing all with all, at most
#define PLACE_SORT 256 // columns that a warp sorts in its registers, of up to 128 by default

// Ascending, `count` a power of two, in shared memory.
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

// The place of each column in its row, by a bitmap of the range of columns that the row has. `bits`
// and `before` have room for `words` rounded up to a multiple of 4, and are aligned for four of
// them.
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

// As sort_by_range(), where the range is too wide for it: buckets have neighbouring columns, and
// those of a bucket are compared all with all. Returns false, with nothing put, where a bucket has
// more than COUNT_SORT. `list` has room for the place in the table of each column, `pairs` for a
// count of 16 bits for each bucket, of which there is an even number, no more than hi - lo.
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
    // Each thread has neighbouring buckets, and replaces their counts by where they start.
    const int32_t each = (int32_t)ceil_div(buckets / 2, TEAM);
    const int32_t first = me * each, last = min(first + each, buckets / 2);
    uint32_t mine = 0, most = 0, total;
    for (int32_t w = first; w < last; w++) {
        const uint32_t even = pairs[w] & 0xffff, odd = pairs[w] >> 16;
        mine += even + odd;
        most = max(most, max(even, odd));
    }
    uint32_t start = team_scan<TEAM>(mine, (uint32_t *)sums, total);
    for (int32_t w = first; w < last; w++) {
        const uint32_t even = pairs[w] & 0xffff, odd = pairs[w] >> 16;
        pairs[w] = start | (start + even) << 16;
        start += even + odd;
    }
    if (team_any<TEAM>(most > COUNT_SORT)) return false;
    for (int32_t s = me; s < size; s += TEAM)
        if (keys[s] != EMPTY) {
            const uint32_t b = bucket_of(keys[s]);
            list[atomicAdd(&pairs[b / 2], 1u << shift_in_pair(b)) >> shift_in_pair(b) & 0xffff] =
                (uint16_t)s;
        }
    team_sync<TEAM>();
    // Now a bucket's number is where it ends. In the order of the list, so that neighbours are
    // written together.
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

// As sort_by_range(), by the columns themselves, which are listed: few are compared all with all,
// as in the paper, each by the thread that has it in the list; more are sorted, and each looks up
// its place. `where` says where in the table a column is.
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

// Element e of what a warp sorts is register e % N of lane e / N. Each pair of elements whose
// numbers differ in the bits of `apart`, and in no other, is put in order. By all lanes.
template <int N> static __device__ __forceinline__ void exchange(uint32_t (&x)[N], int apart)
{
    const int lanes = apart / N, places = apart % N;
    uint32_t other[N];
#pragma unroll
    for (int r = 0; r < N; r++)
        other[r] = lanes ? __shfl_xor_sync(FULL_MASK, x[r ^ places], lanes) : x[r ^ places];
#pragma unroll
    for (int r = 0; r < N; r++) {
        // Whether this one is the lower of the two: the highest bit in which they differ says so.
        const bool low = lanes ? lane_id() < (lane_id() ^ lanes) : r < (r ^ places);
        x[r] = low ? min(x[r], other[r]) : max(x[r], other[r]);
    }
}

// Ascending, by bitonic merges: of two neighbours that are in order, the second is taken backwards.
// By all lanes.
template <int N> static __device__ __forceinline__ void warp_sort(uint32_t (&x)[N])
{
#pragma unroll
    for (int length = 1; length < N * WARP; length *= 2) {
        exchange(x, 2 * length - 1);
#pragma unroll
        for (int step = length / 2; step > 0; step /= 2) exchange(x, step);
    }
}

// Sorts what is in `list`, up to N for each lane. By all lanes.
template <int N> static __device__ __forceinline__ void sort_list(uint32_t *list, int32_t count)
{
    const int lane = lane_id();
    uint32_t x[N];
#pragma unroll
    for (int r = 0; r < N; r++) {
        const int e = r * WARP + lane;
        x[r] = e < count ? list[e] : UINT32_MAX;
    }
    warp_sort(x);
    __syncwarp();
#pragma unroll
    for (int r = 0; r < N; r++)
        if (lane * N + r < count) list[lane * N + r] = x[r];
    __syncwarp();
}

// Whether a column, up to the highest, and its place in the table are one number of 32 bits, and a
// warp can sort so many.
static __device__ __forceinline__ bool can_sort_places(int32_t highest, int32_t size, int32_t count)
{
    return count <= PLACE_SORT && (uint64_t)highest * size + size <= UINT32_MAX;
}

// The place of each column in its row, for a warp: columns are sorted together with their places in
// the table, whose size is a power of two. `list` has room for all columns.
template <typename F>
static __device__ __forceinline__ void sort_places(const int32_t *keys, int32_t size, int32_t count,
                                                   uint32_t *list, F put)
{
    const int lane = lane_id();
    int32_t listed = 0;
    for (int32_t at = 0; at < size; at += WARP) {
        const int32_t key = keys[at + lane];
        const unsigned there = __ballot_sync(FULL_MASK, key != EMPTY);
        if (key != EMPTY)
            list[listed + __popc(there & bits_below(lane))] =
                (uint32_t)key * (uint32_t)size + (uint32_t)(at + lane);
        listed += __popc(there);
    }
    __syncwarp();
    if (count <= WARP)
        sort_list<1>(list, count);
    else if (count <= 2 * WARP)
        sort_list<2>(list, count);
    else if (count <= 4 * WARP)
        sort_list<4>(list, count);
    else
        sort_list<8>(list, count);
    for (int32_t rank = lane; rank < count; rank += WARP) put(list[rank] & (size - 1), rank);
}

#endif
