// Second order of the nonzeros of A for `balanced`: by strips. Also the rule for when strips pay.
//
// strip    neighbouring columns of A. The rows of Y of a strip fit in an L1 cache.
// segment  the nonzeros of a row in a strip
//
// Strips follow one another. The nonzeros of a strip are in the order of CSR. Multiprocessors get
// equal numbers of neighbouring nonzeros, wherever strips begin. The rows of Y of a strip are
// fetched once per multiprocessor, a row of X once per segment. All other loads hit L1. The results
// of a segment are neighbours in C.
//
// Rows of X and Y fetched past L1, by the counts below, at k = 128 in f32 on 132 multiprocessors,
// and the time on an H100:
//
//                             a row of Y for each nonzero     by strips
//     2,048 x 512, 15 % nonzeros       157,000     8.9 us     24,000   of  86 columns    7.5 us
//     4,096 x 4,096, 6 %             1,007,000    58.9       103,000   of 256           33.7
//     16,384 x 4,096, 8 %            5,369,000     293       300,000   of 256            157
//     1,024 x 1,024, 3 %                33,000     2.9        24,000   of  86            3.6
//
// In the order of CSR, rows come at the rate of gathers from L2, 9 TB/s. By strips, the time goes
// to loads from L1, 1.2 rows per nonzero. At 32 TB/s these would take 3, 19 and 102 us for the
// first three matrices. In small matrices the start of blocks of 1,024 threads adds to the time.
// Strips do not pay for the last matrix.
#ifndef STRIPS_H
#define STRIPS_H

#include <math.h>

#include "device/cub.cuh"
#include "formats/coo.h"
#include "kernel.cuh"

#define STRIP_BYTES   (128 << 10) // rows of Y of a strip; the rest of L1 is for X and A
#define STRIP_THREADS 256

// Rules for strips, measured on an H100 and an H200. The first rule whose `row` is no more than the
// bytes of a row of Y decides; strips pay if its other bounds hold. Time by strips over time in the
// order of CSR:
//
//     first rule (k = 128)    pruned weights 0.54 to 0.60, meshes 0.78 to 0.88; its bounds leave
//                             out cit-HepPh 1.09, cnr-2000 1.64, stencil:1000 2.7
//     second (k = 32, f32)    15 of 22 pruned weights 0.84 to 0.96; without its bounds up to 1.49
//
// If a row has fewer than `segments` segments, its columns lie close together. L1 then also keeps
// rows of Y in the order of CSR.
struct strip_rule {
    int64_t row;      // least bytes of a row of Y
    double gain;      // least ratio of rows fetched: order of CSR over strips
    int64_t bytes;    // least bytes of Y that a multiprocessor fetches in the order of CSR
    int64_t segments; // least mean number of segments in a row of A
};
static const struct strip_rule strip_rules[] = {{256, 3.5, 512 << 10, 0}, {128, 8, 256 << 10, 4}};

struct strips {
    int32_t width;              // columns of a strip; 0: no strips
    int32_t *row, *col, *place; // each nonzero, strip by strip, and its place in A; size nnz
    void *val;                  // size nnz
};

static __global__ void __launch_bounds__(STRIP_THREADS)
    count_segments(struct coo_dev A, int32_t width, unsigned long long *__restrict__ count)
{
    const int64_t step = (int64_t)gridDim.x * STRIP_THREADS;
    unsigned long long first = 0;
    for (int64_t p = (int64_t)blockIdx.x * STRIP_THREADS + threadIdx.x; p < A.nnz; p += step)
        first += p == 0 || A.row[p] != A.row[p - 1] || A.col[p] / width != A.col[p - 1] / width;
    first = warp_sum(first);
    if (lane_id() == 0) atomicAdd(count, first);
}

static __global__ void __launch_bounds__(STRIP_THREADS)
    list_strips(struct coo_dev A, int32_t width, uint32_t *__restrict__ strip,
                int32_t *__restrict__ place)
{
    const int64_t p = (int64_t)blockIdx.x * STRIP_THREADS + threadIdx.x;
    if (p >= A.nnz) return;
    strip[p] = (uint32_t)(A.col[p] / width);
    place[p] = (int32_t)p;
}

template <typename T>
static __global__ void __launch_bounds__(STRIP_THREADS)
    list_nonzeros(struct coo_dev A, struct strips to)
{
    const int64_t p = (int64_t)blockIdx.x * STRIP_THREADS + threadIdx.x;
    if (p >= A.nnz) return;
    const int32_t q = to.place[p];
    to.row[p] = A.row[q];
    to.col[p] = A.col[q];
    ((T *)to.val)[p] = ((const T *)A.val)[q];
}

static int64_t strip_row_bytes(const struct task *t)
{
    return max64(t->in[1].cols, 1) * (int64_t)prec_bytes(t->prec);
}

