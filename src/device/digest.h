// The arithmetic of struct digest, for all backends. A digest is a sum over the elements, so any
// thread may add any element. Only the rounding of `sum` and `size` depends on the order.
//
//   bits = sum of word * key(slot) * key(block) over all 32-bit words, modulo 2^64
//   sum  = sum of x * weight(slot) * weight(block)
//
// slot = index of the element modulo DIGEST_BLOCK, block = the quotient. A loop over a block
// multiplies by a table of 20 KB and vectorises. Numbers of the block are computed once per block.
//
// Zeros of either sign have the same bits in a digest of real values: a change of signs in the
// inputs leaves a zero as it is.
//
// Keys are odd, so that a change of one word always changes `bits`. Changes of several words cancel
// with a probability under 2^-31. Weights of two elements are uncorrelated.
#ifndef DIGEST_H
#define DIGEST_H

#include "base/mix.h"
#include "device/device.h"

#define DIGEST_BLOCK 1024 // elements

// Returns random number `place` of a sequence.
static HOST_DEVICE inline uint64_t digest_random(int64_t place)
{
    return mix(((uint64_t)place + 1) * MIX_STEP);
}

// Returns the random number of a block. Numbers of blocks follow those of slots in the sequence.
static HOST_DEVICE inline uint64_t digest_block_random(int64_t block)
{
    return digest_random(DIGEST_BLOCK + block);
}

// Returns the key of the first word (0) or second word (1) of a slot.
static HOST_DEVICE inline uint32_t digest_slot_key(uint64_t random, int word)
{
    return (uint32_t)(random >> 32 * word) | 1;
}

static HOST_DEVICE inline uint64_t digest_block_key(uint64_t random) { return random | 1; }

// Returns a weight of sqrt(1/2) to 1 and either sign, so that the product of two is 1/2 to 1.
static HOST_DEVICE inline double digest_weight(uint64_t random)
{
    const double least = 0.70710678118654757;
    double size = least + (1 - least) * 0x1p-52 * (double)(random >> 12);
    return random & 1 ? -size : size;
}

// A digest of some elements, with compensated summation (Neumaier).
struct digest_part {
    struct digest d;
    double lost; // rounding error of d.sum
};

// Adds x to the sum, and `size` to the sum of absolute values.
static HOST_DEVICE inline void digest_add_real(struct digest_part *part, double x, double size)
{
    double old = part->d.sum, sum = old + x;
    bool is_larger = (old < 0 ? -old : old) >= (x < 0 ? -x : x);
    part->lost += is_larger ? (old - sum) + x : (x - sum) + old;
    part->d.sum = sum;
    part->d.size += size;
}

static HOST_DEVICE inline struct digest digest_of(const struct digest_part *part)
{
    struct digest d = part->d;
    d.sum += part->lost;
    return d;
}

// Returns the offset, in elements, of element number `place` of a view.
static HOST_DEVICE inline int64_t digest_at(const struct device_view *v, int64_t place)
{
    return v->lines == 1 ? place : place / v->length * v->step + place % v->length;
}

// Adds element number `place` of a view.
static HOST_DEVICE inline void digest_add(const struct device_view *v, int64_t place,
                                          struct digest_part *part)
{
    const char *p = (const char *)v->p + digest_at(v, place) * v->width;
    const uint64_t slot = digest_random(place % DIGEST_BLOCK);
    const uint64_t block = digest_block_random(place / DIGEST_BLOCK);
    uint64_t word = 0;
    double x = 0;
    switch (v->width) {
    case 1: word = *(const uint8_t *)p; break;
    case 2: word = *(const uint16_t *)p; break;
    case 4: word = *(const uint32_t *)p; break;
    case 8: word = *(const uint64_t *)p; break;
    }
    if (v->real != ONLY_BITS) x = type_load((enum prec)(v->real - 1), p, 0);
    if (v->real != ONLY_BITS && x == 0) word = 0;
    uint64_t bits = (uint64_t)(uint32_t)word * digest_slot_key(slot, 0);
    bits += (word >> 32) * digest_slot_key(slot, 1);
    part->d.bits += bits * digest_block_key(block);
    x *= digest_weight(slot) * digest_weight(block);
    if (v->real != ONLY_BITS) digest_add_real(part, x, x < 0 ? -x : x);
}

// Returns the offset of spot s: a random element, or element s if a view has few elements.
static HOST_DEVICE inline int64_t digest_spot(const struct device_view *v, uint64_t seed, int64_t s)
{
    int64_t count = v->lines * v->length, place = s;
    if (count > DEVICE_SPOTS) place = (int64_t)(mix(seed ^ digest_random(s)) % (uint64_t)count);
    return digest_at(v, place);
}

static inline int64_t digest_spots(const struct device_view *v)
{
    return min64(v->lines * v->length, DEVICE_SPOTS);
}

#endif
