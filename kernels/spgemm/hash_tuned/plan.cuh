// Plan of a run: the bins of rows, and the kernel and the shared memory of each.
#ifndef SPGEMM_HASH_TUNED_PLAN_H
#define SPGEMM_HASH_TUNED_PLAN_H

#include "global.cuh"
#include "merge.cuh"
#include "overlay.cuh"
#include "pwarp.cuh"
#include "ranges.cuh"

#define TRY_LEAST    (4 * TRY_BLOCK) // places of the table that rows of unknown length try
#define BITMAP_BLOCK 128             // threads that a bitmap gets at least

// How the rows of a bin are computed.
enum way {
    MERGE,   // merge.cuh
    OVERLAY, // overlay.cuh
    SMALL,   // pwarp.cuh
    TEAM,    // team.cuh
    TRY,     // team.cuh: rows that may overflow; symbolic
    LONG,    // long.cuh; numeric
    RANGES,  // ranges.cuh; numeric
    GLOBAL,  // global.cuh; numeric
};

struct bin {
    enum way way;
    int team;      // threads a row
    int teams;     // rows a block
    int32_t size;  // places of the largest table, or words of a bitmap; LONG: values
    int32_t limit; // the most products (symbolic) or nonzeros (numeric) of a row
    int64_t bytes; // shared memory of a block
    int32_t slack; // its tables have so many places per column, at least; 0: it has no tables
    bool dense;    // LONG: a value for each column
    int lists;     // MERGE: rows of S for each thread; `limit` is the most nonzeros of a row of A
};

// Options.
struct choices {
    bool bitmap;     // long rows may be bitmaps
    int32_t passes;  // full tables that hold the nonzeros of a row of RANGES, at most; 0: no RANGES
    int32_t overlay; // products of an overlay, at most; 0: no OVERLAY
    int32_t merge;   // nonzeros of a row of A whose rows of S are merged, at most
};

struct plan {
    struct bin bins[2][BIN_MOST];
    struct binning binning[2];
    int32_t bit_words; // words of a bitmap; 0: no bitmaps, or shared memory does not hold them
};

// Bytes of shared memory.
struct room {
    int64_t block; // for the tables of a block
    int64_t most;  // that a block can have besides the kernels' own
    int64_t third; // for a block if three blocks share a multiprocessor
    int64_t warp;  // for each warp of a full multiprocessor
};

// Sets slack, size and bytes of a bin: the most places per column with which its tables take no
// more than room->block bytes, besides what else its kernel needs. Slack 0: no tables fit.
template <typename T> static void plan_size(struct bin *g, bool values, const struct room *room)
{
    const int64_t rows = g->teams;
    for (g->slack = SLOTS; g->slack > 0; g->slack--) {
        g->size = (int32_t)next_power((int64_t)g->limit * g->slack);
        if (g->way == SMALL)
            g->bytes = rows * (values ? small_bytes<T>(PWARP, g->size, g->limit)
                                      : small_stride(PWARP, g->size) * (int64_t)4);
        else
            g->bytes = rows * (values ? team_bytes<T>(g->size, g->limit) : g->size * (int64_t)4);
        const int64_t tables = rows * g->size * (int64_t)(4 + (values ? sizeof(T) : 0));
        if (tables <= room->block && g->bytes <= room->most) return;
    }
}

// Makes the bins of rows that are merged, and of those that are overlaid. Returns how many there
// are.
template <typename T>
static int plan_without_tables(struct bin *bins, bool values, const struct choices *o)
{
    int count = 0;
    for (int lists = 1; lists * MERGE_LANES <= o->merge; lists *= 2) {
        struct bin g = {MERGE, MERGE_LANES, MERGE_BLOCK / MERGE_LANES};
        g.lists = lists;
        g.limit = lists * MERGE_LANES;
        g.bytes = merge_bytes<T>(lists, values);
        bins[count++] = g;
    }
    if (o->overlay) bins[count++] = {OVERLAY, OVERLAY_BLOCK, 1};
    return count;
}

// Makes the bins of rows with tables, after `count` others: for each thread a row may have 8
// products or 4 nonzeros. Bins whose tables do not fit, or with rows of more than `cut` columns,
// are left out; `more` adds a larger one. Returns how many bins there are.
template <typename T>
static int plan_tables(struct bin *bins, int count, bool values, const struct room *room, bool more,
                       int32_t cut)
{
    const int each = values ? 4 : 8;
    struct bin g = {SMALL, PWARP, PWARP_ROWS};
    g.limit = each * PWARP;
    plan_size<T>(&g, values, room);
    if (g.slack == SLOTS) bins[count++] = g;
    for (int team = WARP; team <= (more ? 2048 : 1024); team *= 2) {
        g = {TEAM, min(team, 1024), team == WARP ? 4 : 1};
        g.limit = each * team;
        plan_size<T>(&g, values, room);
        if (!g.slack || g.limit > cut) break;
        bins[count++] = g;
    }
    return count;
}

