// Data that the pieces of merge hand on to each other.
#ifndef MERGE_PARTS_H
#define MERGE_PARTS_H

#include "spmm/operands.cuh"

#define MAX_WARPS 8 // warps of a block

// How the nonzeros are split. Warp w takes nonzeros w * share to (w + 1) * share - 1.
struct split {
    int32_t nnz;
    int32_t share;  // a multiple of 32
    int32_t blocks; // that have nonzeros
    int32_t rows;   // that a block clears where they are empty
};

// A row that the end of a share cuts is a cut row. Its parts are the sums over what each share has
// of it. In memory, between blocks:
struct scratch {
    int32_t *limits;  // rows of the first and the last nonzero of every warp, or NULL
    int32_t *arrived; // of the row that is cut at the end of a block: how many blocks have left
                      // their part of it, or NULL
    int32_t *cut; // without `arrived`: the row that begins in a block and ends in a later one
    void *carry;  // parts, two slots a block: 0 for a row that began before it, 1 for one that
                  // began in it
};

// In shared memory, between the warps of a block:
template <typename T, int VEC> struct warp_parts {
    pack<T, VEC> head[MAX_WARPS][WARP]; // of the first row, where it began before and ends here
    pack<T, VEC> tail[MAX_WARPS][WARP]; // of the last row, where it goes on after
    int32_t first[MAX_WARPS], last[MAX_WARPS]; // rows
    int flags[MAX_WARPS];
};
// Flags of a share.
enum {
    ACTIVE = 1,       // it has nonzeros
    BEGAN_BEFORE = 2, // its first row began in an earlier share
    ENDS_ROW = 4,     // a row ends in it
    GOES_ON = 8,      // its last row goes on in the next share
};

// The lane's columns, from j on, of row i of C.
template <typename T, int VEC>
static __device__ __forceinline__ pack<T, VEC> *row_of_C(const struct sizes &a, T *C, int32_t i,
                                                         int32_t j)
{
    uint32_t step = a.C_step;
    opaque(step);
    return row_at<pack<T, VEC>>(C + j, step, (uint32_t)i);
}

#endif
