// SpGEMM on 8 x 8 tiles with tensor cores, C = A * S.
// Orestis Zachariadis, Nitin Satpute, Juan Gomez-Luna, Joaquin Olivares: Accelerating Sparse
// Matrix-Matrix Multiplication with GPU Tensor Cores, Computers & Electrical Engineering 88, 2020.
//
// Files, in reading order:
//
// formats/tile8.h      format tile8: tiles with a 64-bit mask and the place of their values
// formats/tile_find.cuh, formats/tile8.cu
//                      tile8 from CSR
// pairs.cuh            pairs of tiles of A and S, and the tiles of C: select_items()
// device/cub.cuh       the sort
// multiply.cuh         nonzeros and values of C's tiles: multiply_tiles(), two tiles a warp
// tiles_to_csr.cuh     C as CSR: tiles_to_rows(), a block for each tile row
// this file            runs the phases in turn
//
// The paper's B is S here.
//
// paper                               here
// tiles with masks and offsets        formats/tile8.h: struct tile8
// expansion to pairs of tiles         expand_pairs(), with struct pair_source of pairs.cuh
//   pairs with an empty product       pair_source::keeps()
// sort of the pairs                   sort_pairs()
// tiles of C                          find_tiles_of_C(), with struct tile_source of pairs.cuh
// count on tensor cores, 0 and 1      multiply.cuh: multiply_tiles<f16, true>()
// memory for C                        multiply_all()
// values on tensor cores              multiply_tiles<T, false>()
//   masks of the sums that are not 0  multiply_tiles(), by __reduce_or_sync()
// compaction                          compact_tiles(), compact_values()
//
// Elements whose sum is exactly 0 are left out of C. A tile of C may then be empty.
//
// A, S and C are tiles, as in `tile`. A and S are converted before the timing. C becomes CSR only
// for the check. Inputs have 16 bits and sums 32 bits. The order of the sums is always the same.
//
// Limits: all pairs with a product (stat `pairs`) are in memory at the same time. The sort takes
// 32 bytes for each pair, and scratch memory. In tiles with about one nonzero nearly all products
// of the tensor cores are with zeros.
#include "multiply.cuh"
#include "pairs.cuh"
#include "spgemm/tiles_to_csr.cuh"

struct state {
    struct tile8 C;
    int64_t *number; // a number in page-locked memory
};

// Memory of a run.
struct work {
    const struct tile8 *A, *S;
    int col_bits; // of a key
    int64_t pairs;
    int64_t *first; // see struct pair_source
    uint64_t *key[2];
    int2 *pair[2];
    int64_t *begin; // first pair of each tile of C
    int32_t *length;
    int64_t *start; // places after compaction
};

static unsigned blocks_of(int64_t threads) { return (unsigned)ceil_div(threads, BLOCK); }
static unsigned multiply_blocks(int64_t tiles, int tiles_of_a_warp)
{
    return (unsigned)ceil_div(tiles, MULTIPLY_WARPS * tiles_of_a_warp);
}

template <typename T> static void free_array(struct device *d, T *&array)
{
    device_free(d, array);
    array = NULL;
}

static void free_work(struct device *d, struct work *w)
{
    free_array(d, w->first);
    for (int i = 0; i < 2; i++) {
        free_array(d, w->key[i]);
        free_array(d, w->pair[i]);
    }
    free_array(d, w->begin);
    free_array(d, w->length);
    free_array(d, w->start);
}

