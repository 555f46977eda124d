// Finds the nonempty tiles of a CSR matrix (tile8.cu, tile16.cu), or of a product of tiles
// (kernels/spgemm/tile).
//
// A block marks the tile columns of a tile row as bits in shared memory. The bits are a range of
// tile columns, which moves over the matrix, so the number of tile columns is not limited. The
// range begins at the first used tile column, so the cost depends on the bandwidth, not on the
// width.
//
// The type Source provides the tiles. All threads of the block of tile row i call its members:
//   span(i, &low, &high)  sets *low and *high to the least and the greatest tile column of the
//                         thread; leaves both if the thread has no tile column
//   each(i, f)            calls f(tile column, x) for each element x of the thread
//   found(i, x, t)        takes the tile t of element x
#ifndef TILE_FIND_H
#define TILE_FIND_H

#include "device/cub.cuh"
#include "device/warp.cuh"
#include "formats/csr.h"
#include "formats/tile16.h"

// The SIZE x SIZE tiles of a CSR matrix. A thread per nonzero, at least SIZE threads a block. A
// source adds `mask`, the masks of the tiles, and found().
template <int SIZE> struct csr_tiles {
    int32_t m;
    const int32_t *ptr, *idx;
    int32_t *tile_of; // tile of each nonzero

    // Returns the number of threads of a block: a few nonzeros of an average tile row for each.
    static int threads(const struct csr_dev *A)
    {
        return A->nnz > ceil_div(A->m, SIZE) * 512 ? 256 : 128;
    }

    __device__ __forceinline__ int32_t rows(int32_t i) const { return min(SIZE, m - i * SIZE); }
    __device__ __forceinline__ void span(int32_t i, int32_t *low, int32_t *high) const
    {
        if ((int32_t)threadIdx.x >= rows(i)) return;
        const int32_t row = i * SIZE + (int32_t)threadIdx.x;
        if (ptr[row] == ptr[row + 1]) return;
        *low = idx[ptr[row]] / SIZE;
        *high = idx[ptr[row + 1] - 1] / SIZE;
    }
    template <typename F> __device__ __forceinline__ void each(int32_t i, F f) const
    {
        const uint32_t end = (uint32_t)ptr[i * SIZE + rows(i)];
        // Unsigned, because p may pass 2^31 at the end of the last tile row.
        for (uint32_t p = (uint32_t)ptr[i * SIZE] + threadIdx.x; p < end; p += blockDim.x)
            f(idx[p] / SIZE, (int32_t)p);
    }
    // Returns the row of nonzero p in tile row i.
    __device__ __forceinline__ int32_t row_of(int32_t i, int32_t p) const
    {
        return upper_bound(ptr + i * SIZE, 0, rows(i) + 1, p) - 1;
    }
};

// Block i finds the tiles of tile row i. FILL false: sets count[i]. FILL true: writes `col`, and
// `row` unless NULL, from ptr[i] on, and calls found() for each element of the source.
template <bool FILL, typename Source>
static __global__ void find_tiles(Source source, int32_t range, int32_t *__restrict__ count,
                                  const int64_t *__restrict__ ptr, int32_t *__restrict__ col,
                                  int32_t *__restrict__ row)
{
    SHARED_DYNAMIC(uint32_t, bits); // range / 32 words; with FILL also range / 32 ranks
    __shared__ int32_t low, high, sums[WARP];
    int32_t *rank = (int32_t *)(bits + range / 32); // tiles of the range before each word
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

    int64_t done = FILL ? ptr[i] : 0; // first tile of this range
    int32_t mine = 0;
    for (int64_t first = low; first <= high; first += range) {
        const int32_t words = (int32_t)((min((int64_t)range, high - first + 1) + 31) / 32);
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
                const int32_t before = team_scan<0>(w < words ? __popc(bits[w]) : 0, sums, all);
                if (w < words) rank[w] = total + before;
                total += all;
            }
            __syncthreads();
            const int lane = lane_id();
            for (int32_t w = me / WARP; w < words; w += threads / WARP) {
                const uint32_t word = bits[w];
                if (word >> lane & 1)
                    col[done + rank[w] + __popc(word & bits_below(lane))] =
                        (int32_t)first + w * 32 + lane;
            }
            if (row)
                for (int32_t q = me; q < total; q += threads) row[done + q] = i;
            source.each(i, [&](int32_t c, int32_t x) {
                const uint32_t u = (uint32_t)(c - first);
                if (u < size)
                    source.found(i, x,
                                 done + rank[u / 32] + __popc(bits[u / 32] & bits_below(u % 32)));
            });
            done += total;
        }
        __syncthreads();
    }
    if (FILL) return;
    int32_t all;
    team_scan<0>(mine, sums, all);
    if (me == 0) count[i] = all;
}

