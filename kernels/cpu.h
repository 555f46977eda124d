// What the OpenMP kernels share: one clone of a function per instruction set, and names for the
// bodies that are included once per type.
#ifndef CPU_H
#define CPU_H

#include "algo.h"

// Compiles a function for AVX-512, AVX2 and the plain machine; the loader picks one. Not under a
// sanitizer: its start-up code runs after the loader's choice and would be called too early.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CPU_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CPU_CLONES
#endif

#define CPU_INLINE static inline __attribute__((always_inline))

// NAME(rows) is rows_f32 or rows_f64 in a body included with PREC defined as f32 or f64.
#define NAME_JOIN(name, prec) name##_##prec
#define NAME_PREC(name, prec) NAME_JOIN(name, prec)
#define NAME(name)            NAME_PREC(name, PREC)

#endif
