// The finaliser of SplitMix64, which spreads every bit of a number over all bits. For the host and
// for kernels.
#ifndef MIX_H
#define MIX_H

#include <stdint.h>

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

// 2^64 over the golden ratio. mix() of its multiples passes BigCrush.
#define MIX_STEP 0x9e3779b97f4a7c15u

static HOST_DEVICE inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Returns random number `place` of a sequence.
static HOST_DEVICE inline uint64_t mix_at(int64_t place)
{
    return mix(((uint64_t)place + 1) * MIX_STEP);
}

#endif
