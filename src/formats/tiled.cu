// Makes the format tiled on CUDA, with the same result as tiled_order.c and tiled_make.c on the
// host.
//
// tiled_segments.cuh makes the segments and their order. Here the nonzeros are sorted by panel and
// column. The sorted keys give the distinct columns of each panel, and the rank of each nonzero
// among them. The rank gives the stage and the place in the stage. So each thread places a nonzero
// independently.
#include "formats/tiled_segments.cuh"

// The nonzeros by panel and column.
struct ranks {
    int shift;       // a key is panel << shift | column
    uint64_t *key;   // sorted keys, size nnz
    int32_t *entry;  // nonzero of A of each key, size nnz
    int64_t *before; // distinct keys before each key, size nnz + 1
    int64_t distinct;
};

// Computes the keys of the nonzeros.
static __global__ void list_keys(int32_t nnz, struct cut s, const int32_t *__restrict__ place,
                                 const int32_t *__restrict__ idx, int32_t rows, int shift,
                                 uint64_t *__restrict__ key, int32_t *__restrict__ entry)
{
    const int64_t p = thread_number();
    if (p >= nnz) return;
    key[p] = (uint64_t)(place[s.of[p]] / rows) << shift | (uint32_t)idx[p];
    entry[p] = (int32_t)p;
}

static __global__ void flag_distinct(int32_t nnz, const uint64_t *__restrict__ key,
                                     int32_t *__restrict__ flag)
{
    const int64_t e = thread_number();
    if (e < nnz) flag[e] = e == 0 || key[e] != key[e - 1];
}

// Scratch memory of find_ranks().
struct ranking {
    uint64_t *key[2];
    int32_t *entry[2], *flag;
};

static int ranking_alloc(struct scratch *w, const struct tiled *T, struct ranking *r,
                         struct ranks *out)
{
    int err = OK;
    for (int i = 0; i < 2 && !err; i++) {
        err = scratch_alloc(w, T->nnz, &r->key[i]);
        if (!err) err = scratch_alloc(w, T->nnz, &r->entry[i]);
    }
    if (!err) err = scratch_alloc(w, T->nnz, &r->flag);
    if (!err) err = scratch_alloc(w, T->nnz + 1, &out->before);
    return err;
}

static int find_ranks(struct scratch *w, const struct csr_dev *A, const struct tiled *T,
                      const struct cut *s, const struct order *order, struct ranking *r,
                      struct ranks *out)
{
    struct device *d = w->d;
    const int32_t nnz = (int32_t)T->nnz;
    out->shift = cub_key_bits(T->n);
    if (nnz)
        LAUNCH(list_keys, grid_for(nnz), BLOCK, 0, d->stream, nnz, *s, order->place, A->idx,
               T->rows, out->shift, r->key[0], r->entry[0]);
    int err = launch_check("tiled: keys");
    if (!err)
        err = cub_sort_pairs(d, r->key, r->entry, nnz, 0, out->shift + cub_key_bits(T->panels));
    if (err) return err;
    out->key = r->key[0];
    out->entry = r->entry[0];
    if (nnz) LAUNCH(flag_distinct, grid_for(nnz), BLOCK, 0, d->stream, nnz, out->key, r->flag);
    err = launch_check("tiled: distinct");
    return err ? err : cub_offsets(d, "tiled", r->flag, nnz, out->before, &out->distinct);
}

// Sets the first distinct column and the number of stages of each panel.
static __global__ void count_stages(int32_t panels, int32_t nnz, struct ranks r, int32_t stage,
                                    int64_t *__restrict__ first, int32_t *__restrict__ stages)
{
    const int64_t i = thread_number();
    if (i >= panels) return;
    const int32_t begin = lower_bound(r.key, 0, nnz, (uint64_t)i << r.shift);
    const int32_t end = lower_bound(r.key, begin, nnz, (uint64_t)(i + 1) << r.shift);
    first[i] = r.before[begin];
    stages[i] = (int32_t)ceil_div(r.before[end] - r.before[begin], stage);
}

static __global__ void list_stages(struct tiled T, const int64_t *__restrict__ first)
{
    const int64_t x = thread_number();
    if (x > T.stages) return;
    const int32_t i = upper_bound(T.panel, 0, T.panels + 1, x) - 1;
    T.map_ptr[x] = x == T.stages ? T.mapped : first[i] + (x - T.panel[i]) * T.stage;
}

