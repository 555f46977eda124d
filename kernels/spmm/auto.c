// SpMM by the algorithm with the least predicted time, C = A * B.
//
// Format: CSR, and the format of the selected algorithm, converted from CSR. Any k. The rules use
// the row lengths, the sizes and k. Rules and candidates: auto_rules.h.
#include "select/auto_cpu.h"

static int prepare(struct task *t)
{
    return auto_prepare_dense(t, t->in[0].layout == LAYOUT_ROW ? auto_spmm_cpu_row()
                                                               : auto_spmm_cpu_col());
}

const struct algo spmm_auto_cpu = {AUTO_DENSE(BOTH_LAYOUTS, BOTH_PRECS, AUTO_SPMM_CPU_PICKS)};
