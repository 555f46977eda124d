// SDDMM by the loops that a compiler of tensor algebra generates, C = A .* (X * Y^T).
// Fredrik Kjolstad, Shoaib Kamil, Stephen Chou, David Lugato, Saman Amarasinghe: The Tensor Algebra
// Compiler, OOPSLA 2017. A baseline of Hong et al., PPoPP 2019.
//
// generated code                                here
// rows in parallel, dynamic chunks of 16        multiply()
// nonzeros of a row, then the sum over k        row()
//
// Format: CSR. Any k. The C compiler alone makes vectors of the sum. `omp simd` allows the order of
// additions that the authors' option -ffast-math allows.
#include "cpu.h"
#include "papers.h"

#define BODY "sddmm/taco.inl"
#include "each_kind.inl"

static int run(struct task *t)
{
    BY_KIND(t, multiply, csr_of(t->A[0]), &t->in[0], &t->in[1], t->val);
    return OK;
}

const struct algo sddmm_taco_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .cite = KJOLSTAD_2017,
    .differs =
        "The loops are written by hand, with row starts of 64 bits. A's value scales the sum "
        "over k, not each of its products.",
    .run = run,
};
