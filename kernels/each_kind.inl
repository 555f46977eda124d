// Includes BODY once per type and kind of processor (enum cpu_kind), and compiles the body for that
// kind. KIND is the suffix that NAME() appends. VECTOR is the number of bytes of the widest
// vectors. BY_KIND() of cpu.h calls the body for the processor that runs.
//
// Unlike CPU_CLONES, this file lets a body name its vectors. gcc 12 keeps the sums of a plain loop
// in memory: SpMM then takes 2.4 times MKL's time on short rows.
#pragma push_macro("BODY")
#undef KIND
#define KIND   _plain
#define VECTOR 16
#include "each_prec.inl"
#undef KIND
#undef VECTOR
#pragma pop_macro("BODY")
#if CPU_HAS_KINDS
#pragma push_macro("BODY")
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#define KIND   _avx2
#define VECTOR 32
#include "each_prec.inl"
#undef KIND
#undef VECTOR
#pragma GCC pop_options
#pragma pop_macro("BODY")
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4")
#define KIND   _avx512
#define VECTOR 64
#include "each_prec.inl"
#undef KIND
#undef VECTOR
#pragma GCC pop_options
#endif
#undef BODY
#define KIND
