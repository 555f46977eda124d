// Shares of rows with about the same work, for threads that take another one as they get free.
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

#endif
