// Names for the OpenMP kernels, whose bodies are included once per type (each_prec.inl), or once
// per type and kind of processor (each_kind.inl).
#ifndef CPU_H
#define CPU_H

#include "algos/algo.h"
#include "base/cpu_kind.h"

#if CPU_HAS_KINDS
#include <immintrin.h>
#endif

// 1: the compiler has __builtin_shufflevector().
#ifdef __has_builtin
#define CPU_HAS_SHUFFLE __has_builtin(__builtin_shufflevector)
#else
#define CPU_HAS_SHUFFLE 0
#endif

#define CPU_INLINE static inline __attribute__((always_inline))

// UNROLL unrolls a loop whose number of steps is a constant after inlining. With a factor, clang 14
// unrolls before inlining, where the number is not known. A loop stays: 2.2 to 3.7 times the time.
//
// ROLLED keeps clang from unrolling a loop over few nonzeros. gcc does not unroll such a loop. The
// loop for the last steps costs a branch misprediction: 1.3 times the time of dcsc, f64, k = 8.
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#define ROLLED
#endif

// NAME(rows) is rows_f32 or rows_f64 in a body that is included with PREC defined as f32 or f64,
// and rows_f32_avx2 and so on in a body that is included for each kind of processor.
#define KIND
#define NAME_JOIN(name, prec, kind) name##_##prec##kind
#define NAME_PREC(name, prec, kind) NAME_JOIN(name, prec, kind)
#define NAME(name)                  NAME_PREC(name, PREC, KIND)

// Calls function_f32(...) or function_f64(...), by the precision of the task.
#define BY_PREC(t, function, ...)                                                                  \
    (prec_is_f32((t)->prec) ? function##_f32(__VA_ARGS__) : function##_f64(__VA_ARGS__))

// Calls function_f32_avx2(...) and so on, by the precision of the task and the processor. The body
// is included by each_kind.inl.
#define BY_KIND(t, function, ...)                                                                  \
    (prec_is_f32((t)->prec) ? CPU_OF_KIND(function##_f32)(__VA_ARGS__)                             \
                            : CPU_OF_KIND(function##_f64)(__VA_ARGS__))

#endif
