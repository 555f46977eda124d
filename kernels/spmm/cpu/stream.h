// Streaming stores of C: the rule for their use. An ordinary store reads a line of C before the
// line is written. The read is wasted if C is too large for a later reader to find in a cache.
// Streaming stores save a quarter of the time on short rows, whose traffic is mostly C.
#ifndef CPU_STREAM_H
#define CPU_STREAM_H

#include "cpu.h"

#define CPU_STREAM_OPTION                                                                          \
    {                                                                                              \
        "stream", -1, -1, 1, true, "1: C is written past the caches; -1: where it is large"        \
    }

// C streams if C is larger than a quarter of the threads' part of the last cache. The parts of idle
// processors do not count: the larger a common cache is, the slower. Xeon, 300 MB of last cache,
// two threads: a bound of 9 MB in place of 75 saves 10 % at k = 128 and in f64, 2 % at k = 32. A
// bound of 0 saves no more.
#define STREAM_PART 4

// Returns true if the task uses streaming stores: C is large or the option asks for them, and each
// row of C, or column if C is column-major, is whole cache lines.
static inline bool cpu_stream(struct task *t)
{
    const struct dense_dev *C = &t->C;
    const int64_t line = C->ld * out_bytes(t);
    const int64_t lines = C->layout == LAYOUT_ROW ? C->rows : C->cols;
    const int option = (int)task_option(t, "stream");
    const bool whole = line % 64 == 0 && (uintptr_t)C->val % 64 == 0;
    const int64_t most = max64(t->dev->cache_least_bytes, t->dev->cache_part_bytes / STREAM_PART);
    const bool large = lines > most / max64(1, line);
    const bool stream = whole && (option < 0 ? large : option);
    task_number(t, "streamed", stream);
    return stream;
}

#endif
