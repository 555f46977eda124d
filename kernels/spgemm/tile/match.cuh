// First part of steps 2 and 3: the tiles of C of a warp, and the pairs of tiles of A and S whose
// products add up to each. H200: step 2 fills 60 to 72 % of the issue slots. Step 2 takes a third
// of the time if tiles of C have few pairs (cit-HepPh, uniform:500000:8).
#ifndef SPGEMM_TILE_MATCH_H
#define SPGEMM_TILE_MATCH_H

#include "kernel.cuh"
#include "formats/tile16.h"
#include "option_limits.h"

#define MULTIPLY_WARPS  8     // warps of a block in steps 2 and 3
#define MULTIPLY_COLUMNS 65536 // most tile columns that the bits of a tile row of A span
#define MULTIPLY_SHARE  16    // most tiles of C for a warp, no more than one per lane

// Arguments of the kernels of steps 2 and 3.
struct multiply {
    struct tile16 A, S, C;
    const int32_t *row_of;   // tile row of each tile of C
    struct tilecols columns; // tile columns of S
    int32_t share;           // tiles of C for a warp; with bits, a block has 8 times as many
    int32_t bit_columns;          // bits for a tile row of A, 0: none
    int32_t matches;         // pairs that a warp collects before it multiplies them
    int32_t full;            // mean nonzeros of a pair from which its tiles count as full
    int32_t tnnz;            // most nonzeros of a tile of C with a sparse accumulator
    uint32_t keep;           // all bits: pairs without a product are kept; 0: left out
    bool is_narrow;          // values of C have the type of the inputs; else the type of the sums
};

// Layout of a block's shared memory.
struct multiply_shared {
    int sums, pairs, rows, bits, bytes; // offset of each array in bytes; size of all
    __host__ __device__ multiply_shared(const struct multiply &w, bool numeric, size_t value_bytes)
    {
        sums = 0;
        pairs = sums + (numeric ? MULTIPLY_WARPS * TILE * TILE * (int)value_bytes : 0);
        rows = pairs + MULTIPLY_WARPS * w.matches * (int)sizeof(int2);
        bits = rows + (numeric ? MULTIPLY_WARPS * TILE * (int)sizeof(uint32_t) : 0);
        bytes = bits + w.bit_columns / 4; // a bit per column, a rank per 32 columns
    }
};

// A tile row of A, in a form that finds the tile of a tile column. Up to 32 tiles lie in the lanes
// of a warp. Longer rows have bits: bit k - first is set if tile column k is in the row, and
// rank[w] is the number of tiles before word w of the bits.
struct tile_row {
    int64_t begin; // tiles begin .. begin + length
    int32_t length;
    int32_t col;   // tile column of this lane's tile, INT32_MAX: none
    int32_t first; // first tile column of the row
    uint32_t size; // columns that the bits span, 0: no bits
    uint32_t *bits;
    int32_t *rank;
};

// A tile column of S, as entries of struct tilecols.
struct tile_column {
    int32_t begin, length;
};

static __device__ __forceinline__ struct tile_row tile_row_plain(const struct multiply &w,
                                                                 int32_t i)
{
    struct tile_row row = {};
    row.begin = w.A.ptr[i];
    row.length = (int32_t)(w.A.ptr[i + 1] - row.begin);
    return row;
}

// Returns tile row i with bits, or without bits if the row is too wide. Called by all threads of
// the block.
static __device__ __forceinline__ struct tile_row tile_row_bits(const struct multiply &w, int32_t i,
                                                                uint32_t *bits)
{
    struct tile_row row = tile_row_plain(w, i);
    const int32_t *col = w.A.col + row.begin;
    const int32_t words = (col[row.length - 1] - col[0]) / 32 + 1;
    if (words > w.bit_columns / 32) return row;
    row.first = col[0];
    row.size = (uint32_t)words * 32;
    row.bits = bits;
    row.rank = (int32_t *)(bits + w.bit_columns / 32);
    for (int32_t x = (int32_t)threadIdx.x; x < words; x += (int32_t)blockDim.x) bits[x] = 0;
    __syncthreads();
    for (int32_t p = (int32_t)threadIdx.x; p < row.length; p += (int32_t)blockDim.x) {
        const int32_t u = col[p] - row.first;
        atomicOr(&bits[u / 32], 1u << (u % 32));
        if (p == 0 || (col[p - 1] - row.first) / 32 != u / 32) row.rank[u / 32] = p;
    }
    __syncthreads();
    return row;
}

