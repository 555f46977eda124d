// The symbolic and the numeric phase: a launch for each bin, then the rows in global memory.
#ifndef SPGEMM_HASH_TUNED_PHASES_H
#define SPGEMM_HASH_TUNED_PHASES_H

#include "plan.cuh"

struct state {
    struct bins_host host;
    struct bins_plan plan;
    bool bitmap; // option
};

// Rows of S for each thread of a merged row.
#define FOR_MERGES(X) X(1) X(2)

// Team sizes, and the teams of a block.
#define FOR_TEAMS(X) X(32, 4) X(64, 1) X(128, 1) X(256, 1) X(512, 1) X(1024, 1)

static void launch_symbolic(const struct bin *g, cudaStream_t stream,
                            const struct factors<float> &x, const struct rows &rows,
                            const struct scratch *w)
{
    const struct overflow overflow = overflow_of(w);
    const unsigned blocks = (unsigned)ceil_div(rows.count, g->teams);
    switch (g->way) {
    case MERGE:
#define CASE(each)                                                                                 \
    if (g->lists == each)                                                                          \
        LAUNCH(symbolic_merge<each>, blocks, MERGE_BLOCK, g->bytes, stream, x, rows, w->nz);
        FOR_MERGES(CASE)
#undef CASE
        break;
    case OVERLAY: LAUNCH(symbolic_overlay, blocks, OVERLAY_BLOCK, 0, stream, x, rows, w->nz); break;
    case SMALL:
        LAUNCH(symbolic_pwarp, blocks, PWARP_BLOCK, g->bytes, stream, x, rows, w->products, w->nz);
        break;
    case TRY:
        LAUNCH(symbolic_try, blocks, TRY_BLOCK, g->bytes, stream, x, rows, overflow, w->products,
               w->nz);
        break;
    default:
#define CASE(threads, teams)                                                                       \
    if (g->team == threads) {                                                                      \
        const auto kernel = symbolic_team<threads, teams>;                                         \
        LAUNCH(kernel, blocks, threads *teams, g->bytes, stream, x, rows, w->products, w->nz);     \
    }
        FOR_TEAMS(CASE)
#undef CASE
    }
}

template <typename T>
static void launch_numeric(const struct bin *g, cudaStream_t stream, const struct factors<T> &x,
                           const struct rows &rows, const struct result<T> &c,
                           const struct scratch *w)
{
    const unsigned blocks = (unsigned)ceil_div(rows.count, g->teams);
    const auto overlay = numeric_overlay<T>;
    const auto pwarp = numeric_pwarp<T>;
    const auto long_rows =
        g->team == LONG_SMALL ? numeric_long<LONG_SMALL, T> : numeric_long<LONG_BLOCK, T>;
    const auto ranges = numeric_ranges<T>;
    switch (g->way) {
    case MERGE:
#define CASE(each)                                                                                 \
    if (g->lists == each) {                                                                        \
        const auto merge = numeric_merge<each, T>;                                                 \
        LAUNCH(merge, blocks, MERGE_BLOCK, g->bytes, stream, x, rows, c);                          \
    }
        FOR_MERGES(CASE)
#undef CASE
        break;
    case OVERLAY: LAUNCH(overlay, blocks, OVERLAY_BLOCK, 0, stream, x, rows, c); break;
    case SMALL: LAUNCH(pwarp, blocks, PWARP_BLOCK, g->bytes, stream, x, rows, w->nz, c); break;
    case TEAM:
#define CASE(threads, teams)                                                                       \
    if (g->team == threads) {                                                                      \
        const auto kernel = numeric_team<threads, teams, T>;                                       \
        LAUNCH(kernel, blocks, threads *teams, g->bytes, stream, x, rows, w->nz, c);               \
    }
        FOR_TEAMS(CASE)
#undef CASE
        break;
    case LONG:
        LAUNCH(long_rows, blocks, g->team, g->bytes, stream, x, rows, g->copies, w->products, w->nz,
               c);
        break;
    case RANGES: LAUNCH(ranges, blocks, RANGES_BLOCK, g->bytes, stream, x, rows, w->nz, c); break;
    default: break; // GLOBAL: run_global()
    }
}

