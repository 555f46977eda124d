#include "base/random.h"

#include "base/mix.h"

uint64_t random_at(uint64_t seed, uint64_t i)
{
    return mix(mix(seed + MIX_STEP) + (i + 1) * MIX_STEP);
}

double random_value(uint64_t seed, uint64_t i)
{
    // 24 random bits: every value is a multiple of 2^-23, so it is exact in f32.
    return (double)(random_at(seed, i) >> 40) * (1.0 / 8388608.0) - 1.0;
}
