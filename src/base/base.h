// The headers that almost every file needs: errors, sizes, memory, the clock, random numbers. Below
// them a few macros.
#ifndef BASE_H
#define BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/size.h"

#ifdef __cplusplus
#define restrict __restrict__
#endif

#define BIT(x)   (1u << (x))
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

// Compiles a function for AVX-512, for AVX2 and for any x86-64. The loader picks a version. Not
// under a sanitizer: the loader picks before the sanitizer's start-up code has run.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CPU_CLONES    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define CPU_CLONES_V3 __attribute__((target_clones("arch=x86-64-v3", "default"))) // not for AVX-512
#else
#define CPU_CLONES
#define CPU_CLONES_V3
#endif

#endif
