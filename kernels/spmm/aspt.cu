// SpMM on adaptive sparse tiles, C = A * B, row-major.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 4.3, listings 2 and 3.
//
// Format: aspt. Any k, any mix of row lengths. Deterministic: every sum has one fixed order. The
// words are those of ../aspt.cuh, which has what SDDMM shares.
//
// Two kernels. The first one, where there are long rows, sums up each of their segments by a block,
// and leaves it in memory. The second one goes through the bands: its groups sum up their rows,
// tile by tile and then the light part, of which a long row takes the sums of its segments instead.
// Each row of C is written once.
#include "aspt.cuh"
#include "papers.h"

#define SEGMENT_WARPS (SEGMENT_THREADS / WARP)

// Blocks that a multiprocessor must have registers for.
#define MIN_BLOCKS(loads) ((loads) < 4 ? 4 : 3)

template <typename T> struct operands {
    const T *val, *B;
    T *C;
    uint32_t k, B_step, C_step;
    int32_t slices;
    void *partial; // sums over segments, a slice of each after another
};

// A nonzero, in the lane that has loaded it: its column, or its slot.
template <typename T> struct nonzero {
    int32_t j;
    T v;
};

// The nonzeros from p on, of `left`; lanes past the last one load that, and where there is none
// keep what they have.
template <typename T>
static __device__ __forceinline__ void load_round(nonzero<T> &to, int lane, const struct tiles &a,
                                                  const operands<T> &x, int32_t p, int32_t left)
{
    if (left <= 0) return;
    const int32_t q = p + min(lane, left - 1);
    to.j = a.idx[q];
    to.v = x.val[q];
}

// sum += the products of `left` nonzeros from p on, whose first round is there, with the lane's
// packs of the rows of B, from the stage or from memory. By all lanes.
template <bool STAGED, typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
add_part(pack<T, VEC> (&sum)[LOADS], nonzero<T> next, const struct tiles &a, const operands<T> &x,
         int32_t p, int32_t left, const pack<T, VEC> *stage, const packs<VEC, LOADS, WHOLE> &where)
{
    const int BATCH = batch_of<STAGED, LOADS>(), lane = (int)threadIdx.x % GROUP;
#pragma unroll 1
    for (; __any_sync(FULL_MASK, left > 0); left -= GROUP) {
        nonzero<T> now = next;
        p += GROUP;
        load_round(next, lane, a, x, p, left - GROUP);
        if (STAGED) now.j = slot_of(now.j, a.width);
#pragma unroll
        for (int q = 0; q < GROUP; q += BATCH) {
            if (q > 0 && !__any_sync(FULL_MASK, left > q)) break;
            const bool more = BATCH > QUAD && __any_sync(FULL_MASK, left > q + QUAD);
            pack<T, VEC> b[BATCH][LOADS];
#pragma unroll
            for (int e = 0; e < BATCH; e++) {
                if (e == QUAD && !more) break;
                const int32_t j = __shfl_sync(FULL_MASK, now.j, q + e, GROUP);
                if (STAGED)
                    load_staged(b[e], stage, j, lane);
                else
                    load_row<false>(b[e], x.B, x.B_step, j, where);
            }
#pragma unroll
            for (int e = 0; e < BATCH; e++) {
                if (e == QUAD && !more) break;
                const T v = __shfl_sync(FULL_MASK, now.v, q + e, GROUP);
#pragma unroll
                for (int l = 0; l < LOADS; l++)
                    if (q + e < left) add_product(sum[l], v, b[e][l]);
            }
        }
    }
}

// Where the lane's packs of the sum over a segment are, GROUP packs apart.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ pack<T, VEC> *partial_at(const operands<T> &x, int64_t segment,
                                                           int32_t slice, int lane)
{
    return (pack<T, VEC> *)x.partial + (segment * x.slices + slice) * LOADS * GROUP + lane;
}

template <typename T, int VEC, int LOADS, bool WHOLE>
static __global__ void __launch_bounds__(SEGMENT_THREADS)
    sum_segments(struct tiles a, operands<T> x, const int32_t *__restrict__ rows)
{
    __shared__ pack<T, VEC> sums[SEGMENT_WARPS][LOADS * GROUP];
    const int lane = (int)threadIdx.x % GROUP, warp = (int)threadIdx.x / WARP;
    int32_t begin, end;
    find_segment(a, rows, blockIdx.x, &begin, &end);
    const int32_t left = end - begin;
    for (int32_t slice = (int32_t)blockIdx.y; slice < x.slices; slice += (int32_t)gridDim.y) {
        const packs<VEC, LOADS, WHOLE> where(slice, lane, x.k);
        pack<T, VEC> sum[LOADS] = {};
        nonzero<T> first = {};
        load_round(first, lane, a, x, begin, left);
        add_part<false>(sum, first, a, x, begin, left, (const pack<T, VEC> *)NULL, where);
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
#pragma unroll
            for (int v = 0; v < VEC; v++) // over the groups of the warp
#pragma unroll
                for (int step = GROUP; step < WARP; step *= 2)
                    sum[l].x[v] += __shfl_xor_sync(FULL_MASK, sum[l].x[v], step);
            if (lane_id() < GROUP) sums[warp][l * GROUP + lane] = sum[l];
        }
        __syncthreads();
        for (int c = (int)threadIdx.x; c < LOADS * GROUP; c += SEGMENT_THREADS) {
            pack<T, VEC> all = sums[0][c];
            for (int w = 1; w < SEGMENT_WARPS; w++) add(all, sums[w][c]);
            *partial_at<T, VEC, LOADS>(x, blockIdx.x, slice, c) = all;
        }
        __syncthreads();
    }
}

