// Makes the format aspt on CUDA, by four sorts:
//
// 1. Nonzeros by panel and column. A column with at least `threshold` nonzeros is heavy.
// 2. Heavy columns by panel and slot. Depth of a column = earlier columns of its slot.
// 3. Heavy columns by panel and depth. The columns of a depth are a tile, if there are enough.
// 4. Nonzeros by row and part. A binary search finds the start of each part.
//
// All sorts are stable, so equal keys stay in the order of CSR. Without tiles step 4 does not sort.
// Without heavy columns there are no steps 2 and 3.
#include "device/cub.cuh"
#include "device/warp.cuh"
#include "formats/aspt.h"
#include "formats/csr.h"

#define BLOCK 256

// Keys and their values, for cub_sort_pairs(): [0] is the data, [1] scratch memory.
struct pairs {
    uint64_t *key[2];
    int32_t *value[2];
};

static int pairs_alloc(struct device *d, int64_t count, struct pairs *s)
{
    int err = OK;
    for (int i = 0; i < 2 && !err; i++) {
        err = device_alloc(d, count, sizeof *s->key[i], (void **)&s->key[i]);
        if (!err) err = device_alloc(d, count, sizeof *s->value[i], (void **)&s->value[i]);
    }
    return err;
}

static void pairs_free(struct device *d, struct pairs *s)
{
    for (int i = 0; i < 2; i++) {
        device_free(d, s->key[i]);
        device_free(d, s->value[i]);
    }
}

// The matrix for the kernels. Keys of step 1 are panel << col_bits | column.
struct source {
    int32_t m, panel, width, threshold, least;
    int64_t nnz;
    int col_bits;
    const int32_t *ptr, *idx;

    __device__ __forceinline__ int32_t row_of(int64_t p) const
    {
        return upper_bound(ptr, 0, m + 1, (int32_t)p) - 1;
    }
    __device__ __forceinline__ int64_t panel_of(uint64_t key) const
    {
        return (int64_t)(key >> col_bits);
    }
    __device__ __forceinline__ int32_t column_of(uint64_t key) const
    {
        return (int32_t)(key & (((uint64_t)1 << col_bits) - 1));
    }
};

static __device__ __forceinline__ int64_t thread_number()
{
    return (int64_t)blockIdx.x * BLOCK + threadIdx.x;
}

static __global__ void list_nonzeros(struct source s, uint64_t *__restrict__ key,
                                     int32_t *__restrict__ value)
{
    const int64_t p = thread_number();
    if (p >= s.nnz) return;
    key[p] = (uint64_t)(s.row_of(p) / s.panel) << s.col_bits | (uint64_t)s.idx[p];
    value[p] = (int32_t)p;
}

// Marks the first nonzero of each heavy column.
static __global__ void find_heavy(struct source s, const uint64_t *__restrict__ key,
                                  int32_t *__restrict__ heavy)
{
    const int64_t q = thread_number();
    if (q >= s.nnz) return;
    const bool first = q == 0 || key[q - 1] != key[q];
    const int64_t far = q + s.threshold - 1;
    heavy[q] = first && far < s.nnz && key[far] == key[q];
}

// Lists the heavy columns by their first nonzeros, with the keys of step 2.
static __global__ void list_heavy(struct source s, const uint64_t *__restrict__ key,
                                  const int32_t *__restrict__ heavy,
                                  const int64_t *__restrict__ number, uint64_t *__restrict__ slot,
                                  int32_t *__restrict__ value)
{
    const int64_t q = thread_number();
    if (q >= s.nnz || !heavy[q]) return;
    slot[number[q]] = (uint64_t)s.panel_of(key[q]) * (uint64_t)s.width +
                      (uint64_t)(s.column_of(key[q]) % s.width);
    value[number[q]] = (int32_t)q;
}

// Computes the keys of step 3: panel << 32 | depth.
static __global__ void find_depth(struct source s, int64_t count, const uint64_t *__restrict__ slot,
                                  uint64_t *__restrict__ depth)
{
    const int64_t h = thread_number();
    if (h >= count) return;
    depth[h] = slot[h] / (uint64_t)s.width << 32 |
               (uint64_t)(h - lower_bound(slot, (int64_t)0, h, slot[h]));
}

