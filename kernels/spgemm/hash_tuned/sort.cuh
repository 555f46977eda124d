// Sorts of columns that only hash-tuned has: in the registers of a warp, and in place.
#ifndef SPGEMM_HASH_TUNED_SORT_H
#define SPGEMM_HASH_TUNED_SORT_H

#include "spgemm/hash_sort.cuh"

// H200, 64 columns: comparing all with all is a third of the numeric kernel's instructions, and
// takes 1.12 times the time of a sort in a warp's registers (uniform:500000:8).
#define PLACE_SORT 128 // columns that a warp sorts in its registers, at most
#define CROWD      128 // columns that a column is compared with in its bucket, on average, at most

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

// Returns true if a column, up to `highest`, and its place in the table fit in one number of 32
// bits.
static __device__ __forceinline__ bool can_sort_places(int32_t highest, int32_t size)
{
    return (uint64_t)highest * size + size <= UINT32_MAX;
}

// The place of each column in its row, for a warp: columns are sorted together with their places in
// the table, whose size is a power of two. There are PLACE_SORT columns at most, and `list` has
// room for all.
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
    else
        sort_list<PLACE_SORT / WARP>(list, count);
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
