// Stage 4 of `bhsparse`: row starts of C, its memory, and the copy from C~ to C.
#ifndef SPGEMM_BHSPARSE_GATHER_H
#define SPGEMM_BHSPARSE_GATHER_H

#include "binning.cuh"
#include "device/cub.cuh"
#include "spgemm/result.h"

// Copies rows of up to 512 products, by `lanes` threads each.
template <typename T>
static __global__ __launch_bounds__(BLOCK) void gather_rows(bin<T> from, int lanes, result<T> to)
{
    const int64_t r = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / lanes;
    if (r >= from.count) return;
    const int32_t i = from.rows[r], length = from.length[i];
    const int64_t begin = from.at[r], start = row_start(to, i);
    for (int32_t e = (int32_t)threadIdx.x % lanes; e < length; e += lanes) {
        to.idx[start + e] = from.idx[begin + e];
        to.val[start + e] = from.val[begin + e];
    }
}

// Copies longer rows, a block a row.
template <typename T>
static __global__ __launch_bounds__(BLOCK) void gather_long_rows(const struct long_row *queue,
                                                                 const int32_t *idx, const T *val,
                                                                 result<T> to)
{
    const struct long_row r = queue[blockIdx.x];
    const int64_t start = row_start(to, r.row);
    for (int32_t e = (int32_t)threadIdx.x; e < r.length; e += BLOCK) {
        to.idx[start + e] = idx[r.at + e];
        to.val[start + e] = val[r.at + e];
    }
}

// Sums up the lengths to row starts of type P, and allocates C.
template <typename P> static int allocate(struct task *t, const struct work *w, P *number)
{
    P *ptr;
    int err = result_begin(t, sizeof(P), &t->R);
    if (err) return err;
    ptr = (P *)t->R.ptr;
    err = cub_exclusive_sum(t->dev, w->length, t->R.m, ptr);
    if (!err) err = wait_for(t->dev, "bhsparse", ptr + t->R.m, number, sizeof *number);
    if (err) return err;
    t->R.nnz = *number;
    return result_alloc(t->dev, &t->R);
}

template <typename T> static int gather(struct task *t, const struct work *w)
{
    const struct state *s = (const struct state *)t->state;
    const bin<T> one = bins_of<T>(w, 1, 2), more = bins_of<T>(w, 2, BIN_MERGE);
    const int32_t longer = w->first[BINS] - w->first[BIN_MERGE];
    const auto rows = gather_rows<T>;
    const auto long_rows = gather_long_rows<T>;
    int err = task_phase(t, "allocate");
    if (!err)
        err = w->products > INT32_MAX ? allocate(t, w, s->nnz) : allocate(t, w, (int32_t *)s->nnz);
    if (!err) err = task_phase(t, "gather");
    if (err) return err;
    if (one.count)
        LAUNCH(rows, blocks_of(one.count, BLOCK), BLOCK, 0, t->dev->stream, one, 1,
               result_of<T>(t));
    if (more.count)
        LAUNCH(rows, blocks_of((int64_t)more.count * WARP, BLOCK), BLOCK, 0, t->dev->stream, more,
               WARP, result_of<T>(t));
    if (longer)
        LAUNCH(long_rows, (unsigned)longer, BLOCK, 0, t->dev->stream, w->queue, w->idx,
               (const T *)w->val, result_of<T>(t));
    return launch_check("bhsparse: gather");
}

#endif
