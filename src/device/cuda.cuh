// What every .cu file includes instead of cuda_runtime.h: the launch macro and the error macro.
// Under the emulator <cuda_runtime.h> is tests/emu/cuda_runtime.h, which defines LAUNCH and
// SHARED_DYNAMIC itself.
#ifndef SPBENCH_CUDA_H
#define SPBENCH_CUDA_H

#include <cuda_runtime.h>

#include "base/base.h"

// Kernels are launched only through this, so that the emulator can run them. The kernel is one
// word; for a template write `auto kernel = spmm_rows<float, 32>;` first.
#ifndef LAUNCH
#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                     \
    kernel<<<grid, block, shared_bytes, (cudaStream_t)(stream)>>>(__VA_ARGS__)
#endif

// T name[] in dynamic shared memory.
#ifndef SHARED_DYNAMIC
#define SHARED_DYNAMIC(T, name)                                                                    \
    extern __shared__ __align__(16) unsigned char shared_dynamic_bytes[];                          \
    T *name = reinterpret_cast<T *>(shared_dynamic_bytes)
#endif

static inline int cuda_fail(cudaError_t e, const char *file, int line, const char *call)
{
    cudaGetLastError(); // clear it, unless it is sticky
    return fail(e == cudaErrorMemoryAllocation ? ERR_MEMORY : ERR_DEVICE, "%s:%d: %s: %s", file,
                line, call, cudaGetErrorString(e));
}

// Returns from the calling function with ERR_DEVICE (or ERR_MEMORY) if the call fails.
#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        cudaError_t cuda_try_error = (call);                                                       \
        if (cuda_try_error != cudaSuccess)                                                         \
            return cuda_fail(cuda_try_error, __FILE__, __LINE__, #call);                           \
    } while (0)

#endif
