// Values of 16 bits in kernels, and the type of the sums of each type of values. For nvcc and for
// the emulator of tests/emu.
#ifndef HALF_H
#define HALF_H

#include "base/prec.h"
#include "device/cuda.cuh"

struct f16 {
    uint16_t bits;
};
struct bf16 {
    uint16_t bits;
};

// Returns the number of a type of values in NVIDIA's libraries, a cudaDataType.
static inline int cuda_data_type(enum prec type)
{
    switch ((int)type) {
    case F32: return 0;   // CUDA_R_32F
    case F64: return 1;   // CUDA_R_64F
    case F16: return 2;   // CUDA_R_16F
    case BF16: return 14; // CUDA_R_16BF
    }
    bug("no cudaDataType for %s", prec_name(type));
}

template <typename T> struct sum_of {
    typedef T type;
};
template <> struct sum_of<f16> {
    typedef float type;
};
template <> struct sum_of<bf16> {
    typedef float type;
};
template <typename T> using sum_type = typename sum_of<T>::type;

// Ends the program unless numbers of this many bytes have 64 bits.
static inline void must_be_64_bits(int64_t bytes)
{
    if (bytes != 8) bug("no kernel moves values of %d bytes", (int)bytes);
}

// Calls function<W>(...) with the unsigned integer type of this many bytes, for kernels that move
// values.
#define BY_BYTES(bytes, function, ...)                                                             \
    ((bytes) == 2   ? function<uint16_t>(__VA_ARGS__)                                              \
     : (bytes) == 4 ? function<uint32_t>(__VA_ARGS__)                                              \
                    : (must_be_64_bits((int64_t)(bytes)), function<uint64_t>(__VA_ARGS__)))

// Return x in the type of sums. No bit is lost.
static __device__ __forceinline__ float widen(float x) { return x; }
static __device__ __forceinline__ double widen(double x) { return x; }
static __device__ __forceinline__ float widen(f16 x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
#else
    return (float)f16_value(x.bits);
#endif
}
static __device__ __forceinline__ float widen(bf16 x)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float((uint32_t)x.bits << 16);
#else
    return (float)bf16_value(x.bits);
#endif
}

// Set y to a sum, rounded to the nearest value of the type.
static __device__ __forceinline__ void narrow(float &y, float x) { y = x; }
static __device__ __forceinline__ void narrow(double &y, double x) { y = x; }
static __device__ __forceinline__ void narrow(f16 &y, float x)
{
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
#else
    y.bits = f16_bits(x);
#endif
}
static __device__ __forceinline__ void narrow(bf16 &y, float x)
{
#ifdef __CUDA_ARCH__
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
#else
    y.bits = bf16_bits(x);
#endif
}

// Set y to the two values of a word.
static __device__ __forceinline__ void widen_pair(f16, float *y, uint32_t word)
{
#ifdef __CUDA_ARCH__
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(y[0]), "=f"(y[1])
        : "r"(word));
#else
    y[0] = widen(f16{(uint16_t)word});
    y[1] = widen(f16{(uint16_t)(word >> 16)});
#endif
}
static __device__ __forceinline__ void widen_pair(bf16, float *y, uint32_t word)
{
#ifdef __CUDA_ARCH__
    y[0] = __uint_as_float(word << 16);
    y[1] = __uint_as_float(word & 0xffff0000u);
#else
    y[0] = widen(bf16{(uint16_t)word});
    y[1] = widen(bf16{(uint16_t)(word >> 16)});
#endif
}

// VEC neighbouring values, loaded and stored at once. The address is a multiple of their size.
template <typename T, int VEC> struct alignas(sizeof(T) * VEC) pack {
    T x[VEC];
};

// Loads a pack by one instruction.
template <typename T, int VEC>
static __device__ __forceinline__ pack<T, VEC> load_pack(const pack<T, VEC> *p)
{
    pack<T, VEC> x;
    if constexpr (sizeof(T) > 2 || VEC == 1) {
        x = *p;
    } else if constexpr (sizeof x == 16) {
        const uint4 words = *(const uint4 *)p;
        memcpy(&x, &words, sizeof x);
    } else if constexpr (sizeof x == 8) {
        const uint2 words = *(const uint2 *)p;
        memcpy(&x, &words, sizeof x);
    } else {
        static_assert(sizeof x == 4, "one load");
        const uint32_t word = *(const uint32_t *)p;
        memcpy(&x, &word, sizeof x);
    }
    return x;
}

// Stores a pack by one instruction.
template <typename T, int VEC>
static __device__ __forceinline__ void store_pack(pack<T, VEC> *p, const pack<T, VEC> &x)
{
    if constexpr (sizeof(T) > 2 || VEC == 1) {
        *p = x;
    } else if constexpr (sizeof x == 16) {
        uint4 words;
        memcpy(&words, &x, sizeof words);
        *(uint4 *)p = words;
    } else if constexpr (sizeof x == 8) {
        uint2 words;
        memcpy(&words, &x, sizeof words);
        *(uint2 *)p = words;
    } else {
        static_assert(sizeof x == 4, "one store");
        uint32_t word;
        memcpy(&word, &x, sizeof word);
        *(uint32_t *)p = word;
    }
}

// Sets y to the values of a pack.
template <typename T, int VEC>
static __device__ __forceinline__ void widen_all(sum_type<T> (&y)[VEC], const pack<T, VEC> &x)
{
    if constexpr (sizeof(T) != 2 || VEC == 1) {
#pragma unroll
        for (int i = 0; i < VEC; i++) y[i] = widen(x.x[i]);
    } else {
#pragma unroll
        for (int i = 0; i < VEC; i += 2) {
            uint32_t word;
            memcpy(&word, &x.x[i], sizeof word);
            widen_pair(T{}, &y[i], word);
        }
    }
}

#endif
