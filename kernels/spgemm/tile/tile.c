// SpGEMM on sparse 16 x 16 tiles, C = A * S: the three steps of the GPU kernel, one thread per tile
// row of C.
// Yuyao Niu, Zhengyang Lu, Haonan Ji, Shuhui Song, Zhou Jin, Weifeng Liu: TileSpGEMM: A Tiled
// Algorithm for Parallel Sparse General Matrix-Matrix Multiplication on GPUs, PPoPP 2022.
//
// Formats: tile16 and tilecols, see formats/tile16.h. C is in tiles and becomes CSR only for the
// check.
//   step 1  marks the tile columns of a tile row of C as bits
//   step 2  finds the pairs of matching tiles of A and S for each tile of C, which give its masks
//   step 3  computes the values from the same pairs, in a sparse or a dense accumulator
//
// A table maps tile columns to the tiles of A's tile row. Its entries are made once for all tiles
// of C in the row. A lookup replaces the paper's binary search. If a tile column of S is far longer
// than the tile row of A, binary search is used. EPYC, two threads, 27 matrices: 2.3 to 2.7 times
// MKL's time (geometric means), 128 times at worst.
#include "cpu.h"
#include "option_limits.h"
#include "papers.h"
#include "formats/tile16.h"
#include "spgemm/result.h"

#include <omp.h>

struct pair {
    int64_t a, s; // tiles of A and S
};

struct state {
    struct tile16 C;
    int tnnz; // option
};

// Buffers of the threads during a run.
struct scratch {
    int threads;
    int64_t words, pairs; // sizes for each thread
    uint64_t *bits;       // tile columns of a tile row of C, threads x words, 0 between uses
    int64_t *where;       // tile of A by tile column, -1: none, threads x A.tile_n
    struct pair *pair;    // threads x pairs
};

// Step 1. Marks the tiles of tile row i of C; returns the words from *first on that hold them.
static int64_t mark_tiles(const struct tile16 *A, const struct tile16 *S, int64_t i, uint64_t *bits,
                          int64_t *first)
{
    int32_t low = INT32_MAX, high = -1;
    for (int64_t a = A->ptr[i]; a < A->ptr[i + 1]; a++) {
        int64_t begin = S->ptr[A->col[a]], end = S->ptr[A->col[a] + 1];
        if (begin == end) continue;
        if (S->col[begin] < low) low = S->col[begin];
        if (S->col[end - 1] > high) high = S->col[end - 1];
        for (int64_t s = begin; s < end; s++) bits[S->col[s] / 64] |= UINT64_C(1) << S->col[s] % 64;
    }
    *first = low / 64;
    return high < 0 ? 0 : high / 64 - *first + 1;
}

// Clears the marked tiles. Returns their number, and writes them to `col` unless it is NULL.
static int64_t take_tiles(uint64_t *bits, int64_t first, int64_t words, int32_t *col)
{
    int64_t count = 0;
    for (int64_t w = first; w < first + words; w++) {
        for (uint64_t word = col ? bits[w] : 0; word; word &= word - 1)
            *col++ = (int32_t)(w * 64 + __builtin_ctzll(word));
        count += __builtin_popcountll(bits[w]);
        bits[w] = 0;
    }
    return count;
}

static int find_tiles(struct task *t, struct scratch *w)
{
    const struct tile16 *A = tile16_of(t->A[0]), *S = tile16_of(t->S[0]);
    struct tile16 *C = &((struct state *)t->state)->C;
    C->m = A->m, C->n = S->n, C->tile_m = A->tile_m, C->tile_n = S->tile_n;
    w->words = ((int64_t)S->tile_n + 63) / 64;
    int64_t size = w->threads * w->words;
    int err = device_alloc(t->dev, size, sizeof *w->bits, (void **)&w->bits);
    if (!err) err = device_fill(t->dev, w->bits, 0, size * (int64_t)sizeof *w->bits);
    if (!err) err = device_alloc(t->dev, C->tile_m + 1, sizeof *C->ptr, (void **)&C->ptr);
    if (err) return err;
    C->ptr[0] = 0;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 8)
    for (int64_t i = 0; i < C->tile_m; i++) {
        uint64_t *bits = w->bits + omp_get_thread_num() * w->words;
        int64_t first, words = mark_tiles(A, S, i, bits, &first);
        C->ptr[i + 1] = take_tiles(bits, first, words, NULL);
    }
    for (int64_t i = 0; i < C->tile_m; i++) C->ptr[i + 1] += C->ptr[i];
    C->tiles = C->ptr[C->tile_m];
    err = device_alloc(t->dev, C->tiles, sizeof *C->col, (void **)&C->col);
    if (err) return err;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 8)
    for (int64_t i = 0; i < C->tile_m; i++) {
        uint64_t *bits = w->bits + omp_get_thread_num() * w->words;
        int64_t first, words = mark_tiles(A, S, i, bits, &first);
        take_tiles(bits, first, words, C->col + C->ptr[i]);
    }
    return OK;
}

