// SpGEMM on sparse 16 x 16 tiles, C = A * S: the three steps of the GPU kernel, one thread for a
// tile row of C.
// Yuyao Niu, Zhengyang Lu, Haonan Ji, Shuhui Song, Zhou Jin, Weifeng Liu: TileSpGEMM: A Tiled
// Algorithm for Parallel Sparse General Matrix-Matrix Multiplication on GPUs, PPoPP 2022.
//
// Format: tiles, see tile16.h, made when the case is prepared; C is in tiles, too, and becomes CSR
// for the check alone. Step 1: the tile columns of a tile row of C are marked as bits. Step 2: for
// each tile of C the tiles of A's tile row and of S's tile column that match give its masks.
// Step 3: the same pairs give its values, in a sparse or a dense accumulator by its nonzeros.
//
// The tiles of a tile row of A are noted by tile column once for all tiles of C in that row, so
// that a match is a look instead of the paper's binary search; elements of a column of S that is
// far longer than the row are searched.
#include "cpu.h"
#include "papers.h"

#include <omp.h>
#include <string.h>

#include "formats/tile16.h"

// struct tile16 in the device's memory, with values in the precision of the case.
struct tiles {
    int32_t m, n, tile_m, tile_n;
    int64_t nnz, count;
    int64_t *ptr;
    int32_t *col;
    int64_t *start;
    uint8_t *row_ptr;
    uint16_t *mask;
    uint8_t *idx;
    void *val;
};

struct pair {
    int64_t a, s; // tiles of A and S
};

struct state {
    struct tiles A, S, C;          // S is empty where S is A
    struct tile16_columns columns; // of S
};

// What the threads need while a product is made.
struct scratch {
    int threads;
    int64_t words, pairs; // of each thread
    uint64_t *bits;       // tile columns of a tile row of C, threads x words, 0 between uses
    int64_t *where;       // tile of A by tile column, -1: none, threads x A.tile_n
    struct pair *pair;    // threads x pairs
};

static const struct tiles *factor(const struct task *t)
{
    const struct state *s = t->state;
    return t->in->S == t->in->A ? &s->A : &s->S;
}

static void tiles_free(struct device *d, struct tiles *x)
{
    device_free(d, x->val);
    device_free(d, x->idx);
    device_free(d, x->mask);
    device_free(d, x->row_ptr);
    device_free(d, x->start);
    device_free(d, x->col);
    device_free(d, x->ptr);
    *x = (struct tiles){0};
}

// Step 1. Marks the tiles of tile row i of C; returns the words from *first on that hold them.
static int64_t mark_tiles(const struct tiles *A, const struct tiles *S, int64_t i, uint64_t *bits,
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

// Takes the marked tiles out again: counts them, and writes them where `col` is not NULL.
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
    struct state *state = t->state;
    const struct tiles *A = &state->A, *S = factor(t);
    struct tiles *C = &state->C;
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
    C->count = C->ptr[C->tile_m];
    err = device_alloc(t->dev, C->count, sizeof *C->col, (void **)&C->col);
    if (err) return err;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 8)
    for (int64_t i = 0; i < C->tile_m; i++) {
        uint64_t *bits = w->bits + omp_get_thread_num() * w->words;
        int64_t first, words = mark_tiles(A, S, i, bits, &first);
        take_tiles(bits, first, words, C->col + C->ptr[i]);
    }
    return OK;
}

