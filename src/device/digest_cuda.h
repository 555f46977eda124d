// Digests and spots on a CUDA device. Called through device_ops.
#ifndef DIGEST_CUDA_H
#define DIGEST_CUDA_H

#include "device/device.h"

// Returns the bytes of device_parts, and of host_parts.
int64_t digest_cuda_bytes(const struct device *d);
// Adds the digest to *bits.
int digest_cuda(struct device *d, const struct device_view *v, uint64_t *device_parts,
                uint64_t *host_parts, uint64_t *bits);
int spoil_cuda(struct device *d, const struct device_view *v, uint64_t seed);
int fetch_cuda(struct device *d, const struct device_view *v, uint64_t seed, void *device_parts,
               void *to);

#endif
