// Shares of rows with about the same work, and their distribution over threads. Each thread has a
// range of neighbouring shares. The ranges are the same in every run, so that a thread's own cache
// holds its operands of the last run. A thread whose range is empty takes shares of the other
// ranges. Time saved by ranges, against shares taken in turn: 4 to 6 % on a Xeon (33 matrices), 5
// to 6 % on an EPYC (12 matrices).
#ifndef CPU_SHARES_H
#define CPU_SHARES_H

#include "cpu.h"

#include <omp.h>

#define CPU_SHARE_OPTION                                                                           \
    {                                                                                              \
        "share", 4096, 1, 1 << 30, true,                                                           \
            "rows and nonzeros that a thread takes at a time, at most"                             \
    }

// Returns the rows and nonzeros of a share: the option `share`, or fewer so that every thread gets
// some.
static inline int64_t share_steps(const struct task *t)
{
    const int64_t most = (t->A[0]->m + t->A[0]->nnz) / (8 * omp_get_max_threads());
    return max64(1, min64((int64_t)task_option(t, "share"), most));
}

// Returns the first row that begins at step x or later. Row i begins at step i + ptr[i].
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

struct share_range {
    int64_t next, end; // shares next .. end - 1 are not taken yet
    char padding[112]; // a cache line of its own
};

struct shares {
    struct share_range *ranges; // size count
    int count;
    int64_t total;
    int threads; // threads that pay: 1 or count
};

// Bytes that a product touches, at least, if it is computed by more than one thread. Threads start
// in 2 us if they spin, and in 10 us if they sleep. One thread touches SHARED_BYTES in 5 to 8 us.
#define SHARED_BYTES (1 << 20)

// Returns the number of threads for a product with `cols` columns: 1 if it is small.
static inline int share_threads(const struct task *t, int64_t cols)
{
    const struct sparse *A = t->A[0];
    const double row = (double)cols * (double)in_bytes(t), line = 64;
    const double bytes = (double)A->nnz * (line + row) + ((double)A->m + (double)A->n) * row;
    return bytes < SHARED_BYTES ? 1 : omp_get_max_threads();
}

// Allocates the ranges. `cols`: columns that are computed at a time. The caller frees the ranges
// with device_free(t->dev, s->ranges).
static inline int shares_make(struct task *t, int64_t total, int64_t cols, struct shares *s)
{
    s->count = omp_get_max_threads();
    s->total = total;
    s->threads = share_threads(t, cols);
    return device_alloc(t->dev, s->count, sizeof *s->ranges, (void **)&s->ranges);
}

// Fills the ranges. The caller calls this function before the threads begin.
static inline void shares_reset(struct shares *s)
{
    for (int r = 0; r < s->count; r++) {
        s->ranges[r].next = s->total * r / s->count;
        s->ranges[r].end = s->total * (r + 1) / s->count;
    }
}

// Returns the next share of this thread, or -1 if none is left. *empty is 0 at the first call: the
// number of ranges that the thread found empty, beginning with its own range.
static inline int64_t shares_take(struct shares *s, int *empty)
{
    for (; *empty < s->count; ++*empty) {
        struct share_range *r = &s->ranges[(omp_get_thread_num() + *empty) % s->count];
        int64_t x;
#pragma omp atomic read
        x = r->next;
        if (x >= r->end) continue; // no write, so the line stays in all caches
#pragma omp atomic capture
        x = r->next++;
        if (x < r->end) return x;
    }
    return -1;
}

#endif
