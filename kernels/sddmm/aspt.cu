// SDDMM on adaptive sparse tiles, C = A .* (X * Y^T).
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 5, listings 5 and 6.
//
// Format: aspt. Any k, any mix of row lengths. Deterministic: no atomics. ../aspt.cuh defines the
// words and holds the code that SpMM shares.
//
// A group keeps the slab of its row of X in registers, and loads the row's nonzeros in rounds
// of 8. Each lane adds up its part of the 8 dot products. group_sums() leaves each lane with the
// dot product of the nonzero that the lane loaded. The lane scales the product and writes it to its
// place in CSR. Rows of Y come from the stage for tiles, from memory for the light part.
//
// A slab is all of k up to 512 bytes. If k is longer, each lane adds its result to the result of
// the slab before.
#include "aspt_plan.cuh"

// Blocks that a multiprocessor must have registers for.
#define MIN_BLOCKS(loads) ((loads) < 2 ? 3 : 2)

template <typename T> struct operands {
    const T *val, *X, *Y;
    T *C;
    uint32_t k, X_step, Y_step;
    int32_t slabs;
};

// A row of C, and the slab of its row of X in registers.
template <typename T, int VEC, int LOADS> struct output_row {
    pack<T, VEC> x[LOADS]; // the lane's packs of the row of X
    T *c;                  // the row of C
    bool first;            // first slab: C is overwritten
};

template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ output_row<T, VEC, LOADS>
load_result_row(const operands<T> &x, int32_t i, const int64_t *at, int32_t slab,
                const packs<VEC, LOADS, WHOLE> &where)
{
    output_row<T, VEC, LOADS> row;
    load_row<true>(row.x, x.X, x.X_step, i, where);
    row.c = x.C + at[0];
    row.first = slab == 0;
    return row;
}

// Writes `left` nonzeros of a row of C from p on: dot products of rows of X and Y. The groups that
// share the row take `step` nonzeros in a round. Rows of Y come from the stage (STAGED) or from
// memory. `next` holds the nonzeros of the first round. Called by all lanes.
template <bool STAGED, typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
write_part(const output_row<T, VEC, LOADS> &row, nonzero<T> next, const struct tiles &a,
           const operands<T> &x, int32_t p, int32_t left, int32_t step, const pack<T, VEC> *stage,
           const packs<VEC, LOADS, WHOLE> &where)
{
    const int BATCH = batch_of<STAGED, LOADS>(), lane = (int)threadIdx.x % GROUP;
#pragma unroll 1
    for (; __any_sync(FULL_MASK, left > 0); left -= step) {
        const nonzero<T> now = next;
        p += step;
        load_round<true>(next, a, x.val, p, left - step);
        const int32_t from = STAGED ? slot_of(now.j, a.width) : now.j;
        T sum[GROUP] = {};
#pragma unroll
        for (int q = 0; q < GROUP; q += BATCH) {
            if (q > 0 && !__any_sync(FULL_MASK, left > q)) break;
            const bool more = BATCH > QUAD && __any_sync(FULL_MASK, left > q + QUAD);
            pack<T, VEC> y[BATCH][LOADS];
#pragma unroll
            for (int e = 0; e < BATCH; e++) {
                if (e == QUAD && !more) break;
                const int32_t j = __shfl_sync(FULL_MASK, from, q + e, GROUP);
                if (STAGED)
                    load_staged(y[e], stage, j, lane);
                else
                    load_row<true>(y[e], x.Y, x.Y_step, j, where);
            }
#pragma unroll
            for (int e = 0; e < BATCH; e++) {
                if (e == QUAD && !more) break;
#pragma unroll
                for (int l = 0; l < LOADS; l++) sum[q + e] = add_dot(sum[q + e], row.x[l], y[e][l]);
            }
        }
        const T dot = now.v * group_sums<GROUP>(sum);
        if (lane < left) row.c[now.place] = row.first ? dot : row.c[now.place] + dot;
    }
}

// Writes each group's share of a light part. Called by all lanes.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
write_share(const output_row<T, VEC, LOADS> &mine, const struct tiles &a, const operands<T> &x,
            const struct share &share, int32_t step, const packs<VEC, LOADS, WHOLE> &where)
{
    nonzero<T> first = {}; // column 0, which is a valid column
    load_round<true>(first, a, x.val, share.p, share.left);
    write_part<false>(mine, first, a, x, share.p, share.left, step, (const pack<T, VEC> *)NULL,
                      where);
}