// Returns true if column h is in a tile. Sets *first to the first column of the same panel and
// depth.
static __device__ __forceinline__ bool is_tile(const struct source &s, int64_t count,
                                               const uint64_t *__restrict__ depth, int64_t h,
                                               int64_t *first)
{
    *first = lower_bound(depth, (int64_t)0, h, depth[h]);
    return upper_bound(depth, h, count, depth[h]) - *first >= s.least;
}

// Marks the first column of each tile.
static __global__ void find_tiles(struct source s, int64_t count,
                                  const uint64_t *__restrict__ depth, int32_t *__restrict__ begins)
{
    const int64_t h = thread_number();
    if (h >= count) return;
    int64_t first;
    begins[h] = is_tile(s, count, depth, h, &first) && h == first;
}

// Columns and nonzeros in tiles.
struct sums {
    unsigned long long columns, nonzeros;
};

// Writes each column of a tile to its slot of map_list, and the tile to part[] of its nonzeros.
static __global__ void fill_tiles(struct source s, int64_t count,
                                  const uint64_t *__restrict__ depth,
                                  const int32_t *__restrict__ heavy,
                                  const int64_t *__restrict__ tile,
                                  const uint64_t *__restrict__ key,
                                  const int32_t *__restrict__ value, int32_t *__restrict__ map_list,
                                  int32_t *__restrict__ part, struct sums *__restrict__ sums)
{
    const int64_t h = thread_number();
    int64_t first;
    if (h >= count || !is_tile(s, count, depth, h, &first)) return;
    const int64_t begin = heavy[h], end = upper_bound(key, begin, s.nnz, key[begin]);
    const int32_t j = s.column_of(key[begin]);
    map_list[tile[first] * s.width + j % s.width] = j;
    for (int64_t q = begin; q < end; q++) part[value[q]] = (int32_t)(depth[h] & 0xffffffffu);
    atomicAdd(&sums->columns, 1ull);
    atomicAdd(&sums->nonzeros, (unsigned long long)(end - begin));
}

// Sets panel_ptr[b] to the number of parts before panel b: tiles, and a light part per panel.
static __global__ void find_panels(int32_t panels, int64_t count,
                                   const uint64_t *__restrict__ depth,
                                   const int64_t *__restrict__ tile,
                                   int64_t *__restrict__ panel_ptr)
{
    const int64_t b = thread_number();
    if (b > panels) return;
    panel_ptr[b] = b + (count ? tile[lower_bound(depth, (int64_t)0, count, (uint64_t)b << 32)] : 0);
}

// Computes the keys of step 4: indices into tile_row_ptr. `part` is NULL if there are no tiles.
static __global__ void list_parts(struct source s, const int64_t *__restrict__ panel_ptr,
                                  const int32_t *__restrict__ part, uint64_t *__restrict__ key,
                                  int32_t *__restrict__ value)
{
    const int64_t p = thread_number();
    if (p >= s.nnz) return;
    const int32_t i = s.row_of(p), b = i / s.panel;
    const int64_t parts = panel_ptr[b + 1] - panel_ptr[b];
    const int64_t t = part && part[p] >= 0 ? part[p] : parts - 1;
    key[p] = (uint64_t)(panel_ptr[b] * s.panel + i % s.panel * parts + t);
    value[p] = (int32_t)p;
}

template <typename T>
static __global__ void place_nonzeros(struct source s, const int32_t *__restrict__ value,
                                      const T *__restrict__ val, int32_t *__restrict__ idx,
                                      T *__restrict__ to, int32_t *__restrict__ place)
{
    const int64_t q = thread_number();
    if (q >= s.nnz) return;
    const int32_t p = value[q];
    idx[q] = s.idx[p];
    to[q] = val[p];
    place[q] = p - s.ptr[s.row_of(p)];
}

static __global__ void find_starts(int64_t nnz, const uint64_t *__restrict__ key, int64_t count,
                                   int64_t *__restrict__ start)
{
    const int64_t x = thread_number();
    if (x <= count) start[x] = lower_bound(key, (int64_t)0, nnz, (uint64_t)x);
}

static unsigned blocks_for(int64_t count) { return (unsigned)ceil_div(count, BLOCK); }

