// SpGEMM by the algorithm that should be the fastest for the matrix, C = A * S.
//
// Format: CSR. The formats of the chosen algorithm are made from CSR. The mean number of nonzeros in
// the 16 x 16 tiles of A decides, counted in a sample of the rows. The rule: select/auto_rules.h.
#include "select/auto.cuh"

extern "C" int spgemm_auto_cuda_prepare(struct task *t)
{
    const double start = clock_ms();
    struct auto_counts count;
    int err = auto_count(t, auto_start_tiles, &count);
    if (err) return err;
    const double fill = count.tiles ? (double)count.nonzeros / (double)count.tiles : 0;
    const struct pick_order order = auto_spgemm(fill);
    task_number(t, "fill", fill);
    return pick_by_order(t, &order, start);
}
