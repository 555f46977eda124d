// Digests of what lies in the host's memory.
#ifndef DIGEST_CPU_H
#define DIGEST_CPU_H

#include "device/digest.h"

// Keys and weights of the slots of a block.
struct digest_table {
    uint32_t key[DIGEST_BLOCK];          // of elements of one word
    uint32_t wide_key[2 * DIGEST_BLOCK]; // of elements of two words, which alternate
    double weight[DIGEST_BLOCK];
};

void digest_table_fill(struct digest_table *t);
// The digest of all elements, by all threads if there are many.
void digest_cpu(const struct digest_table *t, const struct device_view *v, struct digest *out);

#endif
