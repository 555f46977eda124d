// Includes BODY once per type for each kind of processor, see enum cpu_kind, and compiles it for
// that kind: with KIND as well, which NAME() appends, and VECTOR, the bytes of its widest vectors.
// BY_KIND() of cpu.h calls the body of the machine's kind. Unlike CPU_CLONES, this file lets a body
// name its vectors. gcc 12 keeps sums of a plain loop in memory: SpMM then takes 2.4 times MKL's
// time on short rows.
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
