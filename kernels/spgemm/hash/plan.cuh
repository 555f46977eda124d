// Plan of a run: the bins of rows, the kernel and the shared memory of each, and the launches.
#ifndef SPGEMM_HASH_PLAN_H
#define SPGEMM_HASH_PLAN_H

#include "merge.cuh"
#include "overlay.cuh"
#include "ranges.cuh"

#define STREAMS      BIN_MOST
#define TRY_LEAST    (4 * LONG_BLOCK) // places of the table that rows of unknown length try
#define BITMAP_BLOCK 128              // threads that a bitmap gets at least

// A bin of rows, and the kernel that takes them: that of merge.cuh or overlay.cuh, numeric_long,
// numeric_ranges, or by `team` those of pwarp.cuh or team.cuh.
struct bin {
    int team;      // threads a row
    int teams;     // rows a block
    int32_t size;  // places of the largest table, or words of a bitmap; numeric_long: values
    int32_t limit; // the most products (symbolic) or nonzeros (numeric) of a row
    int64_t bytes; // shared memory of a block
    int32_t slack; // its tables have so many places per column, at least; 0: it has no tables
    bool is_long;  // numeric_long takes it
    bool dense;    // ... with a value for each column
    bool ranges;   // numeric_ranges takes it
    int lists;     // its rows are merged, with so many rows of S for each thread, and `limit` is
                   // the most nonzeros of a row of A; 0: they are not
    bool overlay;  // its rows are overlaid
};

struct state {
    struct bin bins[2][BIN_MOST];
    struct binning binning[2];
    int32_t bit_words;   // as in struct factors; 0: no bitmaps, or shared memory does not hold them
    int32_t table_limit; // nonzeros of a row that has a table, at most; numeric
    int64_t threads;     // that the device holds
    int32_t slack;
    int32_t ranges;  // full tables that hold the nonzeros of a row of numeric_ranges, at most
    int32_t overlay; // products of an overlay, at most; 0: there are none
    int32_t merge;   // nonzeros of a row of A whose rows of S are merged, at most
    bool even, bitmap, streams_wanted;
    int64_t pool_bytes;
    int64_t room_most;     // bytes of shared memory that a block can have besides the kernels' own
    struct counters *seen; // pinned
    cudaStream_t streams[STREAMS];
    cudaEvent_t fork, joined[STREAMS];
};

// Device memory of one run.
struct scratch {
    int32_t *products, *nz, *list; // size m each; products of rows that are overlaid are marked
    int64_t *sums;                 // sums of row lengths, by share, size SCAN_SHARES
    struct segment *segments;
    struct counters *counters;
    int32_t *overflowed; // rows, or NULL
};

// Threads a row that are a part of a warp.
#define FOR_LANES(X) X(PWARP) X(PWARP_MOST)

// Rows of S of each thread, in rows that are merged.
#define FOR_MERGES(X) X(1) X(2)

// Team sizes, and how many teams a block has.
#define FOR_TEAMS(X) X(32, 4) X(64, 1) X(128, 1) X(256, 1) X(512, 1) X(1024, 1)

static void launch_symbolic(const struct bin *g, cudaStream_t stream,
                            const struct factors<float> &x, const struct rows &rows,
                            const struct overflow &overflow, const struct scratch *w)
{
#define CASE(each)                                                                                 \
    if (g->lists == each) {                                                                        \
        LAUNCH(symbolic_merge<each>, (unsigned)ceil_div(rows.count, g->teams), MERGE_BLOCK,        \
               g->bytes, stream, x, rows, w->nz);                                                  \
        return;                                                                                    \
    }
    FOR_MERGES(CASE)
#undef CASE
    if (g->overlay) {
        LAUNCH(symbolic_overlay, (unsigned)rows.count, OVERLAY_BLOCK, 0, stream, x, rows, w->nz);
        return;
    }
    switch (g->team) {
#define CASE(lanes)                                                                                \
    case lanes: {                                                                                  \
        const auto kernel = symbolic_pwarp<lanes, float>;                                          \
        LAUNCH(kernel, (unsigned)ceil_div(rows.count, g->teams), PWARP_BLOCK, g->bytes, stream, x, \
               rows, w->products, w->nz);                                                          \
    } break;
        FOR_LANES(CASE)
#undef CASE
#define CASE(team, teams)                                                                          \
    case team: {                                                                                   \
        const auto kernel = symbolic_team<team, teams, float>;                                     \
        LAUNCH(kernel, (unsigned)ceil_div(rows.count, teams), team *teams, g->bytes, stream, x,    \
               rows, overflow, w->products, w->nz);                                                \
    } break;
        FOR_TEAMS(CASE)
#undef CASE
    }
}

