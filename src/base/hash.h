// A number of 128 bits for many bytes, at the speed of memory: by which contents are known again.
// Not against those who want two contents to have the same one.
#ifndef HASH_H
#define HASH_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hash {
    uint64_t a, b;
};

// Of these bytes; all threads take part. The same on every machine of the same byte order.
struct hash hash_bytes(const void *data, int64_t bytes);
// Of two in this order.
struct hash hash_join(struct hash x, struct hash y);
bool hash_equal(struct hash x, struct hash y);

#ifdef __cplusplus
}
#endif
#endif
