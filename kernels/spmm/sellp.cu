// SpMM on padded sliced ELLPACK, C = A * B, row-major.
// Hartwig Anzt, Stanimire Tomov, Jack Dongarra: Accelerating the LOBPCG method on GPUs using a
// blocked sparse matrix vector product, HPC 2015; in MAGMA, and a baseline of Yang, Buluc, Owens,
// Euro-Par 2018.
//
// Format: SELL-P, see sellp.h. Any k. One warp computes 32 columns of one row of C, one column a
// lane. ROWS warps of a block have neighbouring rows, so that together they read whole sectors of
// the slice's columns. A warp takes BATCH entries of its row at a time, which padding makes
// independent of the row's length; it stops at the first padded entry, as padding ends a row.
#include "kernel.cuh"

#define ROWS  8 // rows of a block: 8 columns of 4 bytes are one sector of 32
#define BATCH 8 // entries whose loads are under way at once

struct problem {
    int32_t m, k, slabs, slice;
    uint32_t B_step, C_step; // bytes from one row to the next
};

template <typename T>
static __global__ void __launch_bounds__(ROWS *WARP)
    multiply(struct problem a, const int64_t *__restrict__ ptr, const int32_t *__restrict__ idx,
             const T *__restrict__ val, const T *__restrict__ B, T *__restrict__ C)
{
    const int lane = lane_id();
    // Broadcasts tell the compiler that all lanes agree.
    const int64_t i = (int64_t)blockIdx.x * ROWS + warp_broadcast(threadIdx.y, 0);
    if (i >= a.m) return;
    const int32_t s = (int32_t)i / a.slice, r = (int32_t)i % a.slice;
    const int64_t begin = warp_broadcast(ptr[s], 0) + r, end = warp_broadcast(ptr[s + 1], 0);
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y) {
        const int32_t j = slab * WARP + lane;
        const T *b = B + (j < a.k ? j : 0); // lanes past the last column load the first one
        T sum = 0;
        bool more = true;
        for (int64_t p = begin; p < end && more; p += (int64_t)BATCH * a.slice) {
            int32_t col[BATCH];
            T v[BATCH], x[BATCH];
#pragma unroll
            for (int q = 0; q < BATCH; q++) { // past the end: the first entry again
                const int64_t at = p + (int64_t)q * a.slice;
                col[q] = idx[at < end ? at : p];
                v[q] = val[at < end ? at : p];
                if (at >= end) col[q] = -1;
            }
            uint32_t step = a.B_step;
            opaque(step);
#pragma unroll
            for (int q = 0; q < BATCH; q++) {
                const uint32_t row = (uint32_t)max(col[q], 0);
                x[q] = *(const T *)((const char *)b + (uint64_t)row * step);
            }
#pragma unroll
            for (int q = 0; q < BATCH; q++)
                if (col[q] >= 0) sum += v[q] * x[q];
            more = warp_broadcast(col[BATCH - 1], 0) >= 0;
        }
        if (j < a.k) *((T *)((char *)C + i * a.C_step) + j) = sum;
    }
}

template <typename T> static void start(const struct task *t)
{
    const struct sellp_dev *A = &t->sellp;
    const struct problem a = {A->m,
                              (int32_t)t->C.cols,
                              (int32_t)ceil_div(t->C.cols, WARP),
                              A->slice,
                              (uint32_t)(t->B.ld * (int64_t)sizeof(T)),
                              (uint32_t)(t->C.ld * (int64_t)sizeof(T))};
    const dim3 grid((unsigned)ceil_div(a.m, ROWS), (unsigned)min64(a.slabs, 65535));
    auto kernel = multiply<T>;
    LAUNCH(kernel, grid, dim3(WARP, ROWS), 0, t->dev->stream, a, A->ptr, A->idx, (const T *)A->val,
           (const T *)t->B.val, (T *)t->C.val);
}

static int prepare(struct task *t)
{
    if (max64(t->B.ld, t->C.ld) * (int64_t)prec_bytes(t->in->prec) > UINT32_MAX)
        return fail(ERR_UNSUPPORTED, "sellp: a row of B has more than 4 GB");
    return OK;
}

static int run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    if (t->in->prec == F32) {
        start<float>(t);
    } else {
        start<double>(t);
    }
    return launch_check("sellp");
}

// Defaults: those of MAGMA's own tester.
static const struct algo_option options[] = {
    {"slice", 8, 1, 1024, true, "rows of a slice"},
    {"pad", 8, 1, 1024, true, "row lengths of a slice are rounded up to a multiple of this"},
    {},
};

extern const struct algo spmm_sellp_cuda = {
    .name = "sellp",
    .op = OP_SPMM,
    .device = DEVICE_CUDA,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_SELLP,
    .arith = ARITH_PREC,
    .options = options,
    .about = "padded sliced ELLPACK, a row and 32 columns per warp",
    .cite = "Anzt, Tomov, Dongarra: Accelerating the LOBPCG method on GPUs using a blocked sparse "
            "matrix vector product, HPC 2015",
    .prepare = prepare,
    .run = run,
    .teardown = NULL,
};
