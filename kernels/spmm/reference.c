// SpMM, C = A * B, as it is written down: one sum for each element of C. Serial, any layout, summed
// in double. Nothing here is clever: it is what the other kernels are compared with.
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
