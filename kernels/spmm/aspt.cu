// SpMM on adaptive sparse tiles (ASpT), C = A * B, row-major.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 4.3, listings 2 and 3.
//
// Format: aspt. Any k, any mix of row lengths. Deterministic: every sum has one fixed order. The
// words are those of ../aspt.cuh, which has the code shared with SDDMM.
//
// paper                                                 here
// listing 2, line 5: tiles of the panel                 add_tiles()
// listing 2, lines 6-9: rows of D (our B) to the stage  fill_stage()
// listing 2, lines 18-20: products with the stage       add_part<true>()
// listing 3, lines 13-14: products with memory          add_share(), add_part<false>()
// section 4.3.1, modulo mapping                         slot_of()
//
// A product has two kernels. sum_pieces() computes the sums of segments, warp rows and spans, and
// stores the sums in memory. There is no such launch if the matrix has none of them. multiply()
// computes the bands: a group adds the tiles of its row, then the light part, then the stored sums.
// Each row of C is written once.
//
// A warp has four groups, each with its own row of A. In each round a lane loads one nonzero of its
// group's row. Shuffles broadcast the nonzeros, and the lanes load the row of B together.
//
// Limits: a stage costs two barriers of the block. H200: tiles with few nonzeros per column are
// slower than CSR, since L1 holds the rows of B of a panel (see `threshold` in ../aspt_plan.cuh).
#include "aspt_plan.cuh"

// Blocks per multiprocessor, a bound for registers.
#define MIN_BLOCKS(loads) ((loads) < 4 ? 4 : 3)

template <typename T> struct operands {
    const T *val, *B;
    T *C;
    uint32_t k, B_step, C_step;
    int32_t slabs;
    void *partial; // sums over segments, warp rows, rows of spans; each slab after slab
};

// sum += the products of `left` nonzeros from p on with the lane's packs of their rows of B. Rows
// of B come from the stage or from memory. The first round is in `next`. All groups that share the
// nonzeros take `step` nonzeros per round. All lanes call this function.
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

// Adds the sums of the groups of a warp. Each group gets the result. All lanes call this function.
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

// sum += the products of tiles [first, end) of the block's panel. All threads of the block call
// this function.
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

// Returns the address of the lane's first pack of sum `number`. The lane's packs are GROUP packs
// apart.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ pack<T, VEC> *partial_at(const operands<T> &x, int64_t number,
                                                           int32_t slab, int lane)
{
    return (pack<T, VEC> *)x.partial + (number * x.slabs + slab) * LOADS * GROUP + lane;
}

// Stores a group's sum in memory.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void leave_sum(const pack<T, VEC> (&sum)[LOADS],
                                                 const operands<T> &x, int64_t number, int32_t slab,
                                                 int lane)
{
    pack<T, VEC> *to = partial_at<T, VEC, LOADS>(x, number, slab, lane);
#pragma unroll
    for (int l = 0; l < LOADS; l++) to[l * GROUP] = sum[l];
}

// Return the number of the sum over warp row s, and over row r of span q.
static __device__ __forceinline__ int64_t number_of_warp_row(const struct tiles &a, int64_t s)
{
    return a.segments.count + s;
}
static __device__ __forceinline__ int64_t number_of_row(const struct tiles &a, int64_t q, int32_t r)
{
    return a.segments.count + a.warp_rows.count + q * a.panel + r;
}

// sum += the products of the group's share of a light part. All lanes call this function.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
add_share(pack<T, VEC> (&sum)[LOADS], const struct tiles &a, const operands<T> &x,
          const struct share &mine, int32_t step, const packs<VEC, LOADS, WHOLE> &where)
{
    nonzero<T> first = {}; // lanes without a nonzero need a valid column
    load_round<false>(first, a, x.val, mine.p, mine.left);
    add_part<false>(sum, first, a, x, mine.p, mine.left, step, (const pack<T, VEC> *)NULL, where);
}

// Computes the segment of this block.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void sum_segment(const struct tiles &a, const operands<T> &x,
                                                   int32_t slab)
{
    __shared__ pack<T, VEC> sums[ASPT_THREADS / WARP][LOADS * GROUP];
    const int lane = (int)threadIdx.x % GROUP, warps = (int)blockDim.x / WARP;
    const packs<VEC, LOADS, WHOLE> where(slab, lane, x.k);
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
        *partial_at<T, VEC, LOADS>(x, blockIdx.x, slab, c) = all;
    }
    __syncthreads(); // the next slab overwrites `sums`
}

