// Step 3 of TileSpGEMM: values and indices of C's tiles, a warp for each tile.
#ifndef SPGEMM_TILE_STEP3_H
#define SPGEMM_TILE_STEP3_H

#include "full.cuh"
#include "device/once.cuh"

// The nonzeros of A in up to 32 pairs, numbered from 0 on, pair after pair. Lane p has pair p; a
// lane without one has `before` = total. No tile of A is empty.
struct dealt {
    int32_t tile;   // the tile of S
    int32_t length; // nonzeros of the tile of A
    int32_t before; // number of the tile's first nonzero
    int32_t offset; // the nonzero of number x is nonzero offset + x of A
    int32_t total;
};

static __device__ __forceinline__ struct dealt deal(const struct multiply &w, const int2 *pairs,
                                                    int32_t count)
{
    const int lane = lane_id();
    struct dealt d = {};
    int32_t first = 0;
    if (lane < count) {
        const int2 pair = pairs[lane];
        d.tile = pair.y;
        first = (int32_t)w.A.start[pair.x]; // a factor has fewer than 2^31 nonzeros
        d.length = (int32_t)w.A.start[pair.x + 1] - first;
    }
    const int32_t upto = warp_scan(d.length);
    d.before = upto - d.length;
    d.offset = first - d.before;
    d.total = warp_broadcast(upto, WARP - 1);
    return d;
}

// Returns true if multiplying this lane's pair as full tiles is faster.
static __device__ __forceinline__ bool worth_full(const struct multiply &w, const struct dealt &d)
{
    const int32_t S_length = (int32_t)(w.S.start[d.tile + 1] - w.S.start[d.tile]);
    return d.length * S_length >= w.full * w.full;
}

// Moves the pairs of the lanes whose bits are set in `first` to the front.
static __device__ __forceinline__ void move_to_front(int2 *__restrict__ pairs, int32_t count,
                                                     uint32_t first)
{
    const int lane = lane_id(), before = __popc(first & bits_below(lane));
    const int2 pair = lane < count ? pairs[lane] : make_int2(0, 0);
    __syncwarp();
    if (lane < count) pairs[first >> lane & 1 ? before : __popc(first) + lane - before] = pair;
    __syncwarp();
}

// Multiplies the nonzeros of A in up to 32 pairs, each by one lane, whatever their tile. A lane
// adds the products with its row of S's tile to the warp's sums in shared memory. SPARSE: only C's
// nonzeros have sums; `rows`, C's masks and row pointers, gives their places. Called by all lanes.
template <typename T, bool SPARSE>
static __device__ __forceinline__ void
multiply_scattered(const struct multiply &w, const struct dealt &d,
                   const uint32_t *__restrict__ rows, sum_type<T> *__restrict__ sums)
{
    const int lane = lane_id();
    for (int32_t from = 0; from < d.total; from += WARP) {
        // The pair of number from + lane is the last pair that begins at this number or before.
        // `begun`: pairs that begin up to `from`. `begins`: begins among the next 31 numbers.
        const int32_t ahead = d.before - from;
        const uint32_t begun = __ballot_sync(FULL_MASK, ahead <= 0);
        const uint32_t begins =
            __reduce_or_sync(FULL_MASK, ahead > 0 && ahead < WARP ? 1u << ahead : 0u);
        const int p = __popc(begun) - 1 + __popc(begins & ((2u << lane) - 1));
        const int32_t q = __shfl_sync(FULL_MASK, d.offset, p) + from + lane;
        const int32_t tile = __shfl_sync(FULL_MASK, d.tile, p);
        if (from + lane >= d.total) continue;
        const uint32_t cell = w.A.idx[q], r = cell >> 4;
        const int64_t s = (int64_t)tile * TILE + (cell & 15);
        uint32_t mask = w.S.mask[s];
        if (!mask) continue; // in most pairs of nearly empty tiles
        const sum_type<T> a = widen(((const T *)w.A.val)[q]);
        const T *s_val = (const T *)w.S.val + w.S.start[tile] + w.S.row_ptr[s];
        const uint32_t C_row = SPARSE ? rows[r] : 0;
        sum_type<T> *to = sums + (SPARSE ? C_row >> 16 : r * TILE);
        for (; mask; mask &= mask - 1) {
            const uint32_t below = (mask - 1) & ~mask;
            atomicAdd(&to[__popc(SPARSE ? C_row & below : below)], a * widen(*s_val++));
        }
    }
    __syncwarp(); // full tiles are added without atomics after this
}

// Stores value q of C.
template <typename T>
static __device__ __forceinline__ void store_value(const struct multiply &w, int64_t q,
                                                   sum_type<T> sum)
{
    store_result<T, 1>(w.C.val, q, w.is_narrow, pack<sum_type<T>, 1>{{sum}});
}

