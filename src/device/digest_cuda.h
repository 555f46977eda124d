// Digests on a CUDA device; called through device_ops.
#ifndef DIGEST_CUDA_H
#define DIGEST_CUDA_H

#include "device/device.h"

// Bytes of the two rooms for parts that a digest needs, one on the device and one on the host.
int64_t digest_cuda_bytes(const struct device *d);
// Adds to *out, which is zero.
int digest_cuda(struct device *d, const struct device_view *v, struct digest *device_parts,
                struct digest *host_parts, struct digest *out);
int spoil_cuda(struct device *d, const struct device_view *v, uint64_t seed);

#endif
