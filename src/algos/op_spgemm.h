// The functions of SpGEMM's row in the table of operations (op.c).
#ifndef OP_SPGEMM_H
#define OP_SPGEMM_H

#include "algos/op.h"

int spgemm_make(struct inputs *in);
int64_t spgemm_flops(const struct inputs *in);
int64_t spgemm_bytes(const struct inputs *in, int64_t result_nnz);
int64_t spgemm_row_terms(const struct inputs *in, int32_t i);
int spgemm_project(const struct inputs *in, double *restrict want, double *restrict mag);
void spgemm_row(const struct inputs *in, int32_t i, struct sparse_row *row);

// A matrix in CSR with 32-bit indices, as the bounds count it.
int64_t op_csr_bytes(int64_t rows, int64_t nnz, enum prec prec);
// ERR_UNSUPPORTED if a sum of A's values times up to `factor` could become infinite.
int op_refuse_overflow(const struct inputs *in, double factor);

#endif
