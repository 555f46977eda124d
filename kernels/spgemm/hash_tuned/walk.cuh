// Loop of a team over the products of its row.
//
// team   threads that compute a row together: a warp, or a block of several warps
// round  nonzeros of A that a team loads at once, one for each thread, 512 at most
// share  an equal part of a round, for one warp or for one of several blocks
// batch  products that the lanes of a warp load before they use the first
#ifndef SPGEMM_HASH_TUNED_WALK_H
#define SPGEMM_HASH_TUNED_WALK_H

#include "spgemm/hash_table.cuh"

#define ROUND_MOST 512 // most nonzeros of A in a round
#define MEAN_LONG  24  // products per nonzero of A from which a warp counts a whole row of S

// A round in shared memory: nonzeros of a row of A and their rows of S. Empty rows of S are left
// out.
template <int TEAM, typename T> struct team_round {
    static const int SIZE = TEAM < ROUND_MOST ? TEAM : ROUND_MOST;
    unsigned long long sums[TEAM / WARP];
    int32_t first[SIZE];  // products of the round before this row of S
    int32_t offset[SIZE]; // product p of the round is nonzero offset + p of S
    T a[SIZE];            // the nonzero of A
};

// Part of a row for a team: every `step`-th round, beginning with `round`. From each round the team
// takes share number `share` of `shares` equal shares.
struct portion {
    int32_t round, step, share, shares;
};
static __device__ __forceinline__ struct portion whole_row() { return {0, 1, 0, 1}; }

// Calls f() for products [lo, hi) of a round, 32 at a time. The lanes hold the starts of 32 rows of
// S. From these each lane finds the row of its product.
template <bool VALUES, int TEAM, typename T, typename F>
static __device__ __forceinline__ void walk_share(const struct factors<T> &x,
                                                  const team_round<TEAM, T> &round, int32_t rows,
                                                  uint32_t lo, uint32_t hi, F f)
{
    const int lane = lane_id();
    const int BATCH = VALUES ? 1 : 2; // products that a lane loads before it uses the first
    int32_t r = lo == 0 ? 0 : upper_bound(round.first, 0, rows, (int32_t)lo) - 1;
    for (; lo < hi; r += WARP) {
        const int32_t i = r + lane;
        const int32_t before =
            i < rows ? round.first[i] - 1 : INT32_MAX; // the row begins after this product
        const int32_t offset = i < rows ? round.offset[i] : 0;
        const T a = VALUES && i < rows ? round.a[i] : 0;
        const uint32_t end = r + WARP < rows ? min(hi, (uint32_t)round.first[r + WARP]) : hi;
        int32_t row = 0; // the lane that holds the row of product lo
        for (; lo < end; lo += BATCH * WARP) {
            int32_t col[BATCH];
            T v[BATCH];
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                const uint32_t at = lo + k * WARP;
                if (k > 0 && at >= end) break;
                const uint32_t ahead = (uint32_t)before - at; // huge if the row has begun
                const unsigned begin = __reduce_or_sync(FULL_MASK, ahead < WARP ? 1u << ahead : 0);
                const int from = row + __popc(begin & bits_below(lane));
                const uint32_t q = (uint32_t)warp_broadcast(offset, from) + at + lane;
                const T a_q = VALUES ? warp_broadcast(a, from) : 0;
                row += __popc(begin);
                if (at + lane >= end) continue;
                col[k] = __ldg(x.S_idx + q);
                v[k] = VALUES ? a_q * __ldg(x.S_val + q) : 0;
            }
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                const int32_t left = (int32_t)(end - lo) - k * WARP;
                if (lane < left) f(col[k], v[k], lanes_of(left));
            }
        }
        lo = end;
    }
}

// Returns true if sharing the products of a row evenly is faster in the symbolic phase. Otherwise a
// warp takes a nonzero of A. This saves the search for the row of S of each product. But lanes are
// idle at the end of each row of S, and warps are idle if there are few nonzeros.
template <int TEAM>
static __device__ __forceinline__ bool count_evenly(int32_t nonzeros, int32_t products)
{
    return nonzeros < TEAM / WARP || products / MEAN_LONG < nonzeros;
}

