// SDDMM on adaptive sparse tiles, C = A .* (X * Y^T).
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 5, listings 5 and 6.
//
// Format: aspt. Any k, any mix of row lengths. Deterministic: no atomics. The words are those of
// ../aspt.cuh, which has what SpMM shares.
//
// A group keeps the slice of its row of X in registers, and goes through the row's nonzeros in
// rounds. Each lane adds up its part of the 8 dot products; group_sums() leaves each lane with that
// of the nonzero that it loaded, which it scales and writes to its place in CSR. Rows of Y come
// from the stage for tiles, from memory for the light part; of a long row that is left to a kernel
// that has a block for each segment.
//
// A slice is all of k up to 512 bytes. Beyond, the lane that has a nonzero adds to what it wrote in
// the slice before.
#include "aspt.cuh"
#include "papers.h"

// Blocks that a multiprocessor must have registers for.
#define MIN_BLOCKS(loads) ((loads) < 2 ? 3 : 2)

template <typename T> struct operands {
    const T *val, *X, *Y;
    T *C;
    const int32_t *place;
    uint32_t k, X_step, Y_step;
    int32_t slices;
};

// A nonzero, in the lane that has loaded it: its column, or its slot.
template <typename T> struct nonzero {
    int32_t j, place;
    T v;
};

// The nonzeros from p on; lanes past the last of `left` load that one, and where there is none keep
// what they have.
template <typename T>
static __device__ __forceinline__ void load_round(nonzero<T> &to, int lane, const struct tiles &a,
                                                  const operands<T> &x, int32_t p, int32_t left)
{
    if (left <= 0) return;
    const int32_t q = p + min(lane, left - 1);
    to.j = a.idx[q];
    to.place = x.place[q];
    to.v = x.val[q];
}

// Writes `left` nonzeros from p on, whose first round is there, of the row of C at c: the dot
// products of x_row and rows of Y, from the stage or from memory. By all lanes.
template <bool STAGED, typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
write_part(const pack<T, VEC> (&x_row)[LOADS], nonzero<T> next, const struct tiles &a,
           const operands<T> &x, int32_t p, int32_t left, T *__restrict__ c, bool first,
           const pack<T, VEC> *stage, const packs<VEC, LOADS, WHOLE> &where)
{
    const int BATCH = batch_of<STAGED, LOADS>(), lane = (int)threadIdx.x % GROUP;
#pragma unroll 1
    for (; __any_sync(FULL_MASK, left > 0); left -= GROUP) {
        const nonzero<T> now = next;
        p += GROUP;
        load_round(next, lane, a, x, p, left - GROUP);
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
                for (int l = 0; l < LOADS; l++) sum[q + e] = add_dot(sum[q + e], x_row[l], y[e][l]);
            }
        }
        const T dot = now.v * group_sums<GROUP>(sum);
        if (lane < left) c[now.place] = first ? dot : c[now.place] + dot;
    }
}

template <typename T, int VEC, int LOADS, bool WHOLE>
static __global__ void __launch_bounds__(SEGMENT_THREADS)
    multiply_segments(struct tiles a, operands<T> x, const int32_t *__restrict__ rows)
{
    const int lane = (int)threadIdx.x % GROUP;
    int32_t begin, end;
    const struct part_row row = find_segment(a, rows, blockIdx.x, &begin, &end);
    const int32_t left = end - begin;
    for (int32_t slice = 0; slice < x.slices; slice++) {
        const packs<VEC, LOADS, WHOLE> where(slice, lane, x.k);
        pack<T, VEC> x_row[LOADS];
        load_row<true>(x_row, x.X, x.X_step, (int32_t)row.i, where);
        nonzero<T> next = {};
        load_round(next, lane, a, x, begin, left);
        write_part<false>(x_row, next, a, x, begin, left, x.C + row.at[0], slice == 0,
                          (const pack<T, VEC> *)NULL, where);
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
    T *c = x.C + row.at[0];
    for (int32_t slice = 0; slice < x.slices; slice++) {
        const packs<VEC, LOADS, WHOLE> where(slice, lane, x.k);
        pack<T, VEC> x_row[LOADS];
        load_row<true>(x_row, x.X, x.X_step, (int32_t)row.i, where);
        nonzero<T> next = {};
        for (int32_t t = 0; t < row.tiles; t++) {
            int32_t p;
            const int32_t left = part_length(row, t, &p);
            load_round(next, lane, a, x, p, left);
            fill_stage<true>(stage, a, row, t, x.Y, x.Y_step, where);
            write_part<true>(x_row, next, a, x, p, left, c, slice == 0, stage, where);
        }
        int32_t p;
        const int32_t light = part_length(row, row.tiles, &p), left = light > a.split ? 0 : light;
        next.j = 0; // a column that is in the matrix
        load_round(next, lane, a, x, p, left);
        write_part<false>(x_row, next, a, x, p, left, c, slice == 0, stage, where);
    }
}

template <typename T, int VEC, int LOADS, bool WHOLE> static void start_packs(const struct task *t)
{
    const struct plan *s = (const struct plan *)t->state;
    const struct aspt *A = aspt_of(t->A[0]);
    const operands<T> x = {(const T *)A->val,
                           (const T *)t->in[0].val,
                           (const T *)t->in[1].val,
                           (T *)t->val,
                           A->place,
                           (uint32_t)s->k,
                           s->step[0],
                           s->step[1],
                           s->slices};
    if (s->segments) {
        auto kernel = multiply_segments<T, VEC, LOADS, WHOLE>;
        LAUNCH(kernel, (unsigned)s->segments, SEGMENT_THREADS, 0, t->dev->stream, s->a, x,
               s->segment_row);
    }
    auto kernel = multiply<T, VEC, LOADS, WHOLE>;
    LAUNCH(kernel, (unsigned)s->blocks, s->threads, s->stage_bytes, t->dev->stream, s->a, x);
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
    if (t->A[0]->nnz == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}

#define SLICE_BYTES 512 // of a row of X or Y, at most

// As many columns of a tile as a stage has room for, the rows of Y as long as a slice may be.
static void choose(struct task *t, const struct problem *p)
{
    const int64_t row_bytes = p->in[0].cols * (int64_t)prec_bytes(p->prec);
    int64_t slice = SLICE_BYTES / 4;
    while (slice < row_bytes && slice < SLICE_BYTES) slice *= 2;
    task_choose(t, "width", (double)(STAGE_BYTES / slice));
}

static int prepare(struct task *t)
{
    return plan_make(t, SLICE_BYTES / (int64_t)prec_bytes(t->prec), true);
}

static const struct param options[] = {ASPT_CUDA_OPTIONS, {}};

extern const struct algo sddmm_aspt_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_aspt},
    .arith = ARITH_PREC,
    .options = options,
    .about = "tiles of the heavy columns of row panels in shared memory, the rest as CSR",
    .cite = HONG_2019 ", section 5",
    .differs =
        "A block goes through all tiles of its rows and then through their light parts; 8 lanes "
        "share a row, with vectors, instead of 32, and sum up 8 dot products together; values "
        "are written in the order of CSR.",
    .choose = choose,
    .prepare = prepare,
    .run = run,
    .teardown = plan_free,
};
