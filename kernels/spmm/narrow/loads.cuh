// Loads and stores under a condition without a branch. ptxas issues loads of one basic block
// together. A branch makes it wait for one load before the next.
#ifndef NARROW_LOADS_H
#define NARROW_LOADS_H

#include "device/once.cuh"

// Not .nc loads: the previous kernel may still write B.
#define LOAD_IF(ZEROS, LOAD, P, IN, ...)                                                           \
    asm volatile("{.reg .pred q; setp.ne.u32 q, " IN ", 0; " ZEROS "@q ld.global." LOAD ", [" P    \
                 "];}"                                                                             \
                 : __VA_ARGS__                                                                     \
                 : "l"(p), "r"((uint32_t)in))

// Returns *p if `in`, else zeros.
template <typename X> static __device__ __forceinline__ X load_if(const X *p, bool in)
{
    static_assert(sizeof(X) == 4 || sizeof(X) == 8, "one load");
    X x = {};
#ifdef __CUDA_ARCH__
    uint32_t w[2];
    if constexpr (sizeof(X) == 4)
        LOAD_IF("mov.b32 %0, 0; ", "b32 %0", "%1", "%2", "=&r"(w[0]));
    else
        LOAD_IF("mov.b32 %0, 0; mov.b32 %1, 0; ", "v2.b32 {%0, %1}", "%2", "%3", "=&r"(w[0]),
                "=&r"(w[1]));
    memcpy((void *)&x, w, sizeof x);
#else
    if (in) x = *p;
#endif
    return x;
}

// Loads COUNT neighbours, 16 bytes at a time. Several loads of a lane share a sector.
template <int COUNT, typename X>
static __device__ __forceinline__ void load_run(X (&x)[COUNT], const X *p)
{
    const int EACH = 16 / (int)sizeof(X);
#pragma unroll
    for (int i = 0; i < COUNT; i += EACH) {
        const pack<X, EACH> *from = (const pack<X, EACH> *)(p + i);
        const pack<X, EACH> y = COUNT > EACH ? load_brief(from) : load_once(from);
#pragma unroll
        for (int e = 0; e < EACH; e++) x[i + e] = y.x[e];
    }
}

#define STORE_IF(STORE, IF, ...)                                                                   \
    asm volatile("{.reg .pred q; setp.ne.u32 q, " IF ", 0; @q st.shared." STORE ";}" ::"r"(to),    \
                 "r"((uint32_t)is), __VA_ARGS__                                                    \
                 : "memory")

// Sets *p in shared memory to x if `is`.
template <typename X>
static __device__ __forceinline__ void store_if(X *p, const X &x, bool is)
{
#ifdef __CUDA_ARCH__
    const uint32_t to = (uint32_t)__cvta_generic_to_shared(p);
    uint32_t w[sizeof x / 4];
    memcpy(w, &x, sizeof x);
    if constexpr (sizeof x == 4)
        STORE_IF("b32 [%0], %2", "%1", "r"(w[0]));
    else
        STORE_IF("v2.b32 [%0], {%2, %3}", "%1", "r"(w[0]), "r"(w[1]));
#else
    if (is) *p = x;
#endif
}

#endif
