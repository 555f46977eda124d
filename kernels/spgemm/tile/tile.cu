// SpGEMM on sparse 16 x 16 tiles, C = A * S.
// Yuyao Niu, Zhengyang Lu, Haonan Ji, Shuhui Song, Zhou Jin, Weifeng Liu: TileSpGEMM: A Tiled
// Algorithm for Parallel Sparse General Matrix-Matrix Multiplication on GPUs, PPoPP 2022.
//
// Format: tiles, see tile16.h. `tile` is the paper's timing, from tiles to tiles: A, S and the tile
// columns of S are converted on the device when the case is prepared, C becomes CSR for the check
// alone. `tile-csr` is from CSR to CSR: all of that is in its time.
//
// Step 1: which tiles C may have, a symbolic product of the tile structures, a block for a tile
// row of C. Step 2: their masks and lengths, a warp for a tile, which intersects a tile row of A
// with a tile column of S. Step 3: the same intersection, and the values. No intermediate products
// go to memory, and no list is as long as a row: the tile columns in step 1 and the pairs in steps
// 2 and 3 are taken in pieces of fixed size.
//
// Other than in the paper:
// - step 1 is not nsparse but bits in shared memory;
// - of each tile of A and S it is known which rows and columns it uses. Two tiles without a common
//   one have no product: step 1 makes no tile of C for them, steps 2 and 3 leave them out. So C has
//   no empty tile (-opt prune=0: as in the paper);
// - a short tile row of A is held by the lanes of a warp and searched there; where tile rows are
//   long, one is held as bits, and a look at a bit replaces the binary search (-opt window=0:
//   never bits);
// - the lanes share the nonzeros of A in all pairs of a tile evenly: each takes a row of S at a
//   time, and adds to shared memory by atomicAdd(). Where two tiles hold much, they are multiplied
//   as full ones instead, on tensor cores, with the sums in registers, in double precision also
//   for f32 (-opt full=257: never).
// No option brings back: nsparse in step 1; the binary search in tile rows that the lanes hold; in
// step 2 a nonzero of A for each lane and atomicOr(), where here a lane has a row, its mask in a
// register, and stops when C's tile is full; how step 3 deals out nonzeros.
#include "papers.h"
#include "steps.cuh"

struct state {
    struct tiles A, S, C; // S.count is 0 where S is A
    struct tile_columns columns;
    int64_t *number; // page-locked: one count
    int f64_ratio;   // how many times as slow as in f32 the device is
};

static const struct tiles *factor(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    return t->in->S == t->in->A ? &s->A : &s->S;
}

static int32_t find_window(const struct task *t)
{
    const int32_t window = (int32_t)task_option(t, "window");
    return window > 0 ? (int32_t)max64(32, window / 32 * 32) : FIND_WINDOW;
}

static void free_operands(struct task *t)
{
    struct state *s = (struct state *)t->state;
    columns_free(t->dev, &s->columns);
    tiles_free(t->dev, &s->S);
    tiles_free(t->dev, &s->A);
}

// Both factors as tiles, the second one by tile columns, too.
template <typename T> static int convert_to_tiles(struct task *t)
{
    struct state *s = (struct state *)t->state;
    const int32_t window = find_window(t);
    int err = tiles_from_csr<T>(t->dev, &t->A, window, s->number, &s->A);
    if (!err && t->in->S != t->in->A)
        err = tiles_from_csr<T>(t->dev, &t->S, window, s->number, &s->S);
    struct tiles *S = t->in->S == t->in->A ? &s->A : &s->S;
    // As if every tile used all of its rows and columns.
    for (struct tiles *x : {&s->A, &s->S})
        if (!err && task_option(t, "prune") == 0)
            err = device_fill(t->dev, x->used, 0xff, x->count * (int64_t)sizeof *x->used);
    if (!err) err = columns_from_tiles(t->dev, S, &s->columns);
    for (struct tiles *x : {&s->A, &s->S}) {
        device_free(t->dev, x->row);
        x->row = NULL;
    }
    return err;
}

static int convert(struct task *t)
{
    return t->in->prec == F32 ? convert_to_tiles<float>(t) : convert_to_tiles<double>(t);
}

static int find_products(struct task *t)
{
    struct state *s = (struct state *)t->state;
    const struct tiles *A = &s->A, *S = factor(t);
    struct product_source source = {A->ptr, S->ptr, A->col, S->col, A->used, S->used, WARP};
    s->C.m = A->m, s->C.n = S->n, s->C.tile_m = A->tile_m, s->C.tile_n = S->tile_n;
    // Threads for about one product of tiles each, as there are on average.
    const int64_t length = S->count / max64(S->tile_m, 1);
    const int64_t products = length * (A->count / max64(A->tile_m, 1));
    while (source.lanes > 2 && source.lanes / 2 >= length) source.lanes /= 2;
    const int threads = products <= 64 ? 32 : products <= 512 ? 64 : products <= 4096 ? 128 : 512;
    return find_structure(t->dev, &s->C, source, find_window(t), threads, s->number,
                          [](struct product_source *) { return (int)OK; });
}

