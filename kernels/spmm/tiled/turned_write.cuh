// The end of a block: its sums go to C, column by column. Rows that several pieces of a panel share
// go to memory. The block that arrives last adds their parts in the order of the pieces.
#ifndef TILED_TURNED_WRITE_H
#define TILED_TURNED_WRITE_H

#include "turned_panel.cuh"

// Buffers in memory, between blocks.
template <typename T> struct carries {
    T *part; // two slots of a slab's columns per slab and piece: 0 for a row that began earlier, 1
             // for a row that goes on
    int32_t *arrived; // blocks that stored their part of the row at the end of the piece, per slab
                      // and piece
};

// Returns true if the piece has the row whole, from nonzero `start` to nonzero `next`.
static __device__ __forceinline__ bool has_whole(const struct piece &p, int32_t start, int32_t next)
{
    return start >= p.begin && (start < p.end || p.end == p.panel_end) && next <= p.end;
}

// Writes the rows that the piece has whole. A warp writes 32 rows of a column at once, or fewer
// rows of several columns.
template <typename T, int GROUP>
static __device__ __forceinline__ void
write_rows(const block_memory<T, GROUP> &x, const struct shape &a, const struct panels &w,
           const struct piece &p, T *__restrict__ C, int32_t slab)
{
    const int lanes = min(w.rows, WARP),
              columns = WARP / lanes; // lanes of a column, columns of the warp
    const int first = (int)threadIdx.x / WARP * columns + lane_id() / lanes;
    const int step = (int)blockDim.x / WARP * columns;
    const int64_t j0 = (int64_t)slab * x.COLUMNS;
    for (int32_t r = lane_id() & (lanes - 1); r < p.rows; r += WARP) {
        if (!has_whole(p, x.start[r], x.start[r + 1])) continue;
#pragma unroll 4
        for (int c = first; c < x.COLUMNS; c += step) {
            const int64_t j = j0 + x.column(c);
            if (j < a.k) C[p.row + r + j * a.C_ld] = x.sums[c * x.step + r];
        }
    }
}

// The rows of the panel that the two ends of a piece cut, -1: none.
struct cut_rows {
    int32_t began_before; // row that began in an earlier piece
    int32_t goes_on;      // row that begins here and goes on in the next piece
};

template <typename T, int GROUP>
static __device__ __forceinline__ struct cut_rows find_cut(const block_memory<T, GROUP> &x,
                                                           const struct piece &p)
{
    const int32_t first = row_of(x, p.rows, p.begin), last = row_of(x, p.rows, p.end - 1);
    return {x.start[first] < p.begin ? first : -1,
            x.start[last] >= p.begin && x.start[last + 1] > p.end ? last : -1};
}

// Returns the address of a slot of a piece.
template <typename T, int GROUP>
static __device__ __forceinline__ T *slot(const carries<T> &y, int64_t number, int which)
{
    return y.part + (2 * number + which) * block_memory<T, GROUP>::COLUMNS;
}

// Writes row r of the panel from its parts in pieces `first` to `last`. Each group adds some parts,
// in order, and the block adds the sums of the groups.
template <typename T, int GROUP>
static __device__ __forceinline__ void add_parts(const block_memory<T, GROUP> &x,
                                                 const struct shape &a, const struct piece &p,
                                                 const carries<T> &y, int64_t first, int64_t last,
                                                 int32_t r, T *__restrict__ C, int32_t slab)
{
    typedef pack<T, 16 / sizeof(T)> pack_t;
    const int lane = (int)threadIdx.x % GROUP, group = (int)threadIdx.x / GROUP;
    const int groups = (int)blockDim.x / GROUP;
    const int64_t each = ceil_div(last - first + 1, groups), begin = first + group * each;
    const int64_t end = begin + each < last + 1 ? begin + each : last + 1;
    const int64_t j0 = (int64_t)slab * x.COLUMNS;
    pack_t sum = {};
#pragma unroll 4
    for (int64_t n = begin; n < end; n++)
        add(sum, *((const pack_t *)slot<T, GROUP>(y, n, n == first) + lane));
    *((pack_t *)(x.head + group * x.COLUMNS) + lane) = sum;
    __syncthreads();
    for (int c = (int)threadIdx.x; c < x.COLUMNS; c += (int)blockDim.x) {
        T all = 0;
        for (int g = 0; g < groups; g++) all += x.head[g * x.COLUMNS + c];
        const int64_t j = j0 + x.column(c);
        if (j < a.k) C[p.row + r + j * a.C_ld] = all;
    }
    __syncthreads(); // another row overwrites `head`
}

// Stores the parts of cut rows, and finishes a row if all other parts have arrived. The block that
// finishes a row resets its counter for the next run.
template <typename T, int GROUP>
static __device__ __forceinline__ void
join_pieces(const block_memory<T, GROUP> &x, const struct shape &a, const struct panels &w,
            const struct piece &p, const carries<T> &of_slabs, T *__restrict__ C, int32_t slab)
{
    __shared__ bool complete[2];
    const struct cut_rows cut = find_cut(x, p);
    const int64_t before = (int64_t)slab * w.pieces;
    const carries<T> y = {slot<T, GROUP>(of_slabs, before, 0), of_slabs.arrived + before};
#pragma unroll 1
    for (int which = 0; which < 2; which++) {
        const int32_t r = which ? cut.goes_on : cut.began_before;
        for (int c = (int)threadIdx.x; r >= 0 && c < x.COLUMNS; c += (int)blockDim.x)
            slot<T, GROUP>(y, p.number, which)[c] = x.sums[c * x.step + r];
    }
    __syncthreads(); // all threads' writes come before the releases
    if (threadIdx.x < 2) {
        const int32_t r = threadIdx.x ? cut.goes_on : cut.began_before;
        bool last = false;
        if (r >= 0) {
            const int32_t from = piece_of(p, x.start[r]), to = piece_of(p, x.start[r + 1] - 1);
            last = atomic_add_release(&y.arrived[from], 1) == to - from;
            if (last) y.arrived[from] = 0;
        }
        complete[threadIdx.x] = last;
    }
    __syncthreads();
#pragma unroll 1
    for (int which = 0; which < 2; which++) {
        if (!complete[which]) continue;
        const int32_t r = which ? cut.goes_on : cut.began_before;
        __threadfence(); // the reads of other parts come after their arrival
        add_parts(x, a, p, y, piece_of(p, x.start[r]), piece_of(p, x.start[r + 1] - 1), r, C, slab);
    }
}

#endif
