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

#endif