// Returns the width w of strips. A row of X is fetched n / w times. Each multiprocessor fetches the
// rows of Y of its first strip and of those that follow. All fetch m n / w + units w + n rows,
// which is least at w = sqrt(m n / units). L1 limits w. All strips have about the same width.
static int32_t strip_width(const struct task *t)
{
    const int32_t wanted = (int32_t)task_option(t, "width");
    const int64_t m = t->A[0]->m, n = t->A[0]->n;
    if (wanted) return wanted;
    const int64_t best = (int64_t)sqrt((double)m * (double)n / t->dev->units);
    const int64_t width = max64(min64(best, STRIP_BYTES / strip_row_bytes(t)), 1);
    return (int32_t)ceil_div(n, ceil_div(n, width));
}

static const struct strip_rule *strip_rule_of(int64_t row_bytes)
{
    for (int i = 0; i < COUNT(strip_rules); i++)
        if (row_bytes >= strip_rules[i].row) return &strip_rules[i];
    return NULL;
}

// Sets *pay to true if strips pay. Counts the segments of rows on the device only if the sizes do
// not rule strips out. Counting and sorting take 0.15 to 0.3 ms on an H100.
static int strips_pay(struct task *t, int32_t width, bool *pay)
{
    struct device *d = t->dev;
    const struct coo_dev *A = coo_of(t->A[0]);
    const int64_t blocks = min64(ceil_div(A->nnz, STRIP_THREADS), 8 * (int64_t)d->units);
    unsigned long long *count = NULL, segments = 0;
    *pay = false;
    const struct strip_rule *of = strip_rule_of(strip_row_bytes(t));
    if (!of || A->n <= width) return OK;
    const double most = (double)A->nnz / of->gain; // most rows that strips may fetch
    const int64_t of_Y = (int64_t)d->units * width + A->n;
    if (most < (double)of_Y || A->nnz * strip_row_bytes(t) < of->bytes * (int64_t)d->units)
        return OK;
    int err = device_alloc(d, 1, sizeof *count, (void **)&count);
    if (!err) err = device_fill(d, count, 0, sizeof *count);
    if (!err) {
        LAUNCH(count_segments, (unsigned)blocks, STRIP_THREADS, 0, d->stream, *A, width, count);
        err = wait_for(d, t->entry->name, count, &segments, sizeof segments);
    }
    device_free(d, count);
    *pay = most >= (double)((int64_t)segments + of_Y) && (int64_t)segments >= of->segments * A->m;
    return err;
}

// Sorts the places of the nonzeros by strips. The buffers of the sort then serve for rows and
// columns.
static int strips_sort(struct task *t, struct strips *s)
{
    struct device *d = t->dev;
    const struct coo_dev *A = coo_of(t->A[0]);
    uint32_t *strip[2] = {NULL, NULL};
    int32_t *place[2] = {NULL, NULL};
    int bits = 0, err = OK;
    while (bits < 31 && (A->n - 1) / s->width >> bits) bits++;
    for (int i = 0; i < 2; i++) {
        if (!err) err = device_alloc(d, A->nnz, sizeof **strip, (void **)&strip[i]);
        if (!err) err = device_alloc(d, A->nnz, sizeof **place, (void **)&place[i]);
    }
    if (!err) {
        LAUNCH(list_strips, (unsigned)ceil_div(A->nnz, STRIP_THREADS), STRIP_THREADS, 0, d->stream,
               *A, s->width, strip[0], place[0]);
        err = launch_check(t->entry->name);
    }
    if (!err) err = cub_sort_pairs(d, strip, place, A->nnz, 0, bits);
    device_free(d, place[1]);
    s->place = place[0];
    s->row = (int32_t *)strip[0];
    s->col = (int32_t *)strip[1];
    return err;
}

template <typename T> static void start_list(const struct task *t, const struct strips *s)
{
    const struct coo_dev *A = coo_of(t->A[0]);
    auto kernel = list_nonzeros<T>;
    LAUNCH(kernel, (unsigned)ceil_div(A->nnz, STRIP_THREADS), STRIP_THREADS, 0, t->dev->stream, *A,
           *s);
}

static void strips_free(struct device *d, struct strips *s)
{
    device_free(d, s->row);
    device_free(d, s->col);
    device_free(d, s->place);
    device_free(d, s->val);
}

// Makes the strips if they pay. After an error the caller calls strips_free().
static int strips_make(struct task *t, struct strips *s)
{
    const int64_t nnz = t->A[0]->nnz;
    const int wanted = (int)task_option(t, "strips");
    if (nnz == 0 || wanted == 0) return OK;
    const int32_t width = strip_width(t);
    bool pay = true;
    int err = wanted < 0 ? strips_pay(t, width, &pay) : OK;
    if (err || !pay) return err;
    s->width = width;
    err = strips_sort(t, s);
    if (!err) err = device_alloc(t->dev, nnz, prec_bytes(t->prec), &s->val);
    if (err == ERR_MEMORY && wanted < 0) { // the kernel works without strips
        strips_free(t->dev, s);
        *s = {};
        return OK;
    }
    if (err) return err;
    BY_PREC(t, start_list, t, s);
    return launch_check(t->entry->name);
}

#endif
