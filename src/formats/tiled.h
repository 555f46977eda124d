// The tiles of Tiled SpMM ("Optimizing Tiled Sparse Matrix Multiplication with Performance Modeling
// on GPUs", section 2.5): panels of rows that share what they read of B.
//
// panel    `rows` neighbouring segments, one for each thread of a block
// segment  a row, or a piece of one that was cut since it is too long
// stage    up to `stage` of the distinct columns that a panel has entries in, ascending over its
//          stages; the map says which. All stages of a panel are full but for its last one
// slice    the entries of a warp's 32 segments in one stage, as sliced ELLPACK: each segment padded
//          to the longest of the 32. Entry j of lane l is at start + 32 j + l
//
// An entry has 16 bits for its place among the columns of its stage. Padding has the place `stage`,
// where there is no column, and value 0: a kernel that keeps a 0 there may compute with padding,
// whatever B holds, and one that does not stops at it, as it ends a segment's part of a stage.
//
// What becomes of the matrix on the way, as the paper has it: long rows are cut (section 4.1), then
// the segments are sorted by their patterns (4.2), both where the numbers say that it helps:
// sorting in that panels have fewer columns, by more than C has more pieces that it is written in.
// The sums of cut rows' segments, "parts", are added up afterwards. With `permute` the rows of C
// are left in the order of the segments, and `order` says whose they are.
//
// tiled.c        what it consists of, the way back
// tiled_check.c  whether it is in order
// tiled_plan.h   which rows are cut; what these files share
// tiled_order.c  rows to segments, and their order, on the host
// tiled_make.c   segments to panels, on the host
// tiled.cu       all of it on the device, with tiled_segments.cuh
#ifndef TILED_H
#define TILED_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLICE            32    // segments of a slice: a warp's
#define TILED_SLABS_MOST 65535 // that are told apart

// How long segments may be: mu is the mean length of a row, U the number of blocks for each
// multiprocessor, with rows uncut. A block that is not full counts as the part that is: so segments
// of U mu are as many as fill a block on each multiprocessor, also where there are few rows.
enum tiled_cut {
    TILED_WHOLE, // rows are not cut
    TILED_MU,    // since lengths differ by more than their mean, or balance=1
    TILED_U_MU,  // since the blocks of all slabs keep too few multiprocessors busy
};

struct tiled {
    SPARSE_HEAD;
    int32_t rows;       // of a panel, whole slices
    int32_t stage;      // columns of a stage at most
    int32_t panels;     // ceil(segments / rows)
    int64_t segments;   // m, and more where rows are cut
    int32_t cuts;       // rows that are cut
    int64_t parts;      // the segments of these
    int64_t stages;     // of all panels
    int64_t mapped;     // columns of all stages
    int64_t stored;     // entries with padding
    double utilisation; // U
    enum tiled_cut cut;
    bool reordered;    // segments are sorted by their patterns
    int64_t *panel;    // first stage of each panel, size panels + 1
    int64_t *map_ptr;  // first column of each stage, size stages + 1
    int32_t *map;      // columns, size mapped
    int64_t *slice;    // first entry of each slice, stage by stage, size stages * rows / 32 + 1
    uint16_t *idx;     // places in the stage, size stored
    void *val;         // values, size stored
    int64_t *to;       // where the sums of each segment go: row of C, or -1 - part; size segments.
                       // NULL: segment i is row i
    int32_t *cut_row;  // rows of C that are cut, size cuts; NULL with `to`
    int64_t *cut_part; // first part of each of them, size cuts + 1; NULL with `to`
    int32_t *order;    // row of the matrix that row i of C is, size m; NULL: i
};
extern const struct format format_tiled;

static inline const struct tiled *tiled_of(const struct sparse *X)
{
    return (const struct tiled *)X;
}

static inline int64_t tiled_slices(const struct tiled *A) { return A->stages * (A->rows / SLICE); }

#ifdef __cplusplus
}
#endif
#endif
