// Digests on a CUDA device. Called through device_ops.
#ifndef DIGEST_CUDA_H
#define DIGEST_CUDA_H

#include "device/device.h"

// Returns the bytes of device_parts, and of host_parts.
int64_t digest_cuda_bytes(const struct device *d);
// Sets *out, which must be zero.
int digest_cuda(struct device *d, const struct device_view *v, struct digest *device_parts,
                struct digest *host_parts, struct digest *out);
int spoil_cuda(struct device *d, const struct device_view *v, uint64_t seed);

#endif
