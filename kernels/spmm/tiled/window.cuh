// The work of tiled-tuned as its blocks see it, and what they share.
//
// window  neighbouring rows of A and C, 8 to 128: the columns of C that they have are whole sectors
// piece   what a block has of A: the nonzeros of a window, or, where these are more than `most`,
//         one of several equal parts of them
// group   neighbouring lanes, one for each 16 bytes of a row of B as far as a slab goes
// slab    the columns of C that a group sums up at once
// share   what a group has of a piece: as many nonzeros as the other groups, but for the last ones
// tile    the sums of a piece in shared memory: for each column of the slab those of the window
//
// A row that began before the share it ends in, or that goes on after it, is cut. The share where
// it begins leaves its part in the tile, the others in `head`.
#ifndef TILED_WINDOW_H
#define TILED_WINDOW_H

#include "kernel.cuh"

#define QUAD        4   // nonzeros under one branch
#define BATCH       8   // nonzeros whose rows of B are loaded before the first of them is used
#define GROUP_LEAST 8   // lanes
#define MAX_THREADS 256 // of a block
#define LEAST_ROWS  8   // of a window: a sector of a column of C in f32
#define MAX_ROWS    128

struct shape {
    int32_t m, k;
    int32_t slabs;   // that cover the k columns
    uint32_t B_step; // bytes from one row of row-major B to the next
    int64_t C_ld;    // elements from one column of C to the next
};

struct piece {
    int32_t row, rows;  // of its window; no rows: there is nothing to do
    int32_t begin, end; // nonzeros
    int32_t window_begin, window_end;
    int32_t number;  // among all pieces of cut windows; -1: a whole window
    int32_t first;   // number of the window's first
    int32_t of_them; // how many the window has
};

// The number of the piece that nonzero q of the window is in.
static __device__ __forceinline__ int32_t piece_of(const struct piece &p, int32_t q)
{
    const int64_t count = p.window_end - p.window_begin, place = q - p.window_begin;
    return p.first + (int32_t)(((place + 1) * p.of_them - 1) / count);
}

// Blocks are for the pieces of cut windows first, then one for each window.
struct windows {
    int32_t rows;              // of a window, a power of two
    int32_t most;              // nonzeros of a piece
    int32_t count;             // of windows
    int32_t pieces;            // of windows that are cut
    const struct piece *piece; // these
};

// All of a window.
static __device__ __forceinline__ struct piece whole_window(const struct shape &a,
                                                            const struct windows &w, int32_t window,
                                                            const int32_t *__restrict__ ptr)
{
    struct piece p;
    p.row = window * w.rows;
    p.rows = min(w.rows, a.m - p.row);
    p.begin = p.window_begin = ptr[p.row];
    p.end = p.window_end = ptr[p.row + p.rows];
    p.number = -1;
    p.first = 0;
    p.of_them = 1;
    return p;
}

// The piece of this block.
static __device__ __forceinline__ struct piece
find_piece(const struct shape &a, const struct windows &w, const int32_t *__restrict__ ptr)
{
    const int32_t b = (int32_t)blockIdx.x;
    if (b < w.pieces) return w.piece[b];
    struct piece p = whole_window(a, w, b - w.pieces, ptr);
    if (p.end - p.begin > w.most) p.rows = 0; // its pieces have blocks of their own
    return p;
}

// Shared memory. The columns of a slab are in an order in which those that neighbouring lanes have
// lie side by side: column `vec` of lane l has the place vec * GROUP + l.
template <typename T, int GROUP> struct room {
    static const int VEC = 16 / sizeof(T);
    static const int COLUMNS = GROUP * VEC;
    int step;          // from one column of the tile to the next: odd, so banks differ
    T *tile;           // COLUMNS x step
    T *head;           // groups x COLUMNS
    int32_t *head_row; // of each group, in the window; -1: it has none
    int32_t *start;    // first nonzero of each row of the window, size rows + 1

    static __device__ __forceinline__ int32_t column(int place)
    {
        return place % GROUP * VEC + place / GROUP;
    }
    static __host__ __device__ size_t bytes(int rows, int threads)
    {
        return (size_t)COLUMNS * (size_t)(rows + 1 + threads / GROUP) * sizeof(T);
    }
};

// The row of the window that holds nonzero q.
template <typename T, int GROUP>
static __device__ __forceinline__ int32_t row_of(const room<T, GROUP> &x, int32_t rows, int32_t q)
{
    return upper_bound(x.start, 0, rows, q) - 1;
}

#endif
