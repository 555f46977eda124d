// The 16 x 16 tiles of tile16.h in the device's memory: from CSR, by tile columns, back to CSR.
#ifndef SPGEMM_TILE_FORMAT_CUH
#define SPGEMM_TILE_FORMAT_CUH

#include "find.cuh"

// An operand's tiles by tile columns; it has fewer than 2^31 of them, as it has nonzeros.
struct tile_columns {
    int32_t *ptr;   // size tile_n + 1
    int32_t *row;   // tile rows, ascending in a tile column, size count
    int32_t *tile;  // numbers in the order of tile rows, size count
    uint16_t *used; // rows of the tile that hold something, size count
};

// Tile columns of a CSR matrix; one thread looks at each nonzero.
struct csr_source {
    int32_t m;
    const int32_t *ptr, *idx;
    uint32_t *mask;   // of the tiles, two rows in a word
    int32_t *tile_of; // tile of each nonzero

    __device__ __forceinline__ int32_t rows(int32_t i) const { return min(TILE, m - i * TILE); }
    __device__ __forceinline__ void span(int32_t i, int32_t *low, int32_t *high) const
    {
        if ((int32_t)threadIdx.x >= rows(i)) return;
        const int32_t row = i * TILE + (int32_t)threadIdx.x;
        if (ptr[row] == ptr[row + 1]) return;
        *low = idx[ptr[row]] / TILE;
        *high = idx[ptr[row + 1] - 1] / TILE;
    }
    template <typename F> __device__ __forceinline__ void each(int32_t i, F f) const
    {
        const int32_t end = ptr[i * TILE + rows(i)];
        for (int32_t p = ptr[i * TILE] + (int32_t)threadIdx.x; p < end; p += (int32_t)blockDim.x)
            f(idx[p] / TILE, p);
    }
    // Row of nonzero p in tile row i.
    __device__ __forceinline__ int32_t row_of(int32_t i, int32_t p) const
    {
        return upper_bound(ptr + i * TILE, rows(i) + 1, p) - 1;
    }
    __device__ __forceinline__ void found(int32_t i, int32_t p, int64_t t) const
    {
        const int32_t r = row_of(i, p);
        tile_of[p] = (int32_t)t;
        atomicOr(&mask[t * (TILE / 2) + r / 2], 1u << (r % 2 * TILE + idx[p] % TILE));
    }
};

// What follows from the masks of tiles: row pointers, lengths, and the columns and rows that hold
// something. 16 threads a tile.
static __global__ void count_masks(int64_t tiles, const uint16_t *__restrict__ mask,
                                   uint8_t *__restrict__ row_ptr, int32_t *__restrict__ length,
                                   uint32_t *__restrict__ used)
{
    const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int r = (int)(threadIdx.x % TILE);
    uint32_t cols = x < tiles * TILE ? mask[x] : 0;
    const int mine = __popc(cols);
    const uint32_t rows = __ballot_sync(FULL_MASK, mine > 0) >> (lane_id() - r) & 0xffff;
    int sum = mine;
    for (int step = 1; step < TILE; step *= 2) {
        const int other = __shfl_up_sync(FULL_MASK, sum, step, TILE);
        if (r >= step) sum += other;
        cols |= __shfl_xor_sync(FULL_MASK, cols, step);
    }
    if (x >= tiles * TILE) return;
    row_ptr[x] = (uint8_t)(sum - mine);
    if (r < TILE - 1) return;
    length[x / TILE] = sum;
    used[x / TILE] = rows << 16 | cols;
}

// Each nonzero to its place among those of its tile, a block for a tile row.
template <typename T>
static __global__ void place_nonzeros(struct csr_source s, const T *__restrict__ val,
                                      struct tiles t, T *__restrict__ to)
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

// There may be nearly 2^31 tiles, and then threads from 2^31 on.
static __global__ void number_tiles(int32_t tiles, int32_t *__restrict__ number)
{
    const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t < tiles) number[t] = (int32_t)t;
}

// Starts of the columns 0 .. tile_n among the sorted ones.
static __global__ void find_columns(int32_t tiles, int32_t tile_n, const int32_t *__restrict__ col,
                                    int32_t *__restrict__ ptr)
{
    const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= tile_n) ptr[j] = upper_bound(col, tiles, (int32_t)j - 1);
}

static __global__ void fill_columns(struct tiles t, struct tile_columns to)
{
    const int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= t.count) return;
    to.row[q] = t.row[to.tile[q]];
    to.used[q] = (uint16_t)(t.used[to.tile[q]] >> 16);
}

