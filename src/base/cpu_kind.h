// Kinds of processors that CPU kernels are compiled for: any x86-64, AVX2 with fused multiply-adds,
// and AVX-512.
#ifndef CPU_KIND_H
#define CPU_KIND_H

enum cpu_kind { CPU_PLAIN, CPU_AVX2, CPU_AVX512 };

// Older compilers do not know x86-64-v3 and v4. There every processor is CPU_PLAIN.
#if !defined(__x86_64__) || !defined(__GNUC__)
#define CPU_HAS_KINDS 0
#elif defined(__clang__)
#define CPU_HAS_KINDS (__clang_major__ >= 12)
#else
#define CPU_HAS_KINDS (__GNUC__ >= 12)
#endif

// Names of a function that base/each_kind.inl compiles: KIND_NAME(f) in the body, CPU_OF_KIND(f)
// for the processor that runs.
#define KIND_JOIN(name, kind)  name##kind
#define KIND_PASTE(name, kind) KIND_JOIN(name, kind)
#define KIND_NAME(name)        KIND_PASTE(name, KIND)
#if CPU_HAS_KINDS
#define CPU_OF_KIND(name)                                                                          \
    (cpu_kind() == CPU_AVX512 ? name##_avx512 : cpu_kind() == CPU_AVX2 ? name##_avx2 : name##_plain)
#else
#define CPU_OF_KIND(name) name##_plain
#endif

// Returns the kind of this machine, `most` of cpu_kind_limit() at most.
enum cpu_kind cpu_kind(void);
// For tests: limits cpu_kind().
void cpu_kind_limit(enum cpu_kind most);

#endif
