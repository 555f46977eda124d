// The work of a warp on its share. Products are added in the order of the nonzeros, and each sum is
// written at the end of its row.
#ifndef MERGE_SHARE_H
#define MERGE_SHARE_H

#include "parts.cuh"
#include "search.cuh"

#define BATCH_BYTES 128 // bytes of B that a lane has in flight

// The position of a warp in its share.
struct place {
    int32_t row;    // row of the next nonzero; -1: not known yet
    int32_t last;   // the row of the last nonzero
    int32_t before; // the first row, if it began before the share, else -1
    unsigned ends;  // lanes whose nonzero is the last one of its row
    int flags;      // flags of the share
};

// Finds the rows of the share [p, end).
template <typename T, int VEC>
static __device__ __forceinline__ void
enter(struct place &at, int lane, int32_t m, const int32_t *__restrict__ ptr, const int32_t *limits,
      int32_t p, int32_t end, warp_parts<sum_type<T>, VEC> &parts, int warp)
{
    if (limits) {
        at.row = warp_broadcast(limits[0], 0);
        at.last = warp_broadcast(limits[1], 0);
    } else {
        find_rows(ptr, m, p, end - 1, at.row, at.last);
    }
    if (warp_broadcast(ptr[at.row], 0) < p) {
        at.before = at.row;
        at.flags |= BEGAN_BEFORE;
    }
    if (lane == 0) {
        parts.first[warp] = at.row;
        parts.last[warp] = at.last;
    }
}

// Finds the rows of the round that begins with nonzero p and has `left` nonzeros: CSR to COO.
// Returns the row of this lane's nonzero.
static __device__ __forceinline__ int32_t flatten(struct place &at, int lane,
                                                  const int32_t *__restrict__ ptr, int32_t p,
                                                  int32_t left)
{
    const int32_t mine = p + min(lane, left - 1);
    const int32_t my_row = find_row(ptr, at.row, at.last, mine);
    at.ends = __ballot_sync(FULL_MASK, lane < left && ptr[my_row + 1] == mine + 1);
    if (at.ends) at.flags |= ENDS_ROW;
    at.row = warp_broadcast(my_row, WARP - 1);
    return my_row;
}

// sum += the products of the quad of nonzeros that begins with lane g's nonzero. At the end of a
// row the sum is written to C, or for the join if the row began in an earlier share.
template <typename T, int VEC>
static __device__ __forceinline__ void
add_quad(pack<sum_type<T>, VEC> &sum, const struct sizes &a, void *__restrict__ C, int32_t j,
         struct place at, int32_t my_row, sum_type<T> v, int g, const pack<T, VEC> *x,
         warp_parts<sum_type<T>, VEC> &parts, int warp)
{
    sum_type<T> v_e[QUAD];
#pragma unroll
    for (int e = 0; e < QUAD; e++) v_e[e] = warp_broadcast(v, g + e);
    const unsigned ends = at.ends >> g;
    if (!(ends & bits_below(QUAD))) {
#pragma unroll
        for (int e = 0; e < QUAD; e++) add_product(sum, v_e[e], x[e]);
        return;
    }
#pragma unroll
    for (int e = 0; e < QUAD; e++) {
        add_product(sum, v_e[e], x[e]);
        if (!(ends >> e & 1)) continue;
        const int32_t i = warp_broadcast(my_row, g + e);
        if (i == at.before)
            parts.head[warp][lane_id()] = sum;
        else if (j < a.k)
            store_row<T, VEC>(a, C, i, j, sum);
        sum = {};
    }
}

// Multiplies nonzeros [p, end) by the lane's columns, from j on.
template <typename T, int VEC>
static __device__ __forceinline__ void
multiply(const struct sizes &a, const int32_t *__restrict__ ptr, const int32_t *__restrict__ idx,
         const T *__restrict__ val, const T *__restrict__ B, void *__restrict__ C, int32_t j,
         const int32_t *limits, int32_t p, int32_t end, warp_parts<sum_type<T>, VEC> &parts,
         int warp)
{
    const int BATCH = BATCH_BYTES / (sizeof(sum_type<T>) * VEC);
    const int lane = lane_id();
    const T *b = B + (j < a.k ? j : 0); // lanes past the last column load the first ones
    struct place at = {-1, -1, -1, 0, ACTIVE};
    pack<sum_type<T>, VEC> sum = {};
    nonzero<sum_type<T>> next = {};
    load_round(next, lane, idx, val, end, end - p);
    for (int32_t left = end - p; left > 0; left -= WARP) {
        // The products of lanes past the last nonzero come after the end of the last row, so no sum
        // contains them.
        const nonzero<sum_type<T>> now = next;
        load_round(next, lane, idx, val, end, left - WARP);
        int32_t my_row = 0;
#pragma unroll 1
        for (int g = 0; g < WARP && g < left; g += BATCH) {
            pack<T, VEC> x[BATCH];
            load_batch(x, b, now.col, g, left, a.B_step);
            if (g == 0) { // while the loads of the batch are in flight
                if (at.row < 0) enter<T, VEC>(at, lane, a.m, ptr, limits, p, end, parts, warp);
                my_row = flatten(at, lane, ptr, end - left, left);
            }
#pragma unroll
            for (int q = 0; q < BATCH; q += QUAD) {
                if (g + q >= left) break;
                add_quad<T, VEC>(sum, a, C, j, at, my_row, now.v, g + q, x + q, parts, warp);
            }
        }
    }
    parts.tail[warp][lane] = sum;
    const int last_lane = (end - p - 1) % WARP; // lane of the last nonzero
    if (!(at.ends >> last_lane & 1)) at.flags |= GOES_ON;
    if (lane == 0) parts.flags[warp] = at.flags;
}

#endif
