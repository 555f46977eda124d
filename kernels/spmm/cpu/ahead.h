// Prefetch distance of rows of B, in nonzeros. The columns of A decide. A prefetch costs as much as
// a load. Prefetches add up to a half to the time if rows are in a cache, or if the processor's own
// prefetcher loads them. Prefetches save up to a third if rows come from memory.
//
// Rows of a small B are never prefetched, see AHEAD_PART. Xeon, 300 MB of last cache: prefetches
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
    AHEAD_NONZEROS = 32, // prefetch distance
    AHEAD_SAMPLES = 8,   // samples of neighbouring columns
    AHEAD_LINE = 64,     // bytes of a cache line
    AHEAD_NEAR = 64,     // rows after which the processor's prefetcher has lost a sequence
    AHEAD_PART = 4,      // a B under 1/AHEAD_PART of the last cache is never prefetched
};
#define AHEAD_FROM 0.1 // least miss rate for which prefetches pay

// Model of a cache that holds `capacity` rows of B and evicts the oldest row.
struct ahead_cache {
    int64_t *filled; // number of the fill that brought row j, 0: none; size n
    int64_t fills, capacity;
};

// Returns true if row j is not in the cache and row j - 1 is not among the last AHEAD_NEAR rows
// that came in: the processor does not prefetch row j. Puts row j into the cache.
static inline bool ahead_is_missed(struct ahead_cache *c, int32_t j)
{
    if (c->filled[j] && c->fills - c->filled[j] < c->capacity) return false;
    c->filled[j] = ++c->fills;
    const int64_t before = j ? c->filled[j - 1] : 0;
    return !before || c->fills - before > AHEAD_NEAR;
}

// Sets *rate to the miss rate of the columns `idx`, measured on samples. Negative columns are
// padding. The first half of each sample fills the cache and does not count.
static inline int ahead_miss_rate(const int32_t *idx, int64_t count, int32_t n, int64_t capacity,
                                  double *rate)
{
    const int64_t length = min64(count, 8 * capacity);
    const int64_t samples = max64(1, min64(AHEAD_SAMPLES, count / max64(1, length)));
    int64_t seen = 0, misses = 0;
    struct ahead_cache c = {.capacity = capacity, .filled = mem_zero_alloc(n, sizeof *c.filled)};
    if (!c.filled) return ERR_MEMORY;
    for (int64_t s = 0; s < samples; s++) {
        const int32_t *at = idx + (samples == 1 ? 0 : (count - length) / (samples - 1) * s);
        for (int64_t p = 0; p < length; p++) {
            if (at[p] < 0) continue;
            const bool missed = ahead_is_missed(&c, at[p]);
            seen += p >= length / 2;
            misses += p >= length / 2 && missed;
        }
    }
    mem_free(c.filled);
    *rate = seen ? (double)misses / (double)seen : 0;
    return OK;
}

// Sets *ahead to the option `prefetch`. If the option is -1, the columns `idx` of A decide, in the
// order in which the kernel reads them. `cols`: columns of B that the kernel reads together.
static inline int cpu_ahead(struct task *t, const int32_t *idx, int64_t count, int64_t cols,
                            int64_t *ahead)
{
    *ahead = (int64_t)task_option(t, "prefetch");
    if (*ahead >= 0) return OK;
    const struct dense_dev *B = &t->in[0];
    const int64_t row = max64(cols * in_bytes(t), AHEAD_LINE);
    const int64_t capacity = max64(1, t->dev->cache_least_bytes / max64(1, t->dev->units) / row);
    double rate = 0;
    int err = OK;
    if (B->rows > t->dev->cache_block_bytes / AHEAD_PART / row)
        err = ahead_miss_rate(idx, count, (int32_t)B->rows, capacity, &rate);
    *ahead = rate >= AHEAD_FROM ? AHEAD_NONZEROS : 0;
    task_number(t, "fetched_ahead", (double)*ahead);
    return err;
}

#endif
