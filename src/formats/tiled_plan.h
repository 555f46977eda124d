// Declarations for the files of the format tiled: options, the decision to cut rows, segments on
// the host.
#ifndef TILED_PLAN_H
#define TILED_PLAN_H

#include <math.h>

#include "base/mix.h" // HOST_DEVICE
#include "formats/csr.h"
#include "formats/tiled.h"

// Indices of the format's options.
enum { TILED_ROWS, TILED_STAGE, TILED_BALANCE, TILED_REORDER, TILED_PERMUTE, TILED_SLABS };

// Figure 6 of the paper: blocks per multiprocessor below which rows are cut. H200, f32, k = 64:
// without cuts `tiled` takes 1.74 times the time (geometric mean of 69 matrices), 151 times on
// nw04_A, 0.60 on dnn_n1024-l1.
#define TILED_BUSY 0.65

// Sets the sizes of a panel, and T->cut as in figure 6. Returns the length of the longest segment;
// 0 if rows are not cut. `squares`: sum of the squares of the row lengths.
static inline int64_t tiled_decide(struct tiled *T, const double *opt, int64_t squares, int units)
{
    T->rows = (int32_t)(((int64_t)opt[TILED_ROWS] + SLICE - 1) / SLICE * SLICE);
    T->stage = (int32_t)opt[TILED_STAGE];
    T->cut = TILED_WHOLE;
    T->utilisation = (double)T->m / ((double)T->rows * (units > 0 ? units : 1));
    if (!T->nnz || opt[TILED_BALANCE] == 0) return 0;
    const double mean = (double)T->nnz / T->m;
    if (T->utilisation * fmax(1, opt[TILED_SLABS]) < TILED_BUSY) {
        T->cut = TILED_U_MU;
        return (int64_t)ceil(T->utilisation * mean);
    }
    // sigma > mu, with sigma^2 = mean of the squares - mu^2.
    const bool uneven = (double)squares / T->m > 2 * mean * mean;
    if (!uneven && opt[TILED_BALANCE] < 0) return 0;
    T->cut = TILED_MU;
    return (int64_t)ceil(mean);
}

// Returns the segments of a row with `length` entries. An empty row has a segment.
static HOST_DEVICE inline int64_t tiled_pieces(int64_t length, int64_t longest)
{
    return longest && length > longest ? (length + longest - 1) / longest : 1;
}

// Returns true if target `to` follows target `before` of the segment before: the next row or the
// next part. Otherwise a new piece of C begins.
static HOST_DEVICE inline bool tiled_follows(int64_t before, int64_t to)
{
    return to == before + (to >= 0 ? 1 : -1);
}

#ifdef __cplusplus
extern "C" {
#endif

// The segments in order, in host memory.
struct segments {
    int64_t count;
    int64_t *first, *end; // entries of A, size count
    int64_t *to;          // row of A, or -1 - part for a cut row, size count
};
// Cuts rows into segments of up to `longest` entries (0: of any length). Makes T->cut_row and
// T->cut_part.
int tiled_cut_rows(struct device *d, const struct csr_dev *A, int64_t longest, struct tiled *T,
                   struct segments *s);
// Sorts segments by their patterns: as binary numbers with column 0 as the highest bit, the largest
// first. Stable. H200, f32, k = 64, 69 matrices: sorting all matrices takes 1.27 times the time
// (0.40 on ogbl-ddi, 3.4 on qc324), 1.16 times with C permuted.
int tiled_sort(const struct csr_dev *A, struct segments *s);
// Makes T->to from the segments, and T->order with `permute`.
int tiled_place(struct device *d, const struct segments *s, bool permute, struct tiled *T);
void segments_free(struct segments *s);

// make() of the format.
int tiled_make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out);

#ifdef __cplusplus
}
#endif
#endif
