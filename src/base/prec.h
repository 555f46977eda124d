// Precisions of a case, and the types of stored numbers that they consist of. precs.def lists both.
#ifndef PREC_H
#define PREC_H

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
#define PREC(symbol, in, out, sum, name) symbol,
#include "base/precs.def"
#undef PREC
    PRECS
};
#define TYPES (BF16 + 1)

struct type_facts {
    int bytes;
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
// Returns the precision of this name, or -1.
int prec_find(const char *name);

static inline size_t type_bytes(enum prec type) { return (size_t)type_list[type].bytes; }

// A type of 16 bits: a sign, an exponent with a bias, and `fraction` bits.
#define HALF_FRACTION(type) ((type) == F16 ? 10 : 7)
#define HALF_BIAS(type)     ((type) == F16 ? 15 : 127)

// Returns the number that 16 bits stand for.
static HOST_DEVICE inline double half_value(enum prec type, uint16_t half)
{
    const int fraction = HALF_FRACTION(type), bias = HALF_BIAS(type);
    const uint64_t sign = (uint64_t)(half >> 15) << 63, rest = half & 0x7fff;
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

// Returns the 16 bits of x, rounded once to the nearest number, ties to even.
static HOST_DEVICE inline uint16_t half_bits(enum prec type, double x)
{
    const int fraction = HALF_FRACTION(type), bias = HALF_BIAS(type), drop = 52 - fraction;
    uint64_t bits, odd;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    const int exponent = (int)(bits >> 52 & 2047) - 1023;
    bits &= ~(uint64_t)0 >> 1;
    const uint16_t infinity = (uint16_t)((2 * bias + 1) << fraction);
    if (bits > (uint64_t)2047 << 52) return (uint16_t)(sign | infinity | 1 << (fraction - 1));
    if (exponent > bias) return (uint16_t)(sign | infinity);
    if (exponent >= 1 - bias) {
        odd = bits >> drop & 1;
        bits += ((uint64_t)1 << (drop - 1)) - 1 + odd; // may carry, up to infinity
        bits = (bits >> drop) - ((uint64_t)(1023 - bias) << fraction);
        return (uint16_t)(sign | bits);
    }
    // Below the normal numbers: a multiple of the smallest number.
    const int shift = drop + (1 - bias) - exponent;
    if (shift > 53) return sign;
    const uint64_t all = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    odd = all >> shift & 1;
    return (uint16_t)(sign | (all + ((uint64_t)1 << (shift - 1)) - 1 + odd) >> shift);
}

// Returns element q of `val`, an array of this type.
static HOST_DEVICE inline double type_load(enum prec type, const void *val, int64_t q)
{
    switch (type) {
    case F32: return (double)((const float *)val)[q];
    case F64: return ((const double *)val)[q];
    default: return half_value(type, ((const uint16_t *)val)[q]);
    }
}

static HOST_DEVICE inline void type_store(enum prec type, void *val, int64_t q, double x)
{
    switch (type) {
    case F32: ((float *)val)[q] = (float)x; break;
    case F64: ((double *)val)[q] = x; break;
    default: ((uint16_t *)val)[q] = half_bits(type, x);
    }
}

// Returns x rounded to the type.
static HOST_DEVICE inline double type_round(enum prec type, double x)
{
    switch (type) {
    case F32: return (double)(float)x;
    case F64: return x;
    default: return half_value(type, half_bits(type, x));
    }
}

#ifdef __cplusplus
}
#endif
#endif
