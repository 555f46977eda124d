// Step 2 of TileSpGEMM: masks, row pointers and length of C's tiles, a warp for each tile.
#ifndef SPGEMM_TILE_STEP2_H
#define SPGEMM_TILE_STEP2_H

#include "match.cuh"

// Each half of a warp takes every other pair, each lane one of the 16 rows. Row r of C's tile has
// the columns of the rows of S's tile that row r of A's tile selects.
template <bool BITS>
static __global__ void __launch_bounds__(MULTIPLY_WARPS *WARP, 6)
    make_masks(struct multiply w, int32_t *__restrict__ length)
{
    SHARED_DYNAMIC(unsigned char, shared);
    const struct multiply_shared at(w, false, 0);
    const int warp = (int)threadIdx.x / WARP, lane = lane_id(), side = lane / TILE, r = lane % TILE;
    int2 *pairs = (int2 *)(shared + at.pairs) + warp * w.matches;
    auto make_mask = [&](int64_t t, const struct tile_row &row, struct tile_column column) {
        uint32_t mask = 0;
        intersect<BITS>(w, row, column, pairs, [&](int32_t count, bool) {
            for (int32_t p = side; p < count; p += 2) {
                const int2 pair = pairs[p];
                const uint16_t *S = w.S.mask + (int64_t)pair.y * TILE;
                uint32_t named = w.A.mask[(int64_t)pair.x * TILE + r];
                for (; named; named &= named - 1) mask |= S[__ffs((int)named) - 1];
            }
            const uint32_t both = mask | __shfl_xor_sync(FULL_MASK, mask, TILE);
            return __all_sync(FULL_MASK, both == 0xffff) !=
                   0; // no pair adds anything to a full tile
        });
        mask |= __shfl_xor_sync(FULL_MASK, mask, TILE);
        const int mine = __popc(mask), upto = group_scan<TILE>(mine);
        if (side == 0) {
            w.C.mask[t * TILE + r] = (uint16_t)mask;
            w.C.row_ptr[t * TILE + r] = (uint8_t)(upto - mine);
            if (r == TILE - 1) length[t] = upto;
        }
    };
    each_tile<BITS>(w, (uint32_t *)(shared + at.bits), make_mask);
}

#endif
