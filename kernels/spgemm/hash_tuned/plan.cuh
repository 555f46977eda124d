// Plan of a run: the bins of rows, with the kernel and the shared memory of each bin.
#ifndef SPGEMM_HASH_TUNED_PLAN_H
#define SPGEMM_HASH_TUNED_PLAN_H

#include "global.cuh"
#include "merge.cuh"
#include "overlay.cuh"
#include "pwarp.cuh"
#include "ranges.cuh"

#define TRY_LEAST    (4 * TRY_BLOCK) // least places of a table of TRY
#define BITMAP_BLOCK 128             // least threads of a row with a bitmap

// Kernel for the rows of a bin.
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
    int team;      // threads per row
    int teams;     // rows per block
    int32_t size;  // places of the largest table, or words of a bitmap; LONG: values
    int32_t limit; // most products (symbolic), nonzeros or products / HEAVY (numeric) of a row
    int64_t bytes; // shared memory of a block
    int32_t slack; // least places of a table per column; 0: no tables
    int copies;    // LONG: copies of `size` values, one for each column; 0: no dense values
    int lists;     // MERGE: rows of S for each thread; `limit` is the most nonzeros of a row of A
};

// Options.
struct choices {
    bool bitmap;     // long rows may have bitmaps
    int32_t passes;  // most full tables for the nonzeros of a row of RANGES; 0: no RANGES
    int32_t overlay; // most products of an overlay; 0: no OVERLAY
    int32_t merge;   // most nonzeros of a row of A in MERGE; 0: no MERGE
};

struct bins_plan {
    struct bin bins[2][BIN_MOST];
    struct binning binning[2];
    int32_t bit_words; // words of a bitmap; 0: no bitmaps in shared memory
};

// Bytes of shared memory.
struct room {
    int64_t block; // for the tables of a block, by option shared-memory
    int64_t most;  // available to a block, without the static arrays of a kernel
    int64_t third; // for a block if three blocks share a multiprocessor
    int64_t warp;  // for each warp of a full multiprocessor
};

// Sets slack, size and bytes of a bin. The slack is the largest for which the tables take at most
// room->block bytes, and all arrays of the kernel at most room->most. Slack 0: no tables fit.
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

// Makes the bins of merged and of overlaid rows. Returns their number.
template <typename T>
static int plan_without_tables(struct bin *bins, bool values, const struct choices *o)
{
    int count = 0;
    for (int lists = 1; lists * MERGE_LANES <= o->merge; lists *= 2) {
        bins[count] = {.way = MERGE,
                       .team = MERGE_LANES,
                       .teams = MERGE_BLOCK / MERGE_LANES,
                       .limit = lists * MERGE_LANES,
                       .lists = lists};
        // Not in the list: nvcc 13.0 fills fields by position if a value depends on T.
        bins[count++].bytes = merge_bytes<T>(lists, values);
    }
    if (o->overlay) bins[count++] = {.way = OVERLAY, .team = OVERLAY_BLOCK, .teams = 1};
    return count;
}

// Makes the bins of rows with tables, after `count` other bins. A row has up to 8 products or 4
// nonzeros per thread. Bins whose tables do not fit, or with rows of more than `cut` columns, are
// left out. `more` adds a bin of twice the largest limit. Returns the number of bins.
template <typename T>
static int plan_tables(struct bin *bins, int count, bool values, const struct room *room, bool more,
                       int32_t cut)
{
    const int each = values ? 4 : 8;
    struct bin g = {.way = SMALL, .team = PWARP, .teams = PWARP_ROWS, .limit = each * PWARP};
    plan_size<T>(&g, values, room);
    if (g.slack == SLOTS) bins[count++] = g;
    for (int team = WARP; team <= (more ? 2048 : 1024); team *= 2) {
        g = {.way = TEAM,
             .team = min(team, 1024),
             .teams = team == WARP ? 4 : 1,
             .limit = each * team};
        plan_size<T>(&g, values, room);
        if (!g.slack || g.limit > cut) break;
        bins[count++] = g;
    }
    return count;
}

// Returns a bin for numeric_long in `room` bytes.
template <typename T> static struct bin plan_long(int32_t n, int team, int64_t room)
{
    const int64_t ranked = bit_groups(n) * 12;
    struct bin g = {.way = LONG, .team = team, .teams = 1, .limit = INT32_MAX};
    g.size = (int32_t)min64((room - ranked) / (int64_t)sizeof(T) / 2 * 2, ceil_div(n, 2) * 2);
    const int64_t bytes = g.size * (int64_t)sizeof(T);
    if (g.size >= n)
        for (g.copies = COPIES_MOST; g.copies > 1 && g.copies * bytes + ranked > room;) g.copies /= 2;
    else
        g.limit = g.size;
    g.bytes = max(g.copies, 1) * bytes + ranked;
    return g;
}

