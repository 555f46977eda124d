// Counts of what the warps of a kernel touch of A and of a column of B, from the sparsity pattern.
// The model of tiled_model.h uses the counts. Columns of B are taken to begin with a cache line. A line
// has 64 bytes: an H200 loads as many random rows of 64 bytes a second as of 32.
//
// A warp that loads 32 elements of a column of B touches as many lines as hold one of them. Where
// the elements are neighbours, it is as many as if they were aligned: the rest of a line is used by
// the next warp.
#ifndef TILED_COUNTS_H
#define TILED_COUNTS_H

#include "algos/op.h"

#define ACCESS_WARP 32
#define ACCESS_LINE 64 // bytes that come from memory at a time: two sectors

struct tiled_counts {
    int64_t rows, nnz; // of A
    int64_t segments;  // rows, or pieces of those that are cut
    int64_t columns;   // of A that hold a nonzero
    int64_t loads;     // of elements of one column of B
    int64_t lines[2];  // that warps touch in these loads, by precision
    int64_t stored;    // entries of A that are read, padding included
};

// Counts of a matrix, kept for the next call: they depend neither on k nor on the precision.
struct tiled_counts_cache {
    struct source *source;
    struct tiled_counts_kept *list; // size count
    int count;
};
void tiled_counts_init(struct tiled_counts_cache *of, struct source *s);
void tiled_counts_free(struct tiled_counts_cache *of);

// A thread for each row: its p-th nonzero is loaded in the warp's step p, B's element with it.
int tiled_counts_of_rows(struct tiled_counts_cache *of, struct tiled_counts *out);

// Panels of `rows` segments: rows, and of those of more than `longest` nonzeros (0: of none) pieces
// of so many and the rest. The distinct columns of a panel, ascending, are cut into stages of
// `stage` columns: of each its elements of B are loaded once, 32 neighbours in the list by a warp.
// The nonzeros of a warp's segments in a stage are a slice, of which each segment, also one behind
// the last, is padded to the longest.
int tiled_counts_of_stages(struct tiled_counts_cache *of, int64_t rows, int64_t stage, int64_t longest,
                     struct tiled_counts *out);

#endif
