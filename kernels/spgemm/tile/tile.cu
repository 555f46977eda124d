// SpGEMM on sparse 16 x 16 tiles, C = A * S.
// Yuyao Niu, Zhengyang Lu, Haonan Ji, Shuhui Song, Zhou Jin, Weifeng Liu: TileSpGEMM: A Tiled
// Algorithm for Parallel Sparse General Matrix-Matrix Multiplication on GPUs, PPoPP 2022.
//
// Files, in reading order:
//
// formats/tile16.h        formats tile16, tiles by tile row, and tilecols, tiles by tile column
// formats/tile_find.cuh   find_tiles: the tiles of a tile row, a block for each tile row
// step1.cuh               step 1, the tiles that C may have: find_tiles for a product
// match.cuh               a warp finds the pairs of tiles of A and S for a tile of C
// step2.cuh               step 2, masks and lengths of C's tiles: make_masks, a warp for each tile
// full.cuh                tiles with many nonzeros, multiplied as full tiles by a warp
// step3.cuh               step 3, values of C's tiles: multiply_tiles, a warp for each tile
// tiles_to_csr.cuh        C as CSR: tiles_to_rows, a block for each tile row
// this file               launches the steps in turn
//
// The paper's B is S here.
//
// paper                               here
// section 3.2, sparse tiles           formats/tile16.h: struct tile16, struct tilecols
// step 1, C' = A' B' by NSPARSE       find_tiles() with struct product_source of step1.cuh
// algorithm 2, lines 1-3, tile of C   match.cuh: each_tile()
//   lines 4-18, set intersection      match.cuh: intersect()
//   lines 19-25, AtomicOr of masks    step2.cuh: make_masks(), in registers without atomics
//   after line 26, row pointers       make_masks(), by group_scan()
//   memory for C                      multiply_all()
// algorithm 3, lines 1-3              each_tile()
//   line 4, threshold tnnz            step3.cuh: `sparse` in multiply_tiles()
//   line 5, columns from the mask     step3.cuh: `rows` of multiply_scattered()
//   lines 6, 14, matched tiles        intersect()
//   lines 7-11, sparse accumulator    step3.cuh: multiply_scattered<T, true>()
//   lines 15-16, dense accumulator    step3.cuh: multiply_scattered<T, false>()
//   indices and values of C           step3.cuh: write_scattered()
//
// No intermediate products go to memory. No list is as long as a row: the tile columns in step 1
// and the pairs of tiles in steps 2 and 3 are processed in batches.
//
// `tile` has the paper's parameters and the paper's timing, from tiles to tiles. A, S and the tile
// columns of S are made before the run. C becomes CSR only for the check. `tile-tuned` is the same
// code with these options:
//
// prune   Each tile of A and S knows its rows and columns that have nonzeros. Two tiles have a
//         product only if a used column of the tile of A is a used row of the tile of S. Step 1
//         makes no tile of C for other pairs, and steps 2 and 3 leave other pairs out.
// bitmap-columns
//         If tile rows of A have more than 32 tiles on average, they are held as bits. A test of a
//         bit replaces a binary search.
// full-from
//         Tiles with many nonzeros are multiplied as full tiles on tensor cores, with the sums in
//         registers. Values of f32 are multiplied in double precision, values of 16 bits as they
//         are, with sums in f32. Other tiles are multiplied nonzero by nonzero, with atomicAdd()
//         in shared memory.
//
// `tile-tuned-csr` is tile-tuned from CSR to CSR: its time includes both conversions.
//
// H200, A * A, f64, 33 matrices: tile-tuned has 1.9 times the speed of tile. Limits: with about one
// nonzero a tile (uniform, wing, skew) it takes 3 to 30 times as long as cuSPARSE.
#include "step1.cuh"
#include "step2.cuh"
#include "step3.cuh"
#include "spgemm/tiles_to_csr.cuh"

struct state {
    struct tile16 C;
    int32_t *row_of;                     // tile row of each tile of C, during a run
    int64_t *number;                     // a number in page-locked memory
    bool slow_f64;                       // f64 is slow on the device, compared to f32
    int32_t tnnz, full, bit_columns, matches; // options
    uint32_t keep;                       // see struct multiply
};