// A block of 16 warps has a tile row, a warp one of its rows. FILL false: length of each row.
template <typename T, bool FILL>
static __global__ void __launch_bounds__(TILE *WARP)
    tiles_to_rows(struct tiles t, int32_t *__restrict__ length, const int64_t *__restrict__ ptr,
                  int32_t *__restrict__ idx, const T *__restrict__ from, T *__restrict__ val)
{
    const int32_t i = (int32_t)blockIdx.x, r = (int32_t)threadIdx.x / WARP;
    const int64_t row = (int64_t)i * TILE + r, end = t.ptr[i + 1];
    const int lane = lane_id();
    if (row >= t.m) return;
    int64_t to = FILL ? ptr[row] : 0;
    for (int64_t base = t.ptr[i]; base < end; base += WARP) {
        const int64_t tile = base + lane;
        uint32_t mask = tile < end ? t.mask[tile * TILE + r] : 0;
        int32_t sum = __popc(mask);
        for (int step = 1; step < WARP; step *= 2) {
            const int32_t other = __shfl_up_sync(FULL_MASK, sum, step);
            if (lane >= step) sum += other;
        }
        if (FILL && mask) {
            int64_t p = to + sum - __popc(mask), q = t.start[tile] + t.row_ptr[tile * TILE + r];
            const int32_t first = t.col[tile] * TILE;
            for (; mask; mask &= mask - 1, p++, q++) {
                idx[p] = first + __ffs((int)mask) - 1;
                val[p] = from[q];
            }
        }
        to += warp_broadcast(sum, WARP - 1);
    }
    if (!FILL && lane == 0) length[row] = (int32_t)to;
}

static int64_t tiles_bytes(const struct tiles *t, enum prec prec)
{
    struct tile16 sizes = {};
    sizes.tile_m = t->tile_m, sizes.tiles = t->count, sizes.nnz = t->nnz;
    return tile16_bytes(&sizes, prec_bytes(prec));
}

// Masks are there; row_ptr, start and used follow from them.
static int finish_masks(struct device *d, struct tiles *t)
{
    int32_t *length = NULL;
    int err = device_alloc(d, t->count, TILE * sizeof *t->row_ptr, (void **)&t->row_ptr);
    if (!err) err = device_alloc(d, t->count + 1, sizeof *t->start, (void **)&t->start);
    if (!err) err = device_alloc(d, t->count, sizeof *t->used, (void **)&t->used);
    if (!err) err = device_alloc(d, t->count, sizeof *length, (void **)&length);
    if (!err && t->count > 0) {
        LAUNCH(count_masks, (unsigned)ceil_div(t->count * TILE, 256), 256, 0, d->stream, t->count,
               t->mask, t->row_ptr, length, t->used);
        err = launch_check("tile: masks");
    }
    if (!err) err = cub_exclusive_sum(d, length, t->count, t->start);
    device_free(d, length);
    return err;
}

// `out` is empty, and is to be freed also after an error.
template <typename T>
static int tiles_from_csr(struct device *d, const struct csr_dev *A, int32_t window,
                          int64_t *number, struct tiles *out)
{
    struct csr_source s = {A->m, (const int32_t *)A->ptr, A->idx, NULL, NULL};
    out->m = A->m, out->n = A->n, out->nnz = A->nnz;
    out->tile_m = tile_count(A->m), out->tile_n = tile_count(A->n);
    // A few nonzeros for each thread; rows that are longer take more turns.
    const int threads = A->nnz > (int64_t)out->tile_m * 512 ? 256 : 128;
    int err = find_structure(d, out, s, window, threads, number, [&](struct csr_source *source) {
        int e = device_alloc(d, out->count, TILE * sizeof *out->mask, (void **)&out->mask);
        if (!e) e = device_fill(d, out->mask, 0, out->count * TILE * (int64_t)sizeof *out->mask);
        if (!e) e = device_alloc(d, A->nnz, sizeof *s.tile_of, (void **)&s.tile_of);
        source->mask = (uint32_t *)out->mask;
        source->tile_of = s.tile_of;
        return e;
    });
    if (!err) err = finish_masks(d, out);
    if (!err) err = device_alloc(d, A->nnz, sizeof *out->idx, (void **)&out->idx);
    if (!err) err = device_alloc(d, A->nnz, sizeof(T), &out->val);
    if (!err && A->nnz > 0) {
        auto kernel = place_nonzeros<T>;
        LAUNCH(kernel, (unsigned)out->tile_m, threads, 0, d->stream, s, (const T *)A->val, *out,
               (T *)out->val);
        err = launch_check("tile: conversion");
    }
    device_free(d, s.tile_of);
    return err;
}

