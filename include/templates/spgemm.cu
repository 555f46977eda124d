// KERNEL: SpGEMM on CUDA, R = A * S. A thread searches a row's products for one column at a time.
//
//     make && spbench conform -plugin ./KERNEL.so
//     spbench -op spgemm -plugin ./KERNEL.so -alg "KERNEL,cusparse*" MATRIX
#include "spbench_plugin.h"

#include <cuda_runtime.h>

typedef float T; // for f64: double here, and SPBENCH_F64 below

// Writes row i of R. The first call, without R.idx, only counts.
static __global__ void multiply(struct spbench_csr A, struct spbench_csr S, struct spbench_csr R)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int32_t *a = (int32_t *)A.ptr, *s = (int32_t *)S.ptr;
    int32_t *r = (int32_t *)R.ptr, count = 0;
    for (int32_t last = -1, next = 0; i < R.m && next < INT32_MAX; last = next) {
        T sum = 0;
        next = INT32_MAX; // the least column after `last`
        for (int32_t p = a[i]; p < a[i + 1]; p++)
            for (int32_t q = s[A.idx[p]]; q < s[A.idx[p] + 1]; q++) {
                if (S.idx[q] <= last || S.idx[q] > next) continue;
                if (S.idx[q] < next) next = S.idx[q], sum = 0;
                sum += ((T *)A.val)[p] * ((T *)S.val)[q];
            }
        if (R.idx && next < INT32_MAX) R.idx[r[i] + count] = next, ((T *)R.val)[r[i] + count] = sum;
        count += next < INT32_MAX;
    }
    if (!R.idx && i < R.m) r[i + 1] = count;
}

static __global__ void add_up(int64_t m, int32_t *r) // row starts of the counts
{
    for (int64_t i = r[0] = 0; i < m; i++) r[i + 1] += r[i];
}

static int run(struct spbench_task *t, void *stream)
{
    struct spbench_csr *R = t->R;
    cudaStream_t s = (cudaStream_t)stream;
    const unsigned blocks = (unsigned)(R->m / 64 + 1);
    int32_t nnz;
    if (t->host->alloc(t, (R->m + 1) * 4, &R->ptr)) return SPBENCH_NO_MEMORY;
    multiply<<<blocks, 64, 0, s>>>(*t->A, *t->S, *R);
    add_up<<<1, 1, 0, s>>>(R->m, (int32_t *)R->ptr);
    cudaMemcpyAsync(&nnz, (int32_t *)R->ptr + R->m, 4, cudaMemcpyDeviceToHost, s);
    if (cudaStreamSynchronize(s) != cudaSuccess) return SPBENCH_FAILED;
    R->nnz = nnz;
    if (t->host->alloc(t, R->nnz * 4, (void **)&R->idx)) return SPBENCH_NO_MEMORY;
    if (t->host->alloc(t, R->nnz * (int64_t)sizeof(T), &R->val)) return SPBENCH_NO_MEMORY;
    multiply<<<blocks, 64, 0, s>>>(*t->A, *t->S, *R);
    return cudaGetLastError() == cudaSuccess ? SPBENCH_OK : SPBENCH_FAILED;
}

static const struct spbench_algorithm algorithm = {
    sizeof algorithm, "KERNEL", "a search for each column of a row", "Own work", SPBENCH_SPGEMM,
    SPBENCH_ON_CUDA, SPBENCH_F32, 0, SPBENCH_CSR, NULL, 0, NULL, run, NULL};
static const struct spbench_algorithm *const list[] = {&algorithm};
const struct spbench_plugin spbench_plugin_v1 = {sizeof spbench_plugin_v1, "0.1", list, 1};
