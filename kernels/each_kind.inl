// Includes BODY once per type and kind of processor (enum cpu_kind), and compiles the body for that
// kind. KIND is the suffix that NAME() appends. VECTOR is the number of bytes of the widest
// vectors. BY_KIND() of cpu.h calls the body for the processor that runs.
//
// clang does not compile the bodies of `omp parallel` for the kind. They call a function of the
// body for each share of the work, and no CPU_INLINE.
#undef KIND
#define KIND   _plain
#define VECTOR 16
#include "each_prec.inl"
#undef KIND
#undef VECTOR
#if CPU_HAS_KINDS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("arch=x86-64-v3"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#endif
#define KIND   _avx2
#define VECTOR 32
#include "each_prec.inl"
#undef KIND
#undef VECTOR
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("arch=x86-64-v4"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4")
#endif
#define KIND   _avx512
#define VECTOR 64
#include "each_prec.inl"
#undef KIND
#undef VECTOR
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#define KIND
