// The work of a block of the turned method, and its data structures. Words:
//
// panel  neighbouring rows of A and C, 8 to 128. A column of these rows of C is whole sectors
// piece  the part of A of one block: a panel, or one of several equal parts of a panel. Panels with
//        more than `most` nonzeros are cut
// group  neighbouring lanes, one for each 16 bytes of a slab of a row of B
// slab   columns of C that a group sums up at once
// share  the part of a piece of one group. Shares have equal numbers of nonzeros, except the last
//
// A row that began before the share in which it ends, or that goes on after the share, is a cut
// row. The first share of a row stores its sum in `sums`, the other shares in `head`.
#ifndef TILED_TURNED_PANEL_H
#define TILED_TURNED_PANEL_H

#include "kernel.cuh"

#define QUAD        4   // nonzeros under one branch
#define BATCH       8   // nonzeros whose rows of B are loaded before the first of them is used
#define GROUP_LEAST 8   // least lanes of a group
#define MAX_THREADS 256 // threads of a block
#define LEAST_ROWS  8   // rows of a panel: a sector of a column of C in f32
#define MAX_ROWS    128

struct shape {
    int32_t m, k;
    int32_t slabs;   // slabs that cover the k columns
    uint32_t B_step; // bytes from one row of row-major B to the next
    int64_t C_ld;    // elements from one column of C to the next
};

struct piece {
    int32_t row, rows;  // rows of its panel; no rows: nothing to do
    int32_t begin, end; // nonzeros
    int32_t panel_begin, panel_end;
    int32_t number;  // number among all pieces of cut panels; -1: a whole panel
    int32_t first;   // number of the panel's first piece
    int32_t of_them; // pieces of the panel
};

// Returns the number of the piece with nonzero q of the panel.
static __device__ __forceinline__ int32_t piece_of(const struct piece &p, int32_t q)
{
    const int64_t count = p.panel_end - p.panel_begin, place = q - p.panel_begin;
    return p.first + (int32_t)(((place + 1) * p.of_them - 1) / count);
}

// The panels of A. The first blocks have the pieces of cut panels, the others one panel each.
struct panels {
    int32_t rows;              // rows of a panel, a power of two
    int32_t most;              // nonzeros of a piece
    int32_t count;             // panels
    int32_t pieces;            // pieces of cut panels
    const struct piece *piece; // these pieces, size pieces
};

// Returns a whole panel as a piece.
static __device__ __forceinline__ struct piece whole_panel(const struct shape &a,
                                                           const struct panels &w, int32_t panel,
                                                           const int32_t *__restrict__ ptr)
{
    struct piece p;
    p.row = panel * w.rows;
    p.rows = min(w.rows, a.m - p.row);
    p.begin = p.panel_begin = ptr[p.row];
    p.end = p.panel_end = ptr[p.row + p.rows];
    p.number = -1;
    p.first = 0;
    p.of_them = 1;
    return p;
}

// Returns the piece of this block.
static __device__ __forceinline__ struct piece
find_piece(const struct shape &a, const struct panels &w, const int32_t *__restrict__ ptr)
{
    const int32_t b = (int32_t)blockIdx.x;
    if (b < w.pieces) return w.piece[b];
    struct piece p = whole_panel(a, w, b - w.pieces, ptr);
    if (p.end - p.begin > w.most) p.rows = 0; // the pieces of the panel have blocks of their own
    return p;
}

// Shared memory of a block. The columns of neighbouring lanes are neighbours: column `vec` of lane
// l is at position vec * GROUP + l.
template <typename T, int GROUP> struct block_memory {
    static const int VEC = 16 / sizeof(T);
    static const int COLUMNS = GROUP * VEC;
    int step;          // elements between columns of `sums`: odd, so banks differ
    T *sums;           // COLUMNS x step
    T *head;           // groups x COLUMNS
    int32_t *head_row; // row of `head` of each group, in the panel; -1: none
    int32_t *start;    // first nonzero of each row of the panel, size rows + 1

    static __device__ __forceinline__ int32_t column(int place)
    {
        return place % GROUP * VEC + place / GROUP;
    }
    static __host__ __device__ size_t bytes(int rows, int threads)
    {
        return (size_t)COLUMNS * (size_t)(rows + 1 + threads / GROUP) * sizeof(T);
    }
};

// Returns the row of the panel that holds nonzero q.
template <typename T, int GROUP>
static __device__ __forceinline__ int32_t row_of(const block_memory<T, GROUP> &x, int32_t rows,
                                                 int32_t q)
{
    return upper_bound(x.start, 0, rows, q) - 1;
}

#endif
