// A hash of 128 bits at the speed of memory, to recognise equal contents. Not cryptographic.
#ifndef HASH_H
#define HASH_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hash {
    uint64_t a, b;
};

// Returns the hash of `data`, computed by all threads. Machines of one byte order agree.
struct hash hash_bytes(const void *data, int64_t bytes);
// Returns the hash of x followed by y.
struct hash hash_join(struct hash x, struct hash y);
bool hash_equal(struct hash x, struct hash y);

#ifdef __cplusplus
}
#endif
#endif
