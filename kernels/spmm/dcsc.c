// SpMM on DCSC by row panels, C = A * B, row-major.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 3 and figure 4 (b): the second of
// three ways to traverse A that the paper compares.
//
// Format: DCSC, see dcsc.h. Any k. A thread's share is a panel. For each nonzero column of the
// panel, a slab of the row of B is in vector registers. The column's entries add the slab to their
// rows of C. The panel's slab of C stays in the cache.
#include "cpu.h"
#include "papers.h"
#include "formats/dcsc.h"

#define BODY "spmm/dcsc.inl"
#include "each_kind.inl"

static int run(struct task *t)
{
    BY_KIND(t, multiply, dcsc_of(t->A[0]), &t->in[0], &t->C);
    return OK;
}

const struct algo spmm_dcsc_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_dcsc},
    .arith = ARITH_PREC,
    .cite = HONG_2019 ", section 3",
    .differs = "The paper gives no number of columns of C per pass; here at most 128 in f32, 64 in "
               "f64.",
    .run = run,
};

// The kernels for CUDA are in dcsc.cu.
DECLARE_FUNCTIONS(spmm_dcsc_cuda);

const struct algo spmm_dcsc_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_dcsc},
    .arith = ARITH_PREC,
    .cite = HONG_2019 ", section 3",
    .differs = "The paper measures a many-core CPU. Here a warp has a panel and 32 columns.",
    ALGO_FUNCTIONS(spmm_dcsc_cuda_prepare, spmm_dcsc_cuda_run, task_free_state),
};
