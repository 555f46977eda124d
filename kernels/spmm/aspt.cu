// SpMM on adaptive sparse tiles, C = A * B, row-major.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 4.3, listings 2 and 3.
//
// Format: aspt. Any k, any mix of row lengths. Deterministic: every sum has one fixed order. The
// words are those of ../aspt.cuh, which has what SDDMM shares.
//
// Two kernels. The first one, where there are any, sums up segments, shared rows, and runs, and
// leaves their sums in memory. The second one goes through the bands: its groups sum up their rows,
// tile by tile and then the light part, or take what the first one left. Each row of C is written
// once.
#include "aspt_plan.cuh"
#include "papers.h"

// Blocks that a multiprocessor must have registers for.
#define MIN_BLOCKS(loads) ((loads) < 4 ? 4 : 3)

template <typename T> struct operands {
    const T *val, *B;
    T *C;
    uint32_t k, B_step, C_step;
    int32_t slices;
    void *partial; // sums over segments, shared rows, the rows of runs, each slice after slice
};

// sum += the products of `left` nonzeros from p on, `step` of which are in a round of all groups
// that share them, with the lane's packs of the rows of B, from the stage or from memory. The first
// round is there. By all lanes.
template <bool STAGED, typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
add_part(pack<T, VEC> (&sum)[LOADS], nonzero<T> next, const struct tiles &a, const operands<T> &x,
         int32_t p, int32_t left, int32_t step, const pack<T, VEC> *stage,
         const packs<VEC, LOADS, WHOLE> &where)
{
    const int BATCH = batch_of<STAGED, LOADS>(), lane = (int)threadIdx.x % GROUP;
#pragma unroll 1
    for (; __any_sync(FULL_MASK, left > 0); left -= step) {
        nonzero<T> now = next;
        p += step;
        load_round<false>(next, a, x.val, p, left - step);
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

// The sum over the groups of a warp, in all of them. By all lanes.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void add_groups(pack<T, VEC> (&sum)[LOADS])
{
#pragma unroll
    for (int l = 0; l < LOADS; l++)
#pragma unroll
        for (int v = 0; v < VEC; v++)
#pragma unroll
            for (int step = GROUP; step < WARP; step *= 2)
                sum[l].x[v] += __shfl_xor_sync(FULL_MASK, sum[l].x[v], step);
}

// sum += the products of tiles [first, end) of the block's panel. By all threads of the block.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void add_tiles(pack<T, VEC> (&sum)[LOADS], const struct tiles &a,
                                                 const operands<T> &x, const struct part_row &row,
                                                 int32_t first, int32_t end, pack<T, VEC> *stage,
                                                 const packs<VEC, LOADS, WHOLE> &where)
{
    nonzero<T> next = {};
    for (int32_t t = first; t < end; t++) {
        int32_t p;
        const int32_t left = part_length(row, t, &p);
        load_round<false>(next, a, x.val, p, left);
        fill_stage<false>(stage, a, row, t, x.B, x.B_step, where);
        add_part<true>(sum, next, a, x, p, left, GROUP, stage, where);
    }
}

// Where the lane's packs of a sum in memory are, GROUP packs apart.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ pack<T, VEC> *partial_at(const operands<T> &x, int64_t number,
                                                           int32_t slice, int lane)
{
    return (pack<T, VEC> *)x.partial + (number * x.slices + slice) * LOADS * GROUP + lane;
}

// Leaves a group's sum in memory.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void leave_sum(const pack<T, VEC> (&sum)[LOADS],
                                                 const operands<T> &x, int64_t number,
                                                 int32_t slice, int lane)
{
    pack<T, VEC> *to = partial_at<T, VEC, LOADS>(x, number, slice, lane);
#pragma unroll
    for (int l = 0; l < LOADS; l++) to[l * GROUP] = sum[l];
}

// The number of the sum over shared row s, and over row r of run q.
static __device__ __forceinline__ int64_t number_of_shared(const struct tiles &a, int64_t s)
{
    return a.segments.count + s;
}
static __device__ __forceinline__ int64_t number_of_row(const struct tiles &a, int64_t q, int32_t r)
{
    return a.segments.count + a.shared.count + q * a.panel + r;
}

// Each group's share of a light part, from the first round on. By all lanes.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
add_share(pack<T, VEC> (&sum)[LOADS], const struct tiles &a, const operands<T> &x,
          const struct share &mine, int32_t step, const packs<VEC, LOADS, WHOLE> &where)
{
    nonzero<T> first = {}; // a column that is in the matrix
    load_round<false>(first, a, x.val, mine.p, mine.left);
    add_part<false>(sum, first, a, x, mine.p, mine.left, step, (const pack<T, VEC> *)NULL, where);
}

