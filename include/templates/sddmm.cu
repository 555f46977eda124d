// KERNEL: SDDMM on CUDA, C = A .* (X * Y^T), row-major. A thread for each row of A.
//
//     make && spbench conform -plugin ./KERNEL.so
//     spbench -op sddmm -plugin ./KERNEL.so -alg "KERNEL,cusparse*" -k 64 MATRIX
#include "spbench_plugin.h"

#include <cuda_runtime.h>

typedef float T; // for f64: double here, and SPBENCH_F64 below

static __global__ void multiply(int64_t m, int64_t k, const int32_t *ptr, const int32_t *idx,
                                const T *val, const T *X, int64_t X_ld, const T *Y, int64_t Y_ld,
                                T *C)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) {
        T sum = 0;
        for (int64_t l = 0; l < k; l++) sum += X[i * X_ld + l] * Y[idx[p] * Y_ld + l];
        C[p] = val[p] * sum;
    }
}

static int run(struct spbench_task *t, void *stream)
{
    const struct spbench_csr *A = t->A;
    const struct spbench_dense *X = t->B, *Y = t->Y;
    cudaStream_t s = (cudaStream_t)stream;
    if (!A->m) return SPBENCH_OK;
    const unsigned blocks = (unsigned)((A->m + 63) / 64);
    multiply<<<blocks, 64, 0, s>>>(A->m, X->cols, (int32_t *)A->ptr, A->idx, (T *)A->val,
                                   (T *)X->val, X->ld, (T *)Y->val, Y->ld, (T *)t->C_val);
    return cudaGetLastError() == cudaSuccess ? SPBENCH_OK : SPBENCH_FAILED;
}

static const struct spbench_algorithm algorithm = {
    .size = sizeof algorithm,
    .name = "KERNEL",
    .about = "one thread for each row of A",
    .cite = "Own work",
    .operation = SPBENCH_SDDMM,
    .device = SPBENCH_ON_CUDA,
    .precisions = SPBENCH_F32,
    .layouts = 0,
    .formats = SPBENCH_CSR,
    .options = NULL,
    .option_count = 0,
    .prepare = NULL,
    .run = run,
    .teardown = NULL,
};
static const struct spbench_algorithm *const algorithms[] = {&algorithm};
const struct spbench_plugin spbench_plugin_v1 = {sizeof spbench_plugin_v1, "0.1", algorithms, 1};
