// Conversion of C from tiles to CSR, for the formats tile8 and tile16.
#ifndef SPGEMM_TILES_TO_CSR_H
#define SPGEMM_TILES_TO_CSR_H

#include "kernel.cuh"
#include "device/cub.cuh"
#include "formats/tile16.h"
#include "formats/tile8.h"
#include "spgemm/result.h"

// Rows and columns of a tile.
template <typename Tiles> struct tile_size;
template <> struct tile_size<struct tile8> {
    static const int value = TILE8;
};
template <> struct tile_size<struct tile16> {
    static const int value = TILE;
};

// Return the columns of row r of a tile, as bits.
static __device__ __forceinline__ uint32_t row_columns(const struct tile8 &t, int64_t tile, int r)
{
    return (uint32_t)(t.mask[tile] >> (TILE8 * r)) & 0xff;
}
static __device__ __forceinline__ uint32_t row_columns(const struct tile16 &t, int64_t tile, int r)
{
    return t.mask[tile * TILE + r];
}

// Return the index of the first value of row r of a tile.
static __device__ __forceinline__ int64_t row_begin(const struct tile8 &t, int64_t tile, int r)
{
    const uint64_t before = t.mask[tile] & (((uint64_t)1 << (TILE8 * r)) - 1);
    return t.start[tile] + __popcll(before);
}
static __device__ __forceinline__ int64_t row_begin(const struct tile16 &t, int64_t tile, int r)
{
    return t.start[tile] + t.row_ptr[tile * TILE + r];
}

// Writes the rows of C (FILL), or counts their nonzeros. A block has a tile row, and a warp has a
// row.
template <typename W, bool FILL, typename Tiles>
static __global__ void __launch_bounds__(tile_size<Tiles>::value *WARP)
    tiles_to_rows(Tiles t, int32_t *__restrict__ length, const int64_t *__restrict__ ptr,
                  int32_t *__restrict__ idx, const W *__restrict__ from, W *__restrict__ val)
{
    const int SIZE = tile_size<Tiles>::value;
    const int32_t i = (int32_t)blockIdx.x, r = (int32_t)threadIdx.x / WARP;
    const int64_t row = (int64_t)i * SIZE + r, end = t.ptr[i + 1];
    const int lane = lane_id();
    if (row >= t.m) return;
    int64_t to = FILL ? ptr[row] : 0;
    for (int64_t base = t.ptr[i]; base < end; base += WARP) {
        const int64_t tile = base + lane;
        uint32_t mask = tile < end ? row_columns(t, tile, r) : 0;
        const int32_t upto = warp_scan(__popc(mask));
        if (FILL && mask) {
            int64_t p = to + upto - __popc(mask), q = row_begin(t, tile, r);
            const int32_t first = t.col[tile] * SIZE;
            for (; mask; mask &= mask - 1, p++, q++) {
                idx[p] = first + __ffs((int)mask) - 1;
                val[p] = from[q];
            }
        }
        to += warp_broadcast(upto, WARP - 1);
    }
    if (!FILL && lane == 0) length[row] = (int32_t)to;
}

// Makes t->R from the tiles of C, whose values have the bytes of W.
template <typename W, typename Tiles> static int tiles_to_csr(struct task *t, const Tiles *C)
{
    struct device *d = t->dev;
    struct csr_dev *R = &t->R;
    const int threads = tile_size<Tiles>::value * WARP;
    int32_t *length = NULL;
    auto count = tiles_to_rows<W, false, Tiles>;
    auto fill = tiles_to_rows<W, true, Tiles>;
    int err = result_begin(t, sizeof(int64_t), R);
    if (!err) err = device_alloc(d, C->m, sizeof *length, (void **)&length);
    if (err) return err;
    if (C->tile_m > 0)
        LAUNCH(count, (unsigned)C->tile_m, threads, 0, d->stream, *C, length, NULL, NULL, NULL,
               NULL);
    err = launch_check(t->entry->name);
    if (!err) err = cub_exclusive_sum(d, length, C->m, (int64_t *)R->ptr);
    device_free(d, length);
    R->nnz = C->nnz;
    if (!err) err = result_alloc(d, R);
    if (err || C->tile_m == 0) return err;
    LAUNCH(fill, (unsigned)C->tile_m, threads, 0, d->stream, *C, NULL, (const int64_t *)R->ptr,
           R->idx, (const W *)C->val, (W *)R->val);
    return launch_check(t->entry->name);
}

#endif