// Steps 2 and 3: from the sorted nonzeros of step 1 to map_list, panel_ptr and the part of each
// nonzero. A light nonzero has part -1.
struct finder {
    struct device *d;
    struct source s;
    struct pairs *nonzeros;
    struct pairs columns; // heavy columns
    int32_t *mark;        // 1 at first nonzeros of heavy columns, then at first columns of tiles
    int64_t *number;      // exclusive prefix sum of `mark`
    struct sums *sums;
};

static int list_columns(struct finder *f, int64_t *count)
{
    const struct source *s = &f->s;
    int err = device_alloc(f->d, s->nnz, sizeof *f->mark, (void **)&f->mark);
    if (!err) err = device_alloc(f->d, s->nnz + 1, sizeof *f->number, (void **)&f->number);
    if (err) return err;
    LAUNCH(find_heavy, blocks_for(s->nnz), BLOCK, 0, f->d->stream, *s, f->nonzeros->key[0],
           f->mark);
    err = launch_check("aspt: heavy columns");
    if (!err) err = cub_offsets(f->d, "aspt", f->mark, s->nnz, f->number, count);
    if (err || !*count) return err;
    err = pairs_alloc(f->d, *count, &f->columns);
    if (err) return err;
    LAUNCH(list_heavy, blocks_for(s->nnz), BLOCK, 0, f->d->stream, *s, f->nonzeros->key[0], f->mark,
           f->number, f->columns.key[0], f->columns.value[0]);
    return launch_check("aspt: heavy columns");
}

static int sort_columns(struct finder *f, int32_t panels, int64_t count)
{
    struct pairs *c = &f->columns;
    int err = cub_sort_pairs(f->d, c->key, c->value, count, 0,
                             cub_key_bits((int64_t)panels * f->s.width));
    if (err) return err;
    LAUNCH(find_depth, blocks_for(count), BLOCK, 0, f->d->stream, f->s, count, c->key[0],
           c->key[1]);
    err = launch_check("aspt: depths");
    uint64_t *sorted = c->key[1]; // belongs to the values in [0]
    c->key[1] = c->key[0], c->key[0] = sorted;
    if (!err) err = cub_sort_pairs(f->d, c->key, c->value, count, 0, 32 + cub_key_bits(panels));
    if (err) return err;
    LAUNCH(find_tiles, blocks_for(count), BLOCK, 0, f->d->stream, f->s, count, c->key[0], f->mark);
    err = launch_check("aspt: tiles");
    return err ? err : cub_exclusive_sum(f->d, f->mark, count, f->number);
}

// Sets *part to an array of size nnz if there are tiles, else to NULL.
static int fill_columns(struct finder *f, struct aspt *X, int64_t count, int32_t **part)
{
    struct sums sums;
    const struct pairs *c = &f->columns;
    int err = wait_for(f->d, "aspt", f->number + count, &X->tiles, sizeof X->tiles);
    if (!err && !X->tiles) return OK;
    int64_t slots = X->tiles * X->width;
    if (!err) err = device_alloc(f->d, slots, sizeof *X->map_list, (void **)&X->map_list);
    if (!err) err = device_fill(f->d, X->map_list, 0xff, slots * (int64_t)sizeof *X->map_list);
    if (!err) err = device_alloc(f->d, f->s.nnz, sizeof **part, (void **)part);
    if (!err) err = device_fill(f->d, *part, 0xff, f->s.nnz * (int64_t)sizeof **part);
    if (!err) err = device_alloc(f->d, 1, sizeof *f->sums, (void **)&f->sums);
    if (!err) err = device_fill(f->d, f->sums, 0, sizeof *f->sums);
    if (err) return err;
    LAUNCH(fill_tiles, blocks_for(count), BLOCK, 0, f->d->stream, f->s, count, c->key[0],
           c->value[0], f->number, f->nonzeros->key[0], f->nonzeros->value[0], X->map_list, *part,
           f->sums);
    err = wait_for(f->d, "aspt: columns", f->sums, &sums, sizeof sums);
    X->tile_columns = err ? 0 : (int64_t)sums.columns;
    X->tiled = err ? 0 : (int64_t)sums.nonzeros;
    return err;
}

