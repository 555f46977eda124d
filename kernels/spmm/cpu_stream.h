// Whether rows of C are written past the caches. An ordinary store reads the line before it writes
// it; where C is too large to be found in a cache by whoever reads it next, that is for nothing:
// without it a matrix of short rows, most of whose traffic is C, takes a quarter less.
#ifndef CPU_STREAM_H
#define CPU_STREAM_H

#include "cpu.h"

#define CPU_STREAM_OPTION                                                                          \
    {                                                                                              \
        "stream", -1, -1, 1, true, "1: C is written past the caches; -1: where it is large"        \
    }

// Of the threads' part of the last cache: C is not alone there. The other processors' parts are
// no place for it even where these are idle: the larger such a cache is, the slower.
#define STREAM_PART 4

// What the option comes to for a task. Only whole lines are worth it.
static inline bool cpu_stream(struct task *t)
{
    const struct dense_dev *C = &t->C;
    const int64_t row = C->ld * (int64_t)prec_bytes(t->prec);
    const int option = (int)task_option(t, "stream");
    const bool whole = row % 64 == 0 && (uintptr_t)C->val % 64 == 0;
    const int64_t most = max64(t->dev->cache_least_bytes, t->dev->cache_part_bytes / STREAM_PART);
    const bool large = C->rows > most / max64(1, row);
    const bool stream = whole && (option < 0 ? large : option);
    task_number(t, "streamed", stream); // what the option came to
    return stream;
}

#endif