template <typename T>
static void launch_numeric(const struct bin *g, cudaStream_t stream, const struct factors<T> &x,
                           const struct rows &rows, const struct result<T> &c,
                           const struct scratch *w)
{
#define CASE(each)                                                                                 \
    if (g->lists == each) {                                                                        \
        const auto kernel = numeric_merge<each, T>;                                                \
        LAUNCH(kernel, (unsigned)ceil_div(rows.count, g->teams), MERGE_BLOCK, g->bytes, stream, x, \
               rows, c);                                                                           \
        return;                                                                                    \
    }
    FOR_MERGES(CASE)
#undef CASE
    if (g->overlay) {
        const auto kernel = numeric_overlay<T>;
        LAUNCH(kernel, (unsigned)rows.count, OVERLAY_BLOCK, 0, stream, x, rows, c);
        return;
    }
    const auto small = numeric_long<LONG_SMALL, T>;
    const auto large = numeric_long<LONG_BLOCK, T>;
    if (g->is_long && g->team == LONG_SMALL) {
        LAUNCH(small, (unsigned)rows.count, LONG_SMALL, g->bytes, stream, x, rows, g->dense, w->nz,
               c);
        return;
    }
    if (g->is_long) {
        LAUNCH(large, (unsigned)rows.count, LONG_BLOCK, g->bytes, stream, x, rows, g->dense, w->nz,
               c);
        return;
    }
    if (g->ranges) {
        const auto kernel = numeric_ranges<T>;
        LAUNCH(kernel, (unsigned)rows.count, RANGES_BLOCK, g->bytes, stream, x, rows, w->nz, c);
        return;
    }
    switch (g->team) {
#define CASE(lanes)                                                                                \
    case lanes: {                                                                                  \
        const auto kernel = numeric_pwarp<lanes, T>;                                               \
        LAUNCH(kernel, (unsigned)ceil_div(rows.count, g->teams), PWARP_BLOCK, g->bytes, stream, x, \
               rows, w->nz, c);                                                                    \
    } break;
        FOR_LANES(CASE)
#undef CASE
#define CASE(team, teams)                                                                          \
    case team: {                                                                                   \
        const auto kernel = numeric_team<team, teams, T>;                                          \
        LAUNCH(kernel, (unsigned)ceil_div(rows.count, teams), team *teams, g->bytes, stream, x,    \
               rows, w->nz, c);                                                                    \
    } break;
        FOR_TEAMS(CASE)
#undef CASE
    }
}

template <typename T> static int allow_all_shared(struct device *dev)
{
    int err = allow_shared(dev, numeric_long<LONG_SMALL, T>);
    if (!err) err = allow_shared(dev, numeric_long<LONG_BLOCK, T>);
    if (!err) err = allow_shared(dev, numeric_ranges<T>);
#define ALLOW(lists)                                                                               \
    if (!err) err = allow_shared(dev, symbolic_merge<lists>);                                      \
    if (!err) err = allow_shared(dev, numeric_merge<lists, T>);
    FOR_MERGES(ALLOW)
#undef ALLOW
#define ALLOW(lanes)                                                                               \
    if (!err) err = allow_shared(dev, symbolic_pwarp<lanes, float>);                               \
    if (!err) err = allow_shared(dev, numeric_pwarp<lanes, T>);
    FOR_LANES(ALLOW)
#undef ALLOW
#define ALLOW(team, teams)                                                                         \
    if (!err) err = allow_shared(dev, symbolic_team<team, teams, float>);                          \
    if (!err) err = allow_shared(dev, numeric_team<team, teams, T>);
    FOR_TEAMS(ALLOW)
#undef ALLOW
    return err;
}