struct factors {
    const struct tile16 *A, *S;
    const struct tilecols *columns; // tile columns of S
};

static int find_products(struct task *t, const struct factors &x)
{
    struct state *s = (struct state *)t->state;
    struct tile16 *C = &s->C;
    struct product_source source = {x.A->ptr,  x.S->ptr,  x.A->col, x.S->col,
                                    x.A->used, x.S->used, s->keep,  WARP};
    C->m = x.A->m, C->n = x.S->n;
    C->tile_m = x.A->tile_m, C->tile_n = x.S->tile_n;
    // A thread for each product of tiles of an average tile row.
    const int64_t length = x.S->tiles / max64(x.S->tile_m, 1);
    const int64_t products = length * (x.A->tiles / max64(x.A->tile_m, 1));
    while (source.lanes > 2 && source.lanes / 2 >= length) source.lanes /= 2;
    const int threads = products <= 64 ? 32 : products <= 512 ? 64 : products <= 4096 ? 128 : 512;
    const int32_t bit_columns =
        s->bit_columns > 0 ? (int32_t)max64(32, s->bit_columns / 32 * 32) : (int32_t)FIND_COLUMNS;
    return find_structure(t->dev, source, bit_columns, threads, s->number, C, &s->row_of,
                          [](struct product_source *) { return (int)OK; });
}

static struct multiply describe(const struct task *t, const struct factors &x)
{
    const struct state *s = (const struct state *)t->state;
    struct multiply w = {};
    w.A = *x.A, w.S = *x.S, w.C = s->C;
    w.row_of = s->row_of;
    w.columns = *x.columns;
    // Enough blocks to fill the device a few times, and enough tiles per block of one tile row of
    // A.
    const int64_t share = s->C.tiles / (t->dev->units * 32 * MULTIPLY_WARPS);
    w.share = (int32_t)max64(1, min64(share, MULTIPLY_SHARE));
    // A search among up to 32 elements takes five steps. Longer rows are searched faster by bits.
    const bool wide = x.A->tiles > WARP * (int64_t)x.A->tile_m;
    const int64_t most =
        s->bit_columns < 0 ? (wide ? MULTIPLY_COLUMNS : 0) : min64(s->bit_columns, MULTIPLY_COLUMNS);
    w.bit_columns = (int32_t)(min64(most, x.A->tile_n + 31) / 32 * 32);
    w.matches = s->matches;
    w.full = full_from(s->full, s->slow_f64 && in_bytes(t) > 2, x.A);
    w.tnnz = s->tnnz;
    w.keep = s->keep;
    w.is_narrow = result_is_narrow(t);
    return w;
}

