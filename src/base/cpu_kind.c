#include "base/cpu_kind.h"

static enum cpu_kind limit = CPU_AVX512;

static enum cpu_kind find_kind(void)
{
#if CPU_HAS_KINDS && defined(__clang__)
    // clang 14 does not know the names of the levels here. No processor has these without the rest.
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi2"))
        return CPU_PLAIN;
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")
               ? CPU_AVX512
               : CPU_AVX2;
#elif CPU_HAS_KINDS
    if (__builtin_cpu_supports("x86-64-v4")) return CPU_AVX512;
    if (__builtin_cpu_supports("x86-64-v3")) return CPU_AVX2;
#endif
    return CPU_PLAIN;
}

enum cpu_kind cpu_kind(void)
{
    const enum cpu_kind kind = find_kind();
    return kind < limit ? kind : limit;
}

void cpu_kind_limit(enum cpu_kind most) { limit = most; }