// sum += the sums over the segments of a row, segment[0] up to segment[1].
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void add_segments(pack<T, VEC> (&sum)[LOADS],
                                                    const operands<T> &x, const int64_t *segment,
                                                    int32_t slice, int lane)
{
    const int64_t end = segment[1];
    for (int64_t s = segment[0]; s < end; s++) {
        const pack<T, VEC> *part = partial_at<T, VEC, LOADS>(x, s, slice, lane);
#pragma unroll
        for (int l = 0; l < LOADS; l++) add(sum[l], part[l * GROUP]);
    }
}

template <typename T, int VEC, int LOADS, bool WHOLE>
static __global__ void __launch_bounds__(MAX_THREADS, MIN_BLOCKS(LOADS))
    multiply(struct tiles a, operands<T> x)
{
    typedef pack<T, VEC> packed;
    SHARED_DYNAMIC(packed, stage);
    const int lane = (int)threadIdx.x % GROUP;
    const struct part_row row = my_row(a);
    for (int32_t slice = (int32_t)blockIdx.y; slice < x.slices; slice += (int32_t)gridDim.y) {
        const packs<VEC, LOADS, WHOLE> where(slice, lane, x.k);
        packed sum[LOADS] = {};
        nonzero<T> next = {};
        for (int32_t t = 0; t < row.tiles; t++) {
            int32_t p;
            const int32_t left = part_length(row, t, &p);
            load_round(next, lane, a, x, p, left);
            fill_stage<false>(stage, a, row, t, x.B, x.B_step, where);
            add_part<true>(sum, next, a, x, p, left, stage, where);
        }
        int32_t p;
        const int32_t light = part_length(row, row.tiles, &p);
        const int32_t left = light > a.split ? 0 : light;
        next.j = 0; // a column that is in the matrix
        load_round(next, lane, a, x, p, left);
        add_part<false>(sum, next, a, x, p, left, stage, where);
        if (light > a.split) add_segments(sum, x, a.segment_ptr + row.i, slice, lane);
        if (!row.used) continue;
#pragma unroll
        for (int l = 0; l < LOADS; l++)
            if (where.in[l])
                *(packed *)(row_at<T>(x.C, x.C_step, (uint32_t)row.i) + where.at[l]) = sum[l];
    }
}

template <typename T, int VEC, int LOADS, bool WHOLE> static void start_packs(const struct task *t)
{
    const struct plan *s = (const struct plan *)t->state;
    const operands<T> x = {(const T *)aspt_of(t->A[0])->val,
                           (const T *)t->in[0].val,
                           (T *)t->C.val,
                           (uint32_t)s->k,
                           s->step[0],
                           s->step[2],
                           s->slices,
                           s->partial};
    const unsigned layers = (unsigned)min64(s->slices, 65535);
    if (s->segments) {
        auto kernel = sum_segments<T, VEC, LOADS, WHOLE>;
        LAUNCH(kernel, dim3((unsigned)s->segments, layers), SEGMENT_THREADS, 0, t->dev->stream,
               s->a, x, s->segment_row);
    }
    auto kernel = multiply<T, VEC, LOADS, WHOLE>;
    LAUNCH(kernel, dim3((unsigned)s->blocks, layers), s->threads, s->stage_bytes, t->dev->stream,
           s->a, x);
}

template <typename T, int VEC, bool WHOLE> static void start_loads(const struct task *t)
{
    const int loads = ((const struct plan *)t->state)->loads;
    if (loads == 1) {
        start_packs<T, VEC, 1, WHOLE>(t);
    } else if (loads == 2) {
        start_packs<T, VEC, 2, WHOLE>(t);
    } else {
        start_packs<T, VEC, 4, WHOLE>(t);
    }
}

template <typename T> static void start(const struct task *t)
{
    const struct plan *s = (const struct plan *)t->state;
    if (s->vec == 1) {
        start_loads<T, 1, false>(t);
    } else if (s->whole) {
        start_loads<T, 16 / sizeof(T), true>(t);
    } else {
        start_loads<T, 16 / sizeof(T), false>(t);
    }
}

static int run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}

// The paper's slices: 32 columns where k is no more, else 64.
static int64_t slice_columns(int64_t k) { return k <= 32 ? 32 : 64; }

static void choose(struct task *t, const struct problem *p)
{
    const int64_t row_bytes = slice_columns(p->in[0].cols) * (int64_t)prec_bytes(p->prec);
    task_choose(t, "width", (double)(STAGE_BYTES / row_bytes));
}

static int prepare(struct task *t)
{
    int err = plan_make(t, slice_columns(t->in[0].cols), false);
    struct plan *s = (struct plan *)t->state;
    if (err || !s->segments) return err;
    int64_t packs;
    err = size_mul(s->segments * GROUP * s->loads * s->vec, s->slices, &packs);
    return err ? err : device_alloc(t->dev, packs, prec_bytes(t->prec), &s->partial);
}

static const struct param options[] = {ASPT_CUDA_OPTIONS, {}};

extern const struct algo spmm_aspt_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_aspt},
    .arith = ARITH_PREC,
    .options = options,
    .about = "tiles of the heavy columns of row panels in shared memory, the rest as CSR",
    .cite = HONG_2019 ", section 4.3",
    .differs =
        "A block goes through all tiles of its rows and then through their light parts, where the "
        "paper's takes one tile and adds to C; 8 lanes share a row, with vectors, instead of 32.",
    .choose = choose,
    .prepare = prepare,
    .run = run,
    .teardown = plan_free,
};
