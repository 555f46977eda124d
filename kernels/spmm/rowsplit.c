// SpMM by rows (row split), C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 4.1, carried over to a CPU: the paper gives a row to a warp and the
// columns of B to its lanes; here a row belongs to a thread and the columns to vector registers.
//
// Format: CSR. Any k. Rows of very different lengths cost balance: threads take `chunk` rows at a
// time, as they get free, but one row is never cut.
#include "cpu.h"
#include "papers.h"

#include <omp.h>

#define PREC f32
#define T    float
#include "cpu_row.inl"
#include "rowsplit.inl"
#undef PREC
#undef T
#define PREC f64
#define T    double
#include "cpu_row.inl"
#include "rowsplit.inl"

static int run(struct task *t)
{
    if (t->in->prec == F32) {
        multiply_f32(t);
    } else {
        multiply_f64(t);
    }
    return OK;
}

static const struct algo_option options[] = {
    {"chunk", 64, 1, 1 << 20, true, "rows that a thread takes at a time, at most"},
    {"prefetch", 32, 0, 1024, true, "nonzeros that rows of B are fetched ahead of their use"},
    {0},
};

const struct algo spmm_rowsplit_cpu = {
    .name = "rowsplit",
    .op = OP_SPMM,
    .device = DEVICE_CPU,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = options,
    .about = "a row per thread, vectorised over the columns of B",
    .cite = YANG_2018 ", section 4.1",
    .run = run,
};
