// SpMM by the loops that a compiler of tensor algebra generates, C = A * B, row-major.
// Fredrik Kjolstad, Shoaib Kamil, Stephen Chou, David Lugato, Saman Amarasinghe: The Tensor Algebra
// Compiler, OOPSLA 2017. A baseline of Hong et al., PPoPP 2019.
//
// generated code                                here
// C is set to zero                              clear()
// rows in parallel, dynamic chunks of 16        multiply()
// nonzeros of a row, then k columns innermost   row()
//
// Format: CSR. Any k. The C compiler alone makes vectors of the inner loop. A row of C is loaded
// and stored for each nonzero: the next nonzero waits for the store.
#include "cpu.h"
#include "papers.h"

#define BODY "spmm/taco.inl"
#include "each_kind.inl"

static int run(struct task *t)
{
    BY_KIND(t, multiply, csr_of(t->A[0]), &t->in[0], &t->C);
    return OK;
}

const struct algo spmm_taco_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .cite = KJOLSTAD_2017,
    .differs = "The loops are written by hand, with row starts of 64 bits.",
    .run = run,
};
