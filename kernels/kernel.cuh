// What every kernel file for CUDA begins with.
#ifndef KERNEL_H
#define KERNEL_H

#include "algos/algo.h"
#include "device/warp.cuh"

// function<float>(...) or function<double>(...), by the precision of the task.
#define BY_PREC(t, function, ...)                                                                  \
    ((t)->prec == F32 ? function<float>(__VA_ARGS__) : function<double>(__VA_ARGS__))

#endif