// A block's segment.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void sum_segment(const struct tiles &a, const operands<T> &x,
                                                   int32_t slice)
{
    __shared__ pack<T, VEC> sums[MAX_THREADS / WARP][LOADS * GROUP];
    const int lane = (int)threadIdx.x % GROUP, warps = (int)blockDim.x / WARP;
    const packs<VEC, LOADS, WHOLE> where(slice, lane, x.k);
    struct share mine;
    find_segment(a, blockIdx.x, &mine);
    pack<T, VEC> sum[LOADS] = {};
    add_share(sum, a, x, mine, GROUP, where);
    add_groups(sum);
#pragma unroll
    for (int l = 0; l < LOADS; l++)
        if (lane_id() < GROUP) sums[threadIdx.x / WARP][l * GROUP + lane] = sum[l];
    __syncthreads();
    for (int c = (int)threadIdx.x; c < LOADS * GROUP; c += (int)blockDim.x) {
        pack<T, VEC> all = sums[0][c];
        for (int w = 1; w < warps; w++) add(all, sums[w][c]);
        *partial_at<T, VEC, LOADS>(x, blockIdx.x, slice, c) = all;
    }
    __syncthreads(); // the next slice takes their place
}

// A warp's shared row.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void sum_shared(const struct tiles &a, const operands<T> &x,
                                                  int32_t slice)
{
    const int lane = (int)threadIdx.x % GROUP;
    const int64_t s = ((blockIdx.x - a.shared_at) * blockDim.x + threadIdx.x) / WARP;
    const packs<VEC, LOADS, WHOLE> where(slice, lane, x.k);
    struct share mine;
    find_shared(a, s, &mine);
    pack<T, VEC> sum[LOADS] = {};
    add_share(sum, a, x, mine, WARP, where);
    add_groups(sum);
    if (s >= a.shared.count || lane_id() >= GROUP) return;
    leave_sum(sum, x, number_of_shared(a, s), slice, lane);
}

// A block's band of a run.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void sum_run(const struct tiles &a, const operands<T> &x,
                                               int32_t slice, pack<T, VEC> *stage)
{
    const int lane = (int)threadIdx.x % GROUP;
    const int64_t band = blockIdx.x - a.run_at, q = band / a.bands;
    const packs<VEC, LOADS, WHOLE> where(slice, lane, x.k);
    const struct tile_run run = find_run(a, q);
    const int32_t r = row_of_band((int32_t)(band % a.bands));
    const struct part_row row = find_row(a, run.b, r);
    pack<T, VEC> sum[LOADS] = {};
    add_tiles(sum, a, x, row, run.first, run.end, stage, where);
    if (!row.used) return;
    leave_sum(sum, x, number_of_row(a, q, r), slice, lane);
}

template <typename T, int VEC, int LOADS, bool WHOLE>
static __global__ void __launch_bounds__(MAX_THREADS, MIN_BLOCKS(LOADS))
    sum_pieces(struct tiles a, operands<T> x)
{
    typedef pack<T, VEC> packed;
    SHARED_DYNAMIC(packed, stage);
    for (int32_t slice = (int32_t)blockIdx.y; slice < x.slices; slice += (int32_t)gridDim.y) {
        if (blockIdx.x < a.shared_at)
            sum_segment<T, VEC, LOADS, WHOLE>(a, x, slice);
        else if (blockIdx.x < a.run_at)
            sum_shared<T, VEC, LOADS, WHOLE>(a, x, slice);
        else
            sum_run<T, VEC, LOADS, WHOLE>(a, x, slice, stage);
    }
}

// sum += sums in memory, `count` of them from `number` on, `step` apart.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void add_partial(pack<T, VEC> (&sum)[LOADS], const operands<T> &x,
                                                   int64_t number, int64_t count, int64_t step,
                                                   int32_t slice)
{
    const int lane = (int)threadIdx.x % GROUP;
    for (int64_t c = 0; c < count; c++) {
        const pack<T, VEC> *part = partial_at<T, VEC, LOADS>(x, number + c * step, slice, lane);
#pragma unroll
        for (int l = 0; l < LOADS; l++) add(sum[l], part[l * GROUP]);
    }
}

