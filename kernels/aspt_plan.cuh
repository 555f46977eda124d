// Host side of the CUDA kernels on adaptive sparse tiles: counts and lists of segments, warp rows
// and spans, sizes of slabs and blocks, options. The words are those of aspt.cuh.
#ifndef ASPT_PLAN_H
#define ASPT_PLAN_H

#include "aspt.cuh"
#include "device/cub.cuh"

// Counts the segments of each row. Sets warp_rows[i] to 1 if row i is a warp row, else to 0.
static __global__ void count_pieces(struct tiles a, int32_t *__restrict__ segments,
                                    int32_t *__restrict__ warp_rows)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.m) return;
    const struct part_row row = row_of(a, (int32_t)i);
    const int64_t light = row.at[row.tiles + 1] - row.at[row.tiles];
    segments[i] = is_cut(a, light) ? (int32_t)ceil_div(light, SEGMENT) : 0;
    warp_rows[i] = is_warp_row(a, light);
}

// Sum of the lengths of the light parts, and sum of their squares.
struct spread {
    unsigned long long sum, squares;
};

static __global__ void count_spread(struct tiles a, struct spread *__restrict__ to)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long light = 0;
    if (i < a.m) {
        const struct part_row row = row_of(a, (int32_t)i);
        light = (unsigned long long)(row.at[row.tiles + 1] - row.at[row.tiles]);
    }
    const unsigned long long sum = warp_sum(light), squares = warp_sum(light * light);
    if (lane_id()) return;
    atomicAdd(&to->sum, sum);
    atomicAdd(&to->squares, squares);
}

// Counts the spans of each panel.
static __global__ void count_spans(struct tiles a, int64_t panels, int32_t *__restrict__ count)
{
    const int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= panels) return;
    const int64_t tiles = a.panel_ptr[b + 1] - a.panel_ptr[b] - 1;
    count[b] = tiles > a.most ? (int32_t)ceil_div(tiles, a.most) : 0;
}

static __global__ void list_owners(int64_t owners, struct pieces to)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s < to.count) to.owner[s] = (int32_t)(upper_bound(to.first, (int64_t)0, owners + 1, s) - 1);
}

// Decisions and allocations of prepare().
struct aspt_plan {
    struct tiles a;
    int32_t k, slabs;
    int vec, loads;
    bool whole; // k is a multiple of a slab
    int threads;
    int64_t blocks; // blocks of both kernels
    size_t stage_bytes;
    void *partial;    // SpMM: sums over segments, warp rows and spans
    uint32_t step[3]; // bytes between rows of the dense inputs and the dense result
};

// Calls function<T, VEC, LOADS, WHOLE>(t) with the values of plan s.
#define BY_LOADS(T, VEC, WHOLE, function, t, loads)                                                \
    ((loads) == 1   ? function<T, VEC, 1, WHOLE>(t)                                                \
     : (loads) == 2 ? function<T, VEC, 2, WHOLE>(t)                                                \
                    : function<T, VEC, 4, WHOLE>(t))
#define BY_PACKS(T, function, t, s)                                                                \
    ((s)->vec == 1 ? BY_LOADS(T, 1, false, function, t, (s)->loads)                                \
     : (s)->whole  ? BY_LOADS(T, 16 / sizeof(T), true, function, t, (s)->loads)                    \
                   : BY_LOADS(T, 16 / sizeof(T), false, function, t, (s)->loads))

// Returns the widest pack that the rows of all dense matrices allow. H200: k = 33, without packs,
// takes 2.0 to 2.7 times the time of k = 32.
static inline int plan_vec(const struct task *t)
{
    const int vec = (int)(16 / in_bytes(t));
    bool fits = t->in[0].cols % vec == 0 && t->in[0].ld % vec == 0;
    if (t->in[1].val) fits &= t->in[1].ld % vec == 0;
    if (t->C.val) fits &= t->C.ld % vec == 0;
    return fits ? vec : 1;
}

