// SpMM with a thread per element of C, C = A * B, column-major.
// "Optimizing Tiled Sparse Matrix Multiplication with Performance Modeling on GPUs", figure 3: the
// baseline that equation 2 of the paper models.
//
// Format: CSR. Any k. The thread of element (i, j) computes the inner product of row i of A and
// column j of B. Neighbouring threads have neighbouring rows, so a warp writes whole sectors of C.
//
// Limits: loads of A and B are not coalesced, and the longest row of a warp determines its time.
// H200, k = 64: 0.55 of the speed of cuSPARSE's best algorithm (geometric mean of 69 matrices),
// 0.01 if rows are few.
#include "device/once.cuh"
#include "kernel.cuh"

#define THREADS 256 // threads of a block, a row of A each
#define MOST_Y  65535

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    multiply(int64_t m, int64_t k, const int32_t *__restrict__ ptr, const int32_t *__restrict__ idx,
             const T *__restrict__ val, const T *__restrict__ B, int64_t B_ld, void *__restrict__ C,
             int64_t C_ld, bool narrow)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= m) return;
    const int32_t begin = ptr[i], end = ptr[i + 1];
    for (int64_t j = blockIdx.y; j < k; j += gridDim.y) {
        const T *b = B + j * B_ld;
        sum_type<T> sum = 0;
        for (int32_t p = begin; p < end; p++) sum += widen(val[p]) * widen(b[idx[p]]);
        store_result<T, 1>(C, j * C_ld + i, narrow, {{sum}});
    }
}

template <typename T> static void start(const struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    auto kernel = multiply<T>;
    LAUNCH(kernel, dim3((unsigned)ceil_div(C->rows, THREADS), (unsigned)min64(C->cols, MOST_Y)),
           THREADS, 0, t->dev->stream, C->rows, C->cols, (const int32_t *)A->ptr, A->idx,
           (const T *)A->val, (const T *)B->val, B->ld, C->val, C->ld, result_is_narrow(t));
}

extern "C" int spmm_naive_cuda_run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_TYPE(t, start, t);
    return launch_check(t->entry->name);
}
