// SpMM by the algorithm that should be the fastest for the matrix, C = A * B.
//
// Format: CSR. Any k. The precision, k and the layout decide if narrow is a candidate. In row-major
// order the sizes and the longest row decide, too. The rule: select/auto_rules.h.
#include "select/auto.cuh"

extern "C" int spmm_auto_cuda_prepare(struct task *t)
{
    const double start = clock_ms();
    const bool row_major = t->in[0].layout == LAYOUT_ROW;
    const bool narrow = auto_is_narrow(t->C.cols, in_bytes(t), row_major);
    struct pick_order order = narrow ? auto_spmm_narrow : auto_spmm_col;
    if (row_major) {
        struct auto_counts count;
        int err = auto_count(t, auto_start_longest, &count);
        if (err) return err;
        order = auto_spmm_row(t->C.rows, t->C.cols, count.longest, t->dev->units, narrow);
    }
    return pick_by_order(t, &order, start);
}
