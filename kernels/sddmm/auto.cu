// SDDMM by the algorithm that should be the fastest for the matrix, C = A .* (X * Y^T).
//
// Format: CSR, and what the picked one asks for, made of it. Any k. The choice is by the row
// lengths, the sizes and k. Rules and candidates: auto_rules.h.
#include "auto.cuh"

static int prepare(struct task *t) { return auto_prepare_dense(t, auto_sddmm_cuda()); }

static const struct param options[] = {PICK_OPTION, {}};

extern const struct algo sddmm_auto_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .about = "picks the one that should be the fastest, by sizes, row lengths and k",
    .cite = "Own work",
    .picks = AUTO_SDDMM_CUDA_PICKS,
    .prepare = prepare,
    .run = delegate_run,
    .teardown = delegate_teardown,
};
