// The header that every CUDA kernel file includes: the algorithm interface, warp functions, calls
// by precision.
#ifndef KERNEL_H
#define KERNEL_H

#include "algos/algo.h"
#include "device/warp.cuh"

// Calls function<float>(...) or function<double>(...), by the precision of the task, f32 or f64.
// Another precision is a bug().
#define BY_PREC(t, function, ...)                                                                  \
    (prec_is_f32((t)->prec) ? function<float>(__VA_ARGS__) : function<double>(__VA_ARGS__))

// Calls function<T>(...) with the type of the inputs: float, double, f16 or bf16. Another type is a
// bug().
#define BY_TYPE(t, function, ...)                                                                  \
    (prec_in((t)->prec) == F16    ? function<f16>(__VA_ARGS__)                                     \
     : prec_in((t)->prec) == BF16 ? function<bf16>(__VA_ARGS__)                                    \
                                  : BY_PREC(t, function, __VA_ARGS__))

// Returns true if the result has fewer bits than the sums.
static inline bool result_is_narrow(const struct task *t)
{
    return prec_out(t->prec) != prec_sum(t->prec);
}

// Sets *step to the bytes between rows of row-major D. Returns ERR_UNSUPPORTED if the value needs
// more than 32 bits.
static inline int row_step(const struct task *t, const struct dense_dev *D, uint32_t *step)
{
    const int64_t bytes = D->ld * (D == &t->C ? out_bytes(t) : in_bytes(t));
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