// Sets slabs of `columns` columns, or fewer if the row or the stage is smaller.
static inline void plan_slabs(const struct task *t, int64_t columns, struct aspt_plan *s)
{
    const int64_t width = in_bytes(t), k = t->in[0].cols;
    s->k = (int32_t)k;
    s->vec = plan_vec(t);
    s->loads = 4;
    while (s->loads > 1 &&
           (s->loads * GROUP * s->vec > columns || s->loads / 2 * GROUP * s->vec >= k ||
            s->loads * GROUP * s->vec * width * s->a.width > STAGE_BYTES))
        s->loads /= 2;
    const int64_t slab = s->loads * GROUP * s->vec;
    s->slabs = (int32_t)ceil_div(k, slab);
    s->whole = k % slab == 0;
    s->stage_bytes = aspt_of(t->A[0])->tiles ? (size_t)(slab * width * s->a.width) : 0;
}

// Sets the threads of a block. A large block stages a tile for many rows at once. A small block
// waits less for its longest row, and small blocks fill the device. `slabs`: blocks per band.
static inline void plan_blocks(const struct task *t, int64_t slabs, struct aspt_plan *s)
{
    const struct aspt *A = aspt_of(t->A[0]);
    const int wanted = (int)task_option(t, "threads") / WARP * WARP;
    const int least = A->tiles ? ASPT_THREADS / 2 : 2 * WARP;
    s->threads = wanted ? wanted : A->tiled * 4 < A->nnz ? ASPT_THREADS / 2 : ASPT_THREADS;
    while (!wanted && s->threads > least &&
           ceil_div(A->m, s->threads / GROUP) * slabs < 4 * t->dev->units)
        s->threads /= 2;
    while (s->threads > WARP && (s->threads - WARP) / GROUP >= A->panel) s->threads -= WARP;
    s->a.bands = (int32_t)ceil_div(A->panel, s->threads / GROUP);
}

// Sets the first block of each kind. The order in the grid: segments, warp rows, spans, bands.
static inline void plan_grid(const struct task *t, struct aspt_plan *s)
{
    struct tiles *a = &s->a;
    a->warp_row_at = a->segments.count;
    a->span_at = a->warp_row_at + ceil_div(a->warp_rows.count, s->threads / WARP);
    a->band_at = a->span_at + a->spans.count * a->bands;
    s->blocks = a->band_at + (int64_t)aspt_of(t->A[0])->panels * a->bands;
}

// Sets *uneven to true if the standard deviation of the light parts is at least their mean.
static inline int plan_spread(struct task *t, const struct aspt_plan *s, bool *uneven)
{
    struct device *d = t->dev;
    struct spread *sum = NULL, x = {};
    int err = device_alloc(d, 1, sizeof *sum, (void **)&sum);
    if (!err) err = device_fill(d, sum, 0, sizeof *sum);
    if (!err && s->a.m > 0) {
        LAUNCH(count_spread, (unsigned)ceil_div(s->a.m, ASPT_THREADS), ASPT_THREADS, 0, d->stream,
               s->a, sum);
        err = wait_for(d, t->entry->name, sum, &x, sizeof x);
    }
    device_free(d, sum);
    *uneven = (double)x.squares * s->a.m >= 2 * (double)x.sum * (double)x.sum && x.sum > 0;
    return err;
}

// Sets `split`. Rows with more light nonzeros leave their group, because groups of a warp wait for
// each other. The bound is 48 if lengths are uneven. Otherwise the bound is twice the mean, from 64
// to SEGMENT, or 64 if rows are too few to fill the device. H200: the 48 raises fb100_Cornell5,
// f64, from 0.98 to 1.12 of the authors' speed. With 48 for every matrix, fem:28 takes 1.5 times
// the time.
static inline int plan_split(struct task *t, struct aspt_plan *s)
{
    const struct aspt *A = aspt_of(t->A[0]);
    const int wanted = (int)task_option(t, "split");
    const int64_t rows = A->m, busy = (int64_t)t->dev->units * 1024 / GROUP;
    const int64_t usual = rows < busy ? 0 : 2 * A->nnz / rows;
    bool uneven = false;
    int err = wanted ? OK : plan_spread(t, s, &uneven);
    s->a.split = wanted ? wanted : uneven ? 48 : (int32_t)min64(max64(usual, 64), SEGMENT);
    return err;
}