// Computes the position of the thread's nonzero of A in its round. Its row of S has `length`
// nonzeros. Sets `r` to the number of non-empty rows before, `first` to the products before, `rows`
// and `products` to the totals. A row has fewer than 2^31 products, as its columns in A differ. A
// warp does not use `sums`. By all threads.
template <int TEAM>
static __device__ __forceinline__ void place_in_round(uint32_t length, unsigned long long *sums,
                                                      int32_t &r, int32_t &rows, uint32_t &first,
                                                      uint32_t &products)
{
    if (TEAM == WARP) {
        const unsigned some = __ballot_sync(FULL_MASK, length > 0);
        const uint32_t upto = warp_scan(length);
        r = __popc(some & bits_below(lane_id()));
        rows = __popc(some);
        first = upto - length;
        products = warp_broadcast(upto, WARP - 1);
        team_sync<TEAM>();
    } else {
        // Rows in the upper half, products in the lower.
        unsigned long long total, before = (unsigned long long)(length > 0) << 32 | length;
        before = team_scan<TEAM>(before, sums, total);
        r = (int32_t)(before >> 32), rows = (int32_t)(total >> 32);
        first = (uint32_t)before, products = (uint32_t)total;
    }
}

// Calls f(column, value, lanes) for every product of the row [p, end) of A in this team's portion.
// If `even`, products are shared evenly, else a warp takes a nonzero of A at a time. `lanes` is a
// mask of the lanes of the warp that make this call together. If `stop` is given, the rest is
// skipped as soon as *stop > limit. All threads of the team take part; ends with a barrier.
template <bool VALUES, int TEAM, typename T, typename F>
static __device__ __forceinline__ void
walk(const struct factors<T> &x, int32_t p, int32_t end, bool even, struct portion mine,
     team_round<TEAM, T> &round, const int32_t *stop, int32_t limit, F f)
{
    const int me = team_rank<TEAM>(), warps = TEAM / WARP;
    const uint32_t worker = (uint32_t)(mine.share * warps + me / WARP);
    const uint32_t workers = (uint32_t)(mine.shares * warps);
    if (!even) {
        walk_nonzeros<VALUES>(x, (uint32_t)p + worker + (uint32_t)mine.round * workers,
                              (uint32_t)end, workers * (uint32_t)mine.step, stop, limit, f);
        team_sync<TEAM>();
        return;
    }
    const int SIZE = team_round<TEAM, T>::SIZE;
    for (int64_t at = p + (int64_t)mine.round * SIZE; at < end; at += (int64_t)mine.step * SIZE) {
        int32_t begin = 0, length = 0;
        T a = 0;
        if (me < SIZE && at + me < end) {
            const int32_t l = __ldg(x.A_idx + at + me);
            begin = __ldg(x.S_ptr + l);
            length = __ldg(x.S_ptr + l + 1) - begin;
            if (VALUES) a = __ldg(x.A_val + at + me);
        }
        int32_t r, rows;
        uint32_t first, products;
        place_in_round<TEAM>((uint32_t)length, round.sums, r, rows, first, products);
        if (length > 0) {
            round.first[r] = (int32_t)first;
            round.offset[r] = begin - (int32_t)first;
            if (VALUES) round.a[r] = a;
        }
        team_sync<TEAM>();
        // No overflow: `each` is products / workers + 32 at most.
        const uint32_t each =
            ((products + workers - 1) / workers + WARP - 1) / WARP * (uint32_t)WARP;
        const uint32_t lo = min(products, each * worker), hi = min(products, lo + each);
        bool go_on = lo < hi;
        if (stop) go_on = go_on && !__any_sync(FULL_MASK, *(volatile const int32_t *)stop > limit);
        if (go_on) walk_share<VALUES, TEAM>(x, round, rows, lo, hi, f);
        team_sync<TEAM>();
    }
}

#endif
