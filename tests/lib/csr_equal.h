// Equal matrices in CSR.
#ifndef CSR_EQUAL_H
#define CSR_EQUAL_H

#include <string.h>

#include "data/matrix.h"

static inline bool csr_equal(const struct csr *A, const struct csr *B)
{
    return A->m == B->m && A->n == B->n && A->nnz == B->nnz &&
           !memcmp(A->ptr, B->ptr, ((size_t)A->m + 1) * sizeof *A->ptr) &&
           !memcmp(A->idx, B->idx, (size_t)A->nnz * sizeof *A->idx) &&
           !memcmp(A->val, B->val, (size_t)A->nnz * sizeof *A->val);
}

#endif
