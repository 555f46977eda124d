// SELL-P: sliced ELLPACK with padded rows (Anzt, Tomov, Dongarra; the MAGMA baseline of paper 1).
//
// Rows are cut into slices of `slice` rows. Every row of a slice is padded to the length of its
// longest one, rounded up to a multiple of `pad`. A slice is stored column by column: entry j of
// row r of slice s is at ptr[s] + j * slice + r. Padding has column -1 and value 0.
#ifndef SELLP_H
#define SELLP_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sellp {
    int32_t m, n;
    int32_t slice, pad;
    int64_t nnz;    // without padding
    int64_t slices; // ceil(m / slice)
    int64_t stored; // with padding, = ptr[slices]
    int64_t *ptr;   // slice starts, size slices + 1
    int32_t *idx;   // columns, -1 where padded, size stored
    double *val;    // values, 0 where padded, size stored
};

int sellp_from_csr(const struct csr *A, int32_t slice, int32_t pad, struct sellp *out);
int sellp_to_csr(const struct sellp *A, struct csr *out);
void sellp_free(struct sellp *A);
// NULL if every invariant holds, else what is broken.
const char *sellp_check(const struct sellp *A);

#ifdef __cplusplus
}
#endif
#endif
