// Loads and stores of data that is used once, which leave the caches to other data.
#ifndef ONCE_H
#define ONCE_H

#include "device/cuda.cuh"

// Loads past the L1, and normally from the L2.
template <typename X> static __device__ __forceinline__ X load_once(const X *p)
{
    static_assert(sizeof(X) == 4 || sizeof(X) == 8 || sizeof(X) == 16, "one load");
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(X) == 4) {
        uint32_t x;
        asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(x) : "l"(p));
        return *(X *)&x;
    } else if constexpr (sizeof(X) == 8) {
        uint64_t x;
        asm volatile("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(x) : "l"(p));
        return *(X *)&x;
    } else {
        uint4 x;
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                     : "l"(p));
        return *(X *)&x;
    }
#else
    return *p;
#endif
}

// Stores past the L1, evicted from the L2 first.
template <typename X> static __device__ __forceinline__ void store_once(X *p, const X &x)
{
#ifdef __CUDA_ARCH__
    if (sizeof(X) == 16)
        __stcs((float4 *)p, *(const float4 *)&x);
    else if (sizeof(X) == 8)
        __stcs((float2 *)p, *(const float2 *)&x);
    else
        __stcs((float *)p, *(const float *)&x);
#else
    *p = x;
#endif
}

#endif
