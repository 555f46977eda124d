// SpMM by rows (row split), C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 4.1.
//
// Format: CSR. Any k. One warp computes 32 columns (a slab) of one row of C, one column a lane. The
// lanes load 32 nonzeros of the row at once, one each; then the warp goes through them in batches
// of T: each nonzero is broadcast by shuffle, the T rows of B are loaded independently of each
// other, then T multiply-adds follow. While a batch is under way the next 32 nonzeros are fetched,
// so that a long row costs one load latency per batch instead of two.
//
// The paper pads the last batch of a row with dummy columns. Here the warp leaves it after the last
// group of GROUP nonzeros that has any. The loads that remain are as independent as before; what
// falls away is traffic for nothing, up to 31 loads in a row of one nonzero.
//
// Limits: a row is never cut, so the longest row bounds the time from below.
#include "kernel.cuh"
#include "papers.h"

#define GROUP    4 // nonzeros of the last batch that are taken together
#define MAX_ROWS 8 // rows of a block

// Blocks of MAX_ROWS that a multiprocessor must have registers for, by the bytes in flight per
// thread: 64 registers a thread at T = 32 in f32, as in the paper's table 1.
#define MIN_BLOCKS(bytes) ((bytes) > 128 ? 2 : (bytes) > 64 ? 4 : (bytes) > 32 ? 5 : 6)

struct problem {
    int32_t m, k, slabs;
    uint32_t B_step, C_step; // bytes from one row to the next
};

// x[q] = the lane's column of the row of B that lane first + q knows.
template <typename T, int COUNT>
static __device__ __forceinline__ void load_B(T *__restrict__ x, const T *__restrict__ b,
                                              int32_t col, int first, uint32_t step)
{
    opaque(step);
#pragma unroll
    for (int q = 0; q < COUNT; q++)
        x[q] = *(const T *)((const char *)b +
                            (uint64_t)(uint32_t)warp_broadcast(col, first + q) * step);
}

// Slabs are the slow index of the grid: while one is under way, only its 32 columns of B compete
// for the cache.
template <typename T, int BATCH>
static __global__ void __launch_bounds__(MAX_ROWS *WARP, MIN_BLOCKS(BATCH * sizeof(T)))
    multiply(struct problem a, const int32_t *__restrict__ ptr, const int32_t *__restrict__ idx,
             const T *__restrict__ val, const T *__restrict__ B, T *__restrict__ C)
{
    const int lane = (int)threadIdx.x;
    // Broadcasts tell the compiler that all lanes agree. Without them it guards every shuffle below
    // against divergence, and spills registers.
    const int64_t i = (int64_t)blockIdx.x * blockDim.y + warp_broadcast(threadIdx.y, 0);
    if (i >= a.m) return;
    const int32_t begin = warp_broadcast(ptr[i], 0), end = warp_broadcast(ptr[i + 1], 0);
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y) {
        const int64_t j = (int64_t)slab * WARP + lane;
        const T *b = B + (j < a.k ? j : 0); // lanes past the last column load the first one
        int32_t next_col = 0;
        T next_v = 0, sum = 0;
        if (lane < end - begin) {
            next_col = idx[begin + lane];
            next_v = val[begin + lane];
        }
        for (int32_t left = end - begin; left > 0; left -= WARP) {
            // Lanes past the end of the row keep a column that is inside the matrix.
            const int32_t col = next_col;
            const T v = next_v;
            if (lane < left - WARP) {
                next_col = idx[end - left + WARP + lane];
                next_v = val[end - left + WARP + lane];
            }
#pragma unroll 1
            for (int g = 0; g < WARP && g < left; g += BATCH) {
                T x[BATCH];
#pragma unroll
                for (int q = 0; q < BATCH; q += GROUP) {
                    if (g + q >= left) break;
                    load_B<T, GROUP>(x + q, b, col, g + q, a.B_step);
                }
#pragma unroll
                for (int q = 0; q < BATCH; q += GROUP) {
                    if (g + q >= left) break;
#pragma unroll
                    for (int e = q; e < q + GROUP; e++) {
                        const T v_e = warp_broadcast(v, g + e);
                        if (g + e < left) sum += v_e * x[e];
                    }
                }
            }
        }
        if (j < a.k) *((T *)((char *)C + i * a.C_step) + j) = sum;
    }
}

template <typename T, int BATCH> static void start_batch(const struct task *t)
{
    const int rows = (int)task_option(t, "rows");
    const struct problem a = {t->A.m, (int32_t)t->C.cols, (int32_t)ceil_div(t->C.cols, WARP),
                              (uint32_t)(t->B.ld * (int64_t)sizeof(T)),
                              (uint32_t)(t->C.ld * (int64_t)sizeof(T))};
    const dim3 grid((unsigned)ceil_div(a.m, rows), (unsigned)min64(a.slabs, 65535));
    auto kernel = multiply<T, BATCH>;
    LAUNCH(kernel, grid, dim3(WARP, (unsigned)rows), 0, t->dev->stream, a,
           (const int32_t *)t->A.ptr, t->A.idx, (const T *)t->A.val, (const T *)t->B.val,
           (T *)t->C.val);
}

template <typename T> static void start(const struct task *t)
{
    const int batch = (int)task_option(t, "batch");
    if (batch >= 32) {
        start_batch<T, 32>(t);
    } else if (batch >= 16) {
        start_batch<T, 16>(t);
    } else if (batch >= 8) {
        start_batch<T, 8>(t);
    } else {
        start_batch<T, 4>(t);
    }
}

static int prepare(struct task *t)
{
    const int batch = (int)task_option(t, "batch");
    if (batch != 4 && batch != 8 && batch != 16 && batch != 32)
        return fail(ERR_UNSUPPORTED, "rowsplit: batch=%d: it is 4, 8, 16 or 32", batch);
    if (max64(t->B.ld, t->C.ld) * (int64_t)prec_bytes(t->in->prec) > UINT32_MAX)
        return fail(ERR_UNSUPPORTED, "rowsplit: a row of B has more than 4 GB");
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
    return launch_check("rowsplit");
}

static const struct algo_option options[] = {
    {"batch", 32, 4, 32, true, "independent loads of B in flight per thread, T: 4, 8, 16 or 32"},
    {"rows", 4, 1, MAX_ROWS, true, "rows of A per block, one warp each"},
    {},
};

extern const struct algo spmm_rowsplit_cuda = {
    .name = "rowsplit",
    .op = OP_SPMM,
    .device = DEVICE_CUDA,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = options,
    .about = "a row and 32 columns per warp, independent loads of B in batches",
    .cite = YANG_2018 ", section 4.1",
    .prepare = prepare,
    .run = run,
    .teardown = NULL,
};