// Sets slack, size and bytes of a bin: the most places per column with which its tables take no
// more than `room` bytes, besides what else its kernel needs. Slack 0: no tables fit.
template <typename T>
static void plan_size(struct bin *g, bool values, const struct state *s, int64_t room)
{
    const int64_t rows = g->teams;
    for (g->slack = s->slack; g->slack > 0; g->slack--) {
        g->size = (int32_t)next_power((int64_t)g->limit * g->slack);
        if (g->team < WARP)
            g->bytes = rows * (values ? pwarp_bytes<T>(g->team, g->size, g->limit)
                                      : pwarp_stride(g->team, g->size) * 4);
        else
            g->bytes = rows * (values ? team_bytes<T>(g->size, g->limit) : g->size * (int64_t)4);
        const int64_t tables = rows * g->size * (int64_t)(4 + (values ? sizeof(T) : 0));
        if (tables <= room && g->bytes <= s->room_most) return;
    }
}

// The bins of rows that are merged, and of those that are overlaid. Returns how many there are.
template <typename T>
static int plan_without_tables(struct bin *bins, bool values, const struct state *s)
{
    int count = 0;
    for (int lists = 1; lists * MERGE_LANES <= s->merge; lists *= 2) {
        struct bin g = {};
        g.lists = lists;
        g.team = MERGE_LANES;
        g.teams = MERGE_BLOCK / MERGE_LANES;
        g.limit = lists * MERGE_LANES;
        g.bytes = merge_bytes<T>(lists, values);
        bins[count++] = g;
    }
    if (s->overlay) {
        struct bin g = {};
        g.overlay = true;
        g.team = OVERLAY_BLOCK;
        g.teams = 1;
        bins[count++] = g;
    }
    return count;
}

// The bins of table I, whose rows have tables: for each thread a row may have 8 products or 4
// nonzeros, times `scale`. With `even` there are bins of eight threads and of a warp, which the
// paper lacks. Bins whose tables do not fit in `room` bytes, or with rows of more than `cut`
// columns, are left out; `more` adds a larger one. Returns how many there are.
template <typename T>
static int plan_tables(struct bin *bins, bool values, const struct state *s, int scale,
                       int64_t room, bool more, int32_t cut)
{
    struct bin g = {};
    int count = plan_without_tables<T>(bins, values, s);
    // If rows of up to eight nonzeros are merged, hardly any rows are left for four threads.
    const int least = s->merge >= PWARP_MOST ? PWARP_MOST : PWARP;
    for (int lanes = least; lanes <= (s->even ? PWARP_MOST : PWARP); lanes *= 2) {
        g.team = lanes;
        g.teams = PWARP_BLOCK / lanes;
        g.limit = (values ? 4 : 8) * lanes * scale;
        plan_size<T>(&g, values, s, room);
        // With all the slack there is to be: of four threads for shorter rows if need be, of eight
        // not at all.
        for (; lanes == PWARP && g.slack < s->slack; plan_size<T>(&g, values, s, room))
            g.limit /= 2;
        if (g.slack == s->slack) bins[count++] = g;
    }
    for (int team = s->even ? WARP : 64; team <= (more ? 2048 : 1024); team *= 2) {
        g.team = min(team, 1024);
        g.teams = team == WARP ? 4 : 1;
        g.limit = (values ? 4 : 8) * team * scale;
        plan_size<T>(&g, values, s, room);
        if (!g.slack || g.limit > cut) break;
        bins[count++] = g;
    }
    return count;
}

// A bin for numeric_long in `room` bytes.
template <typename T> static struct bin plan_long(int32_t n, int team, int64_t room)
{
    const int64_t ranked = bit_groups(n) * 12;
    struct bin g = {team, 1, 0, INT32_MAX, 0, 0, true, false};
    g.size = (int32_t)min64((room - ranked) / (int64_t)sizeof(T) / 2 * 2, ceil_div(n, 2) * 2);
    g.dense = g.size >= n;
    if (!g.dense) g.limit = g.size;
    g.bytes = g.size * (int64_t)sizeof(T) + ranked;
    return g;
}

