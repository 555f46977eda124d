// Host part of bins.cuh: memory of a run and launches of its kernels.
#ifndef SPGEMM_BINS_HOST_H
#define SPGEMM_BINS_HOST_H

#include "bins.cuh"
#include "result.h"
#include "streams.cuh"

// State of an algorithm between its runs.
struct bins_host {
    struct counters *seen; // pinned; copy of the device's counters
    int64_t threads;       // threads that the device holds
    int64_t pool_bytes;    // option `pool`
    struct streams streams;
};

// Device memory of one run.
struct scratch {
    int32_t *products, *nz, *list; // size m each; products as the rule stores them
    int64_t *sums;                 // sums of row lengths, by share, size SCAN_SHARES
    struct segment *segments;
    struct counters *counters;
    int32_t *overflowed; // rows that did not fit in the largest table, or NULL
};

// Rows of a bin, in the list of rows.
struct bin_rows {
    const int32_t *list;
    int32_t count;
};

// Rows that did not fit in the largest table.
struct overflow {
    int32_t *list, *count;
};

static struct overflow overflow_of(const struct scratch *w)
{
    return {w->overflowed, &w->counters->overflowed};
}

static int bins_create(const struct task *t, struct bins_host *s)
{
    const struct device *d = t->dev;
    int threads;
    s->pool_bytes = (int64_t)(task_option(t, "pool") * (1 << 20));
    CUDA_TRY(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, d->index));
    s->threads = (int64_t)d->units * threads;
    CUDA_TRY(cudaMallocHost((void **)&s->seen, sizeof *s->seen));
    return streams_create(t, &s->streams);
}

static void bins_destroy(struct bins_host *s)
{
    streams_destroy(&s->streams);
    cudaFreeHost(s->seen);
}

// Allocates one block of memory, the widest elements first.
static int scratch_alloc(struct task *t, struct scratch *w)
{
    const int64_t m = t->A[0]->m, segments = t->A[0]->nnz / SEGMENT * 2 + 1;
    const int64_t bytes = (int64_t)(sizeof *w->counters + SCAN_SHARES * sizeof *w->sums) +
                          segments * (int64_t)sizeof *w->segments + 3 * m * (int64_t)sizeof *w->nz;
    int err = device_alloc(t->dev, bytes, 1, (void **)&w->counters);
    if (err) return err;
    w->sums = (int64_t *)(w->counters + 1);
    w->segments = (struct segment *)(w->sums + SCAN_SHARES);
    w->products = (int32_t *)(w->segments + segments);
    w->nz = w->products + m;
    w->list = w->nz + m;
    return OK;
}

static void scratch_free(struct task *t, struct scratch *w)
{
    device_free(t->dev, w->overflowed);
    device_free(t->dev, w->counters);
}

// Waits for the last kernel, which copies the counters to `seen`.
static int hear(struct task *t)
{
    int err = launch_check(t->entry->name);
    return err ? err : device_sync(t->dev);
}

// Returns the number of rows that a thread lists: LISTED if there are more rows than threads on the
// device, else 1. The time of a block that lists rows hardly depends on their number.
static int rows_a_thread(const struct bins_host *s, int32_t m)
{
    return m > s->threads ? LISTED : 1;
}

// Counts products and lists rows by products.
template <typename R>
static int analyse(struct task *t, struct bins_host *s, const R &rule, const struct scratch *w)
{
    cudaStream_t stream = (cudaStream_t)t->dev->stream;
    const struct factors<float> x = factors_of<float>(t);
    const int64_t nnz = t->A[0]->nnz, mean = nnz / x.m;
    const int lanes = (int)min64(next_power(max64(mean / 2, 1)), WARP);
    const auto count = count_products<R>;
    CUDA_TRY(cudaMemsetAsync(w->counters, 0, sizeof *w->counters, stream));
    LAUNCH(count, (unsigned)ceil_div((int64_t)x.m * lanes, BLOCK), BLOCK, 0, stream, x, lanes, rule,
           w->counters, w->products, w->segments);
    if (min64(nnz, t->A[0]->n) > SEGMENT)
        LAUNCH(count_segments, (unsigned)t->dev->units * 2, BLOCK, 0, stream, x, w->counters,
               w->products, w->segments);
    const int rows = rows_a_thread(s, x.m);
    const auto list = rows == 1 ? list_by_products<1, R> : list_by_products<LISTED, R>;
    LAUNCH(list, (unsigned)ceil_div(x.m, BLOCK * rows), BLOCK, 0, stream, x.A_ptr, x.m, rule,
           w->counters, w->products, w->nz, w->list, s->seen);
    return hear(t);
}

