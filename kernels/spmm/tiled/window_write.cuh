// What a block does with its tile. Rows that it has whole go to C, column by column. Those that it
// shares with other pieces of its window go to memory, and are added up, in the order of the
// pieces, by the block that comes last.
#ifndef TILED_WINDOW_WRITE_H
#define TILED_WINDOW_WRITE_H

#include "window.cuh"

// In memory, between blocks.
template <typename T> struct carries {
    T *part;          // of each slab, of each piece: two slots of a slab's columns. 0 is for a row
                      // that began in an earlier piece, 1 for one that goes on in the next
    int32_t *arrived; // of each slab, of each piece: how many blocks have left their part of the
                      // row that is cut at the end of the piece
};

// A row that began before nonzero `begin` is none of the piece's own, nor one behind it.
static __device__ __forceinline__ bool has_whole(const struct piece &p, int32_t start, int32_t next)
{
    return start >= p.begin && (start < p.end || p.end == p.window_end) && next <= p.end;
}

// A warp writes 32 rows of a column at once, or as many of several columns.
template <typename T, int GROUP>
static __device__ __forceinline__ void write_rows(const room<T, GROUP> &x, const struct shape &a,
                                                  const struct windows &w, const struct piece &p,
                                                  T *__restrict__ C, int32_t slab)
{
    const int lanes = min(w.rows, WARP), columns = WARP / lanes; // of the warp, of a column
    const int first = (int)threadIdx.x / WARP * columns + lane_id() / lanes;
    const int step = (int)blockDim.x / WARP * columns;
    const int64_t j0 = (int64_t)slab * x.COLUMNS;
    for (int32_t r = lane_id() & (lanes - 1); r < p.rows; r += WARP) {
        if (!has_whole(p, x.start[r], x.start[r + 1])) continue;
#pragma unroll 4
        for (int c = first; c < x.COLUMNS; c += step) {
            const int64_t j = j0 + x.column(c);
            if (j < a.k) C[p.row + r + j * a.C_ld] = x.tile[c * x.step + r];
        }
    }
}

// The rows of the window that the two ends of a piece cut, -1: none.
struct cut_rows {
    int32_t began_before; // in an earlier piece, whether it ends here or not
    int32_t goes_on;      // and begins here
};

template <typename T, int GROUP>
static __device__ __forceinline__ struct cut_rows find_cut(const room<T, GROUP> &x,
                                                           const struct piece &p)
{
    const int32_t first = row_of(x, p.rows, p.begin), last = row_of(x, p.rows, p.end - 1);
    return {x.start[first] < p.begin ? first : -1,
            x.start[last] >= p.begin && x.start[last + 1] > p.end ? last : -1};
}

// Where pieces keep their slots, for one slab.
template <typename T, int GROUP>
static __device__ __forceinline__ T *slot(const carries<T> &y, int64_t number, int which)
{
    return y.part + (2 * number + which) * room<T, GROUP>::COLUMNS;
}

// Writes row r of the window from its parts in pieces `first` to `last`: each group adds up some,
// one after the other, and then the block the groups' sums.
template <typename T, int GROUP>
static __device__ __forceinline__ void add_parts(const room<T, GROUP> &x, const struct shape &a,
                                                 const struct piece &p, const carries<T> &y,
                                                 int64_t first, int64_t last, int32_t r,
                                                 T *__restrict__ C, int32_t slab)
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
    __syncthreads(); // another row takes the room
}

// Leaves the parts of cut rows, and finishes those of which they are the last to come. Who finishes
// a row sets its counter back for the next run.
template <typename T, int GROUP>
static __device__ __forceinline__ void
pass_on(const room<T, GROUP> &x, const struct shape &a, const struct windows &w,
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
            slot<T, GROUP>(y, p.number, which)[c] = x.tile[c * x.step + r];
    }
    __syncthreads(); // what all threads wrote comes before the releases
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
        __threadfence(); // what others left is read after it was seen that they have come
        add_parts(x, a, p, y, piece_of(p, x.start[r]), piece_of(p, x.start[r + 1] - 1), r, C, slab);
    }
}

#endif
