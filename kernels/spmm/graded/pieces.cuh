// The pieces of A, each the work of one team, and the operands of the kernel.
#ifndef GRADED_PIECES_H
#define GRADED_PIECES_H

#include "kernel.cuh"

#define THREADS 128 // threads of a block of the kernel that multiplies
#define ALIKE   3   // rows of a bundle

// The kinds of pieces, in the order of their blocks in the grid: what takes longest starts first.
enum kind { SEGMENT, MEDIUM_BUNDLE, MEDIUM, SHORT_BUNDLE, SHORT, TINY, KINDS };

#define MOST_TINY 8 // nonzeros of a tiny row
#define TURNS     2 // tiny rows that a team does one after another, at most

struct alignas(16) piece {
    int32_t row;    // the first, of a bundle; -1: nothing
    int32_t start;  // its first nonzero, in CSR; of a bundle its first column, in `bundle_idx`
    int32_t length; // nonzeros; of a bundle columns
    int32_t first;  // segments only: list position of the first segment of the row
};

// The bundles' columns and values: of each piece its `length` columns, and ALIKE times as many
// values, row after row.
//   A column that not all rows of its bundle have is marked. In a marked column +0 means that the
// row has no nonzero there; a zero that it has is kept as -0. So what is not finite in a row of B
// reaches only the rows of A that have its column.
struct bundles {
    int32_t *idx;
    void *val;
};
#define MARK INT32_MIN

struct lists {
    struct piece *list[KINDS];
    int32_t count[KINDS];
    int32_t at[KINDS + 1]; // first block of each kind
    int32_t segment;       // nonzeros of a segment of a row that is cut
    int32_t uncut;         // a row up to so long is one segment: cutting it would not pay
    int32_t turns;         // tiny rows that a team does
    bool early;            // blocks start before the kernel ahead has ended
};

// Into how many segments a long row is cut; 1: it is not.
static __device__ __forceinline__ int32_t segments_of(int32_t length, int32_t segment,
                                                      int32_t uncut)
{
    return length <= uncut ? 1 : (int32_t)ceil_div(length, segment);
}

template <typename T> struct operands {
    const int32_t *ptr, *idx, *bundle_idx;
    const T *val, *bundle_val, *B;
    T *C, *partial;          // `partial`: sums over segments, slab after slab
    int32_t *arrived;        // for the first segment of each row: finished segments of the row
    int32_t k, slab;         // `slab`: the first one of the grid
    uint32_t B_step, C_step; // bytes from a row to the next
};

#endif
