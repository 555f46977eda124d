// The format coocols: row and column of each entry, sorted by columns, and its place in CSR.
#ifndef COOCOLS_H
#define COOCOLS_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct coocols {
    SPARSE_HEAD;
    int32_t *row, *col; // ascending columns, ascending rows in a column, size nnz each
    int32_t *place;     // place in CSR, size nnz
    void *val;          // size nnz
};
extern const struct format format_coocols;

static inline const struct coocols *coocols_of(const struct sparse *X)
{
    return (const struct coocols *)X;
}

#ifdef __cplusplus
}
#endif
#endif
