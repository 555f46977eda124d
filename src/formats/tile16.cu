// Makes the formats tile16 (from csr) and tilecols (from tile16) on CUDA.
#include "formats/tile16.h"
#include "formats/tile_find.cuh"

#define BLOCK 256 // threads of most kernels

// The tiles of a CSR matrix, as a source of tile_find.cuh.
struct tile16_source : csr_tiles<TILE> {
    uint32_t *mask; // two rows per word

    __device__ __forceinline__ void found(int32_t i, int32_t p, int64_t t) const
    {
        const int32_t r = row_of(i, p);
        tile_of[p] = (int32_t)t;
        atomicOr(&mask[t * (TILE / 2) + r / 2], 1u << (r % 2 * TILE + idx[p] % TILE));
    }
};

// Computes row pointers, lengths, and the used rows and columns of tiles from their masks. 16
// threads per tile.
static __global__ void count_masks(int64_t tiles, const uint16_t *__restrict__ mask,
                                   uint8_t *__restrict__ row_ptr, int32_t *__restrict__ length,
                                   uint32_t *__restrict__ used)
{
    const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int r = (int)(threadIdx.x % TILE);
    uint32_t cols = x < tiles * TILE ? mask[x] : 0;
    const int mine = __popc(cols), upto = group_scan<TILE>(mine);
    const uint32_t rows = __ballot_sync(FULL_MASK, mine > 0) >> (lane_id() - r) & 0xffff;
    for (int step = 1; step < TILE; step *= 2) cols |= __shfl_xor_sync(FULL_MASK, cols, step);
    if (x >= tiles * TILE) return;
    row_ptr[x] = (uint8_t)(upto - mine);
    if (r < TILE - 1) return;
    length[x / TILE] = upto;
    used[x / TILE] = rows << TILE | cols;
}

// Writes each nonzero to its place in its tile. A block per tile row.
template <typename W>
static __global__ void place_nonzeros(struct tile16_source s, const W *__restrict__ val,
                                      struct tile16 t, W *__restrict__ to)
{
    const int32_t i = (int32_t)blockIdx.x;
    s.each(i, [&](int32_t, int32_t p) {
        const int32_t r = s.row_of(i, p), j = s.idx[p] % TILE;
        const int64_t tile = s.tile_of[p], x = tile * TILE + r;
        const int64_t q = t.start[tile] + t.row_ptr[x] + __popc(t.mask[x] & bits_below(j));
        t.idx[q] = (uint8_t)(r << 4 | j);
        to[q] = val[p];
    });
}

// Makes row_ptr, start and used from the masks.
static int finish_masks(struct device *d, struct tile16 *t)
{
    int32_t *length = NULL;
    int err = device_alloc(d, t->tiles, TILE * sizeof *t->row_ptr, (void **)&t->row_ptr);
    if (!err) err = device_alloc(d, t->tiles + 1, sizeof *t->start, (void **)&t->start);
    if (!err) err = device_alloc(d, t->tiles, sizeof *t->used, (void **)&t->used);
    if (!err) err = device_alloc(d, t->tiles, sizeof *length, (void **)&length);
    if (!err && t->tiles > 0) {
        LAUNCH(count_masks, (unsigned)ceil_div(t->tiles * TILE, BLOCK), BLOCK, 0, d->stream,
               t->tiles, t->mask, t->row_ptr, length, t->used);
        err = launch_check("tile16: masks");
    }
    if (!err) err = cub_exclusive_sum(d, length, t->tiles, t->start);
    device_free(d, length);
    return err;
}

template <typename W>
static int make_tiles(struct device *d, const struct csr_dev *A, struct tile16 *out)
{
    struct tile16_source s = {{A->m, (const int32_t *)A->ptr, A->idx, NULL}, NULL};
    int err = find_csr_tiles(d, A, TILE * sizeof *out->mask, out, NULL, &s);
    if (!err) err = finish_masks(d, out);
    if (!err) err = device_alloc(d, A->nnz, sizeof *out->idx, (void **)&out->idx);
    if (!err) err = device_alloc(d, A->nnz, sizeof(W), &out->val);
    if (!err && A->nnz > 0) {
        auto kernel = place_nonzeros<W>;
        LAUNCH(kernel, (unsigned)out->tile_m, s.threads(A), 0, d->stream, s, (const W *)A->val,
               *out, (W *)out->val);
        err = launch_check("tile16: nonzeros");
    }
    device_free(d, s.tile_of);
    return err;
}