// Computes the warp row of this warp.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void sum_warp_row(const struct tiles &a, const operands<T> &x,
                                                    int32_t slab)
{
    const int lane = (int)threadIdx.x % GROUP;
    const int64_t s = ((blockIdx.x - a.warp_row_at) * blockDim.x + threadIdx.x) / WARP;
    const packs<VEC, LOADS, WHOLE> where(slab, lane, x.k);
    struct share mine;
    find_warp_row(a, s, &mine);
    pack<T, VEC> sum[LOADS] = {};
    add_share(sum, a, x, mine, WARP, where);
    add_groups(sum);
    if (s >= a.warp_rows.count || lane_id() >= GROUP) return;
    leave_sum(sum, x, number_of_warp_row(a, s), slab, lane);
}

// Computes one band of a span.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void sum_span(const struct tiles &a, const operands<T> &x,
                                                int32_t slab, pack<T, VEC> *stage)
{
    const int lane = (int)threadIdx.x % GROUP;
    const int64_t band = blockIdx.x - a.span_at, q = band / a.bands;
    const packs<VEC, LOADS, WHOLE> where(slab, lane, x.k);
    const struct tile_span span = find_span(a, q);
    const int32_t r = row_of_band((int32_t)(band % a.bands));
    const struct part_row row = find_row(a, span.b, r);
    pack<T, VEC> sum[LOADS] = {};
    add_tiles(sum, a, x, row, span.first, span.end, stage, where);
    if (!row.used) return;
    leave_sum(sum, x, number_of_row(a, q, r), slab, lane);
}

template <typename T, int VEC, int LOADS, bool WHOLE>
static __global__ void __launch_bounds__(ASPT_THREADS, MIN_BLOCKS(LOADS))
    sum_pieces(struct tiles a, operands<T> x)
{
    typedef pack<T, VEC> packed;
    SHARED_DYNAMIC(packed, stage);
    for (int32_t slab = (int32_t)blockIdx.y; slab < x.slabs; slab += (int32_t)gridDim.y) {
        if (blockIdx.x < a.warp_row_at)
            sum_segment<T, VEC, LOADS, WHOLE>(a, x, slab);
        else if (blockIdx.x < a.span_at)
            sum_warp_row<T, VEC, LOADS, WHOLE>(a, x, slab);
        else
            sum_span<T, VEC, LOADS, WHOLE>(a, x, slab, stage);
    }
}

// sum += `count` sums in memory, from sum `number` on, `step` apart.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void add_partial(pack<T, VEC> (&sum)[LOADS], const operands<T> &x,
                                                   int64_t number, int64_t count, int64_t step,
                                                   int32_t slab)
{
    const int lane = (int)threadIdx.x % GROUP;
    for (int64_t c = 0; c < count; c++) {
        const pack<T, VEC> *part = partial_at<T, VEC, LOADS>(x, number + c * step, slab, lane);
#pragma unroll
        for (int l = 0; l < LOADS; l++) add(sum[l], part[l * GROUP]);
    }
}

// sum += the sums that sum_pieces() stored for row r of panel b.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void add_pieces(pack<T, VEC> (&sum)[LOADS], const struct tiles &a,
                                                  const operands<T> &x, const struct part_row &row,
                                                  int64_t b, int32_t r, int64_t light, int32_t slab)
{
    if (is_warp_row(a, light)) {
        add_partial(sum, x, number_of_warp_row(a, a.warp_rows.first[row.i]), 1, 0, slab);
    } else if (is_cut(a, light)) {
        const int64_t first = a.segments.first[row.i];
        add_partial(sum, x, first, a.segments.first[row.i + 1] - first, 1, slab);
    }
    if (row.tiles > a.most) {
        const int64_t first = a.spans.first[b];
        add_partial(sum, x, number_of_row(a, first, r), a.spans.first[b + 1] - first, a.panel,
                    slab);
    }
}

