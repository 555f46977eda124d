// Multiply-adds in registers, for the arithmetic ceilings of the CPU.
#ifndef ROOF_FMA_H
#define ROOF_FMA_H

#include "data/matrix.h"

#define ROOF_FMA_LANES  512 // elements at x, at most
#define ROOF_FMA_SHAPES 3   // vectors of 32 bytes, of 64 bytes, and an array in the L1

// Sets elements of x to x * a + b, many times. Every element that counts depends on its own start
// and is stored, so that a compiler cannot omit an element. x: size ROOF_FMA_LANES, float or
// double by `prec`, aligned to 64 bytes. Returns the flops.
double roof_multiply_add(enum prec prec, int shape, void *x, double a, double b);

#endif
