// Finds algorithms of a vendor's library that are probably one kernel: both have equal times and
// results with equal bits. cuSPARSE 12.9.4 has one kernel for CSR_ALG1 to CSR_ALG3 if C has 16
// bits.
#ifndef SAME_KERNEL_H
#define SAME_KERNEL_H

#include "bench/bench.h"

// Cases of vendors' libraries with the same inputs.
struct same_kernel {
    struct same_kernel_case *list; // size count, room for `room`
    int count, room;
};
// Returns the first algorithm of the same library with an equal time and equal bits. NULL: there is
// none, or `r` has no valid time. Keeps the case in *s unless memory is lacking.
const char *same_kernel_find(struct same_kernel *s, const struct result *r);
void same_kernel_free(struct same_kernel *s);

#endif
