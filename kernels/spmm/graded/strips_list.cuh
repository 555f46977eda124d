// The nonzeros of A in the order in which the warps of a product by strips use them, made on the
// device.
#ifndef GRADED_STRIPS_LIST_H
#define GRADED_STRIPS_LIST_H

#include "device/cub.cuh"
#include "formats/csr.h"
#include "strips_multiply.cuh"

#define LIST_THREADS 256

// The segments of A: rows and strips.
struct cutting {
    const int32_t *ptr, *idx;
    int32_t m, n, panels, height, strips;
    int rows;
};

static struct cutting cutting_of(const struct task *t, const struct strips *s)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    return {(const int32_t *)A->ptr, A->idx, A->m, A->n, s->panels, s->height, s->count, s->rows};
}

// Nonzeros [first, first + count) of A.
struct strip_segment {
    int32_t first, count;
};

// Returns segment p of a warp of a panel. Segments of all rows in the first strip come first.
static __device__ __forceinline__ strip_segment find_segment(const struct cutting &c, int64_t warp,
                                                             int32_t p)
{
    const int64_t i =
        strip_row(p % c.rows, (int)(warp % STRIP_WARPS), (int32_t)(warp / STRIP_WARPS), c.panels);
    if (i >= c.m) return {0, 0};
    const int32_t top = p / c.rows * c.height, past = top + min(c.height, c.n - top);
    const int32_t end = c.ptr[i + 1], first = lower_bound(c.idx, c.ptr[i], end, top);
    return {first, lower_bound(c.idx, first, end, past) - first};
}

static __device__ __forceinline__ int32_t steps_of(const strip_segment &segment)
{
    return (int32_t)ceil_div(segment.count, STRIP_GROUPS);
}

// Counts the steps of each segment, and the blocks of nonzeros of each warp of the product. A warp
// of this kernel counts for one warp of the product.
template <int STEPS>
static __global__ void __launch_bounds__(LIST_THREADS)
    count_steps(struct cutting c, int32_t *__restrict__ steps, int32_t *__restrict__ blocks)
{
    const int64_t w = (int64_t)blockIdx.x * (LIST_THREADS / WARP) + threadIdx.x / WARP;
    const int32_t segments = c.strips * c.rows;
    if (w >= (int64_t)c.panels * STRIP_WARPS) return;
    int32_t sum = 0;
    for (int32_t p = lane_id(); p < segments; p += WARP) {
        const int32_t own = steps_of(find_segment(c, w, p));
        steps[w * segments + p] = own;
        sum += (int32_t)ceil_div(own, STEPS);
    }
    sum = warp_sum(sum);
    if (lane_id() == 0) blocks[w] = sum;
}

// Fills the blocks of nonzeros. Block b of a segment has the steps from b * STEPS on. A step has
// four neighbouring nonzeros.
template <typename T>
static __global__ void __launch_bounds__(LIST_THREADS)
    fill_blocks(struct cutting c, const T *__restrict__ val, const int64_t *__restrict__ starts,
                few<sum_type<T>> *__restrict__ blocks)
{
    typedef sum_type<T> S;
    const int STEPS = few<S>::STEPS;
    const int64_t w = (int64_t)blockIdx.x * (LIST_THREADS / WARP) + threadIdx.x / WARP;
    if (w >= (int64_t)c.panels * STRIP_WARPS) return;
    few<S> *to = blocks + starts[w] * STRIP_GROUPS;
    for (int32_t p = 0; p < c.strips * c.rows; p++) {
        const struct strip_segment segment = find_segment(c, w, p);
        const int32_t strip = p / c.rows, top = strip * c.height;
        const int32_t loads = (int32_t)ceil_div(steps_of(segment), STEPS) *
                              STRIP_GROUPS; // nonzeros of one group each
        for (int32_t l = lane_id(); l < loads; l += WARP)
            for (int s = 0; s < STEPS; s++) {
                const int32_t e = (l / STRIP_GROUPS * STEPS + s) * STRIP_GROUPS + l % STRIP_GROUPS;
                placed<S> x = {0, strips_bytes(c.height, c.strips)};
                if (e < segment.count)
                    x = {widen(val[segment.first + e]),
                         (uint32_t)((strip % 2 * c.height + c.idx[segment.first + e] - top) *
                                    STRIP_SLAB)};
                to[l].of[s] = x;
            }
        to += loads;
    }
}

template <typename T> static int make_blocks(struct task *t, struct strips *s)
{
    typedef sum_type<T> S;
    struct device *d = t->dev;
    const struct cutting c = cutting_of(t, s);
    const int64_t warps = (int64_t)s->panels * STRIP_WARPS;
    const unsigned grid = (unsigned)ceil_div(warps, LIST_THREADS / WARP);
    const int64_t block = STRIP_GROUPS * (int64_t)sizeof(few<S>);
    int32_t *counts = NULL;
    int64_t blocks;
    int err = device_alloc(d, warps * s->count, s->rows * sizeof *s->steps, (void **)&s->steps);
    if (!err) err = device_alloc(d, warps + 1, sizeof *s->starts, (void **)&s->starts);
    if (!err) err = device_alloc(d, warps, sizeof *counts, (void **)&counts);
    if (!err) {
        auto count = count_steps<few<S>::STEPS>;
        LAUNCH(count, grid, LIST_THREADS, 0, d->stream, c, s->steps, counts);
        err = cub_offsets(d, t->entry->name, counts, warps, s->starts, &blocks);
    }
    device_free(d, counts);
    // A warp loads up to two shelves past its last block.
    if (!err) err = device_alloc(d, blocks + 2 * SHELF_BLOCKS, block, &s->blocks);
    if (err) return err;
    err = device_fill(d, (char *)s->blocks + blocks * block, 0, 2 * SHELF_BLOCKS * block);
    if (err) return err;
    auto fill = fill_blocks<T>;
    LAUNCH(fill, grid, LIST_THREADS, 0, d->stream, c, (const T *)csr_of(t->A[0])->val, s->starts,
           (few<S> *)s->blocks);
    return launch_check(t->entry->name);
}

#endif
