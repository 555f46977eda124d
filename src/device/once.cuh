// Loads and stores of data that is used once, which leave the caches to other data.
#ifndef ONCE_H
#define ONCE_H

#include "device/half.cuh"

// Sets the uint4 x to the 16 bytes at p. HINT: how the L1 treats their line.
#define LOAD_16(x, p, HINT)                                                                        \
    asm volatile("ld.global.nc.L1::" HINT ".v4.u32 {%0, %1, %2, %3}, [%4];"                        \
                 : "=r"((x).x), "=r"((x).y), "=r"((x).z), "=r"((x).w)                              \
                 : "l"(p))

// Loads past the L1, and normally from the L2.
template <typename X> static __device__ __forceinline__ X load_once(const X *p)
{
    static_assert(sizeof(X) == 2 || sizeof(X) == 4 || sizeof(X) == 8 || sizeof(X) == 16,
                  "one load");
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(X) == 2) {
        uint16_t x;
        asm volatile("ld.global.nc.L1::no_allocate.b16 %0, [%1];" : "=h"(x) : "l"(p));
        return *(X *)&x;
    } else if constexpr (sizeof(X) == 4) {
        uint32_t x;
        asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(x) : "l"(p));
        return *(X *)&x;
    } else if constexpr (sizeof(X) == 8) {
        uint64_t x;
        asm volatile("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(x) : "l"(p));
        return *(X *)&x;
    } else {
        uint4 x;
        LOAD_16(x, p, "no_allocate");
        return *(X *)&x;
    }
#else
    return *p;
#endif
}

// Loads 8 or 16 bytes. L1 keeps their line for a short time, for the next load from the same line.
template <typename X> static __device__ __forceinline__ X load_brief(const X *p)
{
    static_assert(sizeof(X) == 8 || sizeof(X) == 16, "one load");
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(X) == 8) {
        uint64_t x;
        asm volatile("ld.global.nc.L1::evict_first.b64 %0, [%1];" : "=l"(x) : "l"(p));
        return *(X *)&x;
    } else {
        uint4 x;
        LOAD_16(x, p, "evict_first");
        return *(X *)&x;
    }
#else
    return *p;
#endif
}

// Stores past the L1, evicted from the L2 first.
template <typename X> static __device__ __forceinline__ void store_once(X *p, const X &x)
{
    static_assert(sizeof(X) == 2 || sizeof(X) == 4 || sizeof(X) == 8 || sizeof(X) == 16,
                  "one store");
#ifdef __CUDA_ARCH__
    if (sizeof(X) == 16)
        __stcs((float4 *)p, *(const float4 *)&x);
    else if (sizeof(X) == 8)
        __stcs((float2 *)p, *(const float2 *)&x);
    else if (sizeof(X) == 4)
        __stcs((float *)p, *(const float *)&x);
    else
        __stcs((unsigned short *)p, *(const unsigned short *)&x);
#else
    *p = x;
#endif
}

// Stores sums at element `at` of a result. The result has the type of the values if `is_narrow`,
// else the type of the sums. ONCE: by store_once().
template <typename T, int VEC, bool ONCE = false>
static __device__ __forceinline__ void store_result(void *C, int64_t at, bool is_narrow,
                                                    const pack<sum_type<T>, VEC> &sum)
{
    if (sizeof(T) < sizeof(sum_type<T>) && is_narrow) {
        pack<T, VEC> y;
#pragma unroll
        for (int i = 0; i < VEC; i++) narrow(y.x[i], sum.x[i]);
        if constexpr (ONCE)
            store_once((pack<T, VEC> *)((T *)C + at), y);
        else
            store_pack((pack<T, VEC> *)((T *)C + at), y);
    } else {
        const int EACH = sizeof sum > 16 ? VEC / 2 : VEC;
#pragma unroll
        for (int i = 0; i < VEC; i += EACH) {
            pack<sum_type<T>, EACH> y;
#pragma unroll
            for (int e = 0; e < EACH; e++) y.x[e] = sum.x[i + e];
            pack<sum_type<T>, EACH> *to = (pack<sum_type<T>, EACH> *)((sum_type<T> *)C + at + i);
            if constexpr (ONCE)
                store_once(to, y);
            else
                store_pack(to, y);
        }
    }
}

#endif
