// Sparse matrices on the host, with values in double. The upload rounds values to the type of a
// case. Row and column numbers have 32 bits, counts of nonzeros 64.
#ifndef MATRIX_H
#define MATRIX_H

#include "base/base.h"
#include "base/prec.h"

#ifdef __cplusplus
extern "C" {
#endif

// Triplets, in any order, with duplicates allowed.
struct coo {
    int32_t m, n; // rows, columns
    int64_t nnz;  // entries
    int32_t *row; // row of each entry, size nnz
    int32_t *col; // column, size nnz
    double *val;  // value, size nnz
};

// Compressed sparse rows: 0 = ptr[0] <= ptr[1] <= ... <= ptr[m] = nnz; columns of a row strictly
// ascending and in [0, n).
struct csr {
    int32_t m, n;
    int64_t nnz;
    int64_t *ptr; // row starts, size m + 1
    int32_t *idx; // columns, size nnz
    double *val;  // values, size nnz
};

void coo_free(struct coo *A);

// Returns true if the matrix is refused: it has a side of over SIDE_MOST, and fewer entries than
// one for each SIDE_PER_ENTRY rows or columns. Arrays as long as a side would take all memory: info
// of a file of 70 bytes with 10^9 rows took 7.8 GB and 25 s. The longest side in the SuiteSparse
// collection is 2.3 * 10^8, with more entries than rows.
#define SIDE_MOST      ((int64_t)1 << 28)
#define SIDE_PER_ENTRY 8
#define SIDE_RULE      "over %lld rows or columns need an entry for each %d"
bool matrix_is_hollow(int64_t m, int64_t n, double entries);

// Allocates the arrays for these sizes, with undefined contents.
int csr_alloc(struct csr *A, int32_t m, int32_t n, int64_t nnz);
void csr_free(struct csr *A);
// Makes CSR of triplets. Duplicates are summed in the order of the triplets; explicit zeros stay.
// Sets *duplicates, if not NULL, to the number of entries that were added to another. Parallel.
int csr_from_coo(const struct coo *A, struct csr *out, int64_t *duplicates);
// csr_from_coo() for one triangle of a square matrix: adds (j, i, mirror * x) for each entry
// (i, j, x) outside of the diagonal. `mirror`: 1, -1 for a skew-symmetric matrix, or 0 for none.
int csr_from_coo_mirrored(const struct coo *A, double mirror, struct csr *out, int64_t *duplicates);
int csr_transpose(const struct csr *A, struct csr *out);
// Returns NULL if every invariant holds, else the broken invariant as text.
const char *csr_check(const struct csr *A);

#ifdef __cplusplus
}
#endif
#endif
