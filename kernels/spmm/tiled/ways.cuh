// The selection among the methods of tiled-tuned. The bytes through the L2 decide between tiles and
// turned, by counts of the matrix. Both write C once, so C is left out.
//
// turned  each nonzero loads a row of row-major B. The copy reads and writes B
// tiles   each panel loads the lines of each column of B that it needs. Each pass over `factor`
//         columns loads the entries of A with their padding
//
// The counts are those of measure/tiled_counts.h, made on the device. Lines are counted per panel:
// a line of two stages counts once. Padding is counted as if a slice had all stages in one.
//
// The bytes decide if the panels fill the device. Otherwise, and for the direct and the staged
// method, a predicted time decides: a fixed cost and the work. The constants are fits to matrices
// of 233 to 429,000 nonzeros on an H200, k = 64. They matter for small matrices only. Below 200,000
// nonzeros (64 matrices) the selection takes 1.014 times the time of the best of the four methods,
// at worst 1.27 (Trefethen_2000).
#ifndef TILED_WAYS_H
#define TILED_WAYS_H

#include "direct.cuh"
#include "formats/tiled_plan.h"
#include "staged_plan.cuh"

#define COUNT_BLOCK 256
#define LINE        64 // bytes of a load from memory: two sectors
#define SLOT_BITS   13
#define SLOTS       (1 << SLOT_BITS)          // slots of a table
#define MOST_LINES  (SLOTS - 8 * COUNT_BLOCK) // distinct lines that are counted per panel

// Panels of half the size may move this many times the bytes. Twice as many blocks balance better.
#define HALVES_DEARER 1.125

// Fixed costs in microseconds. Rates per nanosecond and multiprocessor.
#define TURNED_US        5.0 // two kernels, and the latency of their blocks
#define TURNED_BYTES     50  // many bytes come from L1
#define TILES_US         3.0 // the kernel and the first stage
#define TILES_NONZERO_US 0.3 // per nonzero of a row, sequential
#define TILES_BYTES      23
#define DIRECT_US        1.7
#define DIRECT_PRODUCTS  4.8             // elements of B from L1
#define DIRECT_BYTES     75              // bytes of B to L1
#define DIRECT_LONG      (ROUNDS * WARP) // nonzeros of a row that its block computes ...
#define DIRECT_ROUND_US  0.3             // ... round by round, one row after the other

enum way { WAY_TILES, WAY_TURNED, WAY_DIRECT, WAY_STAGED, WAYS };

struct counts {
    unsigned long long squares; // sum of the squares of the row lengths
    unsigned long long stored;  // entries with padding
    unsigned long long lines;   // lines of a column of B, over all panels
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

// Inserts a line into the table. Returns true if the line is new.
static __device__ __forceinline__ bool insert_line(int32_t *table, int32_t line)
{
    unsigned slot = (uint32_t)line * 2654435769u >> (32 - SLOT_BITS);
    for (;; slot = (slot + 1) % SLOTS) {
        const int32_t old = atomicCAS(&table[slot], -1, line);
        if (old == -1) return true;
        if (old == line) return false;
    }
}

// Counts the distinct lines of each panel. A block has a panel. Above MOST_LINES, each nonzero
// counts.
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
    // Each thread stops a few steps after the limit, so the table never fills.
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

// Costs of the methods, and two conditions of fastest_way().
struct ways {
    double tiles, turned; // bytes
    bool even;            // the paper's rule cuts no rows
    bool fills;           // the panels fill the device for any k
    double us[WAYS];
};

static double bytes_by_tiles(const struct task *t, const struct counts *x, double factor)
{
    const double passes = ceil((double)t->C.cols / factor);
    return (double)x->stored * (double)(prec_bytes(t->prec) + sizeof(uint16_t)) * passes +
           (double)x->lines * LINE * (double)t->C.cols;
}

// Returns the bytes of the method `turned`. Rows of the copy are whole vectors, and entries are
// read once per slab.
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

// Sets the costs of all methods, for tiles with parameters `opt`. A has at least one row.
static int compare_ways(struct task *t, const double *opt, double factor, struct ways *out)
{
    struct counts x;
    struct tiled plan = {};
    plan.m = t->A[0]->m;
    plan.nnz = t->A[0]->nnz;
    tiled_decide(&plan, opt, 0, t->dev->units); // sets the size of a panel
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
