// SpMM by the definition, C = A * B: one sum for each element of C, in double. Serial, any layout.
// The results of all other kernels are compared with this one.
#include "cpu.h"

#define BODY "spmm/reference.inl"
#include "each_prec.inl"

static int run(struct task *t)
{
    BY_PREC(t, multiply, csr_of(t->A[0]), &t->in[0], &t->C);
    return OK;
}

const struct algo spmm_reference_cpu = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_DOUBLE,
    .cite = "C_ij = sum over l of A_il * B_lj",
    .reference = true,
    .run = run,
};
