// Random numbers that no other code can foresee.
#ifndef SECRET_H
#define SECRET_H

#include <stdint.h>

// Returns 64 random bits of the system. No state in this process tells the next number. If the
// system has no random numbers, the bits come from its clock.
uint64_t secret(void);
// Returns true with a probability of one in n.
static inline int secret_one_in(uint64_t n) { return secret() % n == 0; }

#endif
