// Hardware counters of one run: bytes of memory, L2 and L1. The program starts itself again under
// ncu (Nsight Compute) with -profile and reads the output. Times never come from that run.
#ifndef COUNTERS_H
#define COUNTERS_H

#include "bench/case.h"

#include <limits.h>

// Sums over all kernels of a run, without copies and fills.
struct counters {
    bool asked; // false: no other field is set
    bool known; // false: `reason` has the reason
    double memory_bytes, l2_bytes, l1_bytes;
    int64_t kernels;
    char tool[64]; // "ncu 2024.3.2.0"; "": none
    char reason[FAIL_TEXT_MAX];
};

// The tool, and the arguments for starting this program under it.
struct counter_tool {
    char path[4096];     // path of ncu
    char self[PATH_MAX]; // path of this program
    char name[64];
    char missing[FAIL_TEXT_MAX]; // reason for no counters; "": none known
    uint64_t seed;
    int threads;
    bool no_cache; // read matrix files anew
};

// Returns true if ncu can profile devices of this kind.
bool counters_possible(enum device_kind kind);
// Looks for ncu if it can profile the main device: the path in the variable NCU, else on the PATH,
// else in the default folder of CUDA.
void counters_open(struct counter_tool *tool, enum device_kind kind, uint64_t seed, int threads);
// Runs the case once under ncu, on the matrix of this path. Only Ctrl-C is an error.
int counters_measure(struct counter_tool *tool, const struct bench_case *c, const char *path,
                     struct counters *out);

// Metrics of each kernel that ncu collects: bytes of memory, of the L2, of the L1s.
enum { METRIC_MEMORY, METRIC_L2, METRIC_L1, METRICS };
extern const char *const counter_metrics[METRICS];
// Sums up the output of ncu --csv --page raw, with other lines between. Sets `known` or `reason`.
void counters_read(const char *text, int status, struct counters *out);

#endif