static int expand_pairs(struct task *t, struct work *w)
{
    const struct state *s = (const struct state *)t->state;
    const struct tile8 *A = w->A, *S = w->S;
    struct device *d = t->dev;
    int err = device_alloc(d, A->tiles + 1, sizeof *w->first, (void **)&w->first);
    if (!err) err = device_alloc(d, A->tiles, sizeof *w->length, (void **)&w->length);
    if (!err && A->tiles > 0)
        LAUNCH(count_pairs, blocks_of(A->tiles), BLOCK, 0, d->stream, A->tiles, A->col, S->ptr,
               w->length);
    if (!err) err = launch_check("tsparse: pairs");
    if (!err) err = cub_offsets(d, "tsparse", w->length, A->tiles, w->first, s->number);
    if (err) return err;
    const int64_t all = *s->number;
    free_array(d, w->length);
    const struct pair_source source = {w->first, A->tiles, S->ptr,      A->row, A->col, S->col,
                                       A->mask,  S->mask,  w->col_bits, NULL,   NULL};
    err = keep_items(d, source, all, s->number, &w->pairs,
                     [&](struct pair_source *to, int64_t pairs) {
                         int e = device_alloc(d, pairs, sizeof *w->key[0], (void **)&w->key[0]);
                         if (!e)
                             e = device_alloc(d, pairs, sizeof *w->pair[0], (void **)&w->pair[0]);
                         to->key = w->key[0];
                         to->pair = w->pair[0];
                         return e;
                     });
    free_array(d, w->first);
    if (err) return err;
    task_number(t, "all_pairs", (double)all);
    task_number(t, "pairs", (double)w->pairs);
    return OK;
}

static int sort_pairs(struct task *t, struct work *w)
{
    struct device *d = t->dev;
    int err = device_alloc(d, w->pairs, sizeof *w->key[1], (void **)&w->key[1]);
    if (!err) err = device_alloc(d, w->pairs, sizeof *w->pair[1], (void **)&w->pair[1]);
    if (!err)
        err = cub_sort_pairs(d, w->key, w->pair, w->pairs, 0,
                             cub_key_bits(w->A->tile_m) + w->col_bits);
    free_array(d, w->key[1]);
    free_array(d, w->pair[1]);
    return err;
}

static int find_tiles_of_C(struct task *t, struct work *w)
{
    struct state *s = (struct state *)t->state;
    struct device *d = t->dev;
    struct tile8 *C = &s->C;
    C->m = w->A->m, C->n = w->S->n;
    C->tile_m = w->A->tile_m, C->tile_n = w->S->tile_n;
    const struct tile_source source = {w->key[0], w->col_bits, NULL, NULL, NULL};
    int err = keep_items(d, source, w->pairs, s->number, &C->tiles,
                         [&](struct tile_source *to, int64_t tiles) {
                             int e = device_alloc(d, tiles, sizeof *w->begin, (void **)&w->begin);
                             if (!e) e = device_alloc(d, tiles, sizeof *C->row, (void **)&C->row);
                             if (!e) e = device_alloc(d, tiles, sizeof *C->col, (void **)&C->col);
                             to->begin = w->begin;
                             to->row = C->row;
                             to->col = C->col;
                             return e;
                         });
    free_array(d, w->key[0]);
    if (!err) err = device_alloc(d, (int64_t)C->tile_m + 1, sizeof *C->ptr, (void **)&C->ptr);
    if (err) return err;
    LAUNCH(find_tile_rows, blocks_of((int64_t)C->tile_m + 1), BLOCK, 0, d->stream, C->tiles,
           C->tile_m, C->row, C->ptr);
    return launch_check("tsparse: tile rows");
}

// Launches multiply_tiles<T, COUNT>().
template <typename T, bool COUNT> static int launch_multiply(struct task *t, const struct work *w)
{
    const struct state *s = (const struct state *)t->state;
    const struct multiply_args x = {
        *w->A, *w->S, s->C, w->pair[0], w->begin, w->pairs, result_is_narrow(t)};
    auto kernel = multiply_tiles<T, COUNT>;
    if (s->C.tiles > 0)
        LAUNCH(kernel, multiply_blocks(s->C.tiles, WARP_TILES), MULTIPLY_WARPS * WARP, 0,
               t->dev->stream, x, w->length);
    return launch_check("tsparse: multiply");
}

static int count_nonzeros(struct task *t, struct work *w)
{
    struct state *s = (struct state *)t->state;
    struct device *d = t->dev;
    struct tile8 *C = &s->C;
    int err = find_tiles_of_C(t, w);
    if (!err) err = device_alloc(d, C->tiles, sizeof *C->mask, (void **)&C->mask);
    if (!err) err = device_alloc(d, C->tiles + 1, sizeof *C->start, (void **)&C->start);
    if (!err) err = device_alloc(d, C->tiles, sizeof *w->length, (void **)&w->length);
    if (!err) err = launch_multiply<f16, true>(t, w);
    if (!err) err = cub_offsets(d, "tsparse", w->length, C->tiles, C->start, s->number);
    if (!err) C->nnz = *s->number;
    return err;
}

