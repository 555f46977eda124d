// Random numbers as a pure function of a seed and an index: the same on every machine, in any order
// and with any number of threads.
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns the i-th number of the stream `seed`, 64 random bits.
uint64_t random_at(uint64_t seed, uint64_t i);
// Returns the i-th value of the stream `seed`, uniform in [-1, 1) and exact in f32.
double random_value(uint64_t seed, uint64_t i);

#ifdef __cplusplus
}
#endif
#endif
