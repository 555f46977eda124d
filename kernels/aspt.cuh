// What the CUDA kernels on adaptive sparse tiles share, SpMM and SDDMM.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, sections 4.3 and 5.
//
// The format is that of formats/aspt.h. The words for pieces of the work:
//
// group    8 neighbouring lanes, which go through the nonzeros of one row of A
// pack     VEC neighbouring elements of a row of a dense matrix, 16 bytes where rows allow it
// slice    neighbouring columns of the dense matrices: LOADS packs for each lane of a group, which
//          are GROUP packs apart
// band     the rows of a panel that a block has, one for each of its groups
// stage    the rows of B (Y in SDDMM) that a tile needs, a slice of them, in shared memory
// round    8 nonzeros of a part of a row, one loaded by each lane of the group
// batch    nonzeros of a round whose rows of B are loaded before the first of them is used
// segment  a piece of the light part of a long row, which a block of its own goes through
//
// A block stages tile after tile of its panel, and its groups go through their rows of each; then
// through the light parts, with the rows of B in memory. So a sum over a row stays in registers
// from the first tile to the last light nonzero.
#ifndef ASPT_CUDA_H
#define ASPT_CUDA_H

#include "device/cub.cuh"
#include "formats/aspt.h"
#include "kernel.cuh"

#define GROUP           8
#define QUAD            4    // nonzeros under one branch: what is past the end is left out by quads
#define MAX_THREADS     256  // of a block of groups
#define SEGMENT         1024 // nonzeros of a segment, at most
#define SEGMENT_THREADS 256  // of its block
#define STAGE_BYTES     32768 // as in the paper: two blocks of 1024 threads shared 64 KB there

// How a kernel sees A.
struct tiles {
    int32_t m, panel, width;
    int32_t bands; // of a panel
    int32_t split; // nonzeros of a light part that a group goes through, at most
    const int64_t *panel_ptr, *tile_row_ptr;
    const int32_t *map_list, *idx;
    const int64_t *segment_ptr; // first segment of each row, size m + 1; NULL: there are none
};

// One row of A as its group sees it.
struct part_row {
    int32_t i;           // its number; at most m - 1 where the group has none
    bool used;           // the group has a row
    int32_t tiles;       // of its panel
    const int64_t *at;   // its parts: at[t] .. at[t + 1], the last one is light
    const int32_t *list; // the columns of the panel's tiles
};

static __device__ __forceinline__ struct part_row find_row(const struct tiles &a, int64_t b,
                                                           int32_t r)
{
    const int64_t part = a.panel_ptr[b], parts = a.panel_ptr[b + 1] - part;
    struct part_row x;
    const int64_t i = b * a.panel + r;
    x.used = r < a.panel && i < a.m;
    x.i = x.used ? (int32_t)i : a.m - 1;
    if (!x.used) r = 0;
    x.tiles = (int32_t)parts - 1;
    x.at = a.tile_row_ptr + part * a.panel + r * parts;
    x.list = a.map_list + (part - b) * a.width;
    return x;
}

// The row of this thread's group.
static __device__ __forceinline__ struct part_row my_row(const struct tiles &a)
{
    const int32_t band = (int32_t)(blockIdx.x % (unsigned)a.bands);
    const int32_t groups = (int32_t)blockDim.x / GROUP;
    return find_row(a, blockIdx.x / (unsigned)a.bands,
                    band * groups + (int32_t)threadIdx.x / GROUP);
}

// The nonzeros of part t of the row of this group, from *p on; 0 where the group has none.
static __device__ __forceinline__ int32_t part_length(const struct part_row &row, int32_t t,
                                                      int32_t *p)
{
    *p = (int32_t)row.at[t];
    return row.used ? (int32_t)row.at[t + 1] - *p : 0;
}

// The packs that a lane has of a slice, as elements from the start of a row. WHOLE: all of them are
// in the row, LOADS packs from at[0] on; else one past column k has `in` false and lies at 0.
template <int VEC, int LOADS, bool WHOLE> struct packs {
    uint32_t at[LOADS];
    bool in[LOADS];

    __device__ __forceinline__ packs(int32_t slice, int lane, uint32_t k)
    {
        const uint32_t first = ((uint32_t)slice * LOADS * GROUP + (uint32_t)lane) * VEC;
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            at[l] = first + (uint32_t)l * GROUP * VEC;
            in[l] = WHOLE || at[l] < k;
            if (!in[l]) at[l] = 0;
        }
    }
};

// The lane's packs of a row of D. Those past column k are zero if ZERO, else the row's first.
template <bool ZERO, typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void load_row(pack<T, VEC> (&x)[LOADS], const T *D, uint32_t step,
                                                int32_t row, const packs<VEC, LOADS, WHOLE> &where)
{
    opaque(step);
    const T *from = row_at<const T>(WHOLE ? D + where.at[0] : D, step, (uint32_t)row);
#pragma unroll
    for (int l = 0; l < LOADS; l++) {
        const T *p = from + (WHOLE ? l * GROUP * VEC : where.at[l]);
        x[l] = !ZERO || where.in[l] ? *(const pack<T, VEC> *)p : pack<T, VEC>{};
    }
}