template <typename T> static int allow_all_shared(struct device *dev)
{
    int err = allow_shared(dev, symbolic_pwarp);
    if (!err) err = allow_shared(dev, symbolic_try);
    if (!err) err = allow_shared(dev, numeric_pwarp<T>);
    if (!err) err = allow_shared(dev, numeric_long<LONG_SMALL, T>);
    if (!err) err = allow_shared(dev, numeric_long<LONG_BLOCK, T>);
    if (!err) err = allow_shared(dev, numeric_ranges<T>);
#define ALLOW(lists)                                                                               \
    if (!err) err = allow_shared(dev, symbolic_merge<lists>);                                      \
    if (!err) err = allow_shared(dev, numeric_merge<lists, T>);
    FOR_MERGES(ALLOW)
#undef ALLOW
#define ALLOW(team, teams)                                                                         \
    if (!err) err = allow_shared(dev, symbolic_team<team, teams>);                                 \
    if (!err) err = allow_shared(dev, numeric_team<team, teams, T>);
    FOR_TEAMS(ALLOW)
#undef ALLOW
    return err;
}

// Returns the arguments of the kernel of a bin.
static struct rows rows_of(const struct bins_plan *p, const struct bin *g, const struct bin_rows &rows)
{
    return {rows.list, rows.count, g->size, g->limit, p->bit_words};
}

static int symbolic(struct task *t, struct state *s, struct scratch *w)
{
    const struct factors<float> x = factors_of<float>(t);
    const struct bins_plan *p = &s->plan;
    const struct counters *seen = s->host.seen;
    const int last = p->binning[SYMBOLIC].count - 1;
    const int32_t longest = seen->longest[SYMBOLIC];
    const int32_t tried = p->bit_words ? 0 : seen->rows[SYMBOLIC][last] - seen->giants[SYMBOLIC];
    int err = OK;
    if (tried) err = device_alloc(t->dev, tried, sizeof(int32_t), (void **)&w->overflowed);
    auto launch = [&](int g, cudaStream_t stream, const struct bin_rows &rows) {
        const struct bin *bin = &p->bins[SYMBOLIC][g];
        launch_symbolic(bin, stream, x, rows_of(p, bin, rows), w);
    };
    auto global = [&](const struct bin_rows &rows) {
        return run_global<false>(t, x, rows, longest, s->host.pool_bytes, s->bitmap,
                                 result<float>{}, w);
    };
    if (!err) err = run_bins(t, &s->host, SYMBOLIC, last + 1, w, launch, global);
    if (err || !tried) return err;
    err = wait_for(t->dev, t->entry->name, w->counters, s->host.seen, sizeof *s->host.seen);
    if (err || !seen->overflowed) return err;
    return global(bin_rows{w->overflowed, seen->overflowed});
}

template <typename T> static int numeric(struct task *t, struct state *s, const struct scratch *w)
{
    const struct factors<T> x = factors_of<T>(t);
    const struct result<T> c = result_of<T>(t);
    const struct bins_plan *p = &s->plan;
    struct counters *seen = s->host.seen;
    const int last = p->binning[NUMERIC].count - 1;
    auto launch = [&](int g, cudaStream_t stream, const struct bin_rows &rows) {
        const struct bin *bin = &p->bins[NUMERIC][g];
        launch_numeric<T>(bin, stream, x, rows_of(p, bin, rows), c, w);
    };
    auto global = [&](const struct bin_rows &rows) {
        return run_global<true>(t, x, rows, seen->longest[NUMERIC], s->host.pool_bytes, s->bitmap,
                                c, w);
    };
    // Without bitmaps all rows of the last bin are computed in global memory, like giants.
    if (p->bins[NUMERIC][last].way == GLOBAL) seen->giants[NUMERIC] = seen->rows[NUMERIC][last];
    return run_bins(t, &s->host, NUMERIC, last + 1, w, launch, global);
}

#endif
