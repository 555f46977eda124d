// How each backend measures its ceilings; called through device_ops.measure_roof.
#ifndef ROOF_H
#define ROOF_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// `cache_block` is the size of the last-level cache that one thread sees.
int roof_measure_cpu(int64_t cache_block, struct roof *roof);
int roof_measure_cuda(struct device *d, struct roof *roof);

// Starts a read of the whole block on d->stream, `rounds` times over.
int roof_cuda_read(struct device *d, const void *block, int64_t bytes, int rounds);

// The middle of n numbers, which are sorted in place.
static inline double roof_median(double *x, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && x[j] < x[j - 1]; j--) {
            double swap = x[j];
            x[j] = x[j - 1];
            x[j - 1] = swap;
        }
    return x[n / 2];
}

#ifdef __cplusplus
}
#endif
#endif
