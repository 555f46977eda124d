#include "formats/aspt.h"

#include <omp.h>
#include <string.h>

#include "base/sort.h"
#include "formats/csr.h"

// Defaults of the authors' code for a GPU, f32 and k = 32, where a tile of B takes 32 KB. The
// kernels set their own: threshold 64 on CUDA (aspt_plan.cuh), fill 25 on a CPU (kernels/aspt.h).
enum { PANEL, WIDTH, THRESHOLD, FILL };
static const struct algo_option options[] = {
    [PANEL] = {"panel", 128, 1, 1024, true, "rows of a panel"},
    [WIDTH] = {"width", 256, 1, 4096, true, "columns of a tile, at most"},
    [THRESHOLD] = {"threshold", 16, 1, 4096, true, "least nonzeros of a heavy column in a panel"},
    [FILL] = {"fill", 75, 0, 100, true, "least columns of a tile, in percent of the width"},
    {0},
};

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct aspt *A = (struct aspt *)X;
    list[0] = (struct array){(void **)&A->panel_ptr, (int64_t)A->panels + 1, sizeof *A->panel_ptr};
    list[1] = (struct array){(void **)&A->tile_row_ptr, (A->tiles + A->panels) * A->panel + 1,
                             sizeof *A->tile_row_ptr};
    list[2] = (struct array){(void **)&A->map_list, A->tiles * A->width, sizeof *A->map_list};
    list[3] = (struct array){(void **)&A->idx, A->nnz, sizeof *A->idx};
    list[4] = (struct array){&A->val, A->nnz, type_bytes(A->type)};
    list[5] = (struct array){(void **)&A->place, A->nnz, sizeof *A->place};
    return 6;
}

void aspt_set_shape(struct aspt *A, const double *opt)
{
    A->panel = (int32_t)opt[PANEL];
    A->width = (int32_t)opt[WIDTH];
    A->threshold = (int32_t)opt[THRESHOLD];
    A->least = (int32_t)max64(1, ((int64_t)opt[FILL] * A->width + 99) / 100);
    A->panels = (int32_t)(((int64_t)A->m + A->panel - 1) / A->panel);
}

int aspt_row_parts(const struct aspt *A, int64_t *count)
{
    int64_t entries;
    return size_mul(A->tiles + A->panels, A->panel, count) || size_add(*count, 1, &entries)
               ? ERR_MEMORY
               : OK;
}

// Scratch memory of a thread, to sort the columns of a panel into tiles.
struct scratch {
    uint64_t *key, *spare; // column << 32 | nonzero of the panel; size of the longest panel
    int32_t *depth;        // tiles with a column in this slot so far, size width
    int32_t *columns;      // columns of each tile, size tiles_max
};

// Scratch memory of all threads, in a block per type.
struct scratches {
    uint64_t *key;
    int32_t *number;
    int64_t longest;   // most nonzeros of a panel
    int64_t tiles_max; // most tiles of a panel
    int threads;
};

static void scratches_free(struct scratches *s)
{
    mem_free(s->key);
    mem_free(s->number);
}

// Returns the most tiles of a panel: each tile has a heavy column in the fullest slot.
static int64_t tiles_most(const struct aspt *X, int64_t nonzeros)
{
    return min64((int64_t)X->n / X->width + 1, nonzeros / X->threshold);
}

static int scratches_alloc(struct scratches *s, const struct csr_dev *A, const struct aspt *X)
{
    *s = (struct scratches){0};
    s->threads = (int)max64(1, min64(omp_get_max_threads(), X->panels));
    for (int64_t b = 0; b < X->panels; b++)
        s->longest = max64(s->longest, csr_start(A, min64((b + 1) * X->panel, A->m)) -
                                           csr_start(A, b * X->panel));
    s->tiles_max = tiles_most(X, s->longest);
    s->key = mem_alloc(2 * s->longest * s->threads, sizeof *s->key);
    s->number = mem_alloc((s->tiles_max + X->width) * s->threads, sizeof *s->number);
    return s->key && s->number ? OK : ERR_MEMORY;
}

static struct scratch scratch_of(const struct scratches *s, int32_t width, int thread)
{
    struct scratch d = {.key = s->key + 2 * s->longest * thread};
    d.spare = d.key + s->longest;
    d.depth = s->number + (s->tiles_max + width) * thread;
    d.columns = d.depth + width;
    return d;
}

static int32_t key_column(uint64_t key) { return (int32_t)(key >> 32); }

// Returns the end of the keys with the column of key q.
static int64_t column_end(const uint64_t *key, int64_t count, int64_t q)
{
    int64_t end = q + 1;
    while (end < count && key_column(key[end]) == key_column(key[q])) end++;
    return end;
}

// Sets part[p] to the tile of each nonzero p of panel b, or to -1. Returns the number of tiles. A
// tile has no more columns than the tile before, so tiles with too few columns are the last.
static int64_t mark_panel(const struct csr_dev *A, const struct aspt *X, int64_t b,
                          struct scratch d, int32_t *part)
{
    int64_t first = csr_start(A, b * X->panel), tiles = 0;
    int64_t count = csr_start(A, min64((b + 1) * X->panel, A->m)) - first;
    for (int64_t p = 0; p < count; p++) {
        d.key[p] = (uint64_t)A->idx[first + p] << 32 | (uint64_t)p;
        part[first + p] = -1;
    }
    const int64_t most = tiles_most(X, count);
    if (!most) return 0;
    sort_keys(d.key, d.spare, count, 32);
    memset(d.columns, 0, (size_t)most * sizeof *d.columns);
    for (int mark = 0; mark < 2; mark++) { // count the columns of tiles, then mark their nonzeros
        memset(d.depth, 0, (size_t)X->width * sizeof *d.depth);
        for (int64_t q = 0, end; q < count; q = end) {
            end = column_end(d.key, count, q);
            if (end - q < X->threshold) continue;
            int32_t tile = d.depth[key_column(d.key[q]) % X->width]++;
            if (!mark) d.columns[tile]++;
            for (int64_t p = q; p < end && mark && tile < tiles; p++)
                part[first + (int64_t)(d.key[p] & UINT32_MAX)] = tile;
        }
        while (!mark && tiles < most && d.columns[tiles] >= X->least) tiles++;
    }
    return tiles;
}

