// Counts of the loads of `naive` and `tiled`, from the sparsity pattern: elements of A and of a
// column of B, and cache lines that warps touch. tiled_model.h predicts times from the counts.
//
// Columns of B begin with a cache line. A line has 64 bytes: an H200 loads as many random rows of
// 64 bytes a second as of 32. A warp that loads 32 elements of a column of B touches each line that
// holds an element. Neighbouring elements touch as few lines as aligned elements: the next warp
// uses the rest of a line.
#ifndef TILED_COUNTS_H
#define TILED_COUNTS_H

#include "algos/op.h"

#define TILED_WARP 32
#define TILED_LINE 64 // bytes of a line: two sectors, which come from memory together

struct tiled_counts {
    int64_t rows, nnz;    // size of A
    int64_t segments;     // rows, or segments of rows that are cut
    int64_t columns;      // columns of A with a nonzero
    int64_t loads;        // loads of elements of one column of B
    int64_t lines[TYPES]; // lines that warps touch in these loads, by type of the values
    int64_t stored;       // entries of A that are read, padding included
};

// Kept counts of a matrix. They depend neither on k nor on the precision.
struct tiled_counts_cache {
    struct source *source;
    struct tiled_counts_kept *list; // size count
    int count;
};
void tiled_counts_init(struct tiled_counts_cache *of, struct source *s);
void tiled_counts_free(struct tiled_counts_cache *of);

// Counts for a thread per row: step p of a warp loads the p-th nonzero of each row, and its element
// of B.
int tiled_counts_of_rows(struct tiled_counts_cache *of, struct tiled_counts *out);

// Counts for panels of `rows` segments. Rows with more than `longest` nonzeros (0: no limit) are
// cut into segments of `longest` nonzeros and the rest. The distinct columns of a panel, ascending,
// are cut into stages of `stage` columns. A stage loads its elements of B once; a warp loads 32
// that are neighbours in the list. The nonzeros of a warp's segments in a stage form a slice: each
// segment is padded to the longest, also empty ones behind the last.
int tiled_counts_of_stages(struct tiled_counts_cache *of, int64_t rows, int64_t stage,
                           int64_t longest, struct tiled_counts *out);

#endif
