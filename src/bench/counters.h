// What one run of a case moved, as the hardware counts it. A program cannot profile itself: it
// starts itself again under ncu (Nsight Compute) with -profile, and reads what ncu prints. Times
// never come from there.
#ifndef COUNTERS_H
#define COUNTERS_H

#include "bench/case.h"

#include <limits.h>

// Of all kernels of one run; what copies and fills move is not in them.
struct counters {
    bool asked; // else nothing here is set
    bool known; // else `reason` says why not
    double memory_bytes, l2_bytes, l1_bytes;
    int64_t kernels;
    char tool[64]; // "ncu 2024.3.2.0", "" where there is none
    char reason[FAIL_TEXT_MAX];
};

// The tool, and how it is to be started again.
struct counter_tool {
    char path[4096];     // what starts ncu
    char self[PATH_MAX]; // and this program
    char name[64];
    char missing[FAIL_TEXT_MAX]; // why there can be no counters; "": nothing is known against them
    uint64_t seed;
    int threads;
    bool no_cache; // it is to read matrix files anew
};

// Whether devices of this kind can be looked at by ncu at all.
bool counters_possible(enum device_kind kind);
// Where the main device is of such a kind, looks for ncu: what the environment's NCU names, else on
// the PATH, else where CUDA is installed by default.
void counters_open(struct counter_tool *tool, enum device_kind kind, uint64_t seed, int threads);
// One run of the case, on the matrix of that path. Only Ctrl-C is an error.
int counters_measure(struct counter_tool *tool, const struct bench_case *c, const char *path,
                     struct counters *out);

// What ncu is asked for and has to tell of each kernel: bytes of memory, of the L2, of the L1s.
enum { METRIC_MEMORY, METRIC_L2, METRIC_L1, METRICS };
extern const char *const counter_metrics[METRICS];
// Sums up what ncu has printed with --csv --page raw, other lines between; `known` or `reason` is
// set.
void counters_read(const char *text, int status, struct counters *out);

#endif
