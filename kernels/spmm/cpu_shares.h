// Shares of rows with about the same work. Each thread has a hand of neighbouring shares. The hands
// are the same in every run, so that a thread's own cache holds its operands of the last run. A
// thread whose hand is empty takes shares of the other hands. Against shares in turn, hands save 4
// to 6 % of the time on a Xeon (33 matrices) and 5 to 6 % on an EPYC (12 matrices).
#ifndef CPU_SHARES_H
#define CPU_SHARES_H

#include "cpu.h"

#include <omp.h>

#define CPU_SHARE_OPTION                                                                           \
    {                                                                                              \
        "share", 4096, 1, 1 << 30, true,                                                           \
            "rows and nonzeros that a thread takes at a time, at most"                             \
    }

// Rows and nonzeros of a share. Fewer where there are few in all, so that every thread gets some.
static inline int64_t share_steps(const struct task *t)
{
    const int64_t most = (t->A[0]->m + t->A[0]->nnz) / (8 * omp_get_max_threads());
    return max64(1, min64((int64_t)task_option(t, "share"), most));
}

// The first row that begins at step x or later, where row i begins at step i + ptr[i].
static inline int64_t row_at(const int64_t *ptr, int64_t m, int64_t x)
{
    int64_t low = 0, high = m;
    while (low < high) {
        const int64_t i = low + (high - low) / 2;
        if (i + ptr[i] < x) {
            low = i + 1;
        } else {
            high = i;
        }
    }
    return low;
}

struct hand {
    int64_t next, end; // its shares that nobody has taken are next .. end - 1
    char apart[112];   // from what other threads write
};

struct deal {
    struct hand *hands; // size count
    int count;
    int64_t shares;
};

// To be freed with device_free(t->dev, d->hands).
static inline int deal_make(struct task *t, int64_t shares, struct deal *d)
{
    d->count = omp_get_max_threads();
    d->shares = shares;
    return device_alloc(t->dev, d->count, sizeof *d->hands, (void **)&d->hands);
}

// Before the threads begin.
static inline void deal_start(struct deal *d)
{
    for (int h = 0; h < d->count; h++) {
        d->hands[h].next = d->shares * h / d->count;
        d->hands[h].end = d->shares * (h + 1) / d->count;
    }
}

// The next share of this thread, -1: there is none left. *empty, 0 at first: how many hands it has
// found empty, beginning with its own.
static inline int64_t deal_take(struct deal *d, int *empty)
{
    for (; *empty < d->count; ++*empty) {
        struct hand *h = &d->hands[(omp_get_thread_num() + *empty) % d->count];
        int64_t x;
#pragma omp atomic read
        x = h->next;
        if (x >= h->end) continue; // not written, so all threads may keep a copy of it
#pragma omp atomic capture
        x = h->next++;
        if (x < h->end) return x;
    }
    return -1;
}

#endif
