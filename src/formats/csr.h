// The format csr: compressed sparse rows in the memory of a device. The source of other formats,
// the input of most kernels, and the format of a sparse result.
#ifndef CSR_H
#define CSR_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

// A matrix that csr_place() made has memory for `idx` and `val` up to a multiple of four elements.
struct csr_dev {
    SPARSE_HEAD;
    int ptr_bytes; // size of a row start: 4 or 8; for an input that of device_ops.row_start_bytes
    void *ptr;     // row starts, size m + 1, int32_t or int64_t by ptr_bytes
    int32_t *idx;  // columns, ascending in a row, size nnz
    void *val;     // values, size nnz
};
extern const struct format format_csr;

static inline const struct csr_dev *csr_of(const struct sparse *X)
{
    return (const struct csr_dev *)X;
}

// Copies a matrix to a device, with values rounded to `type` and row starts of the device's size.
int csr_place(struct device *d, const struct csr *A, enum prec type, struct sparse **out);
// Returns the bytes of the arrays of a CSR matrix.
int64_t csr_bytes(int64_t rows, int64_t nnz, int ptr_bytes, enum prec type);
// Returns the start of row i of a matrix in host memory.
static inline int64_t csr_start(const struct csr_dev *A, int64_t i)
{
    return A->ptr_bytes == 8 ? ((const int64_t *)A->ptr)[i] : ((const int32_t *)A->ptr)[i];
}

#ifdef __cplusplus
}
#endif
#endif
