// Counts for the choice of `auto` on CUDA, made on the device.
#ifndef AUTO_CUH
#define AUTO_CUH

#include "device/warp.cuh"
#include "select/auto.h"

#define AUTO_BLOCK  256
#define AUTO_TILE   16
#define AUTO_SAMPLE 256   // tile rows that are looked at, evenly spread
#define AUTO_WINDOW 32768 // tile columns that a block marks at once

struct auto_counts {
    unsigned long long nonzeros, tiles, products; // of a sample of tile rows
    int longest;                                  // nonzeros of the longest row
};

static __global__ void __launch_bounds__(AUTO_BLOCK)
    auto_longest(int32_t m, const int32_t *__restrict__ ptr, struct auto_counts *__restrict__ sum)
{
    int longest = 0;
    for (int64_t i = (int64_t)blockIdx.x * AUTO_BLOCK + threadIdx.x; i < m;
         i += (int64_t)gridDim.x * AUTO_BLOCK)
        longest = max(longest, ptr[i + 1] - ptr[i]);
    for (int step = WARP / 2; step > 0; step /= 2)
        longest = max(longest, __shfl_xor_sync(FULL_MASK, longest, step));
    if (lane_id() == 0) atomicMax(&sum->longest, longest);
}

// A block takes a tile row. The block adds up its products and marks its tile columns as
// bits, one window after another.
static __global__ void __launch_bounds__(AUTO_BLOCK)
    auto_tiles(int32_t m, int32_t n, const int32_t *__restrict__ ptr,
               const int32_t *__restrict__ idx, const int32_t *__restrict__ S_ptr,
               struct auto_counts *__restrict__ sum)
{
    __shared__ uint32_t bits[AUTO_WINDOW / 32];
    const int64_t tile_rows = ((int64_t)m + AUTO_TILE - 1) / AUTO_TILE,
                  row = (int64_t)blockIdx.x * tile_rows / gridDim.x * AUTO_TILE;
    const int32_t begin = ptr[row], end = ptr[min(row + AUTO_TILE, (int64_t)m)];
    unsigned long long tiles = 0, products = 0;
    for (int64_t p = (int64_t)begin + threadIdx.x; p < end; p += AUTO_BLOCK)
        products += (unsigned long long)(S_ptr[idx[p] + 1] - S_ptr[idx[p]]);
    for (int64_t first = 0; first * AUTO_TILE < n; first += AUTO_WINDOW) {
        for (int w = (int)threadIdx.x; w < AUTO_WINDOW / 32; w += AUTO_BLOCK) bits[w] = 0;
        __syncthreads();
        for (int64_t p = (int64_t)begin + threadIdx.x; p < end; p += AUTO_BLOCK) {
            const uint32_t u = (uint32_t)(idx[p] / AUTO_TILE - first), bit = 1u << (u % 32);
            if (u >= AUTO_WINDOW) continue;
            tiles += !(atomicOr(&bits[u / 32], bit) & bit);
        }
        __syncthreads();
    }
    tiles = warp_sum(tiles);
    products = warp_sum(products);
    if (lane_id()) return;
    atomicAdd(&sum->tiles, tiles);
    atomicAdd(&sum->products, products);
    if (threadIdx.x == 0) atomicAdd(&sum->nonzeros, (unsigned long long)(end - begin));
}

static inline void auto_start_longest(const struct task *t, struct auto_counts *sum)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t blocks = min64(ceil_div(A->m, AUTO_BLOCK), 4 * (int64_t)t->dev->units);
    LAUNCH(auto_longest, (unsigned)blocks, AUTO_BLOCK, 0, t->dev->stream, A->m,
           (const int32_t *)A->ptr, sum);
}

static inline void auto_start_tiles(const struct task *t, struct auto_counts *sum)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t blocks = min64(ceil_div(A->m, AUTO_TILE), AUTO_SAMPLE);
    LAUNCH(auto_tiles, (unsigned)blocks, AUTO_BLOCK, 0, t->dev->stream, A->m, A->n,
           (const int32_t *)A->ptr, A->idx, (const int32_t *)csr_of(t->S[0])->ptr, sum);
}

// `start` launches the counting. It is not called for a matrix without rows.
static inline int auto_count(const struct task *t,
                             void (*start)(const struct task *, struct auto_counts *),
                             struct auto_counts *out)
{
    struct auto_counts *sum = NULL;
    memset(out, 0, sizeof *out);
    if (!t->A[0]->m) return OK;
    int err = device_alloc(t->dev, 1, sizeof *sum, (void **)&sum);
    if (!err) err = device_fill(t->dev, sum, 0, sizeof *sum);
    if (!err) {
        start(t, sum);
        err = wait_for(t->dev, t->entry->name, sum, out, sizeof *out);
    }
    device_free(t->dev, sum);
    return err;
}

#endif
