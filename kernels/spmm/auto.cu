// SpMM by the algorithm that should be the fastest for the matrix, C = A * B.
//
// Format: CSR. Any k. Sizes decide for `narrow`. Otherwise, in row-major order, the sizes and the
// longest row decide. The rule: select/auto_rules.h.
#include "select/auto.cuh"

extern "C" int spmm_auto_cuda_prepare(struct task *t)
{
    const double start = clock_ms();
    const bool row_major = t->in[0].layout == LAYOUT_ROW;
    struct pick_order order = auto_spmm_col;
    if (auto_is_narrow(t->C.rows, t->A[0]->nnz, t->C.cols, in_bytes(t), row_major)) {
        order = auto_spmm_narrow;
    } else if (row_major) {
        struct auto_counts count;
        int err = auto_count(t, auto_start_longest, &count);
        if (err) return err;
        order = auto_spmm_row(t->C.rows, t->C.cols, count.longest, t->dev->units);
    }
    return pick_by_order(t, &order, start);
}
