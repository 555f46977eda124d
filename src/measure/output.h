// The result of a run on its device: poisoned, copied to the host, read row by row, compared by a
// digest. A result is dense, has values on the pattern of A (SDDMM), or is sparse.
#ifndef OUTPUT_H
#define OUTPUT_H

#include "algos/algo.h"

struct output_view {
    const struct problem *p;
    enum layout layout; // dense: layout on the device; lines have no gaps here
    int64_t nnz;        // sparse: nonzeros
    int64_t *ptr;       // sparse: row starts, size rows + 1
    int64_t first;      // sparse: index of the nonzero in idx[0] and val[0]
    int32_t *idx;       // sparse: columns
    void *val;
    int32_t *place;   // dense: index of row i in val, size rows; NULL: i
    char broken[160]; // fault of the structure; "": none
};

// Returns the device memory of the result; no bytes if only a run allocates the result.
struct device_block output_block(const struct task *t);
// Fills this memory with NaN.
int output_poison(struct task *t);
// Returns true if the arrays of a sparse result have the lengths that its sizes ask for.
bool output_is_whole(const struct task *t);
// Copies the result to the host and checks its structure. ERR_UNCHECKED: no host memory.
int output_download(const struct task *t, const struct problem *p, struct output_view *out);
void output_free(struct output_view *R);
// Copies only the sizes and row starts of a sparse result, and checks them.
int output_starts(const struct task *t, const struct problem *p, struct output_view *out);
// Copies the entries of row i to idx and val, and checks the columns.
int output_row(const struct task *t, struct output_view *R, int64_t i);

// Arrays of a result: values; of a sparse result also row starts and columns.
#define OUTPUT_ARRAYS 3
struct output_bits {
    int64_t nnz;
    int32_t m, n;                 // size of a sparse result
    uint64_t bits[OUTPUT_ARRAYS]; // digests; [0]: of the values
};
// Sets `out` to the digests of the result that a run and finish() have left on the device.
int output_digest(struct task *t, struct output_bits *out);
// Returns true if two results agree in every bit.
bool output_same(const struct output_bits *x, const struct output_bits *y);
// Changes some values, so that a run which does not write them again is found. The structure stays:
// an algorithm may keep the structure of a product that it computes again.
int output_spoil(struct task *t, uint64_t seed);
// Sets `v` to the values of a result that is not sparse.
struct device_view output_values(const struct task *t);
// Reads a word of each page of a result in host memory.
void output_touch(const struct task *t);

// Return the number of elements of row i; the column and the value of its element e.
int64_t output_count(const struct output_view *R, int64_t i);
int64_t output_col(const struct output_view *R, int64_t i, int64_t e);
double output_at(const struct output_view *R, int64_t i, int64_t e);

// Returns ERR_UNCHECKED for ERR_MEMORY: a check without memory is no fault of the algorithm.
int unchecked(int err);

#endif
