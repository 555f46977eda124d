// KERNEL: SDDMM on the CPU, C = A .* (X * Y^T), row-major. Threads share the rows.
//
//     make && spbench conform -plugin ./KERNEL.so
//     spbench -op sddmm -plugin ./KERNEL.so -alg KERNEL,balanced -k 64 MATRIX
#include "spbench_plugin.h"

typedef float T; // for f64: double here, and SPBENCH_F64 below

static int run(struct spbench_task *t, void *stream)
{
    const struct spbench_csr *A = t->A;
    const struct spbench_dense *X = t->B, *Y = t->Y;
    const int64_t *ptr = A->ptr; // row starts
    const T *val = A->val;
    T *c = t->C_val; // a value for each nonzero of A
    (void)stream;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < A->m; i++) {
        const T *x = (const T *)X->val + i * X->ld;
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
            const T *y = (const T *)Y->val + A->idx[p] * Y->ld;
            T sum = 0;
            for (int64_t l = 0; l < X->cols; l++) sum += x[l] * y[l];
            c[p] = val[p] * sum;
        }
    }
    return SPBENCH_OK;
}

static const struct spbench_algorithm algorithm = {
    .size = sizeof algorithm,
    .name = "KERNEL",
    .about = "rows shared by threads",
    .cite = "Own work",
    .operation = SPBENCH_SDDMM,
    .device = SPBENCH_ON_CPU,
    .precisions = SPBENCH_F32,
    .formats = SPBENCH_CSR,
    .run = run,
};
static const struct spbench_algorithm *const algorithms[] = {&algorithm};
const struct spbench_plugin spbench_plugin_v1 = {sizeof spbench_plugin_v1, "0.1", algorithms, 1};
