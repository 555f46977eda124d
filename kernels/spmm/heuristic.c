// SpMM by row split or merge, selected by the mean row length, C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 5.4.
//
// Format: CSR. Any k. The mean row length is d = nnz / m. Below the threshold merge runs, otherwise
// row split. Both run with their default options.
#include "select/delegate.h"
#include "papers.h"

static int prepare(struct task *t)
{
    const double d = t->C.rows ? (double)t->A[0]->nnz / (double)t->C.rows : 0;
    const char *name = t->algo->picks[d < task_option(t, "threshold") ? 0 : 1];
    task_text(t, "picked", name);
    return delegate_prepare(t, name);
}

// `threshold`: the paper's value, fitted to a K40c, is right for 95.9 % of the matrices there.
// H200, 39 matrices: right for 64 to 77 %, by case. The best threshold of each case is right for 69
// to 82 %.
static const struct algo_option options[] = {
    {"threshold", 9.35, 0, 1e9, false, "mean row length from which row split is picked"},
    {0},
};

const struct algo spmm_heuristic_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BY_TYPE_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = YANG_2018 ", section 5.4",
    .picks = {"merge", "rowsplit"},
    ALGO_FUNCTIONS(prepare, delegate_run, delegate_teardown),
};
