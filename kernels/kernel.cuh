// What kernels share: warp helpers, a search in row starts, the check after a launch. Compiles the
// same under nvcc and under the emulator of tests/emu.
//
// Kernels and their device helpers are `static`, like everything else that no other file calls;
// under the emulator AddressSanitizer watches the __shared__ arrays of static templates only.
#ifndef KERNEL_H
#define KERNEL_H

#include "algos/algo.h"
#include "device/cuda.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "the kernels need sm_80 or later"
#endif

#define WARP      32
#define FULL_MASK 0xffffffffu

static __host__ __device__ __forceinline__ int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

// Place of this thread in its warp; blockDim.x is a multiple of WARP, or the block has one row.
static __device__ __forceinline__ int lane_id() { return (int)(threadIdx.x % WARP); }

// Hides from the compiler where x comes from. Done to the row step of a matrix right before
// `row * step` in 64 bits, it keeps that one multiply-add of 32 by 32 bits: what the compiler knows
// to be 32 bits wide it forgets from one basic block to the next, and multiplies 64 by 64.
static __device__ __forceinline__ void opaque(uint32_t &x) { asm volatile("" : "+r"(x)); }

// The value that lane `from` of the warp holds. All 32 lanes take part.
template <typename T> static __device__ __forceinline__ T warp_broadcast(T x, int from)
{
    return __shfl_sync(FULL_MASK, x, from);
}

// The sum over the warp, the same in every lane. All 32 lanes take part.
template <typename T> static __device__ __forceinline__ T warp_sum(T x)
{
    for (int step = WARP / 2; step > 0; step /= 2) x += __shfl_xor_sync(FULL_MASK, x, step);
    return x;
}

// Adds to a counter and returns what it was; what this warp wrote before is visible to whoever sees
// the sum and calls __threadfence(). Cheaper than __threadfence() and atomicAdd(): L1 stays valid.
static __device__ __forceinline__ int32_t atomic_add_release(int32_t *p, int32_t x)
{
#ifdef __CUDA_ARCH__
    int32_t old;
    asm volatile("atom.add.release.gpu.global.s32 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(p), "r"(x)
                 : "memory");
    return old;
#else
    return atomicAdd(p, x);
#endif
}

// How many of the ascending a[0..count) are <= x, which is the place of the first greater one. The
// row that holds nonzero p is upper_bound(ptr, m + 1, p) - 1, also among empty rows.
static __device__ __forceinline__ int32_t upper_bound(const int32_t *__restrict__ a, int32_t count,
                                                      int32_t x)
{
    int32_t low = 0;
    while (count > 0) {
        int32_t half = count / 2;
        if (a[low + half] <= x) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

// Ends a run(): whether the launches since the last check were accepted.
static inline int launch_check(const char *name)
{
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) return OK;
    return fail(e == cudaErrorMemoryAllocation ? ERR_MEMORY : ERR_DEVICE, "%s: launch: %s", name,
                cudaGetErrorString(e));
}

// Copies what the launches before this have computed into page-locked memory, and waits for it. A
// launch that was refused is told first: then what is there is not what it should be.
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