// The first of the ascending a[low .. high) that is not below x.
static int64_t lower_bound(const int32_t *a, int64_t low, int64_t high, int32_t x)
{
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (a[mid] < x) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

// The pairs of tiles whose products tile (i, j) of C is the sum of.
static int64_t intersect(const struct tiles *A, const struct tile16_columns *S, int64_t i,
                         int64_t j, const int64_t *where, struct pair *pair)
{
    int64_t begin = S->ptr[j], end = S->ptr[j + 1], count = 0;
    if (end - begin > 8 * (A->ptr[i + 1] - A->ptr[i])) {
        for (int64_t a = A->ptr[i]; a < A->ptr[i + 1]; a++) {
            begin = lower_bound(S->row, begin, end, A->col[a]);
            if (begin < end && S->row[begin] == A->col[a])
                pair[count++] = (struct pair){a, S->tile[begin]};
        }
        return count;
    }
    for (int64_t s = begin; s < end; s++)
        if (where[S->row[s]] >= 0) pair[count++] = (struct pair){where[S->row[s]], S->tile[s]};
    return count;
}

// Step 2, one tile: row r of C has what the rows of S have that row r of A names.
CPU_CLONES static void count_tile(const struct tiles *A, const struct tiles *S,
                                  const struct pair *pair, int64_t count, struct tiles *C,
                                  int64_t t)
{
    uint16_t mask[TILE] = {0};
    int nonzeros = 0;
    for (int64_t p = 0; p < count; p++) {
        const uint16_t *a = A->mask + pair[p].a * TILE, *s = S->mask + pair[p].s * TILE;
        for (int r = 0; r < TILE; r++)
            for (unsigned named = a[r]; named; named &= named - 1)
                mask[r] |= s[__builtin_ctz(named)];
    }
    for (int r = 0; r < TILE; r++) {
        C->row_ptr[t * TILE + r] = (uint8_t)nonzeros;
        nonzeros += __builtin_popcount(mask[r]);
    }
    memcpy(C->mask + t * TILE, mask, sizeof mask);
    C->start[t + 1] = nonzeros;
}

#define PREC f32
#define T    float
#include "tile.inl"
#undef PREC
#undef T
#define PREC f64
#define T    double
#include "tile.inl"

// Steps 2 and 3 for all tiles of C.
static void each_tile(struct task *t, const struct scratch *w, bool numeric)
{
    struct state *state = t->state;
    const struct tiles *A = &state->A, *S = factor(t);
    struct tiles *C = &state->C;
    int tnnz = (int)task_option(t, "tnnz");
    bool f32 = t->in->prec == F32;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 4)
    for (int64_t i = 0; i < C->tile_m; i++) {
        int64_t *where = w->where + (int64_t)omp_get_thread_num() * A->tile_n;
        struct pair *pair = w->pair + omp_get_thread_num() * w->pairs;
        for (int64_t a = A->ptr[i]; a < A->ptr[i + 1]; a++) where[A->col[a]] = a;
        for (int64_t c = C->ptr[i]; c < C->ptr[i + 1]; c++) {
            int64_t count = intersect(A, &state->columns, i, C->col[c], where, pair);
            if (!numeric) {
                count_tile(A, S, pair, count, C, c);
            } else if (f32) {
                multiply_tile_f32(A, S, pair, count, tnnz, C, c);
            } else {
                multiply_tile_f64(A, S, pair, count, tnnz, C, c);
            }
        }
        for (int64_t a = A->ptr[i]; a < A->ptr[i + 1]; a++) where[A->col[a]] = -1;
    }
}

static int allocate_pairs(struct task *t, struct scratch *w)
{
    const struct tiles *A = &((struct state *)t->state)->A;
    int64_t size = w->threads * (int64_t)A->tile_n;
    for (int64_t i = 0; i < A->tile_m; i++) w->pairs = max64(w->pairs, A->ptr[i + 1] - A->ptr[i]);
    int err = device_alloc(t->dev, size, sizeof *w->where, (void **)&w->where);
    if (!err) err = device_fill(t->dev, w->where, 0xff, size * (int64_t)sizeof *w->where);
    if (!err) err = device_alloc(t->dev, w->threads * w->pairs, sizeof *w->pair, (void **)&w->pair);
    return err;
}

static int run(struct task *t)
{
    struct tiles *C = &((struct state *)t->state)->C;
    struct scratch w = {.threads = omp_get_max_threads()};
    int err = task_phase(t, "step1");
    if (!err) err = find_tiles(t, &w);

    if (!err) err = task_phase(t, "step2");
    if (!err) err = allocate_pairs(t, &w);
    if (!err) err = device_alloc(t->dev, C->count, TILE * sizeof *C->mask, (void **)&C->mask);
    if (!err) err = device_alloc(t->dev, C->count, TILE * sizeof *C->row_ptr, (void **)&C->row_ptr);
    if (!err) err = device_alloc(t->dev, C->count + 1, sizeof *C->start, (void **)&C->start);
    if (err) goto done;
    each_tile(t, &w, false);
    C->start[0] = 0;
    for (int64_t c = 0; c < C->count; c++) C->start[c + 1] += C->start[c];
    C->nnz = C->start[C->count];

    err = task_phase(t, "allocate");
    if (!err) err = device_alloc(t->dev, C->nnz, sizeof *C->idx, (void **)&C->idx);
    if (!err) err = device_alloc(t->dev, C->nnz, prec_bytes(t->in->prec), &C->val);

    if (!err) err = task_phase(t, "step3");
    if (!err) each_tile(t, &w, true);
    task_number(t, "c_tiles", (double)C->count);
done:
    device_free(t->dev, w.pair);
    device_free(t->dev, w.where);
    device_free(t->dev, w.bits);
    if (err) tiles_free(t->dev, C);
    t->R.nnz = C->nnz;
    return err;
}

