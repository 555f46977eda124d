// Includes KIND_BODY once per kind of processor (enum cpu_kind), compiled for that kind. KIND is
// the suffix of names: _plain, _avx2, _avx512. VECTOR is the number of bytes of the widest vectors.
// CPU_OF_KIND() of cpu_kind.h gives the name for the processor that runs.
//
// clang does not compile the bodies of `omp parallel` for the kind. They call a function of the
// body for each share of the work. Without min_vector_width() clang cuts vectors of 64 bytes in
// two. Without no_builtin() clang makes memcpy() of loops, and copies vectors through the stack.
#undef KIND
#define KIND   _plain
#define VECTOR 16
#include KIND_BODY
#undef KIND
#undef VECTOR
#if CPU_HAS_KINDS
#ifdef __clang__
#pragma clang attribute push(__attribute__((min_vector_width(512))), apply_to = function)
#pragma clang attribute push(__attribute__((no_builtin("memcpy"))), apply_to = function)
#pragma clang attribute push(__attribute__((target("arch=x86-64-v3"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#endif
#define KIND   _avx2
#define VECTOR 32
#include KIND_BODY
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
#include KIND_BODY
#undef KIND
#undef VECTOR
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute pop
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#undef KIND_BODY