// Makes a bin for numeric_ranges, with the largest table in `room` bytes. Returns false if the
// table is too small.
template <typename T>
static bool plan_ranges(struct bin *g, const struct choices *o, int32_t table_limit, int64_t room)
{
    *g = {.way = RANGES,
          .team = RANGES_BLOCK,
          .teams = 1,
          .size = RANGES_BLOCK * RANGES_EACH,
          .slack = 1};
    while (g->size > RANGES_BLOCK && ranges_bytes<T>(g->size) > room) g->size /= 2;
    g->limit = ranges_room(g->size) * o->passes;
    g->bytes = ranges_bytes<T>(g->size);
    return g->limit > table_limit;
}

static void plan_done(struct bins_plan *p, int phase, int count, const struct choices *o)
{
    struct binning *binning = &p->binning[phase];
    struct bin *bins = p->bins[phase];
    while (bins[binning->merging].way == MERGE) binning->merging++; // other bins follow
    binning->overlaying = bins[binning->merging].way == OVERLAY;
    binning->overlay = o->overlay;
    bins[count - 1].limit = INT32_MAX;
    binning->count = count;
    int32_t limit = 0; // never falls: a bin with a limit below that of an earlier bin gets no rows
    for (int i = 0; i < BIN_MOST; i++) {
        if (i >= binning->merging + binning->overlaying && i < count)
            limit = max(limit, bins[i].limit);
        binning->limit[i] = limit;
    }
}

// Replaces the tables of a symbolic bin by bitmaps if bitmaps are smaller. `warp_room` is the
// shared memory per warp of a full multiprocessor. With bitmaps, shared memory no longer limits the
// rows per multiprocessor; threads do. So a row gets half the threads while memory allows it. Fewer
// warps per row also save the fixed cost of each warp.
static void plan_bitmaps(struct bin *g, int32_t words, int64_t warp_room)
{
    const int64_t own = (int64_t)sizeof(struct team_round<ROUND_MOST, float>) + 1024;
    if (g->way != TEAM || g->size < words) return;
    g->slack = SLOTS; // rows with smaller tables than a bitmap keep a table
    g->size = words;
    g->bytes = g->teams * (words * (int64_t)4);
    while (g->team > BITMAP_BLOCK && g->bytes + own <= g->team / 2 / WARP * warp_room) g->team /= 2;
}

// Makes all bins of both phases. H100: another symbolic bin, for up to 12,288 products with tables
// of 64 KB, takes 16.3 instead of 12.7 ms (circuit of 2,000,000 nodes).
template <typename T>
static void make_plan(struct bins_plan *p, int32_t n, const struct choices *o, const struct room *room)
{
    const int64_t words = ceil_div(n, 128) * 4, ranked = bit_groups(n) * 12;
    const bool fits = o->bitmap && n > 0 && max64(words * 4, ranked + 16) <= room->block;
    p->bit_words = fits ? (int32_t)words : 0;

    struct bin *bins = p->bins[SYMBOLIC];
    int count = plan_without_tables<T>(bins, false, o);
    count = plan_tables<T>(bins, count, false, room, !fits, INT32_MAX);
    for (int g = 0; fits && g < count; g++) plan_bitmaps(&bins[g], p->bit_words, room->warp);
    struct bin last = {
        .way = fits ? TEAM : TRY, .team = TRY_BLOCK, .teams = 1, .size = p->bit_words};
    if (!fits)
        for (last.size = TRY_LEAST; last.size * (int64_t)8 <= room->block;) last.size *= 2;
    last.bytes = last.size * (int64_t)4;
    bins[count++] = last;
    plan_done(p, SYMBOLIC, count, o);

    bins = p->bins[NUMERIC];
    const int32_t cut = fits ? max(n / 4, 256) : INT32_MAX;
    count = plan_without_tables<T>(bins, true, o);
    // With RANGES the larger bin is left out: a table of numeric_ranges has as many places or more.
    count = plan_tables<T>(bins, count, true, room, !fits && !o->passes, cut);
    const int32_t tables = bins[count - 1].limit;
    if (!fits && o->passes && plan_ranges<T>(&bins[count], o, tables, room->block)) count++;
    if (fits && ranked <= room->third / 2) bins[count++] = plan_long<T>(n, LONG_SMALL, room->third);
    if (fits && !bins[count - 1].copies) bins[count++] = plan_long<T>(n, LONG_BLOCK, room->block);
    if (!fits) bins[count++] = {.way = GLOBAL};
    plan_done(p, NUMERIC, count, o);
}

#endif
