// How much memory this process can still have: the least of what the machine has free, what its
// control groups (both versions) leave it, and what is left of its own limits (ulimit -v, -d).
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include "base/base.h"

struct memory_limit {
    int64_t bytes;
    const char *limit; // what bounds it, for messages: "control group"; NULL: the machine
};

// `promised`: bytes that the process has asked for and may not have touched yet. The system gives
// memory when it is touched, so they still look free; they are taken off.
struct memory_limit memory_limit_find(int64_t promised);
// The process is not to have more than so many bytes of its own, by its option -mem-limit; 0: as much
// as there is.
void memory_limit_set(int64_t bytes);
// For tests: /proc and /sys are looked for in this folder; "" switches that off.
void memory_limit_root(const char *folder);

#endif
