// SpGEMM by the algorithm that should be the fastest for the matrix, C = A * S.
//
// Format: CSR. The formats of the chosen algorithm are made from CSR. A sample of the rows gives the
// mean number of nonzeros in the 16 x 16 tiles of A, and the products. The rule:
// select/auto_rules.h.
#include "select/auto.cuh"

extern "C" int spgemm_auto_cuda_prepare(struct task *t)
{
    const double start = clock_ms();
    struct auto_counts count;
    int err = auto_count(t, auto_start_tiles, &count);
    if (err) return err;
    const double looked = (double)count.nonzeros, all = (double)t->A[0]->nnz;
    const double fill = count.tiles ? looked / (double)count.tiles : 0;
    const double products = looked > 0 ? (double)count.products * (all / looked) : 0;
    const struct pick_order order = auto_spgemm(t->A[0]->m, t->A[0]->nnz, fill, products, t->dev->units);
    task_number(t, "fill", fill);
    task_number(t, "products_near", products);
    return pick_by_order(t, &order, start);
}