static void columns_free(struct device *d, struct tile_columns *c)
{
    device_free(d, c->used);
    device_free(d, c->tile);
    device_free(d, c->row);
    device_free(d, c->ptr);
    *c = {};
}

// A stable sort of the tiles by column; needs t->row. `out` is to be freed also after an error.
static int columns_from_tiles(struct device *d, const struct tiles *t, struct tile_columns *out)
{
    int32_t *keys[2] = {}, *tiles[2] = {}, count = (int32_t)t->count;
    const size_t size = sizeof(int32_t);
    int bits = 0;
    while (((int64_t)1 << bits) < t->tile_n) bits++;
    int err = device_alloc(d, (int64_t)t->tile_n + 1, size, (void **)&out->ptr);
    if (!err) err = device_alloc(d, count, size, (void **)&out->row);
    if (!err) err = device_alloc(d, count, sizeof *out->used, (void **)&out->used);
    for (int i = 0; i < 2 && !err; i++) {
        err = device_alloc(d, count, size, (void **)&keys[i]);
        if (!err) err = device_alloc(d, count, size, (void **)&tiles[i]);
    }
    if (err) goto done;
    if (count > 0) {
        const unsigned grid = (unsigned)ceil_div(count, 256);
        cudaError_t e = cudaMemcpyAsync(keys[0], t->col, (size_t)count * size,
                                        cudaMemcpyDeviceToDevice, (cudaStream_t)d->stream);
        LAUNCH(number_tiles, grid, 256, 0, d->stream, count, tiles[0]);
        if (e == cudaSuccess) e = cudaGetLastError();
        if (e != cudaSuccess) err = cuda_fail(e, __FILE__, __LINE__, "copy of tile columns");
        if (!err) err = cub_sort_pairs(d, (uint32_t **)keys, tiles, count, 0, bits);
        if (err) goto done;
        out->tile = tiles[0];
        tiles[0] = NULL;
        LAUNCH(fill_columns, grid, 256, 0, d->stream, *t, *out);
    }
    LAUNCH(find_columns, (unsigned)ceil_div((int64_t)t->tile_n + 1, 256), 256, 0, d->stream, count,
           t->tile_n, keys[0], out->ptr);
    err = launch_check("tile: columns");
done:
    for (int i = 0; i < 2; i++) {
        device_free(d, keys[i]);
        device_free(d, tiles[i]);
    }
    return err;
}

// `out` is empty; on failure it stays so.
template <typename T>
static int tiles_to_csr(struct device *d, const struct tiles *t, struct csr_dev *out)
{
    struct csr_dev R = {};
    R.m = t->m, R.n = t->n, R.nnz = t->nnz, R.ptr_bytes = 8;
    int32_t *length = NULL;
    auto count = tiles_to_rows<T, false>;
    auto fill = tiles_to_rows<T, true>;
    int err = device_alloc(d, t->m, sizeof *length, (void **)&length);
    if (!err) err = device_alloc(d, (int64_t)t->m + 1, sizeof(int64_t), &R.ptr);
    if (err) goto done;
    if (t->tile_m > 0)
        LAUNCH(count, (unsigned)t->tile_m, TILE * WARP, 0, d->stream, *t, length, NULL, NULL, NULL,
               NULL);
    err = launch_check("tile: rows");
    if (!err) err = cub_exclusive_sum(d, length, t->m, (int64_t *)R.ptr);
    device_free(d, length);
    length = NULL;
    if (!err) err = device_alloc(d, R.nnz, sizeof *R.idx, (void **)&R.idx);
    if (!err) err = device_alloc(d, R.nnz, sizeof(T), &R.val);
    if (err) goto done;
    if (t->tile_m > 0)
        LAUNCH(fill, (unsigned)t->tile_m, TILE * WARP, 0, d->stream, *t, NULL,
               (const int64_t *)R.ptr, R.idx, (const T *)t->val, (T *)R.val);
    err = launch_check("tile: rows");
    if (err) goto done;
    *out = R;
    R = {};
done:
    device_free(d, length);
    device_free(d, R.ptr);
    device_free(d, R.idx);
    device_free(d, R.val);
    return err;
}

#endif
