// The choice between the ways of tiled-tuned. Tiles or turned: by the bytes that come through the
// L2, by counts of the matrix. Both write C once, so that is left out.
//
//   turned  each nonzero fetches a row of row-major B; B is read and written before
//   tiles   each panel of rows fetches the lines of each column of B that it has entries in, and
//           the entries with their padding, once for each pass over `factor` columns
//
// The counts are those of measure/tiled_counts.h, on the device. Lines are counted for each panel as a
// whole: a line that two stages share counts once. Padding is that of slices with all their stages
// in one.
//
// The bytes decide if the panels fill the device. Otherwise, and against the direct and the staged
// way, a prediction of the time decides: the start, and the work. The numbers are fits to matrices
// of 233 to 429,000 nonzeros on an H200, k = 64; only those for small matrices matter. The choice
// takes 1.014 times the time of the best of the four ways below 200,000 nonzeros (64 matrices), at
// worst 1.27 (Trefethen_2000).
#ifndef TILED_WAYS_H
#define TILED_WAYS_H

#include "direct.cuh"
#include "formats/tiled_plan.h"
#include "staged_plan.cuh"

#define COUNT_BLOCK 256
#define LINE        64 // bytes that come from memory at a time: two sectors
#define SLOT_BITS   13
#define SLOTS       (1 << SLOT_BITS)          // of a table
#define MOST_LINES  (SLOTS - 8 * COUNT_BLOCK) // lines of a panel that are told apart

// Panels of half the size may move this many times the bytes: twice as many blocks balance better.
#define HALVES_DEARER 1.125

// Microseconds, and per nanosecond and multiprocessor.
#define TURNED_US        5.0 // two kernels, and what their blocks wait for
#define TURNED_BYTES     50  // many of them out of L1
#define TILES_US         3.0 // and the first stage
#define TILES_NONZERO_US 0.3 // of a row, one after the other
#define TILES_BYTES      23
#define DIRECT_US        1.7
#define DIRECT_PRODUCTS  4.8             // B out of L1, an element at a time
#define DIRECT_BYTES     75              // of B, to there
#define DIRECT_LONG      (ROUNDS * WARP) // nonzeros of a row that its block goes through ...
#define DIRECT_ROUND_US  0.3             // ... one round after the other, and row after row

enum way { WAY_TILES, WAY_TURNED, WAY_DIRECT, WAY_STAGED, WAYS };

struct counts {
    unsigned long long squares; // of the row lengths
    unsigned long long stored;  // entries with padding
    unsigned long long lines;   // of a column of B, over all panels
};

static __global__ void __launch_bounds__(COUNT_BLOCK)
    count_rows(int32_t m, const int32_t *__restrict__ ptr, struct counts *__restrict__ sum)
{
    const int64_t i = (int64_t)blockIdx.x * COUNT_BLOCK + threadIdx.x;
    const int32_t length = i < m ? ptr[i + 1] - ptr[i] : 0;
    int32_t longest = length;
#pragma unroll
    for (int step = SLICE / 2; step > 0; step /= 2)
        longest = max(longest, __shfl_xor_sync(FULL_MASK, longest, step));
    const unsigned long long squares = warp_sum((unsigned long long)length * length);
    if (lane_id()) return;
    atomicAdd(&sum->squares, squares);
    atomicAdd(&sum->stored, (unsigned long long)longest * SLICE);
}

// Puts a line into the table. Returns true if the line is new there.
static __device__ __forceinline__ bool insert_line(int32_t *table, int32_t line)
{
    unsigned slot = (uint32_t)line * 2654435769u >> (32 - SLOT_BITS);
    for (;; slot = (slot + 1) % SLOTS) {
        const int32_t old = atomicCAS(&table[slot], -1, line);
        if (old == -1) return true;
        if (old == line) return false;
    }
}

// A block counts the lines of a panel. Where there are too many to tell apart, each nonzero counts.
static __global__ void __launch_bounds__(COUNT_BLOCK)
    count_lines(int32_t m, int32_t rows, int32_t per_line, const int32_t *__restrict__ ptr,
                const int32_t *__restrict__ idx, struct counts *__restrict__ sum)
{
    __shared__ int32_t table[SLOTS];
    __shared__ int32_t found;
    const int64_t first = (int64_t)blockIdx.x * rows;
    const int32_t begin = ptr[first], end = ptr[first + rows < m ? first + rows : m];
    for (int s = (int)threadIdx.x; s < SLOTS; s += COUNT_BLOCK) table[s] = -1;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    // Each thread sees within a few steps that there are too many, so the table never fills.
    int32_t before = -1;
    for (int64_t p = (int64_t)begin + threadIdx.x; p < end; p += COUNT_BLOCK) {
        const int32_t line = idx[p] / per_line;
        if (line == before) continue;
        before = line;
        if (insert_line(table, line) && atomicAdd(&found, 1) >= MOST_LINES) break;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&sum->lines, (unsigned long long)(found > MOST_LINES ? end - begin : found));
}