// Copies the rows of D that tile t needs, by all threads of the block, which meet before and after.
template <bool ZERO, typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
fill_stage(pack<T, VEC> *stage, const struct tiles &a, const struct part_row &row, int32_t t,
           const T *D, uint32_t step, const packs<VEC, LOADS, WHOLE> &where)
{
    const int32_t *list = row.list + (int64_t)t * a.width;
    __syncthreads(); // nobody reads the tile before
    for (int32_t s = (int32_t)threadIdx.x / GROUP; s < a.width; s += (int32_t)blockDim.x / GROUP) {
        const int32_t j = list[s];
        if (j < 0) continue;
        pack<T, VEC> x[LOADS];
        load_row<ZERO>(x, D, step, j, where);
#pragma unroll
        for (int l = 0; l < LOADS; l++)
            stage[(s * LOADS + l) * GROUP + (int32_t)threadIdx.x % GROUP] = x[l];
    }
    __syncthreads();
}

// The lane's packs of the row in slot s of the stage.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void load_staged(pack<T, VEC> (&x)[LOADS],
                                                   const pack<T, VEC> *stage, int32_t s, int lane)
{
#pragma unroll
    for (int l = 0; l < LOADS; l++) x[l] = stage[(s * LOADS + l) * GROUP + lane];
}

// The slot that the modulo mapping has for column j.
static __device__ __forceinline__ int32_t slot_of(int32_t j, int32_t width)
{
    return width & (width - 1) ? j % width : j & (width - 1);
}

// Nonzeros of a batch: 8 packs of B under way for each lane, half of them where they come from the
// stage.
template <bool STAGED, int LOADS> static __host__ __device__ constexpr int batch_of()
{
    return (STAGED ? QUAD : GROUP) / LOADS > 0 ? (STAGED ? QUAD : GROUP) / LOADS : 1;
}

// Segments of the light part of each row.
static __global__ void count_segments(struct tiles a, int32_t *__restrict__ count)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.m) return;
    const struct part_row row = find_row(a, i / a.panel, (int32_t)(i % a.panel));
    const int64_t light = row.at[row.tiles + 1] - row.at[row.tiles];
    count[i] = light > a.split ? (int32_t)ceil_div(light, SEGMENT) : 0;
}

static __global__ void list_segments(int32_t m, int64_t segments, const int64_t *__restrict__ ptr,
                                     int32_t *__restrict__ row)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s < segments) row[s] = (int32_t)(upper_bound(ptr, (int64_t)0, (int64_t)m + 1, s) - 1);
}

// What this group has of segment s: nonzeros [*begin, *end) of the row, which may be none. Those of
// a row are cut into pieces of equal length, and these among the groups of a block.
static __device__ __forceinline__ struct part_row find_segment(const struct tiles &a,
                                                               const int32_t *__restrict__ rows,
                                                               int64_t s, int32_t *begin,
                                                               int32_t *end)
{
    const int32_t i = rows[s];
    const struct part_row row = find_row(a, i / a.panel, i % a.panel);
    const int64_t first = a.segment_ptr[i], low = row.at[row.tiles], high = row.at[row.tiles + 1];
    const int64_t length = ceil_div(high - low, a.segment_ptr[i + 1] - first);
    const int64_t from = low + (s - first) * length,
                  to = from + length < high ? from + length : high;
    const int64_t share = ceil_div(length, SEGMENT_THREADS) * GROUP; // of one of the groups
    const int64_t mine = from + threadIdx.x / GROUP * share;
    *begin = (int32_t)mine;
    *end = (int32_t)(mine + share < to ? mine + share : to);
    return row;
}

// How a case is computed: what prepare() decides, and what it allocates.
struct plan {
    struct tiles a;
    int32_t k, slices;
    int vec, loads;
    bool whole; // slices are full
    int threads;
    int64_t blocks, segments;
    size_t stage_bytes;
    int64_t *segment_ptr;
    int32_t *segment_row; // size segments
    void *partial;        // of SpMM: sums over segments
    uint32_t step[3];     // bytes from a row to the next, of the dense inputs and of a dense result
};

// The widest pack that rows of all dense matrices are made of.
static inline int plan_vec(const struct task *t)
{
    const int vec = (int)(16 / prec_bytes(t->prec));
    bool fits = t->in[0].cols % vec == 0 && t->in[0].ld % vec == 0;
    if (t->in[1].val) fits &= t->in[1].ld % vec == 0;
    if (t->C.val) fits &= t->C.ld % vec == 0;
    return fits ? vec : 1;
}

