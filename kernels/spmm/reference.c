// SpMM, C = A * B, as it is written down: one sum for each element of C. Serial, any layout, summed
// in double. Nothing here is clever: it is what the other kernels are compared with.
#include "cpu.h"

#define PREC f32
#define T    float
#include "reference.inl"
#undef PREC
#undef T
#define PREC f64
#define T    double
#include "reference.inl"

static int run(struct task *t)
{
    if (t->in->prec == F32) {
        multiply_f32(&t->A, &t->B, &t->C);
    } else {
        multiply_f64(&t->A, &t->B, &t->C);
    }
    return OK;
}

const struct algo spmm_reference_cpu = {
    .name = "reference",
    .op = OP_SPMM,
    .device = DEVICE_CPU,
    .layouts = BIT(LAYOUT_ROW) | BIT(LAYOUT_COL),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_DOUBLE,
    .about = "the definition, one element of C after another, serial, summed in double",
    .cite = "C_ij = sum over l of A_il * B_lj",
    .run = run,
};
