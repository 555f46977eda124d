#include "device/roof_fma.h"

#include "base/cpu_kind.h"

#define CHAINS 12   // independent chains of multiply-adds
#define ROUNDS 4096 // multiply-adds of a chain

typedef double (*multiply_add)(void *lanes, double factor, double term);
// Vectors of 32 and 64 bytes.
typedef float float32 __attribute__((vector_size(32), may_alias));
typedef float float64 __attribute__((vector_size(64), may_alias));
typedef double double32 __attribute__((vector_size(32), may_alias));
typedef double double64 __attribute__((vector_size(64), may_alias));

// Makes the compiler store all elements at x, also if a caller does not read them.
static inline void keep_elements(void *x) { __asm__ volatile("" ::"r"(x) : "memory"); }

#define KIND_BODY "device/roof_fma.inl"
#include "base/each_kind.inl"

double roof_multiply_add(enum prec prec, int shape, void *x, double a, double b)
{
    return CPU_OF_KIND(multiply_adds)[prec][shape](x, a, b);
}
