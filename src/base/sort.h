// A radix sort of 64-bit keys by 32 of their bits.
#ifndef SORT_H
#define SORT_H

#include "base/base.h"

#include <string.h>

// Most keys for which insertion sort is faster than radix sort.
#define INSERTION_MAX 40

// Sorts `count` keys by the 32 bits from bit `low` on. Lower bits are carried along. `spare`:
// scratch memory for `count` keys.
static inline void sort_keys(uint64_t *restrict key, uint64_t *restrict spare, int64_t count,
                             int low)
{
    if (count <= INSERTION_MAX) {
        for (int64_t p = 1; p < count; p++) {
            uint64_t x = key[p];
            int64_t q = p;
            for (; q > 0 && key[q - 1] > x; q--) key[q] = key[q - 1];
            key[q] = x;
        }
        return;
    }
    int64_t start[4][256];
    memset(start, 0, sizeof start);
    for (int64_t p = 0; p < count; p++)
        for (int d = 0; d < 4; d++) start[d][(key[p] >> (low + 8 * d)) & 255]++;
    uint64_t *from = key, *to = spare;
    for (int d = 0; d < 4; d++) {
        int shift = low + 8 * d;
        if (start[d][(from[0] >> shift) & 255] == count) continue; // the same digit everywhere
        for (int64_t v = 0, sum = 0; v < 256; v++) {
            int64_t here = start[d][v];
            start[d][v] = sum;
            sum += here;
        }
        for (int64_t p = 0; p < count; p++) to[start[d][(from[p] >> shift) & 255]++] = from[p];
        uint64_t *swap = from;
        from = to, to = swap;
    }
    if (from != key) memcpy(key, from, (size_t)count * sizeof *key);
}

#endif