// Writes tiles [first, end) of the block's panel. Called by all threads of the block.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
write_tiles(const output_row<T, VEC, LOADS> &mine, const struct tiles &a, const operands<T> &x,
            const struct part_row &row, int32_t first, int32_t end, pack<T, VEC> *stage,
            const packs<VEC, LOADS, WHOLE> &where)
{
    nonzero<T> next = {};
    for (int32_t t = first; t < end; t++) {
        int32_t p;
        const int32_t left = part_length(row, t, &p);
        load_round<true>(next, a, x.val, p, left);
        fill_stage<true>(stage, a, row, t, x.Y, x.Y_step, where);
        write_part<true>(mine, next, a, x, p, left, GROUP, stage, where);
    }
}

// Writes a block's segment, or a warp row.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void write_piece(const struct tiles &a, const operands<T> &x,
                                                   int32_t slab,
                                                   const packs<VEC, LOADS, WHOLE> &where)
{
    struct share share;
    const bool by_warp = blockIdx.x >= a.warp_row_at;
    const struct part_row row =
        by_warp ? find_warp_row(a, ((blockIdx.x - a.warp_row_at) * blockDim.x + threadIdx.x) / WARP,
                                &share)
                : find_segment(a, blockIdx.x, &share);
    const output_row<T, VEC, LOADS> mine = load_result_row(x, row.i, row.at, slab, where);
    write_share(mine, a, x, share, by_warp ? WARP : GROUP, where);
}

// Writes a band of a span, or a band of the tiles that are in no span.
template <typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void write_band(const struct tiles &a, const operands<T> &x,
                                                  int32_t slab, pack<T, VEC> *stage,
                                                  const packs<VEC, LOADS, WHOLE> &where)
{
    const bool taken_out = blockIdx.x < a.band_at;
    const int64_t band = blockIdx.x - (taken_out ? a.span_at : a.band_at);
    struct tile_span span = {band / a.bands, 0, 0};
    if (taken_out) span = find_span(a, band / a.bands);
    const struct part_row row = find_row(a, span.b, row_of_band((int32_t)(band % a.bands)));
    if (!taken_out && row.tiles <= a.most) span.end = row.tiles;
    const output_row<T, VEC, LOADS> mine = load_result_row(x, row.i, row.at, slab, where);
    write_tiles(mine, a, x, row, span.first, span.end, stage, where);
    if (taken_out) return;
    int32_t p;
    const int32_t light = part_length(row, row.tiles, &p);
    write_share(mine, a, x, {p, light > a.split ? 0 : light}, GROUP, where);
}

template <typename T, int VEC, int LOADS, bool WHOLE>
static __global__ void __launch_bounds__(ASPT_THREADS, MIN_BLOCKS(LOADS))
    multiply(struct tiles a, operands<T> x)
{
    typedef pack<T, VEC> packed;
    SHARED_DYNAMIC(packed, stage);
    for (int32_t slab = 0; slab < x.slabs; slab++) {
        const packs<VEC, LOADS, WHOLE> where(slab, (int)threadIdx.x % GROUP, x.k);
        if (blockIdx.x < a.span_at)
            write_piece(a, x, slab, where);
        else
            write_band(a, x, slab, stage, where);
    }
}

template <typename T, int VEC, int LOADS, bool WHOLE> static void start_packs(const struct task *t)
{
    const struct aspt_plan *s = (const struct aspt_plan *)t->state;
    const operands<T> x = {(const T *)aspt_of(t->A[0])->val,
                           (const T *)t->in[0].val,
                           (const T *)t->in[1].val,
                           (T *)t->val,
                           (uint32_t)s->k,
                           s->step[0],
                           s->step[1],
                           s->slabs};
    auto kernel = multiply<T, VEC, LOADS, WHOLE>;
    LAUNCH(kernel, (unsigned)s->blocks, s->threads, s->stage_bytes, t->dev->stream, s->a, x);
}

template <typename T> static void start(const struct task *t)
{
    BY_PACKS(T, start_packs, t, (const struct aspt_plan *)t->state);
}

extern "C" int sddmm_aspt_cuda_run(struct task *t)
{
    if (t->A[0]->nnz == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}

#define SLAB_BYTES 512 // largest slab of a row of X or Y

// Chooses the width of tiles: as many columns as slabs of rows of Y fit in the stage.
extern "C" void sddmm_aspt_cuda_choose(struct task *t, const struct problem *p)
{
    const int64_t row_bytes = p->in[0].cols * (int64_t)type_bytes(prec_in(p->prec));
    int64_t slab = SLAB_BYTES / 4;
    while (slab < row_bytes && slab < SLAB_BYTES) slab *= 2;
    task_choose(t, "width", (double)(STAGE_BYTES / slab));
}

extern "C" int sddmm_aspt_cuda_prepare(struct task *t)
{
    return plan_make(t, SLAB_BYTES / in_bytes(t), true);
}

extern "C" void sddmm_aspt_cuda_teardown(struct task *t) { plan_free(t); }