template <typename W>
static void start_compact(struct device *d, const struct tile8 *C, const int64_t *new_start,
                          void *to)
{
    auto kernel = compact_values<W>;
    LAUNCH(kernel, multiply_blocks(C->tiles, 1), MULTIPLY_WARPS * WARP, 0, d->stream, C->tiles,
           C->start, new_start, (const W *)C->val, (W *)to);
}

// Moves the values of C together if sums of 0 left gaps. Sets C->val, C->start and C->nnz.
static int compact_tiles(struct task *t, struct work *w)
{
    struct state *s = (struct state *)t->state;
    struct device *d = t->dev;
    struct tile8 *C = &s->C;
    void *val = NULL;
    int err = device_alloc(d, C->tiles + 1, sizeof *w->start, (void **)&w->start);
    if (!err) err = cub_offsets(d, "tsparse", w->length, C->tiles, w->start, s->number);
    if (err) return err;
    const int64_t nnz = *s->number;
    task_number(t, "zeros", (double)(C->nnz - nnz));
    if (nnz == C->nnz) return OK;
    err = device_alloc(d, nnz, (size_t)out_bytes(t), &val);
    if (err) return err;
    BY_BYTES(out_bytes(t), start_compact, d, C, w->start, val);
    err = launch_check("tsparse: compact");
    device_free(d, C->val);
    device_free(d, C->start);
    C->val = val;
    C->start = w->start;
    C->nnz = nnz;
    w->start = NULL;
    return err;
}

static int multiply_all(struct task *t, struct work *w)
{
    struct tile8 *C = &((struct state *)t->state)->C;
    int err = task_phase(t, "expand");
    if (!err) err = expand_pairs(t, w);
    if (!err) err = task_phase(t, "sort");
    if (!err) err = sort_pairs(t, w);
    if (!err) err = task_phase(t, "count");
    if (!err) err = count_nonzeros(t, w);
    if (!err) err = task_phase(t, "allocate");
    if (!err) err = device_alloc(t->dev, C->nnz, (size_t)out_bytes(t), &C->val);
    if (!err) err = task_phase(t, "multiply");
    if (!err)
        err = prec_in(t->prec) == F16 ? launch_multiply<f16, false>(t, w)
                                      : launch_multiply<bf16, false>(t, w);
    if (!err) err = task_phase(t, "compact");
    if (!err) err = compact_tiles(t, w);
    if (err) return err;
    task_number(t, "c_tiles", (double)C->tiles);
    task_number(t, "c_tile_bytes", (double)sparse_bytes(&C->head));
    return OK;
}

extern "C" int spgemm_tsparse_cuda_run(struct task *t)
{
    struct tile8 *C = &((struct state *)t->state)->C;
    struct work w = {};
    w.A = tile8_of(t->A[0]), w.S = tile8_of(t->S[0]);
    w.col_bits = cub_key_bits(w.S->tile_n);
    int err = multiply_all(t, &w);
    free_work(t->dev, &w);
    if (err)
        sparse_release(t->dev, &C->head);
    else
        t->R.nnz = C->nnz;
    return err;
}

extern "C" int spgemm_tsparse_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    t->state = s;
    s->C.format = &format_tile8;
    s->C.type = prec_out(t->prec);
    CUDA_TRY(cudaMallocHost((void **)&s->number, sizeof *s->number));
    return OK;
}

extern "C" int spgemm_tsparse_cuda_finish(struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    return BY_BYTES(out_bytes(t), tiles_to_csr, t, &s->C);
}

extern "C" void spgemm_tsparse_cuda_release(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) sparse_release(t->dev, &s->C.head);
}

extern "C" void spgemm_tsparse_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    spgemm_tsparse_cuda_release(t);
    if (s->number) cudaFreeHost(s->number);
    mem_free(s);
    t->state = NULL;
}
