// KERNEL: SpMM on the CPU, C = A * B, row-major. Threads share the rows.
//
//     make && spbench conform -plugin ./KERNEL.so
//     spbench -plugin ./KERNEL.so -alg KERNEL,rowsplit -k 64 MATRIX
#include "spbench_plugin.h"

typedef float T; // for f64: double here, and SPBENCH_F64 below

static int run(struct spbench_task *t, void *stream)
{
    const struct spbench_csr *A = t->A;
    const struct spbench_dense *B = t->B, *C = t->C;
    const int64_t *ptr = A->ptr; // row starts
    const T *val = A->val, *b = B->val;
    T *c = C->val;
    (void)stream;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < A->m; i++) {
        for (int64_t j = 0; j < C->cols; j++) c[i * C->ld + j] = 0;
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
            for (int64_t j = 0; j < C->cols; j++)
                c[i * C->ld + j] += val[p] * b[A->idx[p] * B->ld + j];
    }
    return SPBENCH_OK;
}

static const struct spbench_algorithm algorithm = {
    .size = sizeof algorithm,
    .name = "KERNEL",
    .about = "rows shared by threads",
    .cite = "Own work",
    .operation = SPBENCH_SPMM,
    .device = SPBENCH_ON_CPU,
    .precisions = SPBENCH_F32,
    .layouts = SPBENCH_ROW_MAJOR,
    .formats = SPBENCH_CSR,
    .run = run,
};
static const struct spbench_algorithm *const algorithms[] = {&algorithm};
const struct spbench_plugin spbench_plugin_v1 = {sizeof spbench_plugin_v1, "0.1", algorithms, 1};
