// The free memory of this process: the least of the free memory of the machine, of the control
// groups (both versions) and of the limits of the process (ulimit -v, -d, -mem-limit).
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include "base/base.h"

struct memory_limit {
    int64_t bytes;
    const char *limit; // name of the tightest limit: "control group"; NULL: the machine
};

// Returns the free memory. `promised`: bytes that the process has allocated. Linux counts memory as
// used when the process first touches it, so untouched bytes are subtracted here.
struct memory_limit memory_limit_find(int64_t promised);
// Sets the limit of the option -mem-limit; 0: no limit.
void memory_limit_set(int64_t bytes);
// For tests: reads the files of /proc and /sys below `folder`; "": those of the system.
void memory_limit_root(const char *folder);

#endif
