// The arithmetic of a digest, for all backends. A digest is a sum over the elements, so any thread
// may add any element:
//
//   sum of word * key(slot) * key(block) over all 32-bit words, modulo 2^64
//
// slot = index of the element modulo DIGEST_BLOCK, block = the quotient. A loop over a block
// multiplies by a table of 12 KB and vectorises. The number of a block is computed once per block.
//
// Zeros of either sign have the same bits in a digest of real values: a change of signs in the
// inputs leaves a zero as it is.
//
// Keys are odd, so that a change of one word always changes the digest. Changes of several words
// cancel with a probability under 2^-31.
#ifndef DIGEST_H
#define DIGEST_H

#include "base/mix.h"
#include "device/device.h"

#define DIGEST_BLOCK 1024 // elements

// Returns the random number of a block. Numbers of blocks follow those of slots in the sequence.
static HOST_DEVICE inline uint64_t digest_block_random(int64_t block)
{
    return mix_at(DIGEST_BLOCK + block);
}

// Returns the key of the first word (0) or second word (1) of a slot.
static HOST_DEVICE inline uint32_t digest_slot_key(uint64_t random, int word)
{
    return (uint32_t)(random >> 32 * word) | 1;
}

static HOST_DEVICE inline uint64_t digest_block_key(uint64_t random) { return random | 1; }

// Returns the offset, in elements, of element number `place` of a view.
static HOST_DEVICE inline int64_t digest_at(const struct device_view *v, int64_t place)
{
    return v->lines == 1 ? place : place / v->length * v->step + place % v->length;
}

// Returns the part of element number `place` of a view.
static HOST_DEVICE inline uint64_t digest_of(const struct device_view *v, int64_t place)
{
    const char *p = (const char *)v->p + digest_at(v, place) * v->width;
    const uint64_t slot = mix_at(place % DIGEST_BLOCK);
    uint64_t word = 0;
    switch (v->width) {
    case 1: word = *(const uint8_t *)p; break;
    case 2: word = *(const uint16_t *)p; break;
    case 4: word = *(const uint32_t *)p; break;
    case 8: word = *(const uint64_t *)p; break;
    }
    if (v->real != ONLY_BITS && type_load((enum prec)(v->real - 1), p, 0) == 0) word = 0;
    const uint64_t bits = (uint64_t)(uint32_t)word * digest_slot_key(slot, 0) +
                          (word >> 32) * digest_slot_key(slot, 1);
    return bits * digest_block_key(digest_block_random(place / DIGEST_BLOCK));
}

// Returns the offset of spot s: a random element, or element s if a view has few elements.
static HOST_DEVICE inline int64_t digest_spot(const struct device_view *v, uint64_t seed, int64_t s)
{
    int64_t count = v->lines * v->length, place = s;
    if (count > DEVICE_SPOTS) place = (int64_t)(mix(seed ^ mix_at(s)) % (uint64_t)count);
    return digest_at(v, place);
}

static inline int64_t digest_spots(const struct device_view *v)
{
    return min64(v->lines * v->length, DEVICE_SPOTS);
}

#endif
