// SDDMM by rows, C = A .* (X * Y^T): the simplest kernel, for comparison.
//
// Format: CSR. Any k. A warp takes a row of A and computes its nonzeros one by one. The lanes
// multiply neighbouring elements of a row of X and a row of Y, and add up their parts by shuffle.
//
// Limits: a row is never split, so the longest row bounds the time from below. A warp loads only
// one row of Y at a time.
#include "device/once.cuh"
#include "kernel.cuh"

#define WARPS 4 // warps of a block, a row each

template <typename T>
static __global__ void __launch_bounds__(WARPS *WARP)
    multiply(int32_t m, uint32_t k, const int32_t *__restrict__ ptr,
             const int32_t *__restrict__ idx, const T *__restrict__ val, const T *__restrict__ X,
             int64_t X_ld, const T *__restrict__ Y, int64_t Y_ld, void *__restrict__ C, bool narrow)
{
    const int lane = lane_id();
    const int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.y;
    if (i >= m) return;
    const T *x = X + i * X_ld;
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) {
        const T *y = Y + idx[p] * Y_ld;
        sum_type<T> sum = 0;
        for (uint32_t l = (uint32_t)lane; l < k; l += WARP) sum += widen(x[l]) * widen(y[l]);
        sum = warp_sum(sum);
        if (lane == 0) store_result<T, 1>(C, p, narrow, {{widen(val[p]) * sum}});
    }
}

template <typename T> static void start(const struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct dense_dev *X = &t->in[0], *Y = &t->in[1];
    auto kernel = multiply<T>;
    LAUNCH(kernel, (unsigned)ceil_div(A->m, WARPS), dim3(WARP, WARPS), 0, t->dev->stream,
           (int32_t)A->m, (uint32_t)X->cols, (const int32_t *)A->ptr, A->idx, (const T *)A->val,
           (const T *)X->val, X->ld, (const T *)Y->val, Y->ld, t->val, result_is_narrow(t));
}

extern "C" int sddmm_rowwise_cuda_run(struct task *t)
{
    if (t->A[0]->nnz == 0) return OK;
    BY_TYPE(t, start, t);
    return launch_check(t->entry->name);
}
