// Blocks of a CUDA device's memory with all their bits inverted; called through device_ops.
#ifndef FLIP_CUDA_H
#define FLIP_CUDA_H

#include "device/device.h"

int flip_cuda(struct device *d, const struct device_block *blocks, int count, bool late);

#endif
