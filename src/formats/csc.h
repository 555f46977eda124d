// The format csc: compressed sparse columns. The arrays of A in csc are those of A^T in csr.
#ifndef CSC_H
#define CSC_H

#include "formats/csr.h"

#ifdef __cplusplus
extern "C" {
#endif

struct csc_dev {
    SPARSE_HEAD;
    int ptr_bytes; // size of a column start: 4 or 8, as in the source
    void *ptr;     // column starts, size n + 1, int32_t or int64_t by ptr_bytes
    int32_t *idx;  // rows, ascending in a column, size nnz
    void *val;     // values, size nnz
};
extern const struct format format_csc;

static inline const struct csc_dev *csc_of(const struct sparse *X)
{
    return (const struct csc_dev *)X;
}

// Makes A^T in csr from A in csr, on a device with a maker of csc. Does not wait for the device.
int csc_transpose(struct device *d, const struct sparse *A, struct sparse **out);

// Allocates the arrays as csr_place() does: `idx` and `val` up to a multiple of four elements.
int csc_alloc(struct device *d, struct csc_dev *X);

#ifdef __cplusplus
}
#endif
#endif
