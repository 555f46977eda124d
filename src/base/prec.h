// Precisions of a case, and the types of stored numbers that they consist of. precs.def lists both.
#ifndef PREC_H
#define PREC_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mix.h" // HOST_DEVICE

#ifdef __cplusplus
extern "C" {
#endif

// A precision. The first TYPES precisions have one type for inputs and result, and also stand for
// that type. A function that takes a `type` takes only those.
enum prec {
#define TYPE(symbol, ...) symbol,
#include "base/precs.def"
    TYPES,
    LAST_TYPE = TYPES - 1,
#define MIXED(symbol, ...) symbol,
#include "base/precs.def"
    PRECS
};

struct type_facts {
    double unit;     // half the distance from 1 to the next larger number
    double largest;  // largest finite number
    double smallest; // smallest number over 0
};
extern const struct type_facts type_list[TYPES];

struct prec_facts {
    const char *name; // as in -prec
    enum prec in;     // type of A, B, X and Y
    enum prec out;    // type of C
    enum prec sum;    // type of sums, unless the algorithm says otherwise
};
extern const struct prec_facts prec_list[PRECS];

// Return the types of a precision.
static inline enum prec prec_in(enum prec prec) { return prec_list[prec].in; }
static inline enum prec prec_out(enum prec prec) { return prec_list[prec].out; }
static inline enum prec prec_sum(enum prec prec) { return prec_list[prec].sum; }
static inline const char *prec_name(enum prec prec) { return prec_list[prec].name; }
// Returns true for f32 and false for f64. Another precision is a bug().
bool prec_is_f32(enum prec prec);

// A type of fewer bits than f32: a sign, an exponent, and `fraction` bits, `width` bits in all. The
// largest exponent is that of infinity and NaN.
#define SMALL_BIAS(width, fraction) ((1 << ((width) - (fraction) - 2)) - 1)

// Returns the number that the bits of such a type stand for.
static HOST_DEVICE inline double small_value(int width, int fraction, uint32_t small)
{
    const int bias = SMALL_BIAS(width, fraction);
    const uint64_t sign = (uint64_t)(small >> (width - 1)) << 63;
    const uint64_t rest = small & ((1u << (width - 1)) - 1);
    const uint64_t exponent = rest >> fraction, low = rest & ((1u << fraction) - 1);
    uint64_t bits;
    double x;
    if (!exponent) { // below the normal numbers: `low` times the smallest number
        const uint64_t unit = (uint64_t)(1023 + 1 - bias - fraction) << 52;
        memcpy(&x, &unit, sizeof x);
        x *= (double)low;
        return sign ? -x : x;
    }
    bits = exponent == (uint64_t)(2 * bias + 1) ? (uint64_t)2047 << 52
                                                : (exponent + 1023 - (uint64_t)bias) << 52;
    bits |= low << (52 - fraction) | sign;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// Returns the bits of x in such a type, rounded once to the nearest number, ties to even.
static HOST_DEVICE inline uint32_t small_bits(int width, int fraction, double x)
{
    const int bias = SMALL_BIAS(width, fraction), drop = 52 - fraction;
    uint64_t bits, odd;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t sign = (uint32_t)(bits >> 63) << (width - 1);
    const int exponent = (int)(bits >> 52 & 2047) - 1023;
    bits &= ~(uint64_t)0 >> 1;
    const uint32_t infinity = (uint32_t)(2 * bias + 1) << fraction;
    if (bits > (uint64_t)2047 << 52) return sign | infinity | 1u << (fraction - 1);
    if (exponent > bias) return sign | infinity;
    if (exponent >= 1 - bias) {
        odd = bits >> drop & 1;
        bits += ((uint64_t)1 << (drop - 1)) - 1 + odd; // may carry, up to infinity
        bits = (bits >> drop) - ((uint64_t)(1023 - bias) << fraction);
        return sign | (uint32_t)bits;
    }
    // Below the normal numbers: a multiple of the smallest number.
    const int shift = drop + (1 - bias) - exponent;
    if (shift > 53) return sign;
    const uint64_t all = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    odd = all >> shift & 1;
    return sign | (uint32_t)((all + ((uint64_t)1 << (shift - 1)) - 1 + odd) >> shift);
}

// The conversions of each type, by its prefix in precs.def: PREFIX_value() returns the number that
// the bits stand for, PREFIX_bits() returns the bits of a number, rounded to the type.
static HOST_DEVICE inline double f32_value(float bits) { return (double)bits; }
static HOST_DEVICE inline float f32_bits(double x) { return (float)x; }
static HOST_DEVICE inline double f64_value(double bits) { return bits; }
static HOST_DEVICE inline double f64_bits(double x) { return x; }
static HOST_DEVICE inline double f16_value(uint16_t bits) { return small_value(16, 10, bits); }
static HOST_DEVICE inline uint16_t f16_bits(double x) { return (uint16_t)small_bits(16, 10, x); }
static HOST_DEVICE inline double bf16_value(uint16_t bits) { return small_value(16, 7, bits); }
static HOST_DEVICE inline uint16_t bf16_bits(double x) { return (uint16_t)small_bits(16, 7, x); }

// Returns the bytes of a number of this type; 0 if `type` is no type.
static inline size_t type_bytes(enum prec type)
{
    switch ((int)type) {
// clang-format off
#define TYPE(symbol, name, words, bits, ...) case symbol: return sizeof(bits);
#include "base/precs.def"
    }
    return 0;
}

// Returns element q of `val`, an array of this type; NaN, which fails the check, if `type` is no
// type.
static HOST_DEVICE inline double type_load(enum prec type, const void *val, int64_t q)
{
    switch ((int)type) {
#define TYPE(symbol, name, words, bits, prefix, ...) \
    case symbol: return prefix##_value(((const bits *)val)[q]);
#include "base/precs.def"
    }
    return NAN;
}

static HOST_DEVICE inline void type_store(enum prec type, void *val, int64_t q, double x)
{
    switch ((int)type) {
#define TYPE(symbol, name, words, bits, prefix, ...) \
    case symbol: ((bits *)val)[q] = prefix##_bits(x); break;
#include "base/precs.def"
    }
}

// Returns x rounded to the type.
static HOST_DEVICE inline double type_round(enum prec type, double x)
{
    switch ((int)type) {
#define TYPE(symbol, name, words, bits, prefix, ...) \
    case symbol: return prefix##_value(prefix##_bits(x));
#include "base/precs.def"
    }
    return NAN;
}
// clang-format on

#ifdef __cplusplus
}
#endif
#endif
