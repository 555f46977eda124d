// SpMM by rows (row split), C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 4.1.
//
// Format: CSR. Any k. A warp's share is one row of A, and its slab has 32 columns of C, one per
// lane. The words are those of operands.cuh. What a warp does:
//
// 1. The lanes load a round of the row's nonzeros, one each. The next round is loaded ahead.
// 2. The warp goes through the round in batches of T nonzeros. A shuffle broadcasts each nonzero,
//    and the T rows of B are loaded independently of each other.
// 3. T multiply-adds follow. So a long row waits for memory once per batch instead of twice.
//
// The paper pads the last batch of a row with dummy columns. Here the warp stops after the last
// quad that has a nonzero. The other loads are as independent as before. The padding would be up to
// 31 useless loads in a row of one nonzero.
//
// Limits: a row is never cut, so the longest row is a lower bound of the time. H200, BOYD1, k = 32:
// a row of 93,261 nonzeros is 2,915 rounds of 0.65 us, 1.9 ms.
#include "operands.cuh"
#include "option_limits.h"

// Blocks of ROWSPLIT_ROWS rows per multiprocessor, a bound for registers, by the bytes in flight
// per thread: 64 registers a thread at T = 32 in f32, as in the paper's table 1.
#define MIN_BLOCKS(bytes) ((bytes) > 128 ? 2 : (bytes) > 64 ? 4 : (bytes) > 32 ? 5 : 6)

template <typename T, int BATCH>
static __global__ void __launch_bounds__(ROWSPLIT_ROWS *WARP,
                                         MIN_BLOCKS(BATCH * sizeof(sum_type<T>)))
    multiply(struct sizes a, const int32_t *__restrict__ ptr, const int32_t *__restrict__ idx,
             const T *__restrict__ val, const T *__restrict__ B, void *__restrict__ C)
{
    const int lane = (int)threadIdx.x;
    // Broadcasts tell the compiler that all lanes have the same value. Otherwise the compiler
    // guards every shuffle below against divergence, and spills registers.
    const int64_t i = (int64_t)blockIdx.x * blockDim.y + warp_broadcast(threadIdx.y, 0);
    if (i >= a.m) return;
    const int32_t begin = warp_broadcast(ptr[i], 0), end = warp_broadcast(ptr[i + 1], 0);
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y) {
        const int64_t j = (int64_t)slab * WARP + lane;
        const T *b = B + (j < a.k ? j : 0); // lanes past the last column load the first one
        nonzero<sum_type<T>> next = {};
        sum_type<T> sum = 0;
        load_round(next, lane, idx, val, end, end - begin);
        for (int32_t left = end - begin; left > 0; left -= WARP) {
            const nonzero<sum_type<T>> now = next;
            load_round(next, lane, idx, val, end, left - WARP);
#pragma unroll 1
            for (int g = 0; g < WARP && g < left; g += BATCH) {
                T x[BATCH];
                load_batch(x, b, now.col, g, left, a.B_step);
#pragma unroll
                for (int q = 0; q < BATCH; q += QUAD) {
                    if (g + q >= left) break;
#pragma unroll
                    for (int e = q; e < q + QUAD; e++) {
                        const sum_type<T> v = warp_broadcast(now.v, g + e);
                        if (g + e < left) sum += v * widen(x[e]);
                    }
                }
            }
        }
        if (j < a.k) store_row<T, 1>(a, C, (int32_t)i, (int32_t)j, {{sum}});
    }
}

struct state {
    struct sizes sizes;
    int batch; // T of the paper
    int rows;  // rows of a block, one per warp
};

template <typename T, int BATCH> static void start_batch(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    auto kernel = multiply<T, BATCH>;
    LAUNCH(kernel, slab_grid(ceil_div(s->sizes.m, s->rows), &s->sizes),
           dim3(WARP, (unsigned)s->rows), 0, t->dev->stream, s->sizes, (const int32_t *)A->ptr,
           A->idx, (const T *)A->val, (const T *)t->in[0].val, t->C.val);
}

template <typename T> static void start(const struct task *t)
{
    const int batch = ((const struct state *)t->state)->batch;
    if (batch == 32) {
        start_batch<T, 32>(t);
    } else if (batch == 16) {
        start_batch<T, 16>(t);
    } else if (batch == 8) {
        start_batch<T, 8>(t);
    } else {
        start_batch<T, 4>(t);
    }
}

extern "C" int spmm_rowsplit_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    s->batch = (int)task_option(t, "batch");
    s->rows = (int)task_option(t, "rows");
    if (s->batch != 4 && s->batch != 8 && s->batch != 16 && s->batch != 32)
        return fail(ERR_UNSUPPORTED, "rowsplit: batch=%d: must be 4, 8, 16 or 32", s->batch);
    return sizes_set(t, 1, &s->sizes);
}

extern "C" int spmm_rowsplit_cuda_run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_TYPE(t, start, t);
    return launch_check(t->entry->name);
}
