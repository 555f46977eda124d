// A result of any kind on the host, read row by row: dense, values on the pattern of A, or sparse.
#ifndef OUTPUT_H
#define OUTPUT_H

#include "algos/algo.h"

struct output_view {
    const struct problem *p;
    enum layout layout; // dense: as it lay on the device, lines without gaps
    int64_t nnz;        // sparse: nonzeros
    int64_t *ptr;       // sparse: row starts, size rows + 1
    int64_t first;      // sparse: index of the nonzero in idx[0] and val[0]
    int32_t *idx;       // sparse: columns
    void *val;
    int32_t *place;   // dense: where row i lies in it, size rows; NULL: at i
    char broken[160]; // what is wrong with it as a structure; "": nothing
};

// Where it lies if it is there before a run; else no bytes.
struct device_block output_block(const struct task *t);
// Fills all of it with NaN, if it is there before a run.
int output_poison(struct task *t);
// Copies it to the host, and looks at its structure. ERR_UNCHECKED where host memory does not do.
int output_download(const struct task *t, const struct problem *p, struct output_view *out);
void output_free(struct output_view *R);
// Copies only the sizes and row starts of a sparse result, and checks them.
int output_starts(const struct task *t, const struct problem *p, struct output_view *out);
// Copies the entries of row i to idx and val, and checks the columns.
int output_row(const struct task *t, struct output_view *R, int64_t i);

// What a result holds: its values, and of a sparse one the row starts and columns.
#define RESULT_ARRAYS 3
struct output_sums {
    int64_t nnz;
    int32_t m, n;                       // of a sparse one
    struct digest array[RESULT_ARRAYS]; // [0]: the values
};
// Of what a run, and finish(), have left on the device.
int output_digest(struct task *t, struct output_sums *out);
// Whether they agree in every bit; and whether they do but for the values.
bool output_same(const struct output_sums *x, const struct output_sums *y);
bool output_same_structure(const struct output_sums *x, const struct output_sums *y);
// Spoils some of its values, so that what is not written again is seen. Not the structure: who
// computes a product again may keep that.
int output_spoil(struct task *t, uint64_t seed);

// Elements of row i; the column of element e of it, and its value.
int64_t output_count(const struct output_view *R, int64_t i);
int64_t output_col(const struct output_view *R, int64_t i, int64_t e);
double output_at(const struct output_view *R, int64_t i, int64_t e);

// The error of a check whose own memory ran out: it says nothing about the algorithm.
int unchecked(int err);

#endif
