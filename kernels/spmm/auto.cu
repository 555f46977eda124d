// SpMM by the algorithm with the least predicted time, C = A * B.
//
// Format: CSR, and the format of the selected algorithm, converted from CSR. Any k. The rules use
// the row lengths, the sizes and k. Rules and candidates: auto_rules.h. Row-major, aspt and
// merge-tuned as candidates would gain 0.02 in the mean, and aspt would cost its format.
#include "select/auto.cuh"

static int prepare(struct task *t)
{
    return auto_prepare_dense(t, t->in[0].layout == LAYOUT_ROW ? auto_spmm_cuda_row()
                                                               : auto_spmm_cuda_col());
}

extern const struct algo spmm_auto_cuda = {AUTO_DENSE(BOTH_LAYOUTS, AUTO_SPMM_CUDA_PICKS)};
