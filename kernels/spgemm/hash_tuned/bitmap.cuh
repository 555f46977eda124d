// Bitmaps of the columns of a row of C, and the ranks of columns in them.
#ifndef SPGEMM_HASH_TUNED_BITMAP_H
#define SPGEMM_HASH_TUNED_BITMAP_H

#include "walk.cuh"

// Returns the groups of 64 bits of a bitmap, which has a bit for each column of C. The rank of a
// group is the number of columns before the group.
static __host__ __device__ __forceinline__ int64_t bit_groups(int32_t n) { return ceil_div(n, 64); }

static __device__ __forceinline__ void mark(uint32_t *bits, int32_t col)
{
    const uint32_t bit = 1u << (col & 31);
    uint32_t w = (uint32_t)col / 32;
    opaque(w); // one shift and one shifted add, instead of two shifts and an add
    uint32_t *word = bits + w;
    if (!(*(volatile uint32_t *)word & bit)) atomicOr(word, bit);
}

// Returns the number of columns before `col` in a bitmap.
static __device__ __forceinline__ int32_t rank_of(const uint32_t *bits, const int32_t *rank,
                                                  int32_t col)
{
    const uint32_t g = (uint32_t)col / 64;
    const unsigned long long group = ((const unsigned long long *)bits)[g];
    return rank[g] + __popcll(group & ((1ull << (col & 63)) - 1));
}

// Computes the ranks. Returns the number of columns.
template <int TEAM>
static __device__ __forceinline__ int32_t make_ranks(const uint32_t *bits, int32_t *rank,
                                                     int32_t groups, int32_t *sums)
{
    int32_t before = 0;
    for (int32_t at = 0; at < groups; at += TEAM) {
        const int32_t g = at + team_rank<TEAM>();
        int32_t total;
        const int32_t count = g < groups ? __popcll(((const unsigned long long *)bits)[g]) : 0;
        const int32_t upto = team_scan<TEAM>(count, sums, total);
        if (g < groups) rank[g] = before + upto;
        before += total;
    }
    team_sync<TEAM>();
    return before;
}

// Writes the columns of a bitmap in ascending order.
template <int TEAM>
static __device__ __forceinline__ void write_columns(const uint32_t *bits, const int32_t *rank,
                                                     int32_t groups, int32_t *idx)
{
    const int lane = lane_id();
    for (int32_t at = team_rank<TEAM>() / WARP * WARP; at < groups; at += TEAM) {
        const int32_t g = at + lane;
        unsigned long long group = g < groups ? ((const unsigned long long *)bits)[g] : 0;
        int32_t to = g < groups ? rank[g] : 0;
        const int count = __popcll(group);
        if (warp_sum(count) < 8 * WARP) {
            for (; group; group &= group - 1) idx[to++] = g * 64 + __ffsll(group) - 1;
            continue;
        }
        // With many columns the lanes write the columns of one group side by side.
        for (unsigned some = __ballot_sync(FULL_MASK, count > 0); some; some &= some - 1) {
            const int from = __ffs(some) - 1;
            const unsigned long long bit = warp_broadcast(group, from);
            int32_t *out = idx + warp_broadcast(to, from);
            for (int b = lane; b < 64; b += WARP)
                if (bit >> b & 1) out[__popcll(bit & ((1ull << b) - 1))] = (at + from) * 64 + b;
        }
    }
}

#endif