template <typename T> static int multiply_all(struct task *t, const struct factors &x)
{
    struct state *s = (struct state *)t->state;
    struct device *d = t->dev;
    struct tile16 *C = &s->C;
    int32_t *length = NULL;
    struct multiply w = {};
    unsigned grid = 0;
    int err = task_phase(t, "step1");
    if (!err) err = find_products(t, x);

    if (!err) err = task_phase(t, "step2");
    if (!err) err = device_alloc(d, C->tiles, TILE * sizeof *C->mask, (void **)&C->mask);
    if (!err) err = device_alloc(d, C->tiles, TILE * sizeof *C->row_ptr, (void **)&C->row_ptr);
    if (!err) err = device_alloc(d, C->tiles + 1, sizeof *C->start, (void **)&C->start);
    if (!err) err = device_alloc(d, C->tiles, sizeof *length, (void **)&length);
    if (err) goto done;
    w = describe(t, x);
    grid = (unsigned)ceil_div(C->tiles, w.share * MULTIPLY_WARPS);
    if (grid > 0) {
        auto kernel = w.bit_columns > 0 ? make_masks<true> : make_masks<false>;
        LAUNCH(kernel, grid, MULTIPLY_WARPS * WARP, multiply_shared(w, false, 0).bytes, d->stream,
               w, length);
    }
    err = launch_check("tile: step 2");
    if (!err) err = cub_offsets(d, "tile", length, C->tiles, C->start, s->number);
    if (err) goto done;

    C->nnz = *s->number;
    err = task_phase(t, "allocate");
    device_free(d, length);
    length = NULL;
    if (!err) err = device_alloc(d, C->nnz, sizeof *C->idx, (void **)&C->idx);
    if (!err) err = device_alloc(d, C->nnz, type_bytes(C->type), &C->val);

    if (!err) err = task_phase(t, "step3");
    if (!err && C->nnz > 0) {
        const bool full = w.full < NO_TILE;
        auto kernel =
            w.bit_columns > 0
                ? (full ? multiply_tiles<T, true, true> : multiply_tiles<T, true, false>)
                : (full ? multiply_tiles<T, false, true> : multiply_tiles<T, false, false>);
        w.C = *C;
        LAUNCH(kernel, grid, MULTIPLY_WARPS * WARP,
               multiply_shared(w, true, sizeof(sum_type<T>)).bytes, d->stream, w);
        err = launch_check("tile: step 3");
    }
    task_number(t, "c_tiles", (double)C->tiles);
    task_number(t, "c_tile_bytes", (double)sparse_bytes(&C->head));
    task_number(t, "full_from", w.full); // value that option -1 stands for
    task_number(t, "bitmap_columns", w.bit_columns);
done:
    device_free(d, length);
    device_free(d, s->row_of);
    s->row_of = NULL;
    if (err)
        sparse_release(d, &C->head);
    else
        t->R.nnz = C->nnz;
    return err;
}

extern "C" int spgemm_tile_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    int f64_ratio;
    if (!s) return ERR_MEMORY;
    t->state = s;
    s->C.format = &format_tile16;
    s->C.type = prec_out(t->prec);
    s->tnnz = (int32_t)task_option(t, "tnnz");
    s->full = (int32_t)task_option(t, "full-from");
    s->bit_columns = (int32_t)task_option(t, "bitmap-columns");
    s->matches = (int32_t)task_option(t, "pairs");
    s->keep = task_option(t, "prune") != 0 ? 0 : UINT32_MAX;
    CUDA_TRY(cudaDeviceGetAttribute(&f64_ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio,
                                    t->dev->index));
    s->slow_f64 = f64_ratio >= SLOW_F64;
    CUDA_TRY(cudaMallocHost((void **)&s->number, sizeof *s->number));
    return OK;
}

extern "C" int spgemm_tile_cuda_run(struct task *t)
{
    const struct factors x = {tile16_of(t->A[0]), tile16_of(t->S[0]), tilecols_of(t->S[1])};
    return BY_TYPE(t, multiply_all, t, x);
}

extern "C" int spgemm_tile_cuda_finish(struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    return BY_BYTES(type_bytes(s->C.type), tiles_to_csr, t, &s->C);
}

extern "C" void spgemm_tile_cuda_release(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) sparse_release(t->dev, &s->C.head);
}

extern "C" void spgemm_tile_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    spgemm_tile_cuda_release(t);
    if (s->number) cudaFreeHost(s->number);
    mem_free(s);
    t->state = NULL;
}

extern "C" int spgemm_tile_tuned_csr_cuda_run(struct task *t)
{
    struct device *d = t->dev;
    struct sparse *A = NULL, *S = NULL, *columns = NULL;
    const bool same = t->S[0] == t->A[0];
    int err = task_phase(t, "convert");
    if (!err) err = sparse_make(d, &format_tile16, t->A[0], NULL, &A);
    if (!err && !same) err = sparse_make(d, &format_tile16, t->S[0], NULL, &S);
    if (!err) err = sparse_make(d, &format_tilecols, same ? A : S, NULL, &columns);
    if (!err) {
        const struct factors x = {tile16_of(A), tile16_of(same ? A : S), tilecols_of(columns)};
        err = BY_TYPE(t, multiply_all, t, x);
    }
    if (!err) err = task_phase(t, "back");
    sparse_free(d, columns);
    sparse_free(d, S);
    sparse_free(d, A);
    if (!err) err = spgemm_tile_cuda_finish(t);
    spgemm_tile_cuda_release(t);
    return err;
}
