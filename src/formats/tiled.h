// The format of Tiled SpMM ("Optimizing Tiled Sparse Matrix Multiplication with Performance
// Modeling on GPUs", section 2.5): panels of rows that share rows of B in shared memory.
//
// panel    `rows` neighbouring segments, a segment per thread of a block
// segment  a row, or a piece of a row that was cut because of its length
// stage    up to `stage` of the distinct columns of a panel, ascending over the panel's stages.
//          The map lists the columns. All stages of a panel but the last are full
// slice    the entries of a warp's 32 segments in a stage, as sliced ELLPACK: segments are padded
//          to the longest of the 32. Entry j of lane l is at start + 32 j + l
// part     the sum of a segment of a cut row. A second kernel adds the parts of a row
//
// An entry has a 16-bit place: the index of its column in the stage. Padding has the place `stage`,
// which is no column, and the value 0. A kernel that stores a row of zeros at that place computes
// with padding. Other kernels stop at the first padding of a segment's part of the stage.
//
// Long rows are cut (section 4.1 of the paper), then segments are sorted by their patterns (4.2),
// both only if the cost decreases. Sorting pays if panels lose more columns than C gains pieces of
// contiguous rows. With `permute` the rows of C stay in the order of the segments: see `order`.
//
// tiled.c        arrays, descriptor
// tiled_plan.h   the decision to cut rows; declarations for these files
// tiled_order.c  rows to segments, and their order, on the host
// tiled_make.c   segments to panels, on the host
// tiled.cu       the format on the device, with tiled_segments.cuh
#ifndef TILED_H
#define TILED_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLICE            32    // segments of a slice, a warp
#define TILED_SLABS_MOST 65535 // largest value of the option slabs

// Longest segment. mu: mean length of a row. U: number of full blocks of uncut rows per
// multiprocessor, which may be a fraction. With segments of U mu entries there is a full block for
// each multiprocessor.
enum tiled_cut {
    TILED_WHOLE, // rows are not cut
    TILED_MU,    // mu: the standard deviation of lengths is above mu, or balance=1
    TILED_U_MU,  // U mu: the blocks of all slabs are too few for the multiprocessors
};

struct tiled {
    SPARSE_HEAD;
    int32_t rows;       // segments of a panel, a multiple of 32
    int32_t stage;      // most columns of a stage
    int32_t panels;     // ceil(segments / rows)
    int64_t segments;   // m, or more if rows are cut
    int32_t cuts;       // number of cut rows
    int64_t parts;      // segments of cut rows
    int64_t stages;     // stages of all panels
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
    int64_t *to;       // target of the sums of each segment: row of C, or -1 - part; size segments.
                       // NULL: segment i is row i
    int32_t *cut_row;  // rows of C that are cut, size cuts; NULL with `to`
    int64_t *cut_part; // first part of each cut row, size cuts + 1; NULL with `to`
    int32_t *order;    // row of the matrix for each row of C, size m; NULL: the same
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