static int find_parts(struct finder *f, struct aspt *X, int32_t **part)
{
    int64_t count = 0;
    int err = f->s.nnz ? list_columns(f, &count) : OK;
    if (!err && count) err = sort_columns(f, X->panels, count);
    if (!err && count) err = fill_columns(f, X, count, part);
    if (!err && !X->map_list)
        err = device_alloc(f->d, 0, sizeof *X->map_list, (void **)&X->map_list);
    if (!err)
        err = device_alloc(f->d, (int64_t)X->panels + 1, sizeof *X->panel_ptr,
                           (void **)&X->panel_ptr);
    if (err) return err;
    LAUNCH(find_panels, blocks_for((int64_t)X->panels + 1), BLOCK, 0, f->d->stream, X->panels,
           count, f->columns.key[0], f->number, X->panel_ptr);
    return launch_check("aspt: panels");
}

static void finder_free(struct finder *f)
{
    pairs_free(f->d, &f->columns);
    device_free(f->d, f->mark);
    device_free(f->d, f->number);
    device_free(f->d, f->sums);
}

// Step 4.
template <typename T>
static int place_all(struct device *d, const struct source *s, const struct csr_dev *A,
                     struct pairs *nonzeros, const int32_t *part, struct aspt *X)
{
    int64_t count;
    int err = aspt_row_parts(X, &count);
    if (!err) err = device_alloc(d, count + 1, sizeof *X->tile_row_ptr, (void **)&X->tile_row_ptr);
    if (!err) err = device_alloc(d, A->nnz, sizeof *X->idx, (void **)&X->idx);
    if (!err) err = device_alloc(d, A->nnz, sizeof(T), &X->val);
    if (!err) err = device_alloc(d, A->nnz, sizeof *X->place, (void **)&X->place);
    if (err) return err;
    if (A->nnz) {
        LAUNCH(list_parts, blocks_for(A->nnz), BLOCK, 0, d->stream, *s, X->panel_ptr, part,
               nonzeros->key[0], nonzeros->value[0]);
        err = launch_check("aspt: parts");
        if (!err && X->tiles)
            err = cub_sort_pairs(d, nonzeros->key, nonzeros->value, A->nnz, 0, cub_key_bits(count));
        if (err) return err;
        auto kernel = place_nonzeros<T>;
        LAUNCH(kernel, blocks_for(A->nnz), BLOCK, 0, d->stream, *s, nonzeros->value[0],
               (const T *)A->val, X->idx, (T *)X->val, X->place);
    }
    LAUNCH(find_starts, blocks_for(count + 1), BLOCK, 0, d->stream, A->nnz, nonzeros->key[0], count,
           X->tile_row_ptr);
    return launch_check("aspt: starts");
}

extern "C" int aspt_make_cuda(struct device *d, const struct sparse *from, const double *opt,
                              struct sparse *out)
{
    const struct csr_dev *A = csr_of(from);
    struct aspt *X = (struct aspt *)out;
    struct pairs nonzeros = {};
    int32_t *part = NULL;
    aspt_set_shape(X, opt);
    struct finder f = {};
    f.d = d;
    f.nonzeros = &nonzeros;
    f.s = {A->m,     X->panel, X->width,           X->threshold,
           X->least, A->nnz,   cub_key_bits(A->n), (const int32_t *)A->ptr,
           A->idx};
    int err = pairs_alloc(d, A->nnz, &nonzeros);
    if (!err && A->nnz) {
        LAUNCH(list_nonzeros, blocks_for(A->nnz), BLOCK, 0, d->stream, f.s, nonzeros.key[0],
               nonzeros.value[0]);
        err = launch_check("aspt: nonzeros");
        if (!err)
            err = cub_sort_pairs(d, nonzeros.key, nonzeros.value, A->nnz, 0,
                                 f.s.col_bits + cub_key_bits(X->panels));
    }
    if (!err) err = find_parts(&f, X, &part);
    finder_free(&f);
    if (!err)
        err = prec_is_f32(A->type) ? place_all<float>(d, &f.s, A, &nonzeros, part, X)
                                   : place_all<double>(d, &f.s, A, &nonzeros, part, X);
    device_free(d, part);
    pairs_free(d, &nonzeros);
    return err;
}
