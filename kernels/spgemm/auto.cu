// SpGEMM by the algorithm that should be the fastest for the matrix, C = A * S.
//
// Format: CSR, and what the picked one asks for, made of it. The choice is by the products and by
// how full the 16 x 16 tiles of A are, both counted in a sample of its rows. Rules and candidates:
// auto_rules.h.
#include "auto.cuh"

static int prepare(struct task *t) { return auto_prepare_sparse(t, auto_spgemm_cuda()); }

static const struct param options[] = {PICK_OPTION, {}};

extern const struct algo spgemm_auto_cuda = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .about = "picks the one that should be the fastest, by products and how full tiles are",
    .cite = "Own work",
    .differs = "Where it picks tiles the result stays in tiles, and they are made of A beforehand.",
    .picks = AUTO_SPGEMM_CUDA_PICKS,
    .prepare = prepare,
    .run = delegate_run,
    .teardown = delegate_teardown,
    .finish = delegate_finish,
    .release = delegate_release,
};
