// The header that every CUDA kernel file includes: the algorithm interface, warp functions, calls
// by precision.
#ifndef KERNEL_H
#define KERNEL_H

#include "algos/algo.h"
#include "device/warp.cuh"

// Calls function<float>(...) or function<double>(...), by the precision of the task.
#define BY_PREC(t, function, ...)                                                                  \
    ((t)->prec == F32 ? function<float>(__VA_ARGS__) : function<double>(__VA_ARGS__))

// Sets *step to the bytes between rows of row-major D. Returns ERR_UNSUPPORTED if the value needs
// more than 32 bits.
static inline int row_step(const struct task *t, const struct dense_dev *D, uint32_t *step)
{
    const int64_t bytes = D->ld * (int64_t)in_bytes(t);
    *step = (uint32_t)bytes;
    if (bytes <= UINT32_MAX) return OK;
    return fail(ERR_UNSUPPORTED, "%s: a row of a dense matrix has more than 4 GB", t->entry->name);
}

// Allows the kernel all the shared memory per block that the device has.
template <typename K> static int allow_shared(const struct device *dev, K *kernel)
{
    int most;
    struct cudaFuncAttributes facts;
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, dev->index));
    CUDA_TRY(cudaFuncGetAttributes(&facts, kernel));
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  most - (int)facts.sharedSizeBytes));
    return OK;
}

#endif
