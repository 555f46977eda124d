// Rows of C that are the sum of one long row of S and few other products, for example the row of a
// node connected to a hub. The row of S is copied in order. The other products, the overlay, are
// added to its columns or inserted between them. No phase needs a table. A block computes a row.
// H100: circuits of 500,000 and 2,000,000 nodes take 2.7 and 4.0 times the time without overlays.
#ifndef SPGEMM_HASH_TUNED_OVERLAY_H
#define SPGEMM_HASH_TUNED_OVERLAY_H

#include "binning.cuh"

#define OVERLAY_BLOCK OVERLAY_MOST // threads: one for each nonzero of A, and for each product

// Shared memory of a row. The lists have the products with all rows of S but the longest.
template <typename T> struct overlay {
    unsigned long long longest; // upper half: its length; lower half: its place in the row of A
    unsigned long long sums[OVERLAY_BLOCK / WARP];
    int32_t col[OVERLAY_MOST], sorted_col[OVERLAY_MOST];
    T val[OVERLAY_MOST], sorted_val[OVERLAY_MOST];
    int32_t before[OVERLAY_MOST]; // by fresh column: columns of the longest row before it
    int32_t begin, count;         // the longest row: [begin, begin + count) of S
    T a;                          // nonzero of A of the longest row
};

// A thread's column of the overlay.
template <typename T> struct overlaid {
    bool fresh, added; // the longest row lacks the column, or has it; neither: no column
    int32_t col;
    int32_t before; // columns of the longest row before this column
    int32_t at;     // if fresh: fresh columns before this column
    T sum;          // sum of the column's products
};

// Lists the products of the row [p, end) of A with all rows of S but the longest. Returns their
// number. By all threads; ends with a barrier.
template <bool VALUES, typename T>
static __device__ __forceinline__ int32_t list_overlay(const struct factors<T> &x, int32_t p,
                                                       int32_t end, struct overlay<T> &o)
{
    const int me = (int)threadIdx.x;
    uint32_t begin = 0, length = 0;
    T a = 0;
    if (me < end - p) {
        const int32_t l = __ldg(x.A_idx + p + me);
        begin = (uint32_t)__ldg(x.S_ptr + l);
        length = (uint32_t)__ldg(x.S_ptr + l + 1) - begin;
        if (VALUES) a = __ldg(x.A_val + p + me);
    }
    if (me == 0) o.longest = 0;
    __syncthreads();
    if (length) atomicMax(&o.longest, (unsigned long long)length << 32 | (unsigned)me);
    __syncthreads();
    const bool longest = length && (uint32_t)o.longest == (uint32_t)me;
    unsigned long long total;
    const unsigned long long at =
        team_scan<OVERLAY_BLOCK>((unsigned long long)(longest ? 0 : length), o.sums, total);
    if (longest) {
        o.begin = (int32_t)begin;
        o.count = (int32_t)length;
        o.a = a;
    } else {
        for (uint32_t e = 0; e < length; e++) {
            o.col[at + e] = __ldg(x.S_idx + begin + e);
            if (VALUES) o.val[at + e] = a * __ldg(x.S_val + begin + e);
        }
    }
    __syncthreads();
    return (int32_t)total;
}

// Sorts the overlay and returns the thread's column. Sets `fresh` to the number of columns that the
// longest row lacks, and o.before to their places in the longest row, ascending. By all threads;
// ends with a barrier.
template <bool VALUES, typename T>
static __device__ __forceinline__ overlaid<T>
order_overlay(const struct factors<T> &x, int32_t products, struct overlay<T> &o, int32_t &fresh)
{
    const int me = (int)threadIdx.x;
    overlaid<T> mine = {};
    if (me < products) {
        int32_t rank = 0;
        for (int32_t e = 0; e < products; e++)
            rank += o.col[e] < o.col[me] || (o.col[e] == o.col[me] && e < me);
        o.sorted_col[rank] = o.col[me];
        if (VALUES) o.sorted_val[rank] = o.val[me];
    }
    __syncthreads();
    // The thread of the first product of a column adds up its products.
    mine.col = me < products ? o.sorted_col[me] : 0;
    if (me < products && (me == 0 || o.sorted_col[me - 1] != mine.col)) {
        for (int32_t e = me; VALUES && e < products && o.sorted_col[e] == mine.col; e++)
            mine.sum += o.sorted_val[e];
        const int32_t *longest = x.S_idx + (uint32_t)o.begin;
        mine.before = lower_bound(longest, 0, o.count, mine.col);
        mine.added = mine.before < o.count && longest[mine.before] == mine.col;
        mine.fresh = !mine.added;
    }
    unsigned long long total;
    mine.at = (int32_t)team_scan<OVERLAY_BLOCK>((unsigned long long)mine.fresh, o.sums, total);
    if (mine.fresh) o.before[mine.at] = mine.before;
    fresh = (int32_t)total;
    __syncthreads();
    return mine;
}

static __global__ __launch_bounds__(OVERLAY_BLOCK) void symbolic_overlay(struct factors<float> x,
                                                                         struct rows rows,
                                                                         int32_t *__restrict__ nz)
{
    __shared__ struct overlay<float> o;
    const int32_t i = rows.list[blockIdx.x];
    const int32_t products = list_overlay<false>(x, __ldg(x.A_ptr + i), __ldg(x.A_ptr + i + 1), o);
    int32_t fresh;
    order_overlay<false>(x, products, o, fresh);
    if (threadIdx.x == 0) nz[i] = o.count + fresh;
}

template <typename T>
static __global__ __launch_bounds__(OVERLAY_BLOCK) void numeric_overlay(struct factors<T> x,
                                                                        struct rows rows,
                                                                        struct result<T> c)
{
    __shared__ struct overlay<T> o;
    const int32_t i = rows.list[blockIdx.x];
    const int32_t products = list_overlay<true>(x, __ldg(x.A_ptr + i), __ldg(x.A_ptr + i + 1), o);
    int32_t fresh;
    const overlaid<T> mine = order_overlay<true>(x, products, o, fresh);
    int32_t *idx = c.idx + row_start(c, i);
    T *val = c.val + row_start(c, i);
    const int32_t *before = o.before;
    const T a = o.a;
#pragma unroll 4
    for (int32_t e = (int32_t)threadIdx.x; e < o.count; e += OVERLAY_BLOCK) {
        const int32_t to = e + upper_bound(before, 0, fresh, e);
        idx[to] = __ldg(x.S_idx + (uint32_t)o.begin + e);
        val[to] = a * __ldg(x.S_val + (uint32_t)o.begin + e);
    }
    if (mine.fresh) {
        idx[mine.before + mine.at] = mine.col;
        val[mine.before + mine.at] = mine.sum;
    }
    __syncthreads();
    if (mine.added) val[mine.before + upper_bound(before, 0, fresh, mine.before)] += mine.sum;
}

#endif