template <typename T, int VEC, int LOADS, bool WHOLE>
static __global__ void __launch_bounds__(ASPT_THREADS, MIN_BLOCKS(LOADS))
    multiply(struct tiles a, operands<T> x)
{
    typedef pack<T, VEC> packed;
    SHARED_DYNAMIC(packed, stage);
    const int lane = (int)threadIdx.x % GROUP;
    const int64_t b = blockIdx.x / (unsigned)a.bands;
    const int32_t r = row_of_band((int32_t)(blockIdx.x % (unsigned)a.bands));
    const struct part_row row = find_row(a, b, r);
    for (int32_t slab = (int32_t)blockIdx.y; slab < x.slabs; slab += (int32_t)gridDim.y) {
        const packs<VEC, LOADS, WHOLE> where(slab, lane, x.k);
        packed sum[LOADS] = {};
        add_tiles(sum, a, x, row, 0, row.tiles > a.most ? 0 : row.tiles, stage, where);
        int32_t p;
        const int32_t light = part_length(row, row.tiles, &p);
        add_share(sum, a, x, {p, light > a.split ? 0 : light}, GROUP, where);
        if (!row.used) continue;
        add_pieces(sum, a, x, row, b, r, light, slab);
#pragma unroll
        for (int l = 0; l < LOADS; l++)
            if (where.in[l])
                *(packed *)(row_at<T>(x.C, x.C_step, (uint32_t)row.i) + where.at[l]) = sum[l];
    }
}

template <typename T, int VEC, int LOADS, bool WHOLE> static void start_packs(const struct task *t)
{
    const struct aspt_plan *s = (const struct aspt_plan *)t->state;
    const operands<T> x = {(const T *)aspt_of(t->A[0])->val,
                           (const T *)t->in[0].val,
                           (T *)t->C.val,
                           (uint32_t)s->k,
                           s->step[0],
                           s->step[2],
                           s->slabs,
                           s->partial};
    const unsigned layers = (unsigned)min64(s->slabs, 65535);
    if (s->a.band_at) {
        auto kernel = sum_pieces<T, VEC, LOADS, WHOLE>;
        LAUNCH(kernel, dim3((unsigned)s->a.band_at, layers), s->threads,
               s->a.spans.count ? s->stage_bytes : 0, t->dev->stream, s->a, x);
    }
    auto kernel = multiply<T, VEC, LOADS, WHOLE>;
    LAUNCH(kernel, dim3((unsigned)(s->blocks - s->a.band_at), layers), s->threads, s->stage_bytes,
           t->dev->stream, s->a, x);
}

template <typename T> static void start(const struct task *t)
{
    BY_PACKS(T, start_packs, t, (const struct aspt_plan *)t->state);
}

extern "C" int spmm_aspt_cuda_run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}

// Returns the columns of a slab: 128 bytes of a row of B if the row has no more, else 256 bytes.
// The paper has 32 and 64 columns of f32. H200, f64: 512 bytes take 0.87 to 1.17 of the speed.
static int64_t slab_columns(int64_t k, enum prec prec)
{
    const int64_t width = (int64_t)type_bytes(prec_in(prec));
    return (k * width <= 128 ? 128 : 256) / width;
}

extern "C" void spmm_aspt_cuda_choose(struct task *t, const struct problem *p)
{
    const int64_t row_bytes =
        slab_columns(p->in[0].cols, p->prec) * (int64_t)type_bytes(prec_in(p->prec));
    task_choose(t, "width", (double)(STAGE_BYTES / row_bytes));
}

extern "C" int spmm_aspt_cuda_prepare(struct task *t)
{
    int err = plan_make(t, slab_columns(t->in[0].cols, t->prec), false);
    struct aspt_plan *s = (struct aspt_plan *)t->state;
    if (err || !s->a.band_at) return err;
    int64_t sums, values;
    err = size_mul(s->a.spans.count, s->a.panel, &sums);
    if (!err)
        err = size_mul(sums + s->a.segments.count + s->a.warp_rows.count,
                       (int64_t)s->slabs * GROUP * s->loads * s->vec, &values);
    return err ? err : device_alloc(t->dev, values, in_bytes(t), &s->partial);
}

extern "C" void spmm_aspt_cuda_teardown(struct task *t) { plan_free(t); }