// A pair of full tiles costs the same whatever they hold; nonzeros dealt out cost about the
// products they make, and more where atomics meet. On an H200 the two are even where both tiles
// have 16 to 20 nonzeros (in the geometric mean). The kernel that can do both is slower at the
// latter, so where tiles are nearly empty there is one that cannot. Nor does it pay on devices that
// are slow in double precision.
#define FULL_TILE 20
#define FULL_MEAN 12                // nonzeros of a tile of A on average
#define NO_TILE   (TILE * TILE + 1) // no tile has so many
#define SLOW_F64  4                 // times as slow as f32, or more

static int32_t full_tile(const struct task *t, const struct tiles *A)
{
    const int32_t full = (int32_t)task_option(t, "full");
    if (full >= 0) return full;
    if (((const struct state *)t->state)->f64_ratio >= SLOW_F64) return NO_TILE;
    return A->nnz < A->count * FULL_MEAN ? NO_TILE : FULL_TILE;
}

static struct multiply describe(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    const int64_t window = (int64_t)task_option(t, "window");
    struct multiply w = {};
    w.A = s->A, w.S = *factor(t), w.C = s->C;
    w.columns = s->columns;
    // Enough blocks to fill the device a few times, enough tiles to share one tile row of A.
    const int64_t share = s->C.count / (t->dev->units * 32 * MULTIPLY_WARPS);
    w.share = (int32_t)max64(1, min64(share, MULTIPLY_SHARE));
    // Up to 32 elements a search takes five steps; more are worth the making of bits.
    const bool wide = s->A.count > WARP * (int64_t)s->A.tile_m;
    const int64_t most = window < 0 ? (wide ? MULTIPLY_WINDOW : 0) : min64(window, MULTIPLY_WINDOW);
    w.window = (int32_t)(min64(most, s->A.tile_n + 31) / 32 * 32);
    w.matches = (int32_t)task_option(t, "matches");
    w.full = full_tile(t, &s->A);
    w.tnnz = (int32_t)task_option(t, "tnnz");
    return w;
}

template <typename T> static int multiply_all(struct task *t)
{
    struct state *s = (struct state *)t->state;
    struct device *d = t->dev;
    struct tiles *C = &s->C;
    int32_t *length = NULL;
    struct multiply w = {};
    unsigned grid = 0;
    int err = task_phase(t, "step1");
    if (!err) err = find_products(t);

    if (!err) err = task_phase(t, "step2");
    if (!err) err = device_alloc(d, C->count, TILE * sizeof *C->mask, (void **)&C->mask);
    if (!err) err = device_alloc(d, C->count, TILE * sizeof *C->row_ptr, (void **)&C->row_ptr);
    if (!err) err = device_alloc(d, C->count + 1, sizeof *C->start, (void **)&C->start);
    if (!err) err = device_alloc(d, C->count, sizeof *length, (void **)&length);
    if (err) goto done;
    w = describe(t);
    grid = (unsigned)ceil_div(C->count, w.share * MULTIPLY_WARPS);
    if (grid > 0) {
        auto kernel = w.window > 0 ? count_products<true> : count_products<false>;
        LAUNCH(kernel, grid, MULTIPLY_WARPS * WARP, multiply_shared(w, false, 0).bytes, d->stream,
               w, length);
    }
    err = launch_check("tile: step 2");
    if (!err) err = cub_exclusive_sum(d, length, C->count, C->start);
    if (!err) err = wait_for(d, "tile", C->start + C->count, s->number, sizeof *s->number);
    if (err) goto done;

    C->nnz = *s->number;
    err = task_phase(t, "allocate");
    device_free(d, length);
    length = NULL;
    if (!err) err = device_alloc(d, C->nnz, sizeof *C->idx, (void **)&C->idx);
    if (!err) err = device_alloc(d, C->nnz, sizeof(T), &C->val);

    if (!err) err = task_phase(t, "step3");
    if (!err && C->nnz > 0) {
        const bool full = w.full < NO_TILE;
        auto kernel =
            w.window > 0
                ? (full ? multiply_tiles<T, true, true> : multiply_tiles<T, true, false>)
                : (full ? multiply_tiles<T, false, true> : multiply_tiles<T, false, false>);
        w.C = *C;
        LAUNCH(kernel, grid, MULTIPLY_WARPS * WARP, multiply_shared(w, true, sizeof(T)).bytes,
               d->stream, w);
        err = launch_check("tile: step 3");
    }
    device_free(d, C->row);
    C->row = NULL;
    task_number(t, "c_tiles", (double)C->count);
    task_number(t, "full_from", w.full); // what -1 of the options came to; NO_TILE: none
    task_number(t, "window_used", w.window);
    task_number(t, "c_tile_bytes", (double)tiles_bytes(C, t->in->prec));
done:
    device_free(d, length);
    if (err) tiles_free(d, C);
    t->R.nnz = C->nnz;
    return err;
}

