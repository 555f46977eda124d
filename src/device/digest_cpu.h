// Digests of arrays in host memory.
#ifndef DIGEST_CPU_H
#define DIGEST_CPU_H

#include "device/digest.h"

// Keys of the slots of a block.
struct digest_table {
    uint32_t key[DIGEST_BLOCK];          // keys for elements of one word
    uint32_t wide_key[2 * DIGEST_BLOCK]; // keys for elements of two words, interleaved
};

void digest_table_fill(struct digest_table *t);
// Returns the digest of all elements. Uses all threads for large arrays.
uint64_t digest_cpu(const struct digest_table *t, const struct device_view *v);

#endif
