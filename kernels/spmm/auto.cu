// SpMM by the algorithm with the least predicted time, C = A * B.
//
// Format: CSR, and the format of the selected algorithm, converted from CSR. Any k. The rules use
// the row lengths, the sizes and k. Rules and candidates: auto_rules.h. Row-major, aspt and
// merge-tuned as candidates would gain 0.02 in the mean, and aspt would cost its format.
//   Column-major, graded is taken up to k = 16: on 29 matrices on an H100 tiled-tuned takes 1.53 (k
// = 1) and 1.38 (k = 8) times as long, but 0.89 at k = 64.
#include "select/auto.cuh"

#define NARROW 16 // columns

static int prepare(struct task *t)
{
    if (t->in[0].layout == LAYOUT_COL && t->C.cols <= NARROW) {
        task_text(t, "picked", "graded");
        return delegate_prepare(t, "graded");
    }
    return auto_prepare_dense(t, t->in[0].layout == LAYOUT_ROW ? auto_spmm_cuda_row()
                                                               : auto_spmm_cuda_col());
}

extern const struct algo spmm_auto_cuda = {AUTO_DENSE(BOTH_LAYOUTS, AUTO_SPMM_CUDA_PICKS)};