template <typename P, typename R>
static int starts_and_list(struct task *t, struct bins_host *s, const R &rule,
                           const struct scratch *w)
{
    cudaStream_t stream = (cudaStream_t)t->dev->stream;
    const int32_t *A_ptr = (const int32_t *)csr_of(t->A[0])->ptr, m = t->R.m;
    const int rows = rows_a_thread(s, m);
    const int64_t unit = BLOCK * rows;
    const int32_t share = (int32_t)(ceil_div(ceil_div(m, SCAN_SHARES), unit) * unit);
    const unsigned shares = (unsigned)ceil_div(m, share);
    const auto sum = sum_shares<R>;
    const auto list = rows == 1 ? list_by_nonzeros<1, P, R> : list_by_nonzeros<LISTED, P, R>;
    LAUNCH(sum, shares, BLOCK, 0, stream, A_ptr, m, share, rule, w->counters, w->nz, w->products,
           w->sums);
    LAUNCH(list, shares, BLOCK, 0, stream, A_ptr, m, share, rule, w->counters, w->nz, w->products,
           w->sums, (P *)t->R.ptr, w->list, s->seen);
    return hear(t);
}

// Computes row starts, lists rows by nonzeros, and allocates C. nz has the lengths of rows.
template <typename R>
static int allocate(struct task *t, struct bins_host *s, const R &rule, const struct scratch *w)
{
    // The number of products bounds the number of nonzeros.
    const int ptr_bytes = s->seen->products > INT32_MAX ? 8 : 4;
    int err = result_begin(t, ptr_bytes, &t->R);
    if (!err)
        err = ptr_bytes == 8 ? starts_and_list<int64_t>(t, s, rule, w)
                             : starts_and_list<int32_t>(t, s, rule, w);
    if (err) return err;
    t->R.nnz = s->seen->nnz;
    return result_alloc(t->dev, &t->R);
}

// Launches the bins of a phase, bins of the longest rows first. Calls launch(bin, stream, rows) for
// each bin with rows other than giants. rest(giants) runs in the main stream.
template <typename F, typename G>
static int run_bins(struct task *t, struct bins_host *s, int phase, int bins,
                    const struct scratch *w, F launch, G rest)
{
    const int32_t giants = s->seen->giants[phase];
    int32_t counts[BIN_MOST], starts[BIN_MOST], end = 0;
    for (int g = 0; g < bins; g++) {
        counts[g] = s->seen->rows[phase][g] - (g == bins - 1 ? giants : 0);
        starts[g] = end;
        end += counts[g];
    }
    const struct bin_rows giant_rows = {w->list + end, giants};
    return run_in_streams(
        t, &s->streams, counts, bins, giants > 0,
        [&](int g, cudaStream_t stream) {
            launch(g, stream, bin_rows{w->list + starts[g], counts[g]});
        },
        [&]() { return giants ? rest(giant_rows) : (int)OK; });
}

// The phases of bins_run().
template <typename R, typename S, typename P, typename N>
static int run_phases(struct task *t, struct bins_host *s, const R &by_products,
                      const R &by_nonzeros, S symbolic, P report, N numeric, struct scratch *w)
{
    int err = task_phase(t, "analyse");
    if (!err) err = scratch_alloc(t, w);
    if (!err) err = analyse(t, s, by_products, w);
    if (!err) err = task_phase(t, "symbolic");
    if (!err) err = symbolic(w);
    if (!err) err = task_phase(t, "allocate");
    if (!err) err = allocate(t, s, by_nonzeros, w);
    if (err) return err;
    report();
    err = task_phase(t, "numeric");
    return err ? err : numeric(w);
}

// Runs an algorithm with bins. symbolic(w) sets the nonzeros of each row, report() sets stats of
// the task, and numeric(w) computes C.
template <typename R, typename S, typename P, typename N>
static int bins_run(struct task *t, struct bins_host *s, const R &by_products, const R &by_nonzeros,
                    S symbolic, P report, N numeric)
{
    struct scratch w = {};
    if (t->A[0]->m == 0) {
        int err = result_begin(t, 4, &t->R);
        return err ? err : device_fill(t->dev, t->R.ptr, 0, 4);
    }
    int err = run_phases(t, s, by_products, by_nonzeros, symbolic, report, numeric, &w);
    scratch_free(t, &w);
    // Checked after an error too, so that a later launch does not report this error.
    int launched = launch_check(t->entry->name);
    return err ? err : launched;
}

#endif
