// The arithmetic of struct digest, for each backend: what an element adds to it, by its place. What
// comes out does not depend on who adds up which elements, but for a few roundings of `sum`.
#ifndef DIGEST_H
#define DIGEST_H

#include <string.h>

#include "base/mix.h"
#include "device/device.h"

// A random number of a place.
static HOST_DEVICE inline uint64_t digest_place(int64_t place)
{
    return mix(((uint64_t)place + 1) * MIX_STEP);
}

static HOST_DEVICE inline double digest_weight(uint64_t random)
{
    double size = 0.5 + (double)(random >> 12) * 0x1p-53;
    return random & 1 ? -size : size;
}

// A digest on the way: what was rounded off `sum` is kept beside it (Neumaier's summation).
struct digest_part {
    struct digest d;
    double lost;
};

static HOST_DEVICE inline void digest_add_real(struct digest_part *part, double x)
{
    double old = part->d.sum, size = x < 0 ? -x : x, sum = old + x;
    part->lost += (old < 0 ? -old : old) >= size ? (old - sum) + x : (x - sum) + old;
    part->d.sum = sum;
    part->d.size += size;
}

static HOST_DEVICE inline struct digest digest_of(const struct digest_part *part)
{
    struct digest d = part->d;
    d.sum += part->lost;
    return d;
}

// How many elements behind the beginning of a view number `place` lies.
static HOST_DEVICE inline int64_t digest_at(const struct device_view *v, int64_t place)
{
    return v->lines == 1 ? place : place / v->length * v->step + place % v->length;
}

// Element number `place` of a view.
static HOST_DEVICE inline void digest_add(const struct device_view *v, int64_t place,
                                          struct digest_part *part)
{
    const char *p = (const char *)v->p + digest_at(v, place) * v->width;
    uint64_t random = digest_place(place), word = 0;
    double x = 0;
    switch (v->width) {
    case 1: word = *(const uint8_t *)p; break;
    case 2: word = *(const uint16_t *)p; break;
    case 4: {
        uint32_t w = *(const uint32_t *)p;
        float f;
        memcpy(&f, &w, sizeof f);
        word = w, x = f;
        break;
    }
    default: word = *(const uint64_t *)p; memcpy(&x, &word, sizeof x);
    }
    part->d.bits += mix(random ^ word);
    if (v->real) digest_add_real(part, x * digest_weight(random));
}

// Where spot s of `spots` is: places 0 ... spots - 1 if that is all there are.
static HOST_DEVICE inline int64_t digest_spot(const struct device_view *v, uint64_t seed, int64_t s)
{
    int64_t count = v->lines * v->length, place = s;
    if (count > DEVICE_SPOTS) place = (int64_t)(mix(seed ^ digest_place(s)) % (uint64_t)count);
    return digest_at(v, place);
}

static inline int64_t digest_spots(const struct device_view *v)
{
    return min64(v->lines * v->length, DEVICE_SPOTS);
}

#endif