// Calls use(t, row, column) for each tile t of C of this warp, with its tile row of A and its tile
// column of S. With BITS, the warps of a block share its tiles and take them in turn. The block
// makes the bits of a tile row once for all tiles of C in the row. Without BITS, each warp has a
// share of its own, and its lanes look up all tiles of the share at once.
template <bool BITS, typename F>
static __device__ __forceinline__ void each_tile(const struct multiply &w, uint32_t *bits, F use)
{
    const int warp = (int)threadIdx.x / WARP, lane = lane_id();
    if (!BITS) {
        int64_t t = ((int64_t)blockIdx.x * MULTIPLY_WARPS + warp) * w.share;
        const bool there = lane < w.share && t + lane < w.C.tiles;
        int32_t i = -1;
        struct tile_column mine = {0, -1}; // -1: no more tiles
        if (there) {
            const int32_t j = w.C.col[t + lane];
            i = w.row_of[t + lane];
            mine.begin = w.columns.ptr[j];
            mine.length = w.columns.ptr[j + 1] - mine.begin;
        }
        const int32_t before = __shfl_up_sync(FULL_MASK, i, 1);
        const uint32_t begins = __ballot_sync(FULL_MASK, there && (lane == 0 || i != before));
        struct tile_row row = {};
        for (int x = 0; x < WARP; x++, t++) {
            const struct tile_column column = {warp_broadcast(mine.begin, x),
                                               warp_broadcast(mine.length, x)};
            if (column.length < 0) break;
            if (begins >> x & 1) {
                row = tile_row_plain(w, w.row_of[t]);
                row.col = lane < row.length ? w.A.col[row.begin + lane] : INT32_MAX;
            }
            use(t, row, column);
        }
    } else {
        const int64_t first = (int64_t)blockIdx.x * MULTIPLY_WARPS * w.share;
        const int64_t end = min(first + MULTIPLY_WARPS * w.share, w.C.tiles);
        for (int64_t begin = first; begin < end;) {
            const int32_t i = w.row_of[begin];
            const int64_t stop = min(end, w.C.ptr[i + 1]);
            const struct tile_row row = tile_row_bits(w, i, bits);
            for (int64_t t = begin + warp; t < stop; t += MULTIPLY_WARPS) {
                const int32_t j = w.C.col[t], at = w.columns.ptr[j];
                use(t, row, tile_column{at, w.columns.ptr[j + 1] - at});
            }
            __syncthreads();
            begin = stop;
        }
    }
}

// Intersects a tile row of A with a tile column of S. Collects the pairs of matching tiles in
// `pairs`. Pairs without a product are left out: their tile of A uses no column that the tile of S
// uses as a row. Calls use(count, last) when `pairs` may be full, and at the end with `last`. use()
// returns true if the remaining pairs are not needed. Called by all lanes.
//
// As in the paper, each lane searches an element of the shorter list in the longer list. The binary
// search starts where the warp's search before ended. If A's tile row is in lanes or bits, the
// elements of S's column are looked up there, unless the column is far longer.
template <bool BITS, typename F>
static __device__ __forceinline__ void
intersect(const struct multiply &w, const struct tile_row &row, struct tile_column column,
          int2 *__restrict__ pairs, F use)
{
    const int lane = lane_id();
    const bool held = BITS ? row.size > 0 : row.length <= WARP;
    const bool search_A = held ? column.length > 4 * row.length + WARP : column.length > row.length;
    const int32_t key_count = search_A ? row.length : column.length;
    int32_t low = 0, count = 0;
    for (int32_t base = 0;; base += WARP) {
        const int32_t p = base + lane;
        int32_t key = -1, q = -1; // q: position of the key in the other list
        if (p < key_count)
            key = search_A ? w.A.col[row.begin + p] : w.columns.row[column.begin + p];
        if (!held || search_A) {
            const int32_t *list = search_A ? w.columns.row + column.begin : w.A.col + row.begin;
            const int32_t list_count = search_A ? column.length : row.length;
            const int32_t at = p < key_count ? lower_bound(list, low, list_count, key) : low;
            if (p < key_count && at < list_count && list[at] == key) q = at;
            low = warp_broadcast(at, WARP - 1);
        } else if (BITS) {
            const uint32_t u = (uint32_t)(key - row.first);
            if (p < key_count && u < row.size) {
                const uint32_t word = row.bits[u / 32];
                if (word >> u % 32 & 1) q = row.rank[u / 32] + __popc(word & bits_below(u % 32));
            }
        } else {
            const int32_t at = lower_bound_lanes(row.col, key);
            if (__shfl_sync(FULL_MASK, row.col, at) == key) q = at; // no column is -1
        }
        int2 pair = {};
        if (q >= 0) {
            pair.x = (int32_t)row.begin + (search_A ? p : q);
            const int32_t s = column.begin + (search_A ? q : p);
            pair.y = w.columns.tile[s];
            if (!((w.A.used[pair.x] | w.keep) & w.columns.used[s])) q = -1;
        }
        const uint32_t found = __ballot_sync(FULL_MASK, q >= 0);
        if (q >= 0) pairs[count + __popc(found & bits_below(lane))] = pair;
        count += __popc(found);
        const bool last = base + WARP >= key_count;
        if (last || count > w.matches - WARP) {
            __syncwarp();
            const bool enough = use(count, last);
            __syncwarp();
            if (last || enough) return;
            count = 0;
        }
    }
}

#endif