// A bin for numeric_long in `room` bytes.
template <typename T> static struct bin plan_long(int32_t n, int team, int64_t room)
{
    const int64_t ranked = bit_groups(n) * 12;
    struct bin g = {LONG, team, 1, 0, INT32_MAX};
    g.size = (int32_t)min64((room - ranked) / (int64_t)sizeof(T) / 2 * 2, ceil_div(n, 2) * 2);
    g.dense = g.size >= n;
    if (!g.dense) g.limit = g.size;
    g.bytes = g.size * (int64_t)sizeof(T) + ranked;
    return g;
}

// A bin for numeric_ranges, with the largest table in `room` bytes; false if it is too small.
template <typename T>
static bool plan_ranges(struct bin *g, const struct choices *o, int32_t table_limit, int64_t room)
{
    *g = {RANGES, RANGES_BLOCK, 1, RANGES_BLOCK * RANGES_EACH, 0, 0, 1};
    while (g->size > RANGES_BLOCK && ranges_bytes<T>(g->size) > room) g->size /= 2;
    g->limit = ranges_room(g->size) * o->passes;
    g->bytes = ranges_bytes<T>(g->size);
    return g->limit > table_limit;
}

static void plan_done(struct plan *p, int phase, int count, const struct choices *o)
{
    struct binning *binning = &p->binning[phase];
    struct bin *bins = p->bins[phase];
    while (bins[binning->merging].way == MERGE) binning->merging++; // others follow
    binning->overlaying = bins[binning->merging].way == OVERLAY;
    binning->overlay = o->overlay;
    bins[count - 1].limit = INT32_MAX;
    binning->count = count;
    int32_t limit = 0; // never falls: a bin below the limit of another gets no rows
    for (int i = 0; i < BIN_MOST; i++) {
        if (i >= binning->merging + binning->overlaying && i < count)
            limit = max(limit, bins[i].limit);
        binning->limit[i] = limit;
    }
}

// A symbolic bin whose tables are larger than a bitmap has bitmaps instead. A bitmap is as large
// for few products as for many, so that more rows fit in a multiprocessor than the threads that
// table I gives to rows with many products leave room for. Then a row gets half of them, and half
// again: what a row costs besides its products, it costs each of its warps. `warp_room` is the
// shared memory that a full multiprocessor has for each warp.
static void plan_bitmaps(struct bin *g, int32_t words, int64_t warp_room)
{
    const int64_t own = (int64_t)sizeof(struct team_round<ROUND_MOST, float>) + 1024;
    if (g->way != TEAM || g->size < words) return;
    g->slack = SLOTS; // slack of the tables that are smaller than a bitmap
    g->size = words;
    g->bytes = g->teams * (words * (int64_t)4);
    while (g->team > BITMAP_BLOCK && g->bytes + own <= g->team / 2 / WARP * warp_room) g->team /= 2;
}

// Makes all bins of both phases. H100: one more symbolic bin, up to 12,288 products with tables of
// 64 KB, takes 16.3 ms in place of 12.7 (circuit of 2,000,000 nodes).
template <typename T>
static void make_plan(struct plan *p, int32_t n, const struct choices *o, const struct room *room)
{
    const int64_t words = ceil_div(n, 128) * 4, ranked = bit_groups(n) * 12;
    const bool fits = o->bitmap && n > 0 && max64(words * 4, ranked + 16) <= room->block;
    p->bit_words = fits ? (int32_t)words : 0;

    struct bin *bins = p->bins[SYMBOLIC];
    int count = plan_without_tables<T>(bins, false, o);
    count = plan_tables<T>(bins, count, false, room, !fits, INT32_MAX);
    for (int g = 0; fits && g < count; g++) plan_bitmaps(&bins[g], p->bit_words, room->warp);
    struct bin last = {fits ? TEAM : TRY, TRY_BLOCK, 1, p->bit_words};
    if (!fits)
        for (last.size = TRY_LEAST; last.size * (int64_t)8 <= room->block;) last.size *= 2;
    last.bytes = last.size * (int64_t)4;
    bins[count++] = last;
    plan_done(p, SYMBOLIC, count, o);

    bins = p->bins[NUMERIC];
    const int32_t cut = fits ? max(n / 4, 256) : INT32_MAX;
    count = plan_without_tables<T>(bins, true, o);
    // Rows of the larger bin have as many places in numeric_ranges, or more.
    count = plan_tables<T>(bins, count, true, room, !fits && !o->passes, cut);
    const int32_t tables = bins[count - 1].limit;
    if (!fits && o->passes && plan_ranges<T>(&bins[count], o, tables, room->block)) count++;
    if (fits && ranked <= room->third / 2) bins[count++] = plan_long<T>(n, LONG_SMALL, room->third);
    if (fits && !bins[count - 1].dense) bins[count++] = plan_long<T>(n, LONG_BLOCK, room->block);
    if (!fits) bins[count++] = {GLOBAL};
    plan_done(p, NUMERIC, count, o);
}

#endif