// sum += what sum_pieces() has left of row r of panel b.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void
add_pieces(pack<T, VEC> (&sum)[LOADS], const struct tiles &a, const operands<T> &x,
           const struct part_row &row, int64_t b, int32_t r, int64_t light, int32_t slice)
{
    if (is_shared(a, light)) {
        add_partial(sum, x, number_of_shared(a, a.shared.first[row.i]), 1, 0, slice);
    } else if (is_cut(a, light)) {
        const int64_t first = a.segments.first[row.i];
        add_partial(sum, x, first, a.segments.first[row.i + 1] - first, 1, slice);
    }
    if (row.tiles > a.most) {
        const int64_t first = a.runs.first[b];
        add_partial(sum, x, number_of_row(a, first, r), a.runs.first[b + 1] - first, a.panel,
                    slice);
    }
}

template <typename T, int VEC, int LOADS, bool WHOLE>
static __global__ void __launch_bounds__(MAX_THREADS, MIN_BLOCKS(LOADS))
    multiply(struct tiles a, operands<T> x)
{
    typedef pack<T, VEC> packed;
    SHARED_DYNAMIC(packed, stage);
    const int lane = (int)threadIdx.x % GROUP;
    const int64_t b = blockIdx.x / (unsigned)a.bands;
    const int32_t r = row_of_band((int32_t)(blockIdx.x % (unsigned)a.bands));
    const struct part_row row = find_row(a, b, r);
    for (int32_t slice = (int32_t)blockIdx.y; slice < x.slices; slice += (int32_t)gridDim.y) {
        const packs<VEC, LOADS, WHOLE> where(slice, lane, x.k);
        packed sum[LOADS] = {};
        add_tiles(sum, a, x, row, 0, row.tiles > a.most ? 0 : row.tiles, stage, where);
        int32_t p;
        const int32_t light = part_length(row, row.tiles, &p);
        add_share(sum, a, x, {p, light > a.split ? 0 : light}, GROUP, where);
        if (!row.used) continue;
        add_pieces(sum, a, x, row, b, r, light, slice);
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
    if (s->a.band_at) {
        auto kernel = sum_pieces<T, VEC, LOADS, WHOLE>;
        LAUNCH(kernel, dim3((unsigned)s->a.band_at, layers), s->threads,
               s->a.runs.count ? s->stage_bytes : 0, t->dev->stream, s->a, x);
    }
    auto kernel = multiply<T, VEC, LOADS, WHOLE>;
    LAUNCH(kernel, dim3((unsigned)(s->blocks - s->a.band_at), layers), s->threads, s->stage_bytes,
           t->dev->stream, s->a, x);
}

template <typename T> static void start(const struct task *t)
{
    BY_PACKS(T, start_packs, t, (const struct plan *)t->state);
}

static int run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}

// Columns of a slice: 128 bytes of a row of B if it has no more, else 256, the paper's 32 and 64
// columns of f32. H200, f64: 512 gain on some matrices and lose on others (0.87 to 1.17).
static int64_t slice_columns(int64_t k, enum prec prec)
{
    const int64_t width = (int64_t)prec_bytes(prec);
    return (k * width <= 128 ? 128 : 256) / width;
}

static void choose(struct task *t, const struct problem *p)
{
    const int64_t row_bytes = slice_columns(p->in[0].cols, p->prec) * (int64_t)prec_bytes(p->prec);
    task_choose(t, "width", (double)(STAGE_BYTES / row_bytes));
}

static int prepare(struct task *t)
{
    int err = plan_make(t, slice_columns(t->in[0].cols, t->prec), false);
    struct plan *s = (struct plan *)t->state;
    if (err || !s->a.band_at) return err;
    int64_t sums, values;
    err = size_mul(s->a.runs.count, s->a.panel, &sums);
    if (!err)
        err = size_mul(sums + s->a.segments.count + s->a.shared.count,
                       (int64_t)s->slices * GROUP * s->loads * s->vec, &values);
    return err ? err : device_alloc(t->dev, values, prec_bytes(t->prec), &s->partial);
}

static const struct param options[] = {ASPT_CUDA_OPTIONS, {}};

extern const struct algo spmm_aspt_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_aspt},
    .arith = ARITH_PREC,
    .options = options,
    .cite = HONG_2019 ", section 4.3",
    .differs =
        "A block goes through up to 4 tiles of its rows and then through their light parts, where "
        "the paper's takes one tile and adds to C; 8 lanes share a row, with vectors, instead of "
        "32. Columns are heavy from 64 nonzeros of a panel on, not 16: below, L1 does as well.",
    .choose = choose,
    .prepare = prepare,
    .run = run,
    .teardown = plan_free,
};
