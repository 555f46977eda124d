// Arrays of the result of SpGEMM. The caller frees the arrays, also after an error.
#ifndef SPGEMM_RESULT_H
#define SPGEMM_RESULT_H

#include "algos/algo.h"

#include <string.h>

// Makes an empty C and allocates its row starts of `ptr_bytes` each.
static inline int result_begin(const struct task *t, int ptr_bytes, struct csr_dev *C)
{
    memset(C, 0, sizeof *C);
    C->format = &format_csr;
    C->type = prec_out(t->prec);
    C->m = t->A[0]->m, C->n = t->S[0]->n;
    C->ptr_bytes = ptr_bytes;
    return device_alloc(t->dev, (int64_t)C->m + 1, (size_t)ptr_bytes, &C->ptr);
}

// Allocates columns and values for C->nnz nonzeros.
static inline int result_alloc(struct device *d, struct csr_dev *C)
{
    int err = device_alloc(d, C->nnz, sizeof *C->idx, (void **)&C->idx);
    return err ? err : device_alloc(d, C->nnz, type_bytes(C->type), &C->val);
}

// Sums up row lengths to row starts and allocates C. Before, ptr[i + 1] is the length of row i, 8
// bytes in host memory. Sets *longest to the length of the longest row.
static inline int result_sum_rows(struct device *d, struct csr_dev *C, int64_t *longest)
{
    int64_t *ptr = (int64_t *)C->ptr;
    *longest = ptr[0] = 0;
    for (int32_t i = 0; i < C->m; i++) {
        *longest = max64(*longest, ptr[i + 1]);
        ptr[i + 1] += ptr[i];
    }
    C->nnz = ptr[C->m];
    return result_alloc(d, C);
}

#endif
