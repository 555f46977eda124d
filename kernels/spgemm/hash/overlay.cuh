// Rows of C that are one row of S and little else, as of a node that hangs on a hub: that row is
// taken as it is, in order already, and the rest of the products, the overlay, is added to it or
// put in between. No table is needed.
#ifndef SPGEMM_HASH_OVERLAY_H
#define SPGEMM_HASH_OVERLAY_H

#include "long.cuh"

#define OVERLAY_MOST 256 // products besides those with the longest row of S

// In shared memory. The lists have the products besides those with the longest row; in the end,
// added up and in order, those of columns that the longest row lacks.
template <typename T> struct overlay {
    unsigned long long longest; // upper half: its length; lower: its place in the row of A
    int32_t col[OVERLAY_MOST], sorted_col[OVERLAY_MOST];
    T val[OVERLAY_MOST], sorted_val[OVERLAY_MOST];
    int32_t before[OVERLAY_MOST]; // columns of the longest row that are before it
    int32_t begin, count;         // the longest row: [begin, begin + count) of S
    T a;                          // its factor
    int32_t fresh;                // columns that it lacks
};

// Lists the products besides those with the longest row of S of the row [p, end) of A, and returns
// how many there are. INT32_MAX, with nothing listed, where A's row has more nonzeros than `most`
// or there are more such products, or where the longest row has more nonzeros than `room`. By all
// threads; ends with a barrier.
template <int TEAM, typename T>
static __device__ __forceinline__ int32_t list_overlay(const struct factors<T> &x, int32_t p,
                                                       int32_t end, int32_t most, int32_t room,
                                                       struct overlay<T> &o,
                                                       unsigned long long *sums)
{
    const int me = team_rank<TEAM>();
    static_assert(OVERLAY_MOST <= TEAM, "a thread has a nonzero of A");
    if (end - p > most) return INT32_MAX;
    uint32_t begin = 0, length = 0;
    T a = 0;
    if (me < end - p) {
        const int32_t l = __ldg(x.A_idx + p + me);
        begin = (uint32_t)__ldg(x.S_ptr + l);
        length = (uint32_t)__ldg(x.S_ptr + l + 1) - begin;
        a = __ldg(x.A_val + p + me);
    }
    if (me == 0) o.longest = 0;
    __syncthreads();
    if (length) atomicMax(&o.longest, (unsigned long long)length << 32 | (unsigned)me);
    __syncthreads();
    const unsigned long long of_all = o.longest;
    const bool longest = length && (uint32_t)of_all == (uint32_t)me;
    unsigned long long total;
    const unsigned long long at =
        team_scan<TEAM>((unsigned long long)(longest ? 0 : length), sums, total);
    if (total > (unsigned long long)most || of_all >> 32 > (unsigned long long)room)
        return INT32_MAX;
    if (longest) {
        o.begin = (int32_t)begin;
        o.count = (int32_t)length;
        o.a = a;
    } else {
        for (uint32_t e = 0; e < length; e++) {
            o.col[at + e] = __ldg(x.S_idx + begin + e);
            o.val[at + e] = a * __ldg(x.S_val + begin + e);
        }
    }
    __syncthreads();
    return (int32_t)total;
}

// Adds what has a column of the longest row, which is in `keys` and `vals`, and lists the rest in
// order. By all threads, after a barrier; ends with one.
template <int TEAM, typename T>
static __device__ __forceinline__ void merge_overlay(const int32_t *keys, T *vals, int32_t products,
                                                     struct overlay<T> &o, uint32_t *sums)
{
    const int me = team_rank<TEAM>();
    static_assert(OVERLAY_MOST <= TEAM, "a thread has a product");
    if (me < products) {
        int32_t rank = 0;
        for (int32_t e = 0; e < products; e++)
            rank += o.col[e] < o.col[me] || (o.col[e] == o.col[me] && e < me);
        o.sorted_col[rank] = o.col[me];
        o.sorted_val[rank] = o.val[me];
    }
    __syncthreads();
    // The first product of each column adds up the others.
    const int32_t col = me < products ? o.sorted_col[me] : 0;
    const bool first = me < products && (me == 0 || o.sorted_col[me - 1] != col);
    T sum = 0;
    int32_t before = 0;
    bool fresh = false;
    if (first) {
        for (int32_t e = me; e < products && o.sorted_col[e] == col; e++) sum += o.sorted_val[e];
        before = lower_bound(keys, 0, o.count, col);
        fresh = before == o.count || keys[before] != col;
        if (!fresh) vals[before] += sum;
    }
    uint32_t total;
    const uint32_t at = team_scan<TEAM>((uint32_t)fresh, sums, total);
    if (fresh) {
        o.col[at] = col;
        o.val[at] = sum;
        o.before[at] = before;
    }
    if (me == 0) o.fresh = (int32_t)total;
    __syncthreads();
}

// The row of C from `start` on, with `products` products in the overlay. `keys` and `vals` are
// shared, with room for the longest row. By all threads.
template <int TEAM, typename T>
static __device__ __forceinline__ void
write_overlaid(const struct factors<T> &x, int32_t *keys, T *vals, int32_t products,
               struct overlay<T> &o, uint32_t *sums, const struct result<T> &c, int64_t start)
{
    const int me = team_rank<TEAM>();
    const uint32_t begin = (uint32_t)o.begin;
    const T a = o.a;
#pragma unroll 4
    for (int32_t e = me; e < o.count; e += TEAM) {
        keys[e] = __ldg(x.S_idx + begin + e);
        vals[e] = a * __ldg(x.S_val + begin + e);
    }
    __syncthreads();
    merge_overlay<TEAM>(keys, vals, products, o, sums);
    for (int32_t e = me; e < o.count; e += TEAM) {
        const int64_t to = start + e + upper_bound((const int32_t *)o.before, 0, o.fresh, e);
        c.idx[to] = keys[e];
        c.val[to] = vals[e];
    }
    if (me < o.fresh) {
        c.idx[start + o.before[me] + me] = o.col[me];
        c.val[start + o.before[me] + me] = o.val[me];
    }
}

#endif
