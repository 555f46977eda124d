// Sorts of columns in hash-tuned only: in the registers of a warp, and in place.
#ifndef SPGEMM_HASH_TUNED_SORT_H
#define SPGEMM_HASH_TUNED_SORT_H

#include "spgemm/hash_sort.cuh"

// H200, 64 columns: comparing all with all is a third of the instructions of the numeric kernel. It
// takes 1.12 times the time of a sort in registers (uniform:500000:8).
#define PLACE_SORT 128 // most columns that a warp sorts in its registers
#define CROWD      128 // most comparisons of a column with its bucket, on average

// One step of a sort in registers. Element e is register e % N of lane e / N. Orders each pair of
// elements whose numbers differ in exactly the bits of `apart`. By all lanes.
template <int N> static __device__ __forceinline__ void exchange(uint32_t (&x)[N], int apart)
{
    const int lanes = apart / N, places = apart % N;
    uint32_t other[N];
#pragma unroll
    for (int r = 0; r < N; r++)
        other[r] = lanes ? __shfl_xor_sync(FULL_MASK, x[r ^ places], lanes) : x[r ^ places];
#pragma unroll
    for (int r = 0; r < N; r++) {
        // `low`: this element is the lower of its pair, by the highest differing bit.
        const bool low = lanes ? lane_id() < (lane_id() ^ lanes) : r < (r ^ places);
        x[r] = low ? min(x[r], other[r]) : max(x[r], other[r]);
    }
}

// Sorts ascending by bitonic merges. A merge reads the second of two sorted neighbours backwards.
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

// Sorts the `count` numbers in `list`, up to N for each lane. By all lanes.
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

// Returns true if a column up to `highest` and its place in the table fit together in 32 bits.
static __device__ __forceinline__ bool can_sort_places(int32_t highest, int32_t size)
{
    return (uint64_t)highest * size + size <= UINT32_MAX;
}

// Calls put(place, rank) for each column of a table, by a warp. Columns are sorted together with
// their places in the table. The table size is a power of two. There are PLACE_SORT columns at
// most, and `list` has room for all.
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

// Buckets of neighbouring columns. All buckets have ranges of the same length: column col is in
// bucket (col - low) * scale / 2^32.
struct spread {
    int32_t low;
    uint32_t scale;
};

// Returns the buckets of columns low to high. `buckets` is even. In a short range a bucket has one
// column at most, except for the first bucket, which may have two.
static __device__ __forceinline__ struct spread spread_range(int32_t low, int32_t high,
                                                             int32_t buckets)
{
    // The rounding error of doubles is too small to yield an extra bucket.
    const double scale = buckets * 4294967296.0 / ((double)high - low + 1);
    return {low, scale < UINT32_MAX ? (uint32_t)scale : UINT32_MAX};
}

static __device__ __forceinline__ uint32_t bucket_in(const struct spread &s, int32_t col)
{
    return (uint32_t)((uint64_t)(uint32_t)(col - s.low) * s.scale >> 32);
}

// Sorts the table by buckets in place. Columns and values move to the start of the table. `pairs`
// gets the bucket starts and is zero before the call. Returns true if each bucket is sorted as
// well: if buckets are crowded, all columns are sorted instead. Columns lie in the range of
// `spread`. A thread keeps EACH places in registers, and TEAM * EACH is at least `size`. By all
// threads, after a barrier; ends with a barrier.
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

// Returns the sorted place of column number e of a table sorted by buckets.
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
