// How much memory this process can still have: the least of what the machine has free, what its
// control groups (both versions) leave it, and what is left of its own limits (ulimit -v, -d).
#ifndef ROOM_H
#define ROOM_H

#include "base/base.h"

struct room {
    int64_t bytes;
    const char *limit; // what bounds it, for messages: "control group"; NULL: the machine
};

// `promised`: bytes that the process has asked for and may not have touched yet. The system gives
// memory when it is touched, so they still look free; they are taken off.
struct room room_find(int64_t promised);
// The process is not to have more than so many bytes of its own, by its option -mem-limit; 0: as much
// as there is.
void room_limit(int64_t bytes);
// For tests: /proc and /sys are looked for in this folder; "" switches that off.
void room_root(const char *folder);

#endif
