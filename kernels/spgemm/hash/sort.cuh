// Sorts the columns of a row, which are in a table in shared memory.
#ifndef SPGEMM_HASH_SORT_H
#define SPGEMM_HASH_SORT_H

#include "table.cuh"

// H200, 64 columns: comparing all with all is a third of the numeric kernel's instructions, and
// takes 1.12 times the time of a sort in a warp's registers (uniform:500000:8). A bitonic sort
// takes 1.1 to 2.2 times the time of buckets.
#define COUNT_SORT 128 // columns that are put in order by comparing all with all, at most
#define PLACE_SORT 256 // columns that a warp sorts in its registers, of up to 128 by default
#define CROWD      128 // columns that a column is compared with in its bucket, on average, at most

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

// Replaces the counts of buckets by where they start: a pair has two of 16 bits. `most` is the
// largest count of the buckets that the thread has, and `squares` the sum of their squares. By all
// threads, between two barriers.
template <int TEAM>
static __device__ __forceinline__ void
start_buckets(uint32_t *pairs, int32_t buckets, uint32_t *sums, uint32_t &most, uint32_t &squares)
{
    // Each thread has neighbouring buckets.
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
        // `low`: this place is the lower of the two, by the highest bit in which they differ.
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

// Returns true if a warp can sort `count` columns, and if a column, up to `highest`, and its place
// in the table fit in one number of 32 bits.
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

// Neighbouring columns are in a bucket, and all buckets have ranges of the same length: column col
// is in bucket (col - low) * scale / 2^32.
struct spread {
    int32_t low;
    uint32_t scale;
};

// A range over an even number of buckets. Where it is short a bucket has one column or none, but
// the first may have two.
static __device__ __forceinline__ struct spread spread_range(int32_t low, int32_t high,
                                                             int32_t buckets)
{
    // The rounding of doubles is too small to yield a bucket more.
    const double scale = buckets * 4294967296.0 / ((double)high - low + 1);
    return {low, scale < UINT32_MAX ? (uint32_t)scale : UINT32_MAX};
}

static __device__ __forceinline__ uint32_t bucket_in(const struct spread &s, int32_t col)
{
    return (uint32_t)((uint64_t)(uint32_t)(col - s.low) * s.scale >> 32);
}

// Moves the columns of a table and their values to its start, in order of their buckets, of which
// `pairs` then has the starts; true if they are in order within the buckets, too: where those are
// crowded all columns are sorted. They lie in [low, high]. `pairs` is zero before the call. A
// thread keeps EACH places in registers, and TEAM * EACH are `size` or more. By all threads, after
// a barrier; ends with one.
template <int TEAM, int EACH, typename T>
static __device__ __forceinline__ bool
sort_in_place(int32_t *keys, T *vals, int32_t size, int32_t count, struct spread spread,
              int32_t buckets, uint32_t *pairs, uint32_t *sums)
{
    const int me = team_rank<TEAM>();
    int32_t key[EACH], place[EACH];
    T val[EACH];
    uint32_t most, squares, all;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        key[k] = me + k * TEAM < size ? keys[me + k * TEAM] : EMPTY;
        place[k] = -1;
        if (key[k] == EMPTY) continue;
        const uint32_t b = bucket_in(spread, key[k]), shift = 16 * (b & 1);
        place[k] = (int32_t)(atomicAdd(&pairs[b / 2], 1u << shift) >> shift & 0xffff);
    }
    team_sync<TEAM>();
    start_buckets<TEAM>(pairs, buckets, sums, most, squares);
    team_scan<TEAM>(squares, sums, all);
    const bool crowded = all > (uint32_t)count * CROWD;
    // An empty place has a key above all columns.
    if (crowded) sort_bitonic<TEAM>((uint32_t *)keys, size);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (place[k] < 0) continue;
        const uint32_t b = bucket_in(spread, key[k]);
        if (crowded)
            place[k] = lower_bound(keys, 0, count, key[k]);
        else
            keys[place[k] += (int32_t)(pairs[b / 2] >> 16 * (b & 1) & 0xffff)] = key[k];
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (place[k] >= 0) val[k] = vals[me + k * TEAM];
    team_sync<TEAM>();
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (place[k] >= 0) vals[place[k]] = val[k];
    team_sync<TEAM>();
    return crowded;
}

// The place of column number e of such a table.
static __device__ __forceinline__ int32_t place_in_order(const int32_t *keys, int32_t count,
                                                         int32_t e, struct spread spread,
                                                         int32_t buckets, const uint32_t *pairs)
{
    auto start_of = [=](int32_t bucket) {
        return bucket < buckets ? (int32_t)(pairs[bucket / 2] >> 16 * (bucket & 1) & 0xffff)
                                : count;
    };
    const int32_t key = keys[e], bucket = (int32_t)bucket_in(spread, key);
    const int32_t begin = start_of(bucket), end = start_of(bucket + 1);
    int32_t place = begin;
    for (int32_t o = begin; o < end; o++) place += keys[o] < key;
    return place;
}

#endif
