// SpMM on padded sliced ELLPACK (SELL-P), C = A * B, row-major.
// Hartwig Anzt, Stanimire Tomov, Jack Dongarra: Accelerating the LOBPCG method on GPUs using a
// blocked sparse matrix vector product, HPC 2015. MAGMA has this kernel, a baseline of Yang, Buluc,
// Owens, Euro-Par 2018.
//
// Format: SELL-P, see sellp.h. Any k. A warp's share is one row of A, and its slab has 32 columns
// of C, one per lane. The ROWS warps of a block have neighbouring rows, so that together they read
// whole sectors of the slice's columns. A warp loads a batch of BATCH entries at a time. Padding
// makes the batch independent of the row's length. The warp stops at the first padding, which ends
// the row.
//
// Limits: the longest row of a slice is the work of one warp, with a quarter of the loads in flight
// of rowsplit. H200: 0.17 to 0.26 of the speed of cuSPARSE's best algorithm.
#include "formats/sellp.h"
#include "operands.cuh"

#define ROWS  8 // rows of a block: 8 columns of 4 bytes are one sector of 32
#define BATCH 8 // entries that are loaded before the first is used

template <typename T>
static __global__ void __launch_bounds__(ROWS *WARP)
    multiply(struct sizes a, int32_t slice, const int64_t *__restrict__ ptr,
             const int32_t *__restrict__ idx, const T *__restrict__ val, const T *__restrict__ B,
             T *__restrict__ C)
{
    const int lane = lane_id();
    // Broadcasts tell the compiler that all lanes have the same value.
    const int64_t i = (int64_t)blockIdx.x * ROWS + warp_broadcast(threadIdx.y, 0);
    if (i >= a.m) return;
    const int32_t s = (int32_t)i / slice, r = (int32_t)i % slice;
    const int64_t begin = warp_broadcast(ptr[s], 0) + r, end = warp_broadcast(ptr[s + 1], 0);
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y) {
        const int32_t j = slab * WARP + lane;
        const T *b = B + (j < a.k ? j : 0); // lanes past the last column load the first one
        T sum = 0;
        bool more = true;
        for (int64_t p = begin; p < end && more; p += (int64_t)BATCH * slice) {
            int32_t col[BATCH];
            T v[BATCH], x[BATCH];
#pragma unroll
            for (int q = 0; q < BATCH; q++) { // past the end: the first entry again
                const int64_t at = p + (int64_t)q * slice;
                col[q] = idx[at < end ? at : p];
                v[q] = val[at < end ? at : p];
                if (at >= end) col[q] = -1;
            }
            uint32_t step = a.B_step;
            opaque(step);
#pragma unroll
            for (int q = 0; q < BATCH; q++)
                x[q] = *row_at<const T>(b, step, (uint32_t)max(col[q], 0));
#pragma unroll
            for (int q = 0; q < BATCH; q++)
                if (col[q] >= 0) sum += v[q] * x[q];
            more = warp_broadcast(col[BATCH - 1], 0) >= 0;
        }
        if (j < a.k) row_at<T>(C, a.C_step, (uint32_t)i)[j] = sum;
    }
}

template <typename T> static void start(const struct task *t)
{
    const struct sizes *a = (const struct sizes *)t->state;
    const struct sellp *A = sellp_of(t->A[0]);
    auto kernel = multiply<T>;
    LAUNCH(kernel, slab_grid(ceil_div(a->m, ROWS), a), dim3(WARP, ROWS), 0, t->dev->stream, *a,
           A->slice, A->ptr, A->idx, (const T *)A->val, (const T *)t->in[0].val, (T *)t->C.val);
}

extern "C" int spmm_sellp_cuda_prepare(struct task *t)
{
    struct sizes *a = (struct sizes *)mem_zero_alloc(1, sizeof *a);
    t->state = a;
    return a ? sizes_set(t, 1, a) : ERR_MEMORY;
}

extern "C" int spmm_sellp_cuda_run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}
