// The pieces of A, each the work of one team, and the operands of the kernel.
#ifndef GRADED_PIECES_H
#define GRADED_PIECES_H

#include "kernel.cuh"
#include "option_limits.h"

#define THREADS  128 // threads of a block of the kernel that multiplies
#define QUAD  4   // neighbouring nonzeros that a lane loads at once
#define SLAB_MAX 128 // most columns of a slab

// The kinds of pieces, in the order of their blocks in the grid: the longest start first.
enum kind { SEGMENT, MEDIUM_BUNDLE, MEDIUM, SHORT_BUNDLE, SHORT, TINY, KINDS };

#define TURNS 2 // tiny rows of a group, one after the other

struct alignas(16) piece {
    int32_t row;    // first row; -1: nothing to do
    int32_t start;  // first nonzero, in CSR; first entry, in the arrays of bundles
    int32_t length; // nonzeros of a row or segment, columns of a bundle
    int32_t first;  // of a segment: list position of the first segment of its row
};

// Columns and values of all bundles. A bundle begins at a multiple of QUAD entries and has
// ALIKE values for each column: those of its first row, then those of the second row, then those of
// the third. A column that not all rows have is marked, and so is padding. In a marked column a
// value of +0 means that the row has no nonzero. A zero that A has is stored as -0. So an infinity
// in B reaches only the rows of A that have its column.
struct bundles {
    int32_t *idx;
    void *val;
};
#define MARK INT32_MIN

// Returns `length` rounded up to a multiple of QUAD.
static __device__ __forceinline__ int32_t whole_quads(int32_t length)
{
    return (length + QUAD - 1) & ~(QUAD - 1);
}

struct lists {
    // list[SHORT] is NULL if the rows are taken in their order. Longer rows are then left out.
    struct piece *list[KINDS];
    int32_t count[KINDS];
    int32_t at[KINDS + 1]; // first block of each kind
    int32_t segment;       // nonzeros of a segment of a row that is cut
    int32_t uncut;         // most nonzeros of a row of one segment
    int32_t short_most;    // most nonzeros of a short row
    int32_t turns;         // tiny rows of a group
    int log_lanes;         // lanes of a group, log2
    int log_team;          // lanes of the team of a short piece, log2
    bool early;            // blocks start before the previous kernel has ended
};

// Returns the number of segments of a long row.
static __device__ __forceinline__ int32_t segments_of(int32_t length, int32_t segment,
                                                      int32_t uncut)
{
    return length <= uncut ? 1 : (int32_t)ceil_div(length, segment);
}

template <typename T> struct operands {
    const int32_t *ptr, *idx, *bundle_idx;
    const T *val, *bundle_val, *B;
    void *C;              // of 16 bits if `narrow`, else of the type of the sums
    sum_type<T> *partial; // sums of segments, slab after slab
    int32_t *arrived;     // for the first segment of each row: finished segments of the row
    int32_t k, slab;      // `slab`: first slab of the grid
    uint32_t B_step;      // bytes from a row of B to the next
    bool narrow;
    int64_t B_ld, C_ld; // elements from a row to the next, or from a column to the next
};

#endif
