// Inverting the bits of blocks in the memory of a CUDA device. Called through device_ops.
#ifndef FLIP_CUDA_H
#define FLIP_CUDA_H

#include "device/device.h"

int flip_cuda(struct device *d, const struct device_block *blocks, int count, bool late);

#endif
