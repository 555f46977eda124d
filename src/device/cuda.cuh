// Kernel launches, their check, and the error macro. Every .cu file includes this header instead of
// cuda_runtime.h. In the emulator <cuda_runtime.h> is tests/emu/cuda_runtime.h, which defines
// LAUNCH, LAUNCH_EARLY, SHARED_DYNAMIC, RUN_BEGIN and RUN_END.
#ifndef SPBENCH_CUDA_H
#define SPBENCH_CUDA_H

#include <cuda_runtime.h>

#include "device/device.h"

// Launches a kernel. All launches use this macro, so that the emulator can run them. `kernel` is a
// single word: for a template, write `auto kernel = spmm_rows<float, 32>;` first.
#ifndef LAUNCH
#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                     \
    kernel<<<grid, block, shared_bytes, (cudaStream_t)(stream)>>>(__VA_ARGS__)
#endif

// Launches a kernel that may start before the previous kernel of the stream has ended (programmatic
// dependent launch). Only if can_launch_early(kernel). The kernel must call wait_for_previous()
// before it writes memory, and before it reads memory that a kernel may have written. The results
// of prepare() may be read before: callers wait for prepare(). start_next() lets the next kernel
// start. Arguments must have the types of the parameters. The emulator does not find a missing
// wait.
#ifndef LAUNCH_EARLY
#define LAUNCH_EARLY(kernel, grid, block, shared_bytes, stream, ...)                               \
    launch_early(kernel, grid, block, shared_bytes, (cudaStream_t)(stream), __VA_ARGS__)

template <typename... P>
static void launch_early(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes,
                         cudaStream_t stream, P... args)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, args...); // launch_check() returns the error
}

// Returns true if the kernel was compiled for sm_90 or later, which have griddepcontrol.
template <typename F> static bool can_launch_early(F *kernel)
{
    cudaFuncAttributes facts;
    return !cudaFuncGetAttributes(&facts, kernel) && facts.ptxVersion >= 90;
}
#endif

// LAUNCH_EARLY if `early`, else LAUNCH.
#define LAUNCH_EARLY_IF(early, ...)                                                                \
    do {                                                                                           \
        if (early) {                                                                               \
            LAUNCH_EARLY(__VA_ARGS__);                                                             \
        } else {                                                                                   \
            LAUNCH(__VA_ARGS__);                                                                   \
        }                                                                                          \
    } while (0)

// Lets the next kernel of the stream start, if its launch was LAUNCH_EARLY.
static __device__ __forceinline__ void start_next()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Waits until the previous kernel of the stream has ended and its writes are visible.
static __device__ __forceinline__ void wait_for_previous()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// wait_for_previous(), but after the load of x, which is never -1. Without the dependence on x the
// assembler moves the wait before loads that should overlap with the previous kernel.
static __device__ __forceinline__ void wait_for_previous_after(int32_t x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("{.reg .pred q; setp.ne.s32 q, %0, -1; @q griddepcontrol.wait;}" ::"r"(x)
                 : "memory");
#else
    (void)x;
#endif
}

// Waits `ns` nanoseconds of the device's clock, before any later access to memory. No wait in the
// emulator, which runs nothing else at that time.
static __device__ __forceinline__ void wait_ns(uint64_t ns)
{
#ifdef __CUDA_ARCH__
    uint64_t begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - begin < ns);
#else
    (void)ns;
#endif
}

// Declares T name[] in dynamic shared memory.
#ifndef SHARED_DYNAMIC
#define SHARED_DYNAMIC(T, name)                                                                    \
    extern __shared__ __align__(16) unsigned char shared_dynamic_bytes[];                          \
    T *name = reinterpret_cast<T *>(shared_dynamic_bytes)
#endif

// Mark the begin and the end of an algorithm's run(), in which the emulator forbids some calls.
#ifndef RUN_BEGIN
#define RUN_BEGIN(closed) ((void)(closed))
#define RUN_END()         ((void)0)
#endif

static inline int cuda_fail(cudaError_t e, const char *file, int line, const char *call)
{
    cudaGetLastError(); // clears the error, unless sticky
    return fail(e == cudaErrorMemoryAllocation ? ERR_MEMORY : ERR_DEVICE, "%s:%d: %s: %s", file,
                line, call, cudaGetErrorString(e));
}

// Returns ERR_DEVICE or ERR_MEMORY from the calling function if the call fails.
#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        cudaError_t cuda_try_error = (call);                                                       \
        if (cuda_try_error != cudaSuccess)                                                         \
            return cuda_fail(cuda_try_error, __FILE__, __LINE__, #call);                           \
    } while (0)

// Returns the error of the launches since the last check, with `name` in its text. Called at the
// end of each run(), and before each wait.
static inline int launch_check(const char *name)
{
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) return OK;
    return fail(e == cudaErrorMemoryAllocation ? ERR_MEMORY : ERR_DEVICE, "%s: launch: %s", name,
                cudaGetErrorString(e));
}

// Copies results of earlier launches to the host, and waits. Returns the error of an earlier
// launch, if any, without copying.
static inline int wait_for(struct device *d, const char *name, const void *from, void *to,
                           size_t bytes)
{
    const cudaStream_t stream = (cudaStream_t)d->stream;
    int err = launch_check(name);
    if (err) return err;
    CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    return OK;
}

#endif
