// SpMM by the algorithm that is the fastest in trial runs, C = A * B.
//
// Format: CSR. Any k. The rule: select/auto_rules.h.
#include "select/auto.h"

static int prepare(struct task *t)
{
    const bool row = t->in[0].layout == LAYOUT_ROW;
    return pick_by_order(t, row ? &auto_cpu_spmm_row : &auto_cpu_spmm_col, clock_ms());
}

const struct algo spmm_auto_cpu = {
    AUTO_DENSE(prepare, BOTH_LAYOUTS, BOTH_PRECS, {"bundled", "rowsplit", "merge"})};

// The choice for CUDA is in auto.cu.
DECLARE_FUNCTIONS(spmm_auto_cuda);

const struct algo spmm_auto_cuda = {AUTO_DENSE(spmm_auto_cuda_prepare, BOTH_LAYOUTS, BY_TYPE_PRECS,
                                               {"narrow", "graded", "rowsplit", "naive"})};