// Fills the parts of row i, which begin at tile_row_ptr[x].
static void fill_row(const struct csr_dev *A, struct aspt *X, int64_t i, int64_t x, int64_t parts,
                     const int32_t *part, int32_t *map)
{
    int64_t begin = csr_start(A, i), end = csr_start(A, i + 1), *at = X->tile_row_ptr + x;
    memset(at, 0, (size_t)parts * sizeof *at);
    for (int64_t p = begin; p < end; p++) at[part[p] < 0 ? parts - 1 : part[p]]++;
    for (int64_t t = 0, q = begin; t < parts; t++) {
        int64_t here = at[t];
        at[t] = q;
        q += here;
    }
    for (int64_t p = begin; p < end; p++) {
        int64_t q = at[part[p] < 0 ? parts - 1 : part[p]]++;
        int32_t j = A->idx[p];
        X->idx[q] = j;
        X->place[q] = (int32_t)(p - begin);
        type_store(X->type, X->val, q, type_load(A->type, A->val, p));
        if (part[p] >= 0) map[(int64_t)part[p] * X->width + j % X->width] = j;
    }
    memmove(at + 1, at, (size_t)(parts - 1) * sizeof *at); // from ends of parts to starts
    at[0] = begin;
}

static void fill_panel(const struct csr_dev *A, struct aspt *X, int64_t b, const int32_t *part)
{
    int64_t parts = X->panel_ptr[b + 1] - X->panel_ptr[b];
    int32_t *map = X->map_list + (X->panel_ptr[b] - b) * X->width;
    for (int64_t s = 0; s < (parts - 1) * X->width; s++) map[s] = -1;
    for (int64_t r = 0; r < X->panel; r++) {
        int64_t i = b * X->panel + r, x = X->panel_ptr[b] * X->panel + r * parts;
        if (i < A->m) fill_row(A, X, i, x, parts, part, map);
        for (int64_t t = 0; t < parts && i >= A->m; t++) X->tile_row_ptr[x + t] = X->nnz;
    }
}

static int find_tiles(const struct csr_dev *A, struct aspt *X, int32_t *part)
{
    struct scratches s;
    int err = scratches_alloc(&s, A, X);
    int64_t *ptr = X->panel_ptr, panels = X->panels, tiled = 0;
    if (err) goto done;
#pragma omp parallel for schedule(dynamic) num_threads(s.threads)
    for (int64_t b = 0; b < panels; b++)
        ptr[b + 1] = 1 + mark_panel(A, X, b, scratch_of(&s, X->width, omp_get_thread_num()), part);
    ptr[0] = 0;
    for (int64_t b = 0; b < panels; b++) ptr[b + 1] += ptr[b];
    X->tiles = ptr[panels] - panels;
#pragma omp parallel for schedule(static) reduction(+ : tiled)
    for (int64_t p = 0; p < A->nnz; p++) tiled += part[p] >= 0;
    X->tiled = tiled;
done:
    scratches_free(&s);
    return err;
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    const struct csr_dev *A = csr_of(from);
    struct aspt *X = (struct aspt *)out;
    int64_t row_parts, columns = 0;
    aspt_set_shape(X, opt);
    int32_t *part = mem_alloc(A->nnz, sizeof *part);
    int err = part ? OK : ERR_MEMORY;
    if (!err)
        err = device_alloc(d, (int64_t)X->panels + 1, sizeof *X->panel_ptr, (void **)&X->panel_ptr);
    if (!err) err = find_tiles(A, X, part);
    if (!err) err = aspt_row_parts(X, &row_parts);
    if (!err) err = sparse_alloc(d, out);
    if (err) goto done;
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = 0; b < X->panels; b++) fill_panel(A, X, b, part);
    X->tile_row_ptr[row_parts] = X->nnz;
    for (int64_t s = 0; s < X->tiles * X->width; s++) columns += X->map_list[s] >= 0;
    X->tile_columns = columns;
done:
    mem_free(part);
    return err;
}

static void describe(const struct sparse *X, struct algo_stats *f)
{
    const struct aspt *A = aspt_of(X);
    const double slots = (double)A->tiles * A->width;
    algo_stats_number(f, "panel", A->panel);
    algo_stats_number(f, "width", A->width);
    algo_stats_number(f, "threshold", A->threshold);
    algo_stats_number(f, "tiles", (double)A->tiles);
    algo_stats_number(f, "tiled_share", A->nnz ? (double)A->tiled / (double)A->nnz : 0);
    algo_stats_number(f, "tile_fill", slots ? (double)A->tile_columns / slots : 0);
}

const struct format format_aspt = {
    .name = "aspt",
    .about = "panels of rows: heavy columns in tiles, the rest as CSR",
    .size = sizeof(struct aspt),
    .options = options,
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .describe = describe,
};
