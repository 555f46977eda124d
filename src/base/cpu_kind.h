// Kinds of processors that kernels are compiled for: what every one has, AVX2 with fused
// multiply-adds, and AVX-512.
#ifndef CPU_KIND_H
#define CPU_KIND_H

enum cpu_kind { CPU_PLAIN, CPU_AVX2, CPU_AVX512 };

// Elsewhere all of them are plain: older compilers don't know the names of these kinds.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define CPU_HAS_KINDS 1
#else
#define CPU_HAS_KINDS 0
#endif

// Of the machine.
enum cpu_kind cpu_kind(void);
// For tests: no better than this from now on.
void cpu_kind_limit(enum cpu_kind most);

#endif
