// Which tiles there are: of a CSR matrix (spgemm_tile_format.cuh), or of a product of tiles
// (spgemm_tile_match.cuh).
//
// A block marks the tile columns of one tile row as bits in shared memory. It goes through them in
// windows, so any number of tile columns will do, and begins at the first one in use, so a narrow
// band costs what it holds and not what the matrix is wide.
#ifndef SPGEMM_TILE_FIND_CUH
#define SPGEMM_TILE_FIND_CUH

#include "device/cub.cuh"
#include "kernel.cuh"
#include "formats/tile16.h"

struct tiles { // the fields of struct tile16, and two more
    int32_t m, n, tile_m, tile_n;
    int64_t nnz, count;
    int64_t *ptr;
    int32_t *col;
    int32_t *row; // tile row of each tile, size count; NULL where nobody needs it any more
    int64_t *start;
    uint8_t *row_ptr;
    uint16_t *mask;
    uint8_t *idx;
    void *val;
    uint32_t *used; // of a factor: columns of each tile that hold something, rows << 16, size count
};

#define FIND_WINDOW 131072 // tile columns that a block marks at once: 32 KB with the ranks

static __host__ __device__ __forceinline__ int32_t tile_count(int32_t n)
{
    return (int32_t)(((int64_t)n + TILE - 1) / TILE);
}

// The bits below bit `place`.
static __device__ __forceinline__ uint32_t bits_below(int place) { return (1u << place) - 1; }

// The sum of x over the threads before this one, and over all threads of the block. `sums` has
// room for a number of each warp, and is free again after the next barrier.
static __device__ __forceinline__ int32_t block_sum_before(int32_t x, int32_t *sums, int32_t *all)
{
    const int lane = lane_id(), warp = (int)threadIdx.x / WARP, warps = (int)blockDim.x / WARP;
    int32_t sum = x;
    for (int step = 1; step < WARP; step *= 2) {
        const int32_t other = __shfl_up_sync(FULL_MASK, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == WARP - 1) sums[warp] = sum;
    __syncthreads();
    int32_t before = 0;
    *all = 0;
    for (int w = 0; w < warps; w++) {
        if (w < warp) before += sums[w];
        *all += sums[w];
    }
    return before + sum - x;
}

// Block i finds the tiles of tile row i. FILL false: count[i] of them. FILL true: `ptr` says where
// they go, `col` and `row` are written, and the source learns the tile of each of its elements.
template <bool FILL, typename Source>
static __global__ void find_tiles(Source source, int32_t window, int32_t *__restrict__ count,
                                  const int64_t *__restrict__ ptr, int32_t *__restrict__ col,
                                  int32_t *__restrict__ row)
{
    SHARED_DYNAMIC(uint32_t, bits); // window / 32 words, and with FILL as many ranks
    __shared__ int32_t low, high, sums[WARP];
    int32_t *rank = (int32_t *)(bits + window / 32); // tiles of the window before a word
    const int32_t i = (int32_t)blockIdx.x, me = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    if (me == 0) low = INT32_MAX, high = -1;
    __syncthreads();
    int32_t my_low = INT32_MAX, my_high = -1;
    source.span(i, &my_low, &my_high);
    if (my_high >= 0) {
        atomicMin(&low, my_low);
        atomicMax(&high, my_high);
    }
    __syncthreads();

    int64_t done = FILL ? ptr[i] : 0; // where the tiles of this window begin
    int32_t mine = 0;
    for (int64_t first = low; first <= high; first += window) {
        const int32_t words = (int32_t)((min((int64_t)window, high - first + 1) + 31) / 32);
        const uint32_t size = (uint32_t)words * 32;
        for (int32_t w = me; w < words; w += threads) bits[w] = 0;
        __syncthreads();
        source.each(i, [&](int32_t c, int32_t) {
            const uint32_t u = (uint32_t)(c - first);
            if (u < size) atomicOr(&bits[u / 32], 1u << (u % 32));
        });
        __syncthreads();
        if (!FILL) {
            for (int32_t w = me; w < words; w += threads) mine += __popc(bits[w]);
        } else {
            int32_t total = 0;
            for (int32_t base = 0; base < words; base += threads) {
                const int32_t w = base + me;
                int32_t all;
                const int32_t before =
                    block_sum_before(w < words ? __popc(bits[w]) : 0, sums, &all);
                if (w < words) rank[w] = total + before;
                total += all;
                __syncthreads();
            }
            const int lane = lane_id();
            for (int32_t w = me / WARP; w < words; w += threads / WARP) {
                const uint32_t word = bits[w];
                if (word >> lane & 1)
                    col[done + rank[w] + __popc(word & bits_below(lane))] =
                        (int32_t)first + w * 32 + lane;
            }
            for (int32_t q = me; q < total; q += threads) row[done + q] = i;
            source.each(i, [&](int32_t c, int32_t p) {
                const uint32_t u = (uint32_t)(c - first);
                if (u < size)
                    source.found(i, p,
                                 done + rank[u / 32] + __popc(bits[u / 32] & bits_below(u % 32)));
            });
            done += total;
        }
        __syncthreads();
    }
    if (FILL) return;
    int32_t all;
    block_sum_before(mine, sums, &all);
    if (me == 0) count[i] = all;
}

static void tiles_free(struct device *d, struct tiles *t)
{
    device_free(d, t->used);
    device_free(d, t->val);
    device_free(d, t->idx);
    device_free(d, t->mask);
    device_free(d, t->row_ptr);
    device_free(d, t->start);
    device_free(d, t->row);
    device_free(d, t->col);
    device_free(d, t->ptr);
    *t = {};
}

// The structure of what `source` has, counted, waited for, allocated and written: ptr, col, row.
// fill(source) makes ready what it needs to be told of tiles. `threads` is of a block.
template <typename Source, typename Fill>
static int find_structure(struct device *d, struct tiles *t, Source source, int32_t window,
                          int threads, int64_t *number, Fill fill)
{
    int32_t *count = NULL;
    window = min64(window, ceil_div(t->tile_n, 32) * 32);
    const size_t shared = (size_t)window / 8;
    int err = device_alloc(d, t->tile_m, sizeof *count, (void **)&count);
    if (!err) err = device_alloc(d, (int64_t)t->tile_m + 1, sizeof *t->ptr, (void **)&t->ptr);
    if (err) goto done;
    if (t->tile_m > 0) {
        auto kernel = find_tiles<false, Source>;
        LAUNCH(kernel, (unsigned)t->tile_m, threads, shared, d->stream, source, window, count, NULL,
               NULL, NULL);
    }
    err = launch_check("tile: structure");
    if (!err) err = cub_exclusive_sum(d, count, t->tile_m, t->ptr);
    if (!err) err = wait_for(d, "tile", t->ptr + t->tile_m, number, sizeof *number);
    if (err) goto done;
    t->count = *number;
    err = device_alloc(d, t->count, sizeof *t->col, (void **)&t->col);
    if (!err) err = device_alloc(d, t->count, sizeof *t->row, (void **)&t->row);
    if (!err) err = fill(&source);
    if (err || t->count == 0) goto done;
    {
        auto kernel = find_tiles<true, Source>;
        LAUNCH(kernel, (unsigned)t->tile_m, threads, 2 * shared, d->stream, source, window, NULL,
               t->ptr, t->col, t->row);
    }
    err = launch_check("tile: structure");
done:
    device_free(d, count);
    return err;
}

#endif
