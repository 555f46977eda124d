// Data structures that the files of merge share: the split, and the parts of cut rows.
#ifndef MERGE_PARTS_H
#define MERGE_PARTS_H

#include "option_limits.h"
#include "spmm/operands.cuh"

// The split of the nonzeros. Warp w has nonzeros w * share to (w + 1) * share - 1.
struct split {
    int32_t nnz;
    int32_t share;  // a multiple of 32
    int32_t blocks; // blocks that have nonzeros
    int32_t rows;   // rows that a block clears if they are empty
};

// Buffers in memory, between blocks. A cut row is a row with nonzeros in several shares. Its parts
// are the sums over the nonzeros in each share.
struct scratch {
    int32_t *limits;  // rows of the first and the last nonzero of each warp, or NULL
    int32_t *arrived; // blocks that have stored their part of a cut row, or NULL
    int32_t *cut;     // without `arrived`: row that begins in a block and ends in a later block
    void *carry; // parts, two slots per block: 0 for a row that began before the block, 1 for a row
                 // that began in the block
};

// Buffers in shared memory, between the warps of a block.
template <typename S, int VEC> struct warp_parts {
    pack<S, VEC> head[MERGE_WARPS][WARP]; // part of the first row, if begun before and ended here
    pack<S, VEC> tail[MERGE_WARPS][WARP]; // part of the last row, if the row goes on
    int32_t first[MERGE_WARPS], last[MERGE_WARPS]; // rows
    int flags[MERGE_WARPS];
};
// Flags of a share.
enum {
    ACTIVE = 1,       // the share has nonzeros
    BEGAN_BEFORE = 2, // its first row began in an earlier share
    ENDS_ROW = 4,     // a row ends in the share
    GOES_ON = 8,      // its last row goes on in the next share
};

#endif
