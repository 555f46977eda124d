// SpMM on DCSC by row panels, C = A * B, row-major.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 3 and figure 4 (b): the second of
// three ways to traverse A that the paper compares.
//
// Format: DCSC, see dcsc.h. Any k. A block is a warp. Its share is a panel and a slab of 32 columns
// of C, one per lane. The slab is in shared memory, and each lane has its own sums. The warp goes
// through the nonzero columns of the panel in order. The elements of B for a batch of BATCH columns
// are loaded to registers at once. The entries of a column then add to their rows of C.
//
// Limits: a panel is the work of one warp. H200: dcsc has a tenth to a sixth of the speed of aspt,
// and is slower than CSR at every density of the paper's figure 5.
#include "formats/dcsc.h"
#include "operands.cuh"

#define BATCH        4
#define SHARED_BYTES (48 << 10) // shared memory of a block that every GPU has

template <typename T>
static __global__ void __launch_bounds__(WARP)
    multiply(struct sizes a, int32_t panel, const int64_t *__restrict__ ptr,
             const int64_t *__restrict__ start, const int32_t *__restrict__ col,
             const int32_t *__restrict__ row, const T *__restrict__ val, const T *__restrict__ B,
             T *__restrict__ C)
{
    SHARED_DYNAMIC(T, sums);
    const int lane = lane_id();
    const int32_t first = (int32_t)((int64_t)blockIdx.x * panel);
    const int32_t rows = min(panel, a.m - first);
    const int64_t begin = ptr[blockIdx.x], end = ptr[blockIdx.x + 1];
    T *mine = sums + lane;
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y) {
        const int32_t j = slab * WARP + lane;
        const T *b = B + (j < a.k ? j : 0); // lanes past the last column load the first one
        for (int32_t r = 0; r < rows; r++) mine[r * WARP] = 0;
        for (int64_t x = begin; x < end; x += BATCH) {
            T held[BATCH];
            uint32_t step = a.B_step;
            opaque(step);
#pragma unroll
            for (int q = 0; q < BATCH; q++) // past the end: the first one again
                held[q] = *row_at<const T>(b, step, (uint32_t)col[x + q < end ? x + q : x]);
#pragma unroll
            for (int q = 0; q < BATCH; q++) {
                if (x + q >= end) break;
                const int64_t last = start[x + q + 1];
                for (int64_t p = start[x + q]; p < last; p++)
                    mine[(row[p] - first) * WARP] += val[p] * held[q];
            }
        }
        for (int32_t r = 0; r < rows && j < a.k; r++)
            row_at<T>(C, a.C_step, (uint32_t)(first + r))[j] = mine[r * WARP];
    }
}

static size_t shared_bytes(const struct task *t)
{
    return (size_t)dcsc_of(t->A[0])->panel * WARP * in_bytes(t);
}

template <typename T> static void start(const struct task *t)
{
    const struct sizes *a = (const struct sizes *)t->state;
    const struct dcsc *A = dcsc_of(t->A[0]);
    auto kernel = multiply<T>;
    LAUNCH(kernel, slab_grid(A->panels, a), WARP, shared_bytes(t), t->dev->stream, *a, A->panel,
           A->ptr, A->start, A->col, A->row, (const T *)A->val, (const T *)t->in[0].val,
           (T *)t->C.val);
}

extern "C" int spmm_dcsc_cuda_prepare(struct task *t)
{
    if (shared_bytes(t) > SHARED_BYTES)
        return fail(ERR_UNSUPPORTED, "a panel has at most %d rows in %s; -opt panel=%d has more",
                    (int)(SHARED_BYTES / (WARP * in_bytes(t))), prec_name(t->prec),
                    (int)dcsc_of(t->A[0])->panel);
    struct sizes *a = (struct sizes *)mem_zero_alloc(1, sizeof *a);
    t->state = a;
    return a ? sizes_set(t, 1, a) : ERR_MEMORY;
}

extern "C" int spmm_dcsc_cuda_run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}