// Writes a tile of C from the sums in shared memory. `row` is mask and row pointer of row lane
// % 16. One half of the warp writes columns 0 to 7, the other half columns 8 to 15.
template <typename T>
static __device__ __forceinline__ void write_scattered(const struct multiply &w, int64_t start,
                                                       int32_t nonzeros, bool sparse, uint32_t row,
                                                       const sum_type<T> *__restrict__ sums)
{
    const int lane = lane_id(), r = lane % TILE;
    uint32_t mask = row & (lane < TILE ? 0xffu : 0xff00u);
    uint8_t *idx = w.C.idx + start;
    int32_t q = (int32_t)(row >> 16) + (lane < TILE ? 0 : __popc(row & 0xff));
    if (sparse) {
#pragma unroll 1
        for (int32_t p = lane; p < nonzeros; p += WARP) store_value<T>(w, start + p, sums[p]);
#pragma unroll 1
        for (; mask; mask &= mask - 1, q++) idx[q] = (uint8_t)(r << 4 | (__ffs((int)mask) - 1));
    } else {
#pragma unroll 1
        for (; mask; mask &= mask - 1, q++) {
            const int cell = r << 4 | (__ffs((int)mask) - 1);
            idx[q] = (uint8_t)cell;
            store_value<T>(w, start + q, sums[cell]);
        }
    }
}

// Step 3. FULL: pairs with many nonzeros are multiplied as full tiles.
template <typename T, bool BITS, bool FULL>
static __global__ void __launch_bounds__(MULTIPLY_WARPS *WARP, FULL ? 4 : 5)
    multiply_tiles(struct multiply w)
{
    SHARED_DYNAMIC(unsigned char, shared);
    const struct multiply_shared at(w, true, sizeof(sum_type<T>));
    const int warp = (int)threadIdx.x / WARP, lane = lane_id(), side = lane / TILE, j = lane % TILE;
    sum_type<T> *shared_sums = (sum_type<T> *)(shared + at.sums) + warp * TILE * TILE;
    int2 *pairs = (int2 *)(shared + at.pairs) + warp * w.matches;
    uint32_t *rows = (uint32_t *)(shared + at.rows) + warp * TILE;
    auto multiply_tile = [&](int64_t t, const struct tile_row &row, struct tile_column column) {
        const int64_t start = w.C.start[t];
        const int32_t nonzeros = (int32_t)(w.C.start[t + 1] - start);
        if (nonzeros == 0) return;
        const bool sparse = nonzeros <= w.tnnz;
        const uint32_t C_row = w.C.mask[t * TILE + j] | (uint32_t)w.C.row_ptr[t * TILE + j] << 16;
        bool started = false, written = false;
        auto start_sums = [&]() {
            if (started) return;
#pragma unroll 1
            for (int32_t q = lane; q < (sparse ? nonzeros : TILE * TILE); q += WARP)
                shared_sums[q] = 0;
            if (side == 0) rows[j] = C_row;
            started = true;
            __syncwarp();
        };
        auto multiply_pairs = [&](int2 *some, int32_t count, bool all) {
            struct dealt d = deal(w, some, count);
            if (FULL) {
                const bool is_full = lane < count && worth_full(w, d);
                const uint32_t full = __ballot_sync(FULL_MASK, is_full);
                const int32_t fulls = __popc(full);
                if (fulls > 0) {
                    if (fulls < count) move_to_front(some, count, full);
                    full_sum<T> sums[2][2][2] = {};
                    for (int32_t p = 0; p < fulls; p++) multiply_full<T>(w, some[p], sums);
                    written = all && fulls == count;
                    if (!written) start_sums();
                    each_sum(C_row, sums, [&](int q, int cell, full_sum<T> sum) {
                        if (!written) {
                            shared_sums[sparse ? q : cell] += (sum_type<T>)sum;
                        } else {
                            w.C.idx[start + q] = (uint8_t)cell;
                            store_value<T>(w, start + q, (sum_type<T>)sum);
                        }
                    });
                    __syncwarp();
                    if (fulls == count) return;
                    d = deal(w, some + fulls, count - fulls);
                }
            }
            start_sums();
            if (sparse)
                multiply_scattered<T, true>(w, d, rows, shared_sums);
            else
                multiply_scattered<T, false>(w, d, rows, shared_sums);
        };
        intersect<BITS>(w, row, column, pairs, [&](int32_t count, bool last) {
            const bool all = last && !started && count <= WARP;
            for (int32_t base = 0; base < count; base += WARP)
                multiply_pairs(pairs + base, min(WARP, count - base), all);
            return false;
        });
        if (!written) write_scattered<T>(w, start, nonzeros, sparse, C_row, shared_sums);
        __syncwarp();
    };
    each_tile<BITS>(w, (uint32_t *)(shared + at.bits), multiply_tile);
}

#endif