static int place_tiles(struct task *t, const struct tile16 *H, struct tiles *x)
{
    struct device *d = t->dev;
    *x = (struct tiles){.m = H->m,
                        .n = H->n,
                        .tile_m = H->tile_m,
                        .tile_n = H->tile_n,
                        .nnz = H->nnz,
                        .count = H->tiles};
    int err = device_place(d, H->ptr, H->tile_m + 1, sizeof *H->ptr, (void **)&x->ptr);
    if (!err) err = device_place(d, H->col, H->tiles, sizeof *H->col, (void **)&x->col);
    if (!err) err = device_place(d, H->start, H->tiles + 1, sizeof *H->start, (void **)&x->start);
    if (!err) err = device_place(d, H->row_ptr, H->tiles, TILE, (void **)&x->row_ptr);
    if (!err) err = device_place(d, H->mask, H->tiles, TILE * sizeof *H->mask, (void **)&x->mask);
    if (!err) err = device_place(d, H->idx, H->nnz, sizeof *H->idx, (void **)&x->idx);
    if (!err) err = device_alloc(d, H->nnz, prec_bytes(t->in->prec), &x->val);
    for (int64_t q = 0; q < H->nnz && !err; q++)
        if (t->in->prec == F32)
            ((float *)x->val)[q] = (float)H->val[q];
        else
            ((double *)x->val)[q] = H->val[q];
    return err;
}

static int place_columns(struct task *t, const struct tile16 *H)
{
    struct tile16_columns host = {0}, *x = &((struct state *)t->state)->columns;
    int err = tile16_columns_make(H, &host);
    if (!err)
        err = device_place(t->dev, host.ptr, H->tile_n + 1, sizeof *host.ptr, (void **)&x->ptr);
    if (!err) err = device_place(t->dev, host.row, H->tiles, sizeof *host.row, (void **)&x->row);
    if (!err) err = device_place(t->dev, host.tile, H->tiles, sizeof *host.tile, (void **)&x->tile);
    tile16_columns_free(&host);
    return err;
}

// Both factors as tiles, the second one by tile columns, too.
static int prepare(struct task *t)
{
    struct tile16 H = {0};
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    double start = clock_ms();
    size_t bytes = prec_bytes(t->in->prec);
    int err = tile16_from_csr(t->in->A, &H);
    if (!err) err = place_tiles(t, &H, &s->A);
    if (!err) {
        task_number(t, "tiles", (double)H.tiles);
        task_number(t, "tile_bytes", (double)tile16_bytes(&H, bytes));
        task_number(t, "csr_bytes", ((double)H.m + 1) * 8 + (double)H.nnz * (4 + (double)bytes));
        task_number(t, "nnz_per_tile", H.tiles ? (double)H.nnz / (double)H.tiles : 0);
    }
    if (!err && t->in->S != t->in->A) {
        tile16_free(&H);
        err = tile16_from_csr(t->in->S, &H);
        if (!err) err = place_tiles(t, &H, &s->S);
    }
    if (!err) err = place_columns(t, &H);
    task_number(t, "convert_ms", clock_ms() - start);
    tile16_free(&H);
    return err;
}

static int finish(struct task *t)
{
    const struct tiles *C = &((struct state *)t->state)->C;
    struct csr_dev R = {.m = C->m, .n = C->n, .nnz = C->nnz, .ptr_bytes = 8};
    int err = device_alloc(t->dev, (int64_t)C->m + 1, sizeof(int64_t), &R.ptr);
    if (!err) err = device_alloc(t->dev, C->nnz, sizeof *R.idx, (void **)&R.idx);
    if (!err) err = device_alloc(t->dev, C->nnz, prec_bytes(t->in->prec), &R.val);
    t->R = R;
    if (err) return err;
    if (t->in->prec == F32) {
        to_rows_f32(C, &R);
    } else {
        to_rows_f64(C, &R);
    }
    return OK;
}

static void release(struct task *t)
{
    struct state *s = t->state;
    if (s) tiles_free(t->dev, &s->C);
}

static void teardown(struct task *t)
{
    struct state *s = t->state;
    if (!s) return;
    device_free(t->dev, s->columns.tile);
    device_free(t->dev, s->columns.row);
    device_free(t->dev, s->columns.ptr);
    release(t);
    tiles_free(t->dev, &s->S);
    tiles_free(t->dev, &s->A);
    mem_free(s);
    t->state = NULL;
}

static const struct algo_option options[] = {
    {"tnnz", 192, 0, 256, true, "nonzeros of a tile of C up to which its accumulator is sparse"},
    {0},
};

const struct algo spgemm_tile_cpu = {
    .name = "tile",
    .op = OP_SPGEMM,
    .device = DEVICE_CPU,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = options,
    .about = "sparse 16 x 16 tiles, a thread for each tile row of C; from tiles to tiles",
    .cite = NIU_2022,
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
    .finish = finish,
    .release = release,
};