// Slices of `columns`, less where the row or the stage is smaller.
static inline void plan_slices(const struct task *t, int64_t columns, struct plan *s)
{
    const int64_t width = (int64_t)prec_bytes(t->prec), k = t->in[0].cols;
    s->k = (int32_t)k;
    s->vec = plan_vec(t);
    s->loads = 4;
    while (s->loads > 1 &&
           (s->loads * GROUP * s->vec > columns || s->loads / 2 * GROUP * s->vec >= k ||
            s->loads * GROUP * s->vec * width * s->a.width > STAGE_BYTES))
        s->loads /= 2;
    const int64_t slice = s->loads * GROUP * s->vec;
    s->slices = (int32_t)ceil_div(k, slice);
    s->whole = k % slice == 0;
    s->stage_bytes = aspt_of(t->A[0])->tiles ? (size_t)(slice * width * s->a.width) : 0;
}

// Large blocks stage a tile for many rows at once, small ones fill the device. Each stages all
// tiles of its panel, which pays only for some rows.
static inline void plan_blocks(const struct task *t, int64_t slices, struct plan *s)
{
    const struct aspt *A = aspt_of(t->A[0]);
    const int wanted = (int)task_option(t, "threads") / WARP * WARP;
    const int least = A->tiles ? MAX_THREADS / 2 : 2 * WARP;
    s->threads = wanted ? wanted : MAX_THREADS;
    while (!wanted && s->threads > least &&
           ceil_div(A->m, s->threads / GROUP) * slices < 4 * t->dev->units)
        s->threads /= 2;
    while (s->threads > WARP && (s->threads - WARP) / GROUP >= A->panel) s->threads -= WARP;
    s->a.bands = (int32_t)ceil_div(A->panel, s->threads / GROUP);
    s->blocks = (int64_t)A->panels * s->a.bands;
}

static inline int plan_segments(const struct task *t, struct plan *s)
{
    struct device *d = t->dev;
    const int64_t m = s->a.m;
    const unsigned threads = SEGMENT_THREADS;
    int32_t *count = NULL;
    int err = device_alloc(d, m, sizeof *count, (void **)&count);
    if (!err) err = device_alloc(d, m + 1, sizeof *s->segment_ptr, (void **)&s->segment_ptr);
    if (!err && m > 0) {
        LAUNCH(count_segments, (unsigned)ceil_div(m, threads), threads, 0, d->stream, s->a, count);
        err = launch_check(t->entry->name);
    }
    if (!err) err = cub_exclusive_sum(d, count, m, s->segment_ptr);
    if (!err)
        err = wait_for(d, t->entry->name, s->segment_ptr + m, &s->segments, sizeof s->segments);
    device_free(d, count);
    if (err || !s->segments) return err;
    err = device_alloc(d, s->segments, sizeof *s->segment_row, (void **)&s->segment_row);
    if (err) return err;
    s->a.segment_ptr = s->segment_ptr;
    LAUNCH(list_segments, (unsigned)ceil_div(s->segments, threads), threads, 0, d->stream, s->a.m,
           s->segments, s->segment_ptr, s->segment_row);
    return launch_check(t->entry->name);
}

// With slices of `columns` at most; where `loop`, a block goes through all of them.
static inline int plan_make(struct task *t, int64_t columns, bool loop)
{
    struct plan *s = (struct plan *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    const struct aspt *A = aspt_of(t->A[0]);
    s->a = {A->m,         A->panel,        A->width,    1,      (int32_t)task_option(t, "split"),
            A->panel_ptr, A->tile_row_ptr, A->map_list, A->idx, NULL};
    plan_slices(t, columns, s);
    plan_blocks(t, loop ? 1 : s->slices, s);
    int err = row_step(t, &t->in[0], &s->step[0]);
    if (!err && t->in[1].val) err = row_step(t, &t->in[1], &s->step[1]);
    if (!err && t->C.val) err = row_step(t, &t->C, &s->step[2]);
    if (!err) err = plan_segments(t, s);
    task_number(t, "threads", s->threads);
    task_number(t, "slices", s->slices);
    task_number(t, "segments", (double)s->segments);
    return err;
}

static inline void plan_free(struct task *t)
{
    struct plan *s = (struct plan *)t->state;
    if (!s) return;
    device_free(t->dev, s->segment_ptr);
    device_free(t->dev, s->segment_row);
    device_free(t->dev, s->partial);
    mem_free(s);
    t->state = NULL;
}

#define ASPT_CUDA_OPTIONS                                                                          \
    {"width", 0, 0, 256, true, "columns of a tile, at most; 0: by k and precision, 32 KB of B"},   \
        {"split", 512,  1,                                                                         \
         1 << 30, true, "nonzeros of the light part of a row that are not cut into segments"},     \
    {                                                                                              \
        "threads", 0, 0, MAX_THREADS, true, "per block, rounded down to 32s; 0: by the size"       \
    }

#endif
