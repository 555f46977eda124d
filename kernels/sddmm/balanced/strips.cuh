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
// Rule: strips pay if they fetch fewer rows past L1, by at least PAY_SHARE of the nonzeros.
// PAY_SHARE stands for the slower loads from L1 by strips. In the order of CSR, 256 neighbouring
// nonzeros fetch a row of Y once for each of their columns. H100, f32, k = 128:
//
//                             nonzeros    rows fetched      time in us
//                                         CSR     strips    CSR    strips
//     2,048 x 512, 15 %        157,000    131,000  24,000   9.8    7.7
//     4,096 x 4,096, 6 %     1,007,000  1,004,000 103,000    60     36
//     16,384 x 4,096, 8 %    5,369,000  5,369,000 300,000   309    165
//     fem:28                 4,962,000  1,879,000 420,000   193    169
//     ca-AstroPh-cc1           394,000    296,000 240,000    24     22
//     1,024 x 1,024, 3 %        33,000     30,000  24,000   2.9    3.6
#ifndef STRIPS_H
#define STRIPS_H

#include <math.h>

#include "device/cub.cuh"
#include "state.h"

#define STRIP_BYTES   (128 << 10) // rows of Y of a strip; the rest of L1 is for X and A
#define STRIP_THREADS 256

// H100, 25 matrices, rows of 128 to 2,048 bytes, time over that of the best share with or without
// strips:
//
//     PAY_SHARE    PAY_BYTES    mean     worst
//     0.25         256          1.025    1.16
//     0.2          256          1.030    1.36
//     0.3          256          1.031    1.27
//     0.25         128          1.027    1.32
//     no strips                 1.129    3.19
//
// Rows of 16-bit values count as in f32, the type of their sums. H100, f16, time in us without and
// with strips:
//
//     k     fem:28     ogbl-ddi    uniform:8000:100    uniform:8192:64
//     32    70, 82     28, 34      11.6, 16.3          8.2, 12.8
//     64    103, 79    38, 36      15.8, 15.2          11.0, 11.4
#define PAY_SHARE 0.25
#define PAY_BYTES 256 // least bytes of a row of Y in the type of sums

// Adds to *saved the rows of Y that blocks of nonzeros fetch in the order of CSR, less the
// segments.
static __global__ void __launch_bounds__(STRIP_THREADS)
    count_saved(struct coo_dev A, int32_t width, unsigned long long *__restrict__ saved)
{
    __shared__ int32_t seen[2 * STRIP_THREADS]; // hash table: columns of a block of nonzeros
    const int64_t step = (int64_t)gridDim.x * STRIP_THREADS;
    unsigned long long sum = 0; // modulo 2^64
    for (int64_t top = (int64_t)blockIdx.x * STRIP_THREADS; top < A.nnz; top += step) {
        seen[threadIdx.x] = seen[threadIdx.x + STRIP_THREADS] = -1;
        __syncthreads();
        const int64_t p = top + threadIdx.x;
        if (p < A.nnz) {
            const int32_t j = A.col[p];
            uint32_t at = (uint32_t)j * 2654435769u >> 16;
            int32_t found = -2;
            for (; found != -1 && found != j; at++)
                found = atomicCAS(&seen[at % (2 * STRIP_THREADS)], -1, j);
            sum += found < 0;
            sum -= p == 0 || A.row[p] != A.row[p - 1] || j / width != A.col[p - 1] / width;
        }
        __syncthreads();
    }
    sum = warp_sum(sum);
    if (lane_id() == 0) atomicAdd(saved, sum);
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

template <typename W>
static __global__ void __launch_bounds__(STRIP_THREADS)
    list_nonzeros(struct coo_dev A, struct strips to)
{
    const int64_t p = (int64_t)blockIdx.x * STRIP_THREADS + threadIdx.x;
    if (p >= A.nnz) return;
    const int32_t q = to.place[p];
    to.row[p] = A.row[q];
    to.col[p] = A.col[q];
    ((W *)to.val)[p] = ((const W *)A.val)[q];
}

static int64_t strip_row_bytes(const struct task *t)
{
    return max64(t->in[1].cols, 1) * in_bytes(t);
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

// Sets *pay to true if strips pay. Counts rows on the device only if the sizes do not rule strips
// out. Counting and sorting take 0.15 to 0.3 ms on an H100.
static int strips_pay(struct task *t, int32_t width, bool *pay)
{
    struct device *d = t->dev;
    const struct coo_dev *A = coo_of(t->A[0]);
    const int64_t blocks = min64(ceil_div(A->nnz, STRIP_THREADS), 8 * (int64_t)d->units);
    unsigned long long *count = NULL, saved = 0;
    *pay = false;
    // Rows to save: those of Y that strips fetch, and the share of the nonzeros.
    const int64_t least = (int64_t)d->units * width + A->n + (int64_t)(PAY_SHARE * (double)A->nnz);
    const int64_t sum_bytes = t->in[1].cols * (int64_t)type_bytes(prec_sum(t->prec));
    if (sum_bytes < PAY_BYTES || A->n <= width || A->nnz <= least) return OK;
    int err = device_alloc(d, 1, sizeof *count, (void **)&count);
    if (!err) err = device_fill(d, count, 0, sizeof *count);
    if (!err) {
        LAUNCH(count_saved, (unsigned)blocks, STRIP_THREADS, 0, d->stream, *A, width, count);
        err = wait_for(d, t->entry->name, count, &saved, sizeof saved);
    }
    device_free(d, count);
    *pay = (int64_t)saved > least;
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

template <typename W> static void start_list(const struct task *t, const struct strips *s)
{
    const struct coo_dev *A = coo_of(t->A[0]);
    auto kernel = list_nonzeros<W>;
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
    if (!err) err = device_alloc(t->dev, nnz, in_bytes(t), &s->val);
    if (err == ERR_MEMORY && wanted < 0) { // the kernel works without strips
        strips_free(t->dev, s);
        *s = {};
        return fail_drop();
    }
    if (err) return err;
    BY_BYTES(in_bytes(t), start_list, t, s);
    return launch_check(t->entry->name);
}

#endif