static int make_state(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    t->state = s;
    CUDA_TRY(cudaDeviceGetAttribute(&s->f64_ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio,
                                    t->dev->index));
    CUDA_TRY(cudaMallocHost((void **)&s->number, sizeof *s->number));
    return OK;
}

// The bytes of tiles are those of the paper's arrays and of `used`.
static void report_operand(struct task *t, const struct tiles *x, const struct csr_dev *csr,
                           const char *const names[4])
{
    task_number(t, names[0], (double)x->count);
    task_number(t, names[1], (double)tiles_bytes(x, t->in->prec) + 4.0 * (double)x->count);
    task_number(t, names[2], (double)csr_dev_bytes(csr, t->in->prec));
    task_number(t, names[3], x->count ? (double)x->nnz / (double)x->count : 0);
}

static void report_operands(struct task *t)
{
    static const char *const of_A[] = {"tiles", "tile_bytes", "csr_bytes", "nnz_per_tile"};
    static const char *const of_S[] = {"s_tiles", "s_tile_bytes", "s_csr_bytes", "s_nnz_per_tile"};
    const struct tiles *S = factor(t);
    report_operand(t, &((const struct state *)t->state)->A, &t->A, of_A);
    if (t->in->S != t->in->A) report_operand(t, S, &t->S, of_S);
    // Tile columns of S, on top of its tiles.
    task_number(t, "column_bytes", 4.0 * (double)(S->tile_n + 1) + 10.0 * (double)S->count);
}

// The first conversion pays for what the device loads and allocates once, like the set-up of every
// algorithm. The figure convert_ms, to be compared with products, is of a second one.
static int prepare(struct task *t)
{
    int err = make_state(t);
    if (!err) err = convert(t);
    if (!err) err = device_sync(t->dev);
    if (err) return err;
    const double start = clock_ms();
    free_operands(t);
    err = convert(t);
    if (!err) err = device_sync(t->dev);
    t->repeat_ms = clock_ms() - start;
    task_number(t, "convert_ms", t->repeat_ms);
    if (!err) report_operands(t);
    return err;
}

static int run(struct task *t)
{
    return t->in->prec == F32 ? multiply_all<float>(t) : multiply_all<double>(t);
}

static int finish(struct task *t)
{
    const struct tiles *C = &((const struct state *)t->state)->C;
    return t->in->prec == F32 ? tiles_to_csr<float>(t->dev, C, &t->R)
                              : tiles_to_csr<double>(t->dev, C, &t->R);
}

static void release(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) tiles_free(t->dev, &s->C);
}

static void teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    release(t);
    free_operands(t);
    if (s->number) cudaFreeHost(s->number);
    mem_free(s);
    t->state = NULL;
}

static int run_csr(struct task *t)
{
    int err = task_phase(t, "convert");
    if (!err) err = convert(t);
    if (!err) report_operands(t);
    if (!err) err = run(t);
    if (!err) err = task_phase(t, "back");
    free_operands(t);
    if (!err) err = finish(t);
    release(t);
    return err;
}

// Defaults: the paper's, and what the comment at the top says.
static const struct algo_option options[] = {
    {"tnnz", 192, 0, 256, true, "nonzeros of a tile of C up to which its accumulator is sparse"},
    {"full", -1, -1, 257, true,
     "nonzeros, in the geometric mean of two tiles, from which they are multiplied as full ones; "
     "257: never; -1: what serves best"},
    {"window", -1, -1, FIND_WINDOW, true,
     "tile columns in a block's bits, in steps 2 and 3 up to 65536; -1: what serves best; 0: none "
     "there"},
    {"prune", 1, 0, 1, true,
     "1: tiles of C that stay empty and pairs of tiles without a product are left out; 0: kept"},
    {"matches", 64, WARP, MATCHES_MAX, true, "pairs of tiles that a warp gathers"},
    {},
};

extern const struct algo spgemm_tile_cuda = {
    .name = "tile",
    .op = OP_SPGEMM,
    .device = DEVICE_CUDA,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = options,
    .about = "sparse 16 x 16 tiles, a warp for each tile of C; from tiles to tiles",
    .cite = NIU_2022,
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
    .finish = finish,
    .release = release,
};

extern const struct algo spgemm_tile_csr_cuda = {
    .name = "tile-csr",
    .op = OP_SPGEMM,
    .device = DEVICE_CUDA,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = options,
    .about = "sparse 16 x 16 tiles, from CSR to CSR: both conversions are in the time",
    .cite = NIU_2022,
    .prepare = make_state,
    .run = run_csr,
    .teardown = teardown,
    .finish = NULL,
    .release = release,
};