// Returns the index of the first element of the ascending a[low .. high) that is not below x.
static int32_t lower_bound(const int32_t *a, int32_t low, int32_t high, int32_t x)
{
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (a[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Finds the pairs of tiles whose products add up to tile (i, j) of C. Returns their number.
static int64_t intersect(const struct tile16 *A, const struct tilecols *S, int64_t i, int32_t j,
                         const int64_t *where, struct pair *pair)
{
    int32_t begin = S->ptr[j], end = S->ptr[j + 1];
    int64_t count = 0;
    if (end - begin > 8 * (A->ptr[i + 1] - A->ptr[i])) {
        for (int64_t a = A->ptr[i]; a < A->ptr[i + 1]; a++) {
            begin = lower_bound(S->row, begin, end, A->col[a]);
            if (begin < end && S->row[begin] == A->col[a])
                pair[count++] = (struct pair){a, S->tile[begin]};
        }
        return count;
    }
    for (int32_t s = begin; s < end; s++)
        if (where[S->row[s]] >= 0) pair[count++] = (struct pair){where[S->row[s]], S->tile[s]};
    return count;
}

#define BODY "spgemm/tile/tile.inl"
#include "each_kind.inl"

static int allocate_pairs(struct task *t, struct scratch *w)
{
    const struct tile16 *A = tile16_of(t->A[0]);
    int64_t size = w->threads * (int64_t)A->tile_n;
    for (int64_t i = 0; i < A->tile_m; i++) w->pairs = max64(w->pairs, A->ptr[i + 1] - A->ptr[i]);
    int err = device_alloc(t->dev, size, sizeof *w->where, (void **)&w->where);
    if (!err) err = device_fill(t->dev, w->where, 0xff, size * (int64_t)sizeof *w->where);
    if (!err) err = device_alloc(t->dev, w->threads * w->pairs, sizeof *w->pair, (void **)&w->pair);
    return err;
}

static int run(struct task *t)
{
    struct tile16 *C = &((struct state *)t->state)->C;
    struct scratch w = {.threads = omp_get_max_threads()};
    int err = task_phase(t, "step1");
    if (!err) err = find_tiles(t, &w);

    if (!err) err = task_phase(t, "step2");
    if (!err) err = allocate_pairs(t, &w);
    if (!err) err = device_alloc(t->dev, C->tiles, TILE * sizeof *C->mask, (void **)&C->mask);
    if (!err) err = device_alloc(t->dev, C->tiles, TILE * sizeof *C->row_ptr, (void **)&C->row_ptr);
    if (!err) err = device_alloc(t->dev, C->tiles + 1, sizeof *C->start, (void **)&C->start);
    if (err) goto done;
    BY_KIND(t, each_tile, t, &w, false);
    C->start[0] = 0;
    for (int64_t c = 0; c < C->tiles; c++) C->start[c + 1] += C->start[c];
    C->nnz = C->start[C->tiles];

    err = task_phase(t, "allocate");
    if (!err) err = device_alloc(t->dev, C->nnz, sizeof *C->idx, (void **)&C->idx);
    if (!err) err = device_alloc(t->dev, C->nnz, in_bytes(t), &C->val);

    if (!err) err = task_phase(t, "step3");
    if (!err) BY_KIND(t, each_tile, t, &w, true);
    task_number(t, "c_tiles", (double)C->tiles);
done:
    device_free(t->dev, w.pair);
    device_free(t->dev, w.where);
    device_free(t->dev, w.bits);
    if (err) sparse_release(t->dev, &C->head);
    t->R.nnz = C->nnz;
    return err;
}

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    s->C.format = &format_tile16;
    s->C.type = prec_out(t->prec);
    s->tnnz = (int)task_option(t, "tnnz");
    return OK;
}

static int finish(struct task *t)
{
    const struct tile16 *C = &((const struct state *)t->state)->C;
    int64_t longest;
    int err = result_begin(t, sizeof(int64_t), &t->R);
    if (err) return err;
    int64_t *length = (int64_t *)t->R.ptr + 1;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < C->m; i++) {
        length[i] = 0;
        for (int64_t c = C->ptr[i / TILE]; c < C->ptr[i / TILE + 1]; c++)
            length[i] += __builtin_popcount(C->mask[c * TILE + i % TILE]);
    }
    err = result_sum_rows(t->dev, &t->R, &longest);
    if (!err) BY_KIND(t, fill_rows, C, &t->R);
    return err;
}

static void release(struct task *t)
{
    struct state *s = t->state;
    if (s) sparse_release(t->dev, &s->C.head);
}

static void teardown(struct task *t)
{
    release(t);
    mem_free(t->state);
    t->state = NULL;
}

static const struct algo_option options[] = {
    {"tnnz", 192, 0, 256, true, "nonzeros of a tile of C up to which its accumulator is sparse"},
    {0},
};

const struct algo spgemm_tile_cpu = {
    .precs = BOTH_PRECS,
    .A = {&format_tile16},
    .S = {&format_tile16, &format_tilecols},
    .arith = ARITH_PREC,
    .options = options,
    .cite = NIU_2022,
    .differs =
        "This version runs on CPUs: a thread computes a tile row of C. The tiles of A are listed "
        "by tile column, so that a load replaces most binary searches.",
    ALGO_FUNCTIONS(prepare, run, teardown),
    .finish = finish,
    .release = release,
};

// The kernels for CUDA are in tile.cu.
DECLARE_FUNCTIONS(spgemm_tile_cuda);
DECLARE_FUNCTIONS(spgemm_tile_tuned_csr_cuda);

#define ABOUT_FULL                                                                                 \
    "nonzeros, in the geometric mean of two tiles, from which they are multiplied as full ones; "  \
    "257: never; -1: by the device and the mean nonzeros of a tile"
#define ABOUT_PRUNE                                                                                \
    "1: tiles of C that stay empty and pairs of tiles without a product are left out; 0: kept"
#define ABOUT_COLUMNS                                                                              \
    "tile columns in a block's bits, in steps 2 and 3 up to 65536; 0: none there; "                \
    "-1: by the tiles of A per row"
#define OPTIONS(full, prune, bit_columns)                                                          \
    {"tnnz", 192, 0, 256, true, "nonzeros of a tile of C up to which its accumulator is sparse"},  \
        {"full-from", full, -1, NO_TILE, true, ABOUT_FULL},                                        \
        {"prune", prune, 0, 1, true, ABOUT_PRUNE},                                                 \
        {"bitmap-columns", bit_columns, -1, FIND_COLUMNS, true, ABOUT_COLUMNS},                    \
        {"pairs", 64, WARP, MATCHES_MAX, true, "pairs of tiles that a warp gathers"},              \
    {                                                                                              \
    }

static const struct algo_option cuda_options[] = {OPTIONS(NO_TILE, 0, 0)};
static const struct algo_option tuned_options[] = {OPTIONS(-1, 1, -1)};

static const char differs[] =
    "Step 1 marks tiles as bits in shared memory, where the paper calls nsparse. In steps 2 and 3 "
    "tile rows of up to 32 tiles are searched in the lanes of a warp. In step 2 each lane "
    "computes the mask of one row of C's tile in a register, where a lane of the paper takes a "
    "nonzero of A and calls atomicOr(). Step 2 stops when the tile is full. Step 3 shares the "
    "nonzeros of A in all pairs of tiles evenly.";

// Descriptors: symbol, options, name of the algorithm that this one is a tuned form of, format of
// A, run, finish, formats of S. `.tensor` is true for all forms, because option full-from can make
// any form use tensor cores. So results of 16 bits have the wider tolerance of tensor cores with
// any option.
#define DESCRIPTOR(symbol, option_list, paper, A_format, run_function, finish_function, ...)       \
    const struct algo spgemm_##symbol##_cuda = {                                                   \
        .precs = BY_TYPE_PRECS,                                                                    \
        .A = {&A_format},                                                                          \
        .S = {__VA_ARGS__},                                                                        \
        .arith = ARITH_PREC,                                                                       \
        .options = option_list,                                                                    \
        .cite = NIU_2022,                                                                          \
        .differs = differs,                                                                        \
        .tensor = true,                                                                            \
        .tuned_of = paper,                                                                         \
        ALGO_FUNCTIONS(spgemm_tile_cuda_prepare, run_function, spgemm_tile_cuda_teardown),         \
        .finish = finish_function,                                                                 \
        .release = spgemm_tile_cuda_release,                                                       \
    }

DESCRIPTOR(tile, cuda_options, NULL, format_tile16, spgemm_tile_cuda_run, spgemm_tile_cuda_finish,
           &format_tile16, &format_tilecols);
DESCRIPTOR(tile_tuned, tuned_options, "tile", format_tile16, spgemm_tile_cuda_run,
           spgemm_tile_cuda_finish, &format_tile16, &format_tilecols);
DESCRIPTOR(tile_tuned_csr, tuned_options, "tile", format_csr, spgemm_tile_tuned_csr_cuda_run, NULL,
           &format_csr);
