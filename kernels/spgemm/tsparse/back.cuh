// Conversion of C from tiles to CSR.
#ifndef SPGEMM_TSPARSE_BACK_H
#define SPGEMM_TSPARSE_BACK_H

#include "kernel.cuh"
#include "device/cub.cuh"
#include "formats/tile8.h"
#include "spgemm/result.h"

// Writes the rows of C (FILL), or counts their nonzeros. A block of 8 warps has a tile row, a warp
// one of its rows.
template <typename W, bool FILL>
static __global__ void __launch_bounds__(TILE8 *WARP)
    tiles_to_rows(struct tile8 t, int32_t *__restrict__ length, const int64_t *__restrict__ ptr,
                  int32_t *__restrict__ idx, const W *__restrict__ from, W *__restrict__ val)
{
    const int32_t i = (int32_t)blockIdx.x, r = (int32_t)threadIdx.x / WARP;
    const int64_t row = (int64_t)i * TILE8 + r, end = t.ptr[i + 1];
    if (row >= t.m) return;
    int64_t to = FILL ? ptr[row] : 0;
    for (int64_t base = t.ptr[i]; base < end; base += WARP) {
        const int64_t tile = base + lane_id();
        const uint64_t mask = tile < end ? t.mask[tile] : 0;
        uint32_t bits = (uint32_t)(mask >> (TILE8 * r)) & 0xff;
        const int32_t upto = warp_scan(__popc(bits));
        if (FILL && bits) {
            int64_t p = to + upto - __popc(bits);
            int64_t q = t.start[tile] + __popcll(mask & (((uint64_t)1 << (TILE8 * r)) - 1));
            for (; bits; bits &= bits - 1, p++, q++) {
                idx[p] = t.col[tile] * TILE8 + __ffs((int)bits) - 1;
                val[p] = from[q];
            }
        }
        to += warp_broadcast(upto, WARP - 1);
    }
    if (!FILL && lane_id() == 0) length[row] = (int32_t)to;
}

// Makes t->R from the tiles of C, whose values have the bytes of W.
template <typename W> static int tiles_to_csr(struct task *t, const struct tile8 *C)
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
        LAUNCH(count, (unsigned)C->tile_m, TILE8 * WARP, 0, d->stream, *C, length, NULL, NULL, NULL,
               NULL);
    err = launch_check("tsparse: rows");
    if (!err) err = cub_exclusive_sum(d, length, C->m, (int64_t *)R->ptr);
    device_free(d, length);
    R->nnz = C->nnz;
    if (!err) err = result_alloc(d, R);
    if (err || C->tile_m == 0) return err;
    LAUNCH(fill, (unsigned)C->tile_m, TILE8 * WARP, 0, d->stream, *C, NULL, (const int64_t *)R->ptr,
           R->idx, (const W *)C->val, (W *)R->val);
    return launch_check("tsparse: rows");
}

#endif
