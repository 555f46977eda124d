// SDDMM by the algorithm that should be the fastest for the matrix, C = A .* (X * Y^T).
//
// Format: CSR. The formats of the chosen algorithm are made from CSR. Any k. Row lengths, sizes and
// k decide. Rules and candidates: select/auto_rules.h.
#include "select/auto.cuh"

static int prepare(struct task *t) { return auto_prepare_dense(t, auto_sddmm_cuda()); }

extern const struct algo sddmm_auto_cuda = {AUTO_DENSE(ROW_MAJOR, AUTO_SDDMM_CUDA_PICKS)};
