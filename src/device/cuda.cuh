// What every .cu file includes instead of cuda_runtime.h: launches, their check, and the error
// macro. Under the emulator <cuda_runtime.h> is tests/emu/cuda_runtime.h, which defines LAUNCH,
// LAUNCH_EARLY, SHARED_DYNAMIC, RUN_BEGIN and RUN_END itself.
#ifndef SPBENCH_CUDA_H
#define SPBENCH_CUDA_H

#include <cuda_runtime.h>

#include "device/device.h"

// Kernels are launched only through this, so that the emulator can run them. The kernel is one
// word; for a template write `auto kernel = spmm_rows<float, 32>;` first.
#ifndef LAUNCH
#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                     \
    kernel<<<grid, block, shared_bytes, (cudaStream_t)(stream)>>>(__VA_ARGS__)
#endif

// The same, and the kernel may start before the one ahead of it in the stream has ended. It calls
// wait_for_previous() before it reads what a kernel may have written and before it writes, and
// start_next() to let the one behind it start. Callers wait for prepare() before the first run, so
// what that has made may be read before the wait. Only where can_launch_early(kernel). Arguments
// are of the very types of the parameters. The emulator does not find a wait that is missing.
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
    cudaLaunchKernelEx(&config, kernel, args...); // launch_check() tells what it says
}

// Whether the code of this kernel is for such a device: then it waits.
template <typename F> static bool can_launch_early(F *kernel)
{
    cudaFuncAttributes facts;
    return !cudaFuncGetAttributes(&facts, kernel) && facts.ptxVersion >= 90;
}
#endif

// One or the other.
#define LAUNCH_EARLY_IF(early, ...)                                                                \
    do {                                                                                           \
        if (early) {                                                                               \
            LAUNCH_EARLY(__VA_ARGS__);                                                             \
        } else {                                                                                   \
            LAUNCH(__VA_ARGS__);                                                                   \
        }                                                                                          \
    } while (0)

// From here on the next kernel of the stream may start, if it was launched by LAUNCH_EARLY.
static __device__ __forceinline__ void start_next()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Until the kernel ahead has ended, and what it wrote is visible.
static __device__ __forceinline__ void wait_for_previous()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The same, but not before x, which is never -1, has been loaded: the assembler would put the wait
// ahead of loads that are there to be done meanwhile.
static __device__ __forceinline__ void wait_for_previous_after(int32_t x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("{.reg .pred q; setp.ne.s32 q, %0, -1; @q griddepcontrol.wait;}" ::"r"(x)
                 : "memory");
#else
    (void)x;
#endif
}

// So long by the device's clock, and no access to memory before it is over. The emulator does not
// wait: there nothing else runs meanwhile.
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

// T name[] in dynamic shared memory.
#ifndef SHARED_DYNAMIC
#define SHARED_DYNAMIC(T, name)                                                                    \
    extern __shared__ __align__(16) unsigned char shared_dynamic_bytes[];                          \
    T *name = reinterpret_cast<T *>(shared_dynamic_bytes)
#endif

// Around the run() of an algorithm: the emulator then knows what it may not do.
#ifndef RUN_BEGIN
#define RUN_BEGIN(closed) ((void)(closed))
#define RUN_END()         ((void)0)
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

// Whether the launches since the last check were accepted; `name` is whose they are. It ends each
// run(), and goes before everything that waits.
static inline int launch_check(const char *name)
{
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) return OK;
    return fail(e == cudaErrorMemoryAllocation ? ERR_MEMORY : ERR_DEVICE, "%s: launch: %s", name,
                cudaGetErrorString(e));
}

// Copies what the launches before this have computed, and waits for it. A launch that was refused
// is told first: then what is there is not what it should be.
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
