// Tiles of A, and their preparation from the row starts alone. count_rows() counts the rows with
// nonzeros of each row block, add_up() makes prefix sums, mark_ends() lists the rows and marks the
// last nonzero of each, and describe() counts the marks within each tile.
#ifndef NARROW_TILES_H
#define NARROW_TILES_H

#include "kernel.cuh"

#define ROW_BLOCK 1024
#define THREADS   128 // of a block of the product
#define WARPS     (THREADS / WARP)
#define EXTRA     3 // rounds of a head that a tile computes again, after the first round

// The share of a warp in a tile. The ordinal of a row with nonzeros is the number of such rows
// before it.
struct alignas(16) share {
    int32_t first; // ordinal of the first row that ends in the warp
    int32_t head;  // nonzeros before the tile of the first row that ends in the tile; if that row is
                   // long, minus the number of tiles before this one that have nonzeros of the row
    int32_t ends;  // row ends in the warp; from bit 16 on: a bit per warp of the tile with a row end
    int32_t to;    // tile in which a long row ends that goes on behind this tile; 0: none
};

// Inputs and outputs of the preparation.
struct structure {
    int32_t m;
    const int32_t *ptr;
    int32_t *used;       // rows with nonzeros before each row block; last: of all
    int32_t tile, each;  // nonzeros of a tile, of a lane
    int32_t most;        // most nonzeros of a head that is computed again
    int32_t *rows;       // rows with nonzeros, then empty rows, size m
    uint16_t *words;     // for each lane: a bit per row end; above: row ends before it in the warp
    struct share *shares; // for each warp of each tile
};

static __global__ void __launch_bounds__(ROW_BLOCK)
    count_rows(int32_t m, const int32_t *__restrict__ ptr, int32_t *__restrict__ used,
               int32_t *__restrict__ longest)
{
    const int64_t i = (int64_t)blockIdx.x * ROW_BLOCK + threadIdx.x;
    const int32_t length = i < m ? ptr[i + 1] - ptr[i] : 0, count = __syncthreads_count(length > 0);
    if (threadIdx.x == 0) used[blockIdx.x] = count;
    if (length > 2 * WARP) atomicMax(longest, length); // shorter rows do not change the plan
}

// Replaces the counts by the sums over the row blocks before; used[row_blocks]: over all. One block.
static __global__ void __launch_bounds__(ROW_BLOCK) add_up(int32_t *used, int32_t row_blocks)
{
    __shared__ int32_t sums[WARP];
    int32_t before = 0, total;
    for (int32_t first = 0; first <= row_blocks; first += ROW_BLOCK) {
        const int32_t w = first + (int32_t)threadIdx.x;
        const int32_t sum = team_scan<0>(w < row_blocks ? used[w] : 0, sums, total);
        if (w <= row_blocks) used[w] = before + sum;
        before += total;
    }
}

// Writes `rows`, the bits of `words`, and `first`, `head` and `to` of the first share of each tile.
static __global__ void __launch_bounds__(ROW_BLOCK) mark_ends(struct structure s, int32_t all_used)
{
    __shared__ int32_t sums[WARP];
    const int64_t i = (int64_t)blockIdx.x * ROW_BLOCK + threadIdx.x;
    const int32_t start = i < s.m ? s.ptr[i] : 0, end = i < s.m ? s.ptr[i + 1] : 0;
    int32_t total;
    const int32_t before =
        s.used[blockIdx.x] + team_scan<0>((int32_t)(end > start), sums, total);
    if (i >= s.m) return;
    if (s.rows) s.rows[end > start ? before : all_used + (int32_t)i - before] = (int32_t)i;
    if (end == start) return;
    const int32_t last = end - 1, t = last / s.tile, lane = last / s.each;
    atomicOr((uint32_t *)s.words + lane / 2, 1u << (last % s.each + lane % 2 * 16));
    if (start && (start - 1) / s.tile == t) return; // another row ends in the tile before
    const int32_t head = max(t * s.tile - start, 0), from = start / s.tile;
    struct share *own = s.shares + (int64_t)t * WARPS;
    own->first = before;
    own->head = head > s.most ? from - t : head;
    for (int32_t u = from; u < t && head > s.most; u++) s.shares[(int64_t)u * WARPS].to = t;
}

// Writes the upper bits of `words`, and all shares of a tile. A block for each tile, a thread for
// each lane.
static __global__ void describe(struct structure s)
{
    __shared__ int32_t ends[WARP];
    const int lane = lane_id(), warp = (int)threadIdx.x / WARP;
    const int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t bits = s.words[thread];
    struct share *const own = s.shares + (int64_t)blockIdx.x * WARPS;
    struct share x = *own;
    const int32_t upto = warp_scan(__popc(bits));
    if (lane == WARP - 1) ends[warp] = upto;
    __syncthreads();
    x.ends = ends[warp];
    for (int w = 0; w < WARPS; w++) {
        if (w < warp) x.first += ends[w];
        if (ends[w]) x.ends |= 1 << (16 + w);
    }
    s.words[thread] = (uint16_t)((uint32_t)(upto - __popc(bits)) << s.each | bits);
    if (lane == 0) own[warp] = x;
}

#endif