extern "C" int tile16_make_cuda(struct device *d, const struct sparse *from, const double *opt,
                                struct sparse *out)
{
    (void)opt;
    struct tile16 *T = (struct tile16 *)out;
    T->tile_m = tile_count(from->m);
    T->tile_n = tile_count(from->n);
    return BY_BYTES(type_bytes(from->type), make_tiles, d, csr_of(from), T);
}

// Writes the keys and values of the sort by tile columns. A thread per tile. Thread numbers have 64
// bits, because the last block of nearly 2^31 tiles has threads above 2^31.
static __global__ void list_tiles(struct tile16 t, int32_t *__restrict__ col,
                                  int32_t *__restrict__ tile, int32_t *__restrict__ row)
{
    const int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= t.tiles) return;
    col[q] = t.col[q];
    tile[q] = (int32_t)q;
    row[q] = (int32_t)upper_bound(t.ptr, 0, t.tile_m + 1, q) - 1;
}

// Finds the starts of columns 0 to tile_n among the sorted tiles.
static __global__ void find_columns(int32_t tiles, int32_t tile_n, const int32_t *__restrict__ col,
                                    int32_t *__restrict__ ptr)
{
    const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= tile_n) ptr[j] = lower_bound(col, 0, tiles, (int32_t)j);
}

static __global__ void fill_columns(const uint32_t *__restrict__ used,
                                    const int32_t *__restrict__ row, struct tilecols to)
{
    const int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= to.tiles) return;
    to.row[q] = row[to.tile[q]];
    to.used[q] = (uint16_t)(used[to.tile[q]] >> TILE);
}

// Sorts the tiles by columns. Stable.
extern "C" int tilecols_make_cuda(struct device *d, const struct sparse *from, const double *opt,
                                  struct sparse *out)
{
    (void)opt;
    const struct tile16 *T = tile16_of(from);
    struct tilecols *C = (struct tilecols *)out;
    C->tile_n = T->tile_n;
    C->tiles = T->tiles;
    const size_t size = sizeof(int32_t);
    const unsigned grid = (unsigned)ceil_div(T->tiles, BLOCK);
    int32_t *col[2] = {}, *tile[2] = {}, *row = NULL;
    int err = device_alloc(d, (int64_t)C->tile_n + 1, size, (void **)&C->ptr);
    if (!err) err = device_alloc(d, C->tiles, size, (void **)&C->row);
    if (!err) err = device_alloc(d, C->tiles, sizeof *C->used, (void **)&C->used);
    if (!err) err = device_alloc(d, C->tiles, size, (void **)&row);
    for (int i = 0; i < 2 && !err; i++) {
        err = device_alloc(d, C->tiles, size, (void **)&col[i]);
        if (!err) err = device_alloc(d, C->tiles, size, (void **)&tile[i]);
    }
    if (!err && C->tiles > 0) {
        LAUNCH(list_tiles, grid, BLOCK, 0, d->stream, *T, col[0], tile[0], row);
        err = launch_check("tilecols: list");
        if (!err)
            err = cub_sort_pairs(d, (uint32_t **)col, tile, C->tiles, 0, cub_key_bits(T->tile_n));
    }
    if (err) goto done;
    C->tile = tile[0];
    tile[0] = NULL;
    if (C->tiles > 0) LAUNCH(fill_columns, grid, BLOCK, 0, d->stream, T->used, row, *C);
    LAUNCH(find_columns, (unsigned)ceil_div((int64_t)C->tile_n + 1, BLOCK), BLOCK, 0, d->stream,
           (int32_t)C->tiles, C->tile_n, col[0], C->ptr);
    err = launch_check("tilecols");
done:
    for (int i = 0; i < 2; i++) {
        device_free(d, col[i]);
        device_free(d, tile[i]);
    }
    device_free(d, row);
    return err;
}
