// SDDMM by the algorithm that should be the fastest for the matrix, C = A .* (X * Y^T).
//
// Format: CSR, and what the picked one asks for, made of it. Any k. The choice is by the row
// lengths, the sizes and k. Rules and candidates: auto_rules.h.
#include "select/auto.cuh"

static int prepare(struct task *t) { return auto_prepare_dense(t, auto_sddmm_cuda()); }

extern const struct algo sddmm_auto_cuda = {AUTO_DENSE(ROW_MAJOR, AUTO_SDDMM_CUDA_PICKS)};