// Makes the list of pieces from count[i], the number of pieces of owner i. Frees `count`.
static inline int plan_pieces(struct task *t, int64_t owners, int32_t *count, struct pieces *x)
{
    struct device *d = t->dev;
    int err = device_alloc(d, owners + 1, sizeof *x->first, (void **)&x->first);
    if (!err) err = cub_offsets(d, t->entry->name, count, owners, x->first, &x->count);
    device_free(d, count);
    if (err || !x->count) return err;
    err = device_alloc(d, x->count, sizeof *x->owner, (void **)&x->owner);
    if (err) return err;
    LAUNCH(list_owners, (unsigned)ceil_div(x->count, ASPT_THREADS), ASPT_THREADS, 0, d->stream,
           owners, *x);
    return launch_check(t->entry->name);
}

static inline int plan_rows(struct task *t, struct aspt_plan *s)
{
    struct device *d = t->dev;
    const int64_t m = s->a.m;
    int32_t *segments = NULL, *warp_rows = NULL;
    int err = device_alloc(d, m, sizeof *segments, (void **)&segments);
    if (!err) err = device_alloc(d, m, sizeof *warp_rows, (void **)&warp_rows);
    if (!err && m > 0) {
        LAUNCH(count_pieces, (unsigned)ceil_div(m, ASPT_THREADS), ASPT_THREADS, 0, d->stream, s->a,
               segments, warp_rows);
        err = launch_check(t->entry->name);
    }
    if (err) {
        device_free(d, segments);
        device_free(d, warp_rows);
        return err;
    }
    err = plan_pieces(t, m, segments, &s->a.segments);
    if (!err) return plan_pieces(t, m, warp_rows, &s->a.warp_rows);
    device_free(d, warp_rows);
    return err;
}

static inline int plan_spans(struct task *t, struct aspt_plan *s)
{
    struct device *d = t->dev;
    const int64_t panels = aspt_of(t->A[0])->panels;
    int32_t *count = NULL;
    if (!aspt_of(t->A[0])->tiles) return OK;
    int err = device_alloc(d, panels, sizeof *count, (void **)&count);
    if (err) return err;
    LAUNCH(count_spans, (unsigned)ceil_div(panels, ASPT_THREADS), ASPT_THREADS, 0, d->stream, s->a,
           panels, count);
    err = launch_check(t->entry->name);
    if (!err) return plan_pieces(t, panels, count, &s->a.spans);
    device_free(d, count);
    return err;
}

// Makes the plan, with slabs of at most `columns` columns. `loop`: a block computes all slabs.
static inline int plan_make(struct task *t, int64_t columns, bool loop)
{
    struct aspt_plan *s = (struct aspt_plan *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    const struct aspt *A = aspt_of(t->A[0]);
    s->a.m = A->m, s->a.panel = A->panel, s->a.width = A->width;
    s->a.most = (int32_t)task_option(t, "span");
    s->a.panel_ptr = A->panel_ptr, s->a.tile_row_ptr = A->tile_row_ptr;
    s->a.map_list = A->map_list, s->a.idx = A->idx, s->a.place = A->place;
    plan_slabs(t, columns, s);
    plan_blocks(t, loop ? 1 : s->slabs, s);
    int err = row_step(t, &t->in[0], &s->step[0]);
    if (!err && t->in[1].val) err = row_step(t, &t->in[1], &s->step[1]);
    if (!err && t->C.val) err = row_step(t, &t->C, &s->step[2]);
    if (!err) err = plan_split(t, s);
    if (!err) err = plan_rows(t, s);
    if (!err) err = plan_spans(t, s);
    if (!err) plan_grid(t, s);
    task_number(t, "threads", s->threads);
    task_number(t, "slabs", s->slabs);
    task_number(t, "segments", (double)s->a.segments.count);
    task_number(t, "warp_rows", (double)s->a.warp_rows.count);
    task_number(t, "spans", (double)s->a.spans.count);
    return err;
}

static inline void plan_free(struct task *t)
{
    struct aspt_plan *s = (struct aspt_plan *)t->state;
    if (!s) return;
    const struct pieces *const lists[] = {&s->a.segments, &s->a.warp_rows, &s->a.spans};
    for (const struct pieces *x : lists) {
        device_free(t->dev, x->first);
        device_free(t->dev, x->owner);
    }
    device_free(t->dev, s->partial);
    mem_free(s);
    t->state = NULL;
}

#endif
