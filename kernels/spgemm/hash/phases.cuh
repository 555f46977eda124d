// The four phases of a run, and the streams that the bins of a phase run on.
#ifndef SPGEMM_HASH_PHASES_H
#define SPGEMM_HASH_PHASES_H

#include "global.cuh"
#include "spgemm/result.h"

#define REPEATS_LEAST 4
#define REPEATS_SHARE 8 // products of each thread of a full device for each of `repeats`

// Work on the stream of bin i begins after what is on the main stream now, and ends before what
// comes there after join_stream().
static int fork_stream(struct task *t, struct state *s, int i, bool first, cudaStream_t *stream)
{
    *stream = s->streams[i];
    if (first) CUDA_TRY(cudaEventRecord(s->fork, (cudaStream_t)t->dev->stream));
    CUDA_TRY(cudaStreamWaitEvent(*stream, s->fork));
    return OK;
}

static int join_stream(struct task *t, struct state *s, int i)
{
    CUDA_TRY(cudaEventRecord(s->joined[i], s->streams[i]));
    CUDA_TRY(cudaStreamWaitEvent((cudaStream_t)t->dev->stream, s->joined[i]));
    return OK;
}

// Waits for the last kernel, which has written the counters to `seen`.
static int hear(struct task *t)
{
    int err = launch_check(t->entry->name);
    return err ? err : device_sync(t->dev);
}

// Waits for the device's counters.
static int look(struct task *t, struct state *s, const struct scratch *w)
{
    return wait_for(t->dev, t->entry->name, w->counters, s->seen, sizeof *s->seen);
}

// Launches the bins of a phase, those of the longest rows first. launch(bin, stream, rows) is
// called for each that has rows besides giants: with a stream of the bin's own, or with the main
// stream for the last one of them, unless there are giants. Those are then for rest(), which has
// the main stream.
template <typename F, typename G>
static int run_bins(struct task *t, struct state *s, int phase, const struct scratch *w, F launch,
                    G rest)
{
    const int last = s->binning[phase].count - 1;
    int32_t counts[BIN_MOST], end = 0;
    int on_main = -1, forked = 0, err = OK;
    for (int g = 0; g <= last; g++) {
        counts[g] = s->seen->rows[phase][g] - (g == last ? s->seen->giants[phase] : 0);
        end += counts[g];
    }
    for (int g = last; g >= 0; g--)
        if (counts[g] && !s->seen->giants[phase]) on_main = g;
    bool used[BIN_MOST] = {};
    for (int g = last; g >= 0 && !err; g--) {
        const struct bin *bin = &s->bins[phase][g];
        end -= counts[g];
        if (!counts[g]) continue;
        const struct rows rows = {w->list + end, counts[g], bin->size, bin->limit};
        cudaStream_t stream = (cudaStream_t)t->dev->stream;
        used[g] = s->streams_wanted && g != on_main;
        if (used[g]) err = fork_stream(t, s, g, forked++ == 0, &stream);
        if (!err) launch(bin, stream, rows);
    }
    if (!err) err = rest();
    for (int g = 0; g <= last; g++)
        if (used[g]) {
            int joined = join_stream(t, s, g);
            if (!err) err = joined;
        }
    return err;
}

// Returns the giants, which are at the end of the last bin's part of the list.
static const int32_t *giants_of(const struct state *s, int phase, const struct scratch *w)
{
    int32_t end = 0;
    for (int g = 0; g < s->binning[phase].count; g++) end += s->seen->rows[phase][g];
    return w->list + end - s->seen->giants[phase];
}

// The time of a block that lists rows hardly depends on their number. If there are more rows than
// the device holds threads, each thread lists LISTED rows.
static int rows_a_thread(const struct state *s, int32_t m) { return m > s->threads ? LISTED : 1; }

// Algorithm 2, and the rows' bins.
static int analyse(struct task *t, struct state *s, const struct factors<float> &x,
                   const struct scratch *w)
{
    cudaStream_t stream = (cudaStream_t)t->dev->stream;
    const auto count = count_products<float>;
    const auto segments = count_segments<float>;
    const int64_t nnz = t->A[0]->nnz, mean = nnz / x.m;
    const int lanes = (int)min64(next_power(max64(mean / 2, 1)), WARP);
    CUDA_TRY(cudaMemsetAsync(w->counters, 0, sizeof *w->counters, stream));
    LAUNCH(count, (unsigned)ceil_div((int64_t)x.m * lanes, BLOCK), BLOCK, 0, stream, x, lanes,
           s->binning[SYMBOLIC], w->counters, w->products, w->segments);
    if (min64(nnz, t->A[0]->n) > SEGMENT)
        LAUNCH(segments, (unsigned)t->dev->units * 2, BLOCK, 0, stream, x, w->counters, w->products,
               w->segments);
    const int rows = rows_a_thread(s, x.m);
    const auto list = rows == 1 ? list_by_products<1> : list_by_products<LISTED>;
    LAUNCH(list, (unsigned)ceil_div(x.m, BLOCK * rows), BLOCK, 0, stream, x.A_ptr, x.m,
           s->binning[SYMBOLIC], w->counters, w->products, w->nz, w->list, s->seen);
    return hear(t);
}

