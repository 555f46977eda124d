// The words and vector types that CUDA C adds to C++, for g++.
#ifndef EMU_TYPES_H
#define EMU_TYPES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>

#define __host__
#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __managed__
// One array per kernel is enough, because blocks run one after another.
#define __shared__ static
#define __launch_bounds__(...)
#define __forceinline__                  inline __attribute__((always_inline))
#define __align__(n)                     __attribute__((aligned(n)))
#define __builtin_assume(x)              ((void)0)
#define __builtin_assume_aligned(p, ...) (p)

#define EMU_VECTOR(T, name, pair, quad)                                                            \
    struct name##1 { T x; };                                                                       \
    struct alignas(pair) name##2 { T x, y; };                                                      \
    struct name##3 { T x, y, z; };                                                                 \
    struct alignas(quad) name##4 { T x, y, z, w; };                                                \
    static inline name##1 make_##name##1(T x) { return {x}; }                                      \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                              \
    static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                      \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

EMU_VECTOR(signed char, char, 2, 4)
EMU_VECTOR(unsigned char, uchar, 2, 4)
EMU_VECTOR(short, short, 4, 8)
EMU_VECTOR(unsigned short, ushort, 4, 8)
EMU_VECTOR(int, int, 8, 16)
EMU_VECTOR(unsigned, uint, 8, 16)
EMU_VECTOR(long, long, 16, 16)
EMU_VECTOR(unsigned long, ulong, 16, 16)
EMU_VECTOR(long long, longlong, 16, 16)
EMU_VECTOR(unsigned long long, ulonglong, 16, 16)
EMU_VECTOR(float, float, 8, 16)
EMU_VECTOR(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    operator uint3() const { return {x, y, z}; }
};

#endif