// Counts the tiles of `source`, waits for their number, and makes t->ptr and t->col. `Tiles` is the
// struct of a format. Unless `row` is NULL, makes *row, the tile row of each tile. fill(source)
// prepares the source for found(). `number`: host memory for the number of tiles, page-locked for a
// short wait. `threads`: threads of a block. After an error the caller frees the arrays.
template <typename Tiles, typename Source, typename Fill>
static int find_structure(struct device *d, Source source, int32_t range, int threads,
                          int64_t *number, Tiles *t, int32_t **row, Fill fill)
{
    int32_t *count = NULL;
    range = (int32_t)min64(range, ceil_div(t->tile_n, 32) * 32);
    const size_t shared = (size_t)range / 8;
    int err = device_alloc(d, t->tile_m, sizeof *count, (void **)&count);
    if (!err) err = device_alloc(d, (int64_t)t->tile_m + 1, sizeof *t->ptr, (void **)&t->ptr);
    if (err) goto done;
    if (t->tile_m > 0) {
        auto kernel = find_tiles<false, Source>;
        LAUNCH(kernel, (unsigned)t->tile_m, threads, shared, d->stream, source, range, count, NULL,
               NULL, NULL);
    }
    err = launch_check("tiles: count");
    if (!err) err = cub_offsets(d, "tiles", count, t->tile_m, t->ptr, number);
    if (err) goto done;
    t->tiles = *number;
    err = device_alloc(d, t->tiles, sizeof *t->col, (void **)&t->col);
    if (!err && row) err = device_alloc(d, t->tiles, sizeof **row, (void **)row);
    if (!err) err = fill(&source);
    if (err || t->tiles == 0) goto done;
    {
        auto kernel = find_tiles<true, Source>;
        LAUNCH(kernel, (unsigned)t->tile_m, threads, 2 * shared, d->stream, source, range, NULL,
               t->ptr, t->col, row ? *row : NULL);
    }
    err = launch_check("tiles: fill");
done:
    device_free(d, count);
    return err;
}

// Finds the tiles of A by find_structure() with a source that is a csr_tiles<>. Makes t->mask, with
// `mask_bytes` for a tile, and source->tile_of. The caller frees source->tile_of.
template <typename Tiles, typename Source>
static int find_csr_tiles(struct device *d, const struct csr_dev *A, size_t mask_bytes, Tiles *t,
                          int32_t **row, Source *source)
{
    int64_t number;
    auto fill = [&](Source *filling) {
        int err = device_alloc(d, t->tiles, mask_bytes, (void **)&t->mask);
        if (!err) err = device_fill(d, t->mask, 0, t->tiles * (int64_t)mask_bytes);
        if (!err) err = device_alloc(d, A->nnz, sizeof(int32_t), (void **)&source->tile_of);
        source->mask = (decltype(source->mask))t->mask;
        *filling = *source;
        return err;
    };
    return find_structure(d, *source, FIND_COLUMNS, Source::threads(A), &number, t, row, fill);
}

#endif