// A bin for numeric_ranges, with the largest table in `room` bytes; false if it is too small.
template <typename T> static bool plan_ranges(struct bin *g, const struct state *s, int64_t room)
{
    *g = {RANGES_BLOCK, 1, RANGES_BLOCK * RANGES_EACH, 0, 0, 1, false, false, true};
    while (g->size > RANGES_BLOCK && ranges_bytes<T>(g->size) > room) g->size /= 2;
    g->limit = ranges_room(g->size) * s->ranges;
    g->bytes = ranges_bytes<T>(g->size);
    return g->limit > s->table_limit;
}

static void plan_done(struct state *s, int phase, int count)
{
    struct binning *binning = &s->binning[phase];
    while (s->bins[phase][binning->merging].lists) binning->merging++;
    binning->overlaying = s->bins[phase][binning->merging].overlay;
    binning->overlay = s->overlay;
    s->bins[phase][count - 1].limit = INT32_MAX;
    binning->count = count;
    for (int i = 0; i < count; i++) binning->limit[i] = s->bins[phase][i].limit;
}

// A symbolic bin whose tables are larger than a bitmap has bitmaps instead. A bitmap is as large
// for few products as for many, so that more rows fit in a multiprocessor than the threads that
// table I gives to rows with many products leave room for. Then a row gets half of them, and half
// again: what a row costs besides its products, it costs each of its warps. `warp_room` is the
// shared memory that a full multiprocessor has for each warp.
static void plan_bitmaps(struct bin *g, int32_t words, int32_t slack, int64_t warp_room)
{
    const int64_t own = (int64_t)sizeof(struct team_round<ROUND_MOST, float>) + 1024;
    if (g->team < WARP || g->size < words) return;
    g->slack = slack; // slack of the tables that are smaller than a bitmap
    g->size = words;
    g->bytes = g->teams * (words * (int64_t)4);
    while (g->team > BITMAP_BLOCK && g->bytes + own <= g->team / 2 / WARP * warp_room) g->team /= 2;
}

// Makes all bins of both phases. Bytes of shared memory: `room` is the most for a block, `third`
// lets three blocks share a multiprocessor, `warp_room` is for each warp of a full multiprocessor.
// H100: one more symbolic bin, up to 12,288 products with tables of 64 KB, takes 16.3 ms in place
// of 12.7 (circuit of 2,000,000 nodes).
template <typename T>
static void plan(struct state *s, int32_t n, int scale, int64_t room, int64_t third,
                 int64_t warp_room)
{
    const int64_t words = ceil_div(n, 128) * 4, ranked = bit_groups(n) * 12;
    const bool fits = s->bitmap && n > 0 && max64(words * 4, ranked + 16) <= room;
    s->bit_words = fits ? (int32_t)words : 0;

    struct bin *bins = s->bins[SYMBOLIC];
    int count = plan_tables<T>(bins, false, s, scale, room, !fits, INT32_MAX);
    for (int g = 0; fits && g < count; g++)
        plan_bitmaps(&bins[g], s->bit_words, s->slack, warp_room);
    struct bin last = {LONG_BLOCK, 1, s->bit_words, 0, 0, 0, false, false};
    if (!fits)
        for (last.size = TRY_LEAST; last.size * (int64_t)8 <= room;) last.size *= 2;
    last.bytes = last.size * (int64_t)4;
    bins[count++] = last;
    plan_done(s, SYMBOLIC, count);

    bins = s->bins[NUMERIC];
    const int32_t cut = fits ? max(n / 4, 256) : INT32_MAX;
    // Rows of the larger bin have as many places in numeric_ranges, or more.
    count = plan_tables<T>(bins, true, s, scale, room, !fits && !s->ranges, cut);
    s->table_limit = bins[count - 1].limit;
    if (!fits && s->ranges && plan_ranges<T>(&bins[count], s, room)) count++;
    if (fits && ranked <= third / 2) bins[count++] = plan_long<T>(n, LONG_SMALL, third);
    // Without numeric_long, the last bin is for rows in global memory.
    if (fits && !bins[count - 1].dense) bins[count++] = plan_long<T>(n, LONG_BLOCK, room);
    if (!fits) bins[count++] = {};
    plan_done(s, NUMERIC, count);
}

#endif
