// Asynchronous copies from global to shared memory (cp.async), which bypass the registers.
#ifndef COPY_H
#define COPY_H

#include "device/warp.cuh"

// Begins to copy BYTES = 4, 8 or 16 bytes to shared memory; `zeros`: writes zeros instead. Both
// addresses are multiples of BYTES.
template <int BYTES>
static __device__ __forceinline__ void copy_begin(void *to, const void *from, bool zeros = false)
{
#ifdef __CUDA_ARCH__
    const uint32_t there = (uint32_t)__cvta_generic_to_shared(to);
    if (BYTES == 16) // bypasses the L1
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(there), "l"(from),
                     "r"(zeros ? 0 : 16)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(there), "l"(from),
                     "n"(BYTES), "r"(zeros ? 0 : BYTES)
                     : "memory");
#else
    if (zeros)
        memset(to, 0, BYTES);
    else
        memcpy(to, from, BYTES);
#endif
}

// Waits for the copies of this thread. A barrier is needed to see the copies of other threads.
static __device__ __forceinline__ void copies_wait()
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#endif