// Writes the map, and the rank of each nonzero among the columns of its panel, in the order of A.
static __global__ void list_columns(int32_t nnz, struct ranks r, const int64_t *__restrict__ first,
                                    int32_t *__restrict__ map, int32_t *__restrict__ rank)
{
    const int64_t e = thread_number();
    if (e >= nnz) return;
    const uint64_t key = r.key[e];
    const int64_t place = r.before[e + 1] - 1;
    map[place] = (int32_t)(key & (((uint64_t)1 << r.shift) - 1)); // equal keys write the same value
    rank[r.entry[e]] = (int32_t)(place - first[key >> r.shift]);
}

static int make_map(struct scratch *w, const struct ranks *r, struct tiled *T, int32_t **rank)
{
    struct device *d = w->d;
    const int32_t nnz = (int32_t)T->nnz;
    int64_t *first;
    int32_t *stages;
    int err = scratch_alloc(w, T->panels, &first);
    if (!err) err = scratch_alloc(w, T->panels, &stages);
    if (!err) err = scratch_alloc(w, T->nnz, rank);
    if (!err) err = own_alloc(d, (int64_t)T->panels + 1, &T->panel);
    if (err) return err;
    if (T->panels)
        LAUNCH(count_stages, grid_for(T->panels), BLOCK, 0, d->stream, T->panels, nnz, *r, T->stage,
               first, stages);
    err = launch_check("tiled: stages");
    if (!err) err = cub_offsets(d, "tiled", stages, T->panels, T->panel, &T->stages);
    if (err) return err;
    T->mapped = r->distinct;
    err = own_alloc(d, T->stages + 1, &T->map_ptr);
    if (!err) err = own_alloc(d, T->mapped, &T->map);
    if (err) return err;
    LAUNCH(list_stages, grid_for(T->stages + 1), BLOCK, 0, d->stream, *T, first);
    if (nnz)
        LAUNCH(list_columns, grid_for(nnz), BLOCK, 0, d->stream, nnz, *r, first, T->map, *rank);
    return launch_check("tiled: map");
}

// The place of a nonzero: its slice, its lane, and its number in its segment and stage.
struct spot {
    int64_t slice;
    int32_t lane, number;
};

static __device__ __forceinline__ struct spot find_spot(const struct tiled &T, const struct cut &s,
                                                        const int32_t *__restrict__ place,
                                                        const int32_t *__restrict__ rank, int32_t p)
{
    const int32_t segment = s.of[p], x = place[segment], panel = x / T.rows, in_panel = x % T.rows;
    const int32_t stage = rank[p] / T.stage;
    return {(T.panel[panel] + stage) * (T.rows / SLICE) + in_panel / SLICE, in_panel % SLICE,
            p - lower_bound(rank, s.first[segment], p, stage * T.stage)};
}

// Sets the entries of each slice, with padding, to 32 times those of its longest segment.
static __global__ void widen_slices(int32_t nnz, struct tiled T, struct cut s,
                                    const int32_t *__restrict__ place,
                                    const int32_t *__restrict__ rank, int32_t *__restrict__ size)
{
    const int32_t p = (int32_t)thread_number();
    if (p >= nnz) return;
    if (p + 1 < s.end[s.of[p]] && rank[p + 1] / T.stage == rank[p] / T.stage)
        return; // not the last nonzero of the segment in the stage
    const struct spot at = find_spot(T, s, place, rank, p);
    atomicMax(&size[at.slice], (at.number + 1) * SLICE);
}

static __global__ void clear_places(int64_t stored, uint16_t pad, uint16_t *__restrict__ idx)
{
    for (int64_t q = thread_number(); q < stored; q += (int64_t)gridDim.x * BLOCK) idx[q] = pad;
}

template <typename T>
static __global__ void fill_slices(int32_t nnz, struct tiled t, struct cut s,
                                   const int32_t *__restrict__ place,
                                   const int32_t *__restrict__ rank, const T *__restrict__ val)
{
    const int32_t p = (int32_t)thread_number();
    if (p >= nnz) return;
    const struct spot at = find_spot(t, s, place, rank, p);
    const int64_t q = t.slice[at.slice] + (int64_t)at.number * SLICE + at.lane;
    t.idx[q] = (uint16_t)(rank[p] % t.stage);
    ((T *)t.val)[q] = val[p];
}

