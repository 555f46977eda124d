// Random signs of the elements of operands, as a function of a secret key. Key 0 changes no sign.
// For the host and for kernels.
#ifndef BASE_SIGNS_H
#define BASE_SIGNS_H

#include <stdbool.h>

#include "base/mix.h"

// Returns all bits, or none if the key is 0. Every key takes the same time.
static HOST_DEVICE inline uint64_t sign_mask(uint64_t key) { return -(uint64_t)(key != 0); }

// Returns the signs of elements 64 * block to 64 * block + 63 of a row of a dense matrix, a bit
// each; 1: changed.
#define SIGN_BLOCK 64
static HOST_DEVICE inline uint64_t sign_block(uint64_t key, int64_t row, int64_t block)
{
    return mix((key ^ mix_at(row)) + (uint64_t)block * MIX_STEP) & sign_mask(key);
}

static HOST_DEVICE inline bool sign_of_dense(uint64_t key, int64_t row, int64_t col)
{
    return sign_block(key, row, col / SIGN_BLOCK) >> (col % SIGN_BLOCK) & 1;
}

// Returns the sign of element (i, j) of a sparse matrix, and of element (j, i) of its transpose.
static HOST_DEVICE inline bool sign_of_sparse(uint64_t key, int64_t i, int64_t j)
{
    return mix(key ^ (mix_at(i) + mix_at(j))) & sign_mask(key) & 1;
}

static HOST_DEVICE inline double sign_put(double x, bool sign) { return sign ? -x : x; }

#endif
