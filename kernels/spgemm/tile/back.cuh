// Conversion of C from tiles to CSR.
#ifndef SPGEMM_TILE_BACK_H
#define SPGEMM_TILE_BACK_H

#include "kernel.cuh"
#include "device/cub.cuh"
#include "formats/tile16.h"
#include "spgemm/result.h"

// Writes the rows of C (FILL), or counts their nonzeros. A block of 16 warps has a tile row, a warp
// one of its rows.
template <typename W, bool FILL>
static __global__ void __launch_bounds__(TILE *WARP)
    tiles_to_rows(struct tile16 t, int32_t *__restrict__ length, const int64_t *__restrict__ ptr,
                  int32_t *__restrict__ idx, const W *__restrict__ from, W *__restrict__ val)
{
    const int32_t i = (int32_t)blockIdx.x, r = (int32_t)threadIdx.x / WARP;
    const int64_t row = (int64_t)i * TILE + r, end = t.ptr[i + 1];
    const int lane = lane_id();
    if (row >= t.m) return;
    int64_t to = FILL ? ptr[row] : 0;
    for (int64_t base = t.ptr[i]; base < end; base += WARP) {
        const int64_t tile = base + lane;
        uint32_t mask = tile < end ? t.mask[tile * TILE + r] : 0;
        const int32_t upto = warp_scan(__popc(mask));
        if (FILL && mask) {
            int64_t p = to + upto - __popc(mask), q = t.start[tile] + t.row_ptr[tile * TILE + r];
            const int32_t first = t.col[tile] * TILE;
            for (; mask; mask &= mask - 1, p++, q++) {
                idx[p] = first + __ffs((int)mask) - 1;
                val[p] = from[q];
            }
        }
        to += warp_broadcast(upto, WARP - 1);
    }
    if (!FILL && lane == 0) length[row] = (int32_t)to;
}

// Makes t->R from the tiles of C.
template <typename W> static int tiles_to_csr(struct task *t, const struct tile16 *C)
{
    struct device *d = t->dev;
    struct csr_dev *R = &t->R;
    int32_t *length = NULL;
    auto count = tiles_to_rows<W, false>;
    auto fill = tiles_to_rows<W, true>;
    int err = result_begin(t, sizeof(int64_t), R);
    if (!err) err = device_alloc(d, C->m, sizeof *length, (void **)&length);
    if (err) return err;
    if (C->tile_m > 0)
        LAUNCH(count, (unsigned)C->tile_m, TILE * WARP, 0, d->stream, *C, length, NULL, NULL, NULL,
               NULL);
    err = launch_check("tile: rows");
    if (!err) err = cub_exclusive_sum(d, length, C->m, (int64_t *)R->ptr);
    device_free(d, length);
    R->nnz = C->nnz;
    if (!err) err = result_alloc(d, R);
    if (err || C->tile_m == 0) return err;
    LAUNCH(fill, (unsigned)C->tile_m, TILE * WARP, 0, d->stream, *C, NULL, (const int64_t *)R->ptr,
           R->idx, (const W *)C->val, (W *)R->val);
    return launch_check("tile: rows");
}

#endif