static int make_slices(struct scratch *w, const struct csr_dev *A, const struct cut *s,
                       const int32_t *place, const int32_t *rank, struct tiled *T)
{
    struct device *d = w->d;
    const int64_t slices = tiled_slices(T), width = (int64_t)type_bytes(T->type);
    const int32_t nnz = (int32_t)T->nnz;
    const unsigned grid = grid_for(nnz);
    int32_t *size;
    int err = scratch_alloc(w, slices, &size);
    if (!err) err = own_alloc(d, slices + 1, &T->slice);
    if (!err) err = device_fill(d, size, 0, slices * (int64_t)sizeof *size);
    if (err) return err;
    if (nnz) LAUNCH(widen_slices, grid, BLOCK, 0, d->stream, nnz, *T, *s, place, rank, size);
    err = launch_check("tiled: slices");
    if (!err) err = cub_offsets(d, "tiled", size, slices, T->slice, &T->stored);
    if (!err) err = own_alloc(d, T->stored, &T->idx);
    if (!err) err = device_alloc(d, T->stored, (size_t)width, &T->val);
    if (!err) err = device_fill(d, T->val, 0, T->stored * width);
    if (err || !T->stored) return err;
    LAUNCH(clear_places, (unsigned)min64(ceil_div(T->stored, BLOCK), 1 << 20), BLOCK, 0, d->stream,
           T->stored, (uint16_t)T->stage, T->idx);
    auto fill = fill_slices<float>;
    auto fill_wide = fill_slices<double>;
    if (prec_is_f32(T->type))
        LAUNCH(fill, grid, BLOCK, 0, d->stream, nnz, *T, *s, place, rank, (const float *)A->val);
    else
        LAUNCH(fill_wide, grid, BLOCK, 0, d->stream, nnz, *T, *s, place, rank,
               (const double *)A->val);
    return launch_check("tiled: fill");
}

// Sets *cost to the cost of an order, as cost() in tiled_make.c.
static int find_cost(struct scratch *w, const struct cut *s, const struct order *order,
                     const struct ranks *r, bool permute, int64_t *cost)
{
    int64_t pieces = 0;
    int err = permute ? OK : count_pieces_of_C(w, s, order, &pieces);
    *cost = r->distinct + pieces;
    return err;
}

// Sets the order of the segments and the ranks of the nonzeros. Section 4.2: the sorted order if
// forced, or if its cost is lower.
static int choose_order(struct scratch *w, const struct csr_dev *A, const double *opt,
                        const struct cut *s, struct tiled *T, struct order *order, struct ranks *r)
{
    struct ranking scratch;
    struct order sorted;
    const bool force = opt[TILED_REORDER] > 0, permute = opt[TILED_PERMUTE] != 0;
    int64_t plain = 0, cost = -1; // so a forced order has the lower cost
    int err = ranking_alloc(w, T, &scratch, r);
    if (!err && !force) {
        err = order_segments(w, A, s, false, order);
        if (!err) err = find_ranks(w, A, T, s, order, &scratch, r);
        if (!err) err = find_cost(w, s, order, r, permute, &plain);
    }
    if (err || opt[TILED_REORDER] == 0) return err;
    err = order_segments(w, A, s, true, &sorted);
    if (!err) err = find_ranks(w, A, T, s, &sorted, &scratch, r);
    if (!err && !force) err = find_cost(w, s, &sorted, r, permute, &cost);
    if (err) return err;
    T->reordered = cost < plain;
    if (!T->reordered) return find_ranks(w, A, T, s, order, &scratch, r);
    *order = sorted;
    return OK;
}

extern "C" int tiled_make_cuda(struct device *d, const struct sparse *from, const double *opt,
                               struct sparse *out)
{
    const struct csr_dev *A = csr_of(from);
    struct tiled *T = (struct tiled *)out;
    struct scratch w = {.d = d};
    struct cut s = {};
    struct order order = {};
    struct ranks r = {};
    int32_t *rank = NULL;
    int err = cut_rows(&w, A, opt, T, &s);
    if (!err) err = choose_order(&w, A, opt, &s, T, &order, &r);
    if (!err) err = place_sums(&w, &s, order.segment, opt[TILED_PERMUTE] != 0, T);
    if (!err) err = make_map(&w, &r, T, &rank);
    if (!err) err = make_slices(&w, A, &s, order.place, rank, T);
    scratch_free(&w);
    return err;
}
