// Pairs of tiles of A and S, and the tiles of C that their products belong to.
#ifndef SPGEMM_TSPARSE_PAIRS_H
#define SPGEMM_TSPARSE_PAIRS_H

#include "kernel.cuh"
#include "device/cub.cuh"
#include "formats/tile8.h"

#define BLOCK       256
#define BLOCK_SHARE (BLOCK * 8) // items of a block

// Returns the columns of a tile that have nonzeros, as bits.
static __device__ __forceinline__ uint32_t used_columns(uint64_t mask)
{
    uint32_t rows = (uint32_t)(mask | mask >> 32);
    rows |= rows >> 16;
    return (rows | rows >> 8) & 0xff;
}

// Returns the rows of a tile that have nonzeros, as bits.
static __device__ __forceinline__ uint32_t used_rows(uint64_t mask)
{
    mask |= mask >> 4;
    mask |= mask >> 2;
    mask |= mask >> 1;
    mask &= 0x0101010101010101u;                           // bit 8 r: row r is used
    return (uint32_t)((mask * 0x0102040810204080u) >> 56); // moves bit 8 r to bit 56 + r
}

// Selects items 0 to n - 1 in their order, in two passes.
// FILL false: sets count[b] to the number of items of block b's share that the source keeps.
// FILL true: calls source.take() for each kept item. base[b] is the number of kept items before
// this share.
// The type Source has these members:
//   place(i)                 returns the position of item i in a list of the source, which bounds
//                            the search of keeps()
//   keeps(i, low, high, &x)  sets x, and returns true if item i is kept; `low` and `high` are
//                            place() of the first and of the last item of the share
//   take(i, x, q)            writes item i as number q
template <bool FILL, typename Source>
static __global__ void __launch_bounds__(BLOCK)
    select_items(Source source, int64_t n, int32_t *__restrict__ count,
                 const int64_t *__restrict__ base)
{
    __shared__ int64_t ends[2];
    __shared__ int32_t sums[WARP];
    const int64_t begin = (int64_t)blockIdx.x * BLOCK_SHARE, end = min(begin + BLOCK_SHARE, n);
    if (threadIdx.x < 2) ends[threadIdx.x] = source.place(threadIdx.x ? end - 1 : begin);
    __syncthreads();
    const int64_t low = ends[0], high = ends[1];
    int64_t q = FILL ? base[blockIdx.x] : 0;
    for (int64_t first = begin; first < end; first += BLOCK) {
        const int64_t i = first + threadIdx.x;
        int2 x = {};
        const bool keep = i < end && source.keeps(i, low, high, x);
        if (FILL) {
            int32_t all;
            const int32_t before = team_scan<0>((int32_t)keep, sums, all);
            if (keep) source.take(i, x, q + before);
            q += all;
        } else {
            q += __syncthreads_count(keep);
        }
    }
    if (!FILL && threadIdx.x == 0) count[blockIdx.x] = (int32_t)q;
}

// Runs both passes of select_items(). Between the passes sets *kept to the number of kept items and
// calls fill(source, *kept), which allocates the memory for take(). Waits for the device. `number`
// is in page-locked memory.
template <typename Source, typename Fill>
static int keep_items(struct device *d, Source source, int64_t n, int64_t *number, int64_t *kept,
                      Fill fill)
{
    const int64_t shares = ceil_div(n, BLOCK_SHARE);
    auto count_items = select_items<false, Source>;
    auto take_items = select_items<true, Source>;
    int32_t *count = NULL;
    int64_t *base = NULL;
    int err = device_alloc(d, shares, sizeof *count, (void **)&count);
    if (!err) err = device_alloc(d, shares + 1, sizeof *base, (void **)&base);
    if (err) goto done;
    if (n > 0) LAUNCH(count_items, (unsigned)shares, BLOCK, 0, d->stream, source, n, count, NULL);
    err = launch_check("tsparse: count");
    if (!err) err = cub_offsets(d, "tsparse", count, shares, base, number);
    if (err) goto done;
    *kept = *number;
    err = fill(&source, *kept);
    if (err || *kept == 0) goto done;
    LAUNCH(take_items, (unsigned)shares, BLOCK, 0, d->stream, source, n, NULL, base);
    err = launch_check("tsparse: take");
done:
    device_free(d, count);
    device_free(d, base);
    return err;
}

// Pairs of a tile in tile column k of A and a tile in tile row k of S. A pair is kept if its
// product has nonzeros.
struct pair_source {
    const int64_t *first; // pairs before each tile of A, size A_tiles + 1
    int64_t A_tiles;
    const int64_t *S_ptr;
    const int32_t *A_row, *A_col, *S_col;
    const uint64_t *A_mask, *S_mask;
    int col_bits;
    uint64_t *key; // tile row << col_bits | tile column, in C
    int2 *pair;    // tile of A, tile of S

    // Returns the tile of A of pair i.
    __device__ __forceinline__ int64_t place(int64_t i) const
    {
        return upper_bound(first, (int64_t)0, A_tiles + 1, i) - 1;
    }
    __device__ __forceinline__ bool keeps(int64_t i, int64_t low, int64_t high, int2 &x) const
    {
        const int64_t a = upper_bound(first, low + 1, high + 1, i) - 1;
        const int64_t s = S_ptr[A_col[a]] + (i - first[a]);
        x = make_int2((int32_t)a, (int32_t)s);
        return (used_columns(A_mask[a]) & used_rows(S_mask[s])) != 0;
    }
    __device__ __forceinline__ void take(int64_t, int2 x, int64_t q) const
    {
        key[q] = (uint64_t)(uint32_t)A_row[x.x] << col_bits | (uint32_t)S_col[x.y];
        pair[q] = x;
    }
};

// The tiles of C, which are the different keys of the sorted pairs.
struct tile_source {
    const uint64_t *key;
    int col_bits;
    int64_t *begin; // first pair of each tile of C
    int32_t *row, *col;

    __device__ __forceinline__ int64_t place(int64_t) const { return 0; }
    __device__ __forceinline__ bool keeps(int64_t i, int64_t, int64_t, int2 &) const
    {
        return i == 0 || key[i] != key[i - 1];
    }
    __device__ __forceinline__ void take(int64_t i, int2, int64_t q) const
    {
        begin[q] = i;
        row[q] = (int32_t)(key[i] >> col_bits);
        col[q] = (int32_t)(key[i] & (((uint64_t)1 << col_bits) - 1));
    }
};

// length[a] = number of tiles of S in the tile row that tile a of A selects.
static __global__ void count_pairs(int64_t tiles, const int32_t *__restrict__ col,
                                   const int64_t *__restrict__ S_ptr, int32_t *__restrict__ length)
{
    const int64_t a = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (a < tiles) length[a] = (int32_t)(S_ptr[col[a] + 1] - S_ptr[col[a]]);
}

// ptr[i] = first tile of C in tile row i or a later tile row, for i = 0 to tile_m.
static __global__ void find_tile_rows(int64_t tiles, int32_t tile_m,
                                      const int32_t *__restrict__ row, int64_t *__restrict__ ptr)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= tile_m) ptr[i] = lower_bound(row, (int64_t)0, tiles, (int32_t)i);
}

#endif
