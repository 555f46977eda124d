// SDDMM by one nonzero after another, X * Y^T on the pattern of A: the kernel DDS of BIDMach.
// John Canny, Huasha Zhao: BIDMach: Large-scale Learning with Zero Memory Allocation, BigLearn
// 2013. A baseline of Hong et al., PPoPP 2019.
//
// DDS of BIDMach                            here
// grid and threads of a block               start()
// equal shares of the nonzeros              multiply(): [first, end)
// dot product, shuffles, shared memory      multiply(): loop over p
//
// Format: coocols. Any k. Deterministic. All threads of a block compute the dot product of the same
// nonzero. Each warp adds up its part by shuffle, then the parts are added in shared memory.
//
// Limits: the block waits at barriers for each nonzero, and has loads of one nonzero in flight.
#include "formats/coocols.h"
#include "kernel.cuh"

// The authors' constants.
#define BLOCKS_MAX    16384
#define BLOCK_SHARE   128 // nonzeros of a block, more from BLOCKS_MAX blocks on
#define WARPS_MAX     32
#define WARP_ELEMENTS 64 // elements of a row of X per warp, more from WARPS_MAX warps on

template <typename T>
static __global__ void __launch_bounds__(WARPS_MAX *WARP)
    multiply(int64_t nnz, uint32_t k, const int32_t *__restrict__ row,
             const int32_t *__restrict__ col, const int32_t *__restrict__ place,
             const T *__restrict__ X, int64_t X_ld, const T *__restrict__ Y, int64_t Y_ld,
             T *__restrict__ C)
{
    __shared__ T part[WARPS_MAX];
    const unsigned warp = threadIdx.y, warps = blockDim.y;
    const int64_t first = blockIdx.x * nnz / gridDim.x, end = (blockIdx.x + 1) * nnz / gridDim.x;
    for (int64_t p = first; p < end; p++) {
        const T *x = X + row[p] * X_ld, *y = Y + col[p] * Y_ld;
        T sum = 0;
        for (uint32_t l = warp * WARP + threadIdx.x; l < k; l += warps * WARP) sum += x[l] * y[l];
        sum = warp_sum(sum);
        if (threadIdx.x == 0) part[warp] = sum;
        for (unsigned step = 1; step < warps; step *= 2) {
            __syncthreads();
            if (threadIdx.x == 0 && warp % (2 * step) == 0 && warp + step < warps)
                part[warp] += part[warp + step];
        }
        __syncthreads();
        if (threadIdx.x == 0 && warp == 0) C[place[p]] = part[0];
    }
}

template <typename T> static void start(const struct task *t)
{
    const struct coocols *A = coocols_of(t->A[0]);
    const struct dense_dev *X = &t->in[0], *Y = &t->in[1];
    const int64_t blocks = min64(BLOCKS_MAX, max64(1, A->nnz / BLOCK_SHARE));
    const int64_t warps = min64(WARPS_MAX, 1 + (X->cols - 1) / WARP_ELEMENTS);
    auto kernel = multiply<T>;
    LAUNCH(kernel, (unsigned)blocks, dim3(WARP, (unsigned)warps), 0, t->dev->stream, A->nnz,
           (uint32_t)X->cols, A->row, A->col, A->place, (const T *)X->val, X->ld, (const T *)Y->val,
           Y->ld, (T *)t->val);
}

extern "C" int sddmm_bidmach_cuda_run(struct task *t)
{
    if (t->A[0]->nnz == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}
