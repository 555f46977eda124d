// The check of a sparse product on a CUDA device; called through device_ops.
#ifndef PRODUCT_CUDA_H
#define PRODUCT_CUDA_H

#include "device/product.h"

int check_product_cuda(struct device *d, const struct product *p,
                       const struct product_segment *segments, int64_t count,
                       struct product_part *parts);

#endif