static int count(struct task *t, int32_t panel, struct counts *out)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int32_t *ptr = (const int32_t *)A->ptr;
    const int32_t per_line = LINE / (int32_t)prec_bytes(t->prec);
    struct counts *sum = NULL;
    int err = device_alloc(t->dev, 1, sizeof *sum, (void **)&sum);
    if (!err) err = device_fill(t->dev, sum, 0, sizeof *sum);
    if (!err) {
        LAUNCH(count_rows, (unsigned)ceil_div(A->m, COUNT_BLOCK), COUNT_BLOCK, 0, t->dev->stream,
               A->m, ptr, sum);
        LAUNCH(count_lines, (unsigned)ceil_div(A->m, panel), COUNT_BLOCK, 0, t->dev->stream, A->m,
               panel, per_line, ptr, A->idx, sum);
        err = wait_for(t->dev, t->entry->name, sum, out, sizeof *out);
    }
    device_free(t->dev, sum);
    return err;
}

// Costs of the ways, and the facts by which fastest_way() takes tiles.
struct ways {
    double tiles, turned; // bytes
    bool even;            // by the paper's numbers rows stay whole
    bool fills;           // there are panels for all multiprocessors, whatever k is
    double us[WAYS];
};

static double bytes_by_tiles(const struct task *t, const struct counts *x, double factor)
{
    const double passes = ceil((double)t->C.cols / factor);
    return (double)x->stored * (double)(prec_bytes(t->prec) + sizeof(uint16_t)) * passes +
           (double)x->lines * LINE * (double)t->C.cols;
}

// Rows of the copy are whole vectors, and entries are read once for each slab.
static double bytes_turned(const struct task *t)
{
    const double width = (double)prec_bytes(t->prec),
                 row = ceil((double)t->C.cols * width / 16) * 16;
    const double slabs = ceil(row / (16 * WARP));
    return (double)t->A[0]->nnz * (row + slabs * (width + sizeof(int32_t))) +
           2 * row * (double)t->in[0].rows;
}

static void predict_times(const struct task *t, const struct counts *x, struct ways *out)
{
    const double per_us = 1e3 * t->dev->units, nnz = (double)t->A[0]->nnz,
                 lines = (double)x->lines * LINE * (double)t->C.cols;
    out->us[WAY_TILES] =
        TILES_US + TILES_NONZERO_US * nnz / (double)t->C.rows + out->tiles / (TILES_BYTES * per_us);
    out->us[WAY_TURNED] = TURNED_US + out->turned / (TURNED_BYTES * per_us);
    out->us[WAY_DIRECT] = DIRECT_US + nnz * (double)t->C.cols / (DIRECT_PRODUCTS * per_us) +
                          lines / (DIRECT_BYTES * per_us);
    const double mean = nnz / (double)t->C.rows;
    if (mean > DIRECT_LONG) out->us[WAY_DIRECT] += DIRECT_ROUND_US * mean / WARP;
}

// For tiles of these parameters. There is a row.
static int compare_ways(struct task *t, const double *opt, double factor, struct ways *out)
{
    struct counts x;
    struct tiled plan = {};
    plan.m = t->A[0]->m;
    plan.nnz = t->A[0]->nnz;
    tiled_decide(&plan, opt, 0, t->dev->units); // the size of a panel
    int err = count(t, plan.rows, &x);
    if (err) return err;
    tiled_decide(&plan, opt, (int64_t)x.squares, t->dev->units);
    *out = {bytes_by_tiles(t, &x, factor),
            bytes_turned(t),
            plan.cut == TILED_WHOLE,
            plan.utilisation >= TILED_BUSY,
            {}};
    predict_times(t, &x, out);
    struct staged staged;
    err = plan_staged(t, &staged);
    out->us[WAY_STAGED] = staged.columns ? staged.us : INFINITY;
    return err;
}

static enum way fastest_way(const struct ways *x)
{
    const bool fewer = x->fills ? x->tiles < x->turned : x->us[WAY_TILES] < x->us[WAY_TURNED];
    enum way way = x->even && fewer ? WAY_TILES : WAY_TURNED;
    if (x->us[WAY_DIRECT] < x->us[way]) way = WAY_DIRECT;
    return x->us[WAY_STAGED] < x->us[way] ? WAY_STAGED : way;
}

#endif
