// SpGEMM by the algorithm that should be the fastest for the matrix, C = A * S.
//
// Format: CSR, and what the picked one asks for, made of it. The choice is by the products and by
// how full the 16 x 16 tiles of A are, both counted in a sample of its rows. Rules and candidates:
// auto_rules.h.
#include "select/auto.cuh"

static int prepare(struct task *t) { return auto_prepare_sparse(t, auto_spgemm_cuda()); }

extern const struct algo spgemm_auto_cuda = {AUTO_SPARSE(AUTO_SPGEMM_CUDA_PICKS)};
