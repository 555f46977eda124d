// KERNEL: SpMM on CUDA, C = A * B, row-major. A thread for each element of C.
//
//     make && spbench conform -plugin ./KERNEL.so
//     spbench -plugin ./KERNEL.so -alg "KERNEL,cusparse*" -k 64 MATRIX
#include "spbench_plugin.h"

#include <cuda_runtime.h>

typedef float T; // for f64: double here, and SPBENCH_F64 below

static __global__ void multiply(int64_t m, int64_t k, const int32_t *ptr, const int32_t *idx,
                                const T *val, const T *B, int64_t B_ld, T *C, int64_t C_ld)
{
    const int64_t element = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t i = element / k, j = element % k;
    if (i >= m) return;
    T sum = 0;
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) sum += val[p] * B[idx[p] * B_ld + j];
    C[i * C_ld + j] = sum;
}

static int run(struct spbench_task *t, void *stream)
{
    const struct spbench_csr *A = t->A;
    const struct spbench_dense *B = t->B, *C = t->C;
    const int64_t count = C->rows * C->cols;
    cudaStream_t s = (cudaStream_t)stream;
    if (!count) return SPBENCH_OK;
    const unsigned blocks = (unsigned)((count + 255) / 256);
    multiply<<<blocks, 256, 0, s>>>(C->rows, C->cols, (int32_t *)A->ptr, A->idx, (T *)A->val,
                                    (T *)B->val, B->ld, (T *)C->val, C->ld);
    return cudaGetLastError() == cudaSuccess ? SPBENCH_OK : SPBENCH_FAILED;
}

static const struct spbench_algorithm algorithm = {
    .size = sizeof algorithm,
    .name = "KERNEL",
    .about = "one thread for each element of C",
    .cite = "Own work",
    .operation = SPBENCH_SPMM,
    .device = SPBENCH_ON_CUDA,
    .precisions = SPBENCH_F32,
    .layouts = SPBENCH_ROW_MAJOR,
    .formats = SPBENCH_CSR,
    .options = NULL,
    .option_count = 0,
    .prepare = NULL,
    .run = run,
    .teardown = NULL,
};
static const struct spbench_algorithm *const algorithms[] = {&algorithm};
const struct spbench_plugin spbench_plugin_v1 = {sizeof spbench_plugin_v1, "0.1", algorithms, 1};
