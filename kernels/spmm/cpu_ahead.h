// The distance, in nonzeros, at which rows of B are fetched ahead of their use, by the columns of
// A. A fetch costs as much as a load. Fetches add up to a half to the time if rows are in a cache,
// or if the processor foresees them. Fetches save up to a third if rows come from memory.
//
// Rows of a small B are never fetched ahead, see AHEAD_PART. Xeon, 300 MB of last cache: fetches
// cost 5 to 25 % if B is in that cache, and save 10 % on USA-road-d.NY, whose B has 135 MB. With a
// fixed bound of 8 MB rmat:15:16 takes 1.28 of MKL's time, with AHEAD_PART 0.97.
#ifndef CPU_AHEAD_H
#define CPU_AHEAD_H

#include "cpu.h"

#define CPU_AHEAD_OPTION                                                                           \
    {                                                                                              \
        "prefetch", -1, -1, 1024, true,                                                            \
            "nonzeros that rows of B are fetched ahead of their use; -1: by the columns of A"      \
    }

enum {
    AHEAD_NONZEROS = 32, // how far, where it pays
    AHEAD_PIECES = 8,    // of the sample
    AHEAD_LINE = 64,     // bytes of a cache line
    AHEAD_NEAR = 64,     // rows that came in last: the processor is still in step with them
    AHEAD_PART = 4,      // of the last cache that a core reaches: a smaller B is found there
};
#define AHEAD_FROM 0.1 // it pays from this share of surprises on

// A model of a cache: it has room for some rows of B and drops the rows that it has had for
// longest.
struct ahead_cache {
    int64_t *filled; // the fill that brought row j, 0: none yet; size n
    int64_t fills, room;
};

// Returns true if row j is not in the cache and row j - 1 is not among the last AHEAD_NEAR rows
// that came in: the processor does not foresee row j. Puts row j into the cache.
static inline bool ahead_surprise(struct ahead_cache *c, int32_t j)
{
    if (c->filled[j] && c->fills - c->filled[j] < c->room) return false;
    c->filled[j] = ++c->fills;
    const int64_t before = j ? c->filled[j - 1] : 0;
    return !before || c->fills - before > AHEAD_NEAR;
}

// The share of surprises among the columns `idx`, by a sample of them; negative ones are padding.
// The first half of each piece fills the cache and does not count.
static inline int ahead_share(const int32_t *idx, int64_t count, int32_t n, int64_t room,
                              double *share)
{
    const int64_t piece = min64(count, 8 * room);
    const int64_t pieces = max64(1, min64(AHEAD_PIECES, count / max64(1, piece)));
    int64_t seen = 0, surprises = 0;
    struct ahead_cache c = {.room = room, .filled = mem_zero_alloc(n, sizeof *c.filled)};
    if (!c.filled) return ERR_MEMORY;
    for (int64_t s = 0; s < pieces; s++) {
        const int32_t *at = idx + (pieces == 1 ? 0 : (count - piece) / (pieces - 1) * s);
        for (int64_t p = 0; p < piece; p++) {
            if (at[p] < 0) continue;
            const bool surprise = ahead_surprise(&c, at[p]);
            seen += p >= piece / 2;
            surprises += p >= piece / 2 && surprise;
        }
    }
    mem_free(c.filled);
    *share = seen ? (double)surprises / (double)seen : 0;
    return OK;
}

// Sets *ahead to the option `prefetch`. If the option is -1, the columns `idx` of A decide, in the
// order in which the kernel takes them.
static inline int cpu_ahead(struct task *t, const int32_t *idx, int64_t count, int64_t *ahead)
{
    *ahead = (int64_t)task_option(t, "prefetch");
    if (*ahead >= 0) return OK;
    const struct dense_dev *B = &t->in[0];
    const int64_t row = max64(B->cols * (int64_t)prec_bytes(t->prec), AHEAD_LINE);
    const int64_t room = max64(1, t->dev->cache_least_bytes / max64(1, t->dev->units) / row);
    double share = 0;
    int err = OK;
    if (B->rows > t->dev->cache_block_bytes / AHEAD_PART / row)
        err = ahead_share(idx, count, (int32_t)B->rows, room, &share);
    *ahead = share >= AHEAD_FROM ? AHEAD_NONZEROS : 0;
    task_number(t, "fetched_ahead", (double)*ahead); // what -1 of the option came to
    return err;
}

#endif
