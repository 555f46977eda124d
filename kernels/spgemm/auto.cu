// SpGEMM by the algorithm that should be the fastest for the matrix, C = A * S.
//
// Format: CSR. The formats of the chosen algorithm are made from CSR. The number of products and
// the fill of the 16 x 16 tiles of A decide. Both are counted in a sample of the rows of A. Rules
// and candidates: select/auto_rules.h.
#include "select/auto.cuh"

static int prepare(struct task *t) { return auto_prepare_sparse(t, auto_spgemm_cuda()); }

extern const struct algo spgemm_auto_cuda = {AUTO_SPARSE(AUTO_SPGEMM_CUDA_PICKS)};
