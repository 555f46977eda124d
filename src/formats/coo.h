// The format coo: row and column of each entry, in the order of CSR.
#ifndef COO_H
#define COO_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct coo_dev {
    SPARSE_HEAD;
    int32_t *row, *col; // ascending rows, ascending columns in a row, size nnz each
    void *val;          // size nnz
};
extern const struct format format_coo;

static inline const struct coo_dev *coo_of(const struct sparse *X)
{
    return (const struct coo_dev *)X;
}

#ifdef __cplusplus
}
#endif
#endif
