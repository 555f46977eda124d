// Reference of SDDMM, C = A .* (X * Y^T): a dot product for each nonzero of A. Serial, summed in
// double. Results of the other kernels are compared with this one's.
#include "cpu.h"

#define BODY "sddmm/reference.inl"
#include "each_prec.inl"

static int run(struct task *t)
{
    BY_PREC(t, multiply, csr_of(t->A[0]), &t->in[0], &t->in[1], t->val);
    return OK;
}

const struct algo sddmm_reference_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_DOUBLE,
    .cite = "C_ij = A_ij * sum over l of X_il * Y_jl",
    .reference = true,
    .run = run,
};