static int symbolic(struct task *t, struct state *s, const struct factors<float> &x,
                    struct scratch *w)
{
    const int last = s->binning[SYMBOLIC].count - 1;
    const int32_t giants = s->seen->giants[SYMBOLIC], longest = s->seen->longest[SYMBOLIC];
    const int32_t tried = s->bit_words ? 0 : s->seen->rows[SYMBOLIC][last] - giants;
    struct overflow overflow = {};
    const result<float> none = {};
    int err = OK;
    if (tried) {
        err = device_alloc(t->dev, tried, sizeof(int32_t), (void **)&w->overflowed);
        overflow = {w->overflowed, &w->counters->overflowed};
    }
    auto launch = [&](const struct bin *g, cudaStream_t stream, const struct rows &rows) {
        const bool is_last = g == &s->bins[SYMBOLIC][last];
        launch_symbolic(g, stream, x, rows, is_last ? overflow : (struct overflow){}, w);
    };
    auto rest = [&]() {
        if (!giants) return (int)OK;
        return run_global<false>(t, x, giants_of(s, SYMBOLIC, w), giants, longest, none, w);
    };
    if (!err) err = run_bins(t, s, SYMBOLIC, w, launch, rest);
    if (!err && tried) err = look(t, s, w);
    if (!err && tried && s->seen->overflowed)
        err = run_global<false>(t, x, w->overflowed, s->seen->overflowed, longest, none, w);
    return err;
}

// Bins of rows for the numeric phase. If the device has few products for each thread, the longest
// row decides when the phase ends. Rows then get more threads from fewer products on (H200:
// bcsstk13 takes 128 us, 151 without). A bitmap of more words than the largest table has places is
// left out, as clearing such a bitmap takes longer.
static struct binning binning_by_nonzeros(const struct state *s, int32_t n)
{
    struct binning g = s->binning[NUMERIC];
    const int64_t repeats = (int64_t)s->seen->products / s->threads / REPEATS_SHARE;
    const int32_t repeats_now = (int32_t)min64(g.repeats, max64(repeats, REPEATS_LEAST));
    g.reach = INT32_MAX;
    if (repeats_now < g.repeats && n / 32 > s->table_limit) g.reach = s->table_limit;
    g.repeats = repeats_now;
    return g;
}

// Row starts, bins by nonzeros, and memory for C, of which nz has the lengths of rows.
static int allocate(struct task *t, struct state *s, const int32_t *A_ptr, const struct scratch *w)
{
    cudaStream_t stream = (cudaStream_t)t->dev->stream;
    const struct binning by_nonzeros = binning_by_nonzeros(s, t->R.n);
    const int32_t m = t->R.m;
    const int rows = rows_a_thread(s, m);
    const auto narrow =
        rows == 1 ? list_by_nonzeros<1, int32_t> : list_by_nonzeros<LISTED, int32_t>;
    const auto wide = rows == 1 ? list_by_nonzeros<1, int64_t> : list_by_nonzeros<LISTED, int64_t>;
    const int64_t unit = BLOCK * rows;
    const int32_t share = (int32_t)(ceil_div(ceil_div(m, SCAN_SHARES), unit) * unit);
    const unsigned shares = (unsigned)ceil_div(m, share);
    LAUNCH(sum_shares, shares, BLOCK, 0, stream, A_ptr, m, share, by_nonzeros, w->counters, w->nz,
           w->products, w->sums);
    if (t->R.ptr_bytes == 8)
        LAUNCH(wide, shares, BLOCK, 0, stream, A_ptr, m, share, by_nonzeros, w->counters, w->nz,
               w->products, w->sums, (int64_t *)t->R.ptr, w->list, s->seen);
    else
        LAUNCH(narrow, shares, BLOCK, 0, stream, A_ptr, m, share, by_nonzeros, w->counters, w->nz,
               w->products, w->sums, (int32_t *)t->R.ptr, w->list, s->seen);
    int err = hear(t);
    if (err) return err;
    t->R.nnz = s->seen->nnz;
    task_number(t, "products_per_nonzero", by_nonzeros.repeats);
    return result_alloc(t->dev, &t->R);
}

template <typename T>
static int numeric(struct task *t, struct state *s, const struct factors<T> &x,
                   const struct scratch *w)
{
    const result<T> c = {t->R.ptr, t->R.ptr_bytes == 8, t->R.idx, (T *)t->R.val};
    const int last = s->binning[NUMERIC].count - 1;
    // Without numeric_long all rows of the last bin go where the giants go.
    if (!s->bins[NUMERIC][last].is_long) s->seen->giants[NUMERIC] = s->seen->rows[NUMERIC][last];
    const int32_t giants = s->seen->giants[NUMERIC];
    auto launch = [&](const struct bin *g, cudaStream_t stream, const struct rows &rows) {
        launch_numeric<T>(g, stream, x, rows, c, w);
    };
    auto rest = [&]() {
        if (!giants) return (int)OK;
        return run_global<true>(t, x, giants_of(s, NUMERIC, w), giants, s->seen->longest[NUMERIC],
                                c, w);
    };
    return run_bins(t, s, NUMERIC, w, launch, rest);
}

#endif
