// Numbers of a Matrix Market file, read from text that has no NUL at its end: eight digits at a
// time, without a locale, and correctly rounded.
#ifndef MTX_NUMBER_H
#define MTX_NUMBER_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "digits_read takes the first character from the low byte"
#endif

static const uint64_t power_of_10[20] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
    1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u,
    10000000000000000000u,
};

// Reads up to 8 digits at p into *value; returns how many there are.
static inline int digits_read(const char *p, const char *end, uint64_t *value)
{
    uint64_t x = 0;
    if (end - p >= 8) memcpy(&x, p, 8);
    else
        for (int i = 0; i < end - p; i++) x |= (uint64_t)(unsigned char)p[i] << 8 * i;
    x ^= 0x3030303030303030u; // a digit is now a byte of 0 to 9
    // The lowest byte that is above 9 gets its high bit set; what a carry does above it is unused.
    uint64_t other = (x | (x + 0x7676767676767676u)) & 0x8080808080808080u;
    int count = other ? __builtin_ctzll(other) >> 3 : 8;
    if (!count) {
        *value = 0;
        return 0;
    }
    x <<= 64 - 8 * count; // leading zeros in front, what follows the digits pushed out
    x = x * 10 + (x >> 8);
    *value = ((x & 0x000000ff000000ffu) * 0x000f424000000064u +
              ((x >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32;
    return count;
}

// Reads a whole number >= 0, as large as 2^63 - 1 (a larger one stays there). Returns its end, or
// NULL if no digit is there.
static inline const char *whole_read(const char *p, const char *end, int64_t *value)
{
    uint64_t x;
    int count = digits_read(p, end, &x);
    if (!count) return NULL;
    p += count;
    while (count == 8) {
        uint64_t more;
        count = digits_read(p, end, &more);
        unsigned __int128 sum = (unsigned __int128)x * power_of_10[count] + more;
        x = sum > INT64_MAX ? INT64_MAX : (uint64_t)sum;
        p += count;
    }
    *value = (int64_t)x;
    return p;
}

// 5^k, k = 0 to 27: what fits in 64 bits.
static const uint64_t power_of_5[28] = {
    1u, 5u, 25u, 125u, 625u, 3125u, 15625u, 78125u, 390625u, 1953125u, 9765625u, 48828125u,
    244140625u, 1220703125u, 6103515625u, 30517578125u, 152587890625u, 762939453125u,
    3814697265625u, 19073486328125u, 95367431640625u, 476837158203125u, 2384185791015625u,
    11920928955078125u, 59604644775390625u, 298023223876953125u, 1490116119384765625u,
    7450580596923828125u,
};

// (q, and a little more if `sticky`) * 2^e as the nearest double, ties to even; q >= 2^62, and the
// result is a normal number.
static inline double double_round(uint64_t q, bool sticky, int e)
{
    int drop = 11 - __builtin_clzll(q);
    uint64_t half = (uint64_t)1 << (drop - 1), low = q & (2 * half - 1);
    uint64_t kept = q >> drop;
    kept += low > half || (low == half && (sticky || (kept & 1)));
    uint64_t scale_bits = (uint64_t)(e + drop + 1023) << 52;
    double scale;
    memcpy(&scale, &scale_bits, 8);
    return (double)kept * scale;
}

// w * 10^e correctly rounded, for w > 0 and |e| <= 27, in integers: a quotient or a product of
// which no bit is lost, apart from whether a remainder is left.
static inline double decimal_scale(uint64_t w, int e)
{
    int shift = __builtin_clzll(w);
    w <<= shift;
    if (e >= 0) {
        unsigned __int128 product = (unsigned __int128)w * power_of_5[e];
        int zeros = (uint64_t)(product >> 64) ? __builtin_clzll((uint64_t)(product >> 64)) : 64;
        product <<= zeros;
        return double_round((uint64_t)(product >> 64), (uint64_t)product != 0,
                            64 - zeros - shift + e);
    }
    uint64_t d = power_of_5[-e];
    int d_shift = __builtin_clzll(d);
    d <<= d_shift;
    // w / 2 < d, so the quotient fits in 64 bits; it is above 2^62.
    unsigned __int128 dividend = (unsigned __int128)w << 63;
    uint64_t q = (uint64_t)(dividend / d);
    bool rest = (uint64_t)dividend != q * d;
    return double_round(q, rest, d_shift - shift - 63 + e);
}

// The same for any digits and exponent: strtod on "digits e exponent", without a decimal point so
// that no locale matters. A digit past the 800th can only break a tie.
static inline double decimal_slow(const char *p, const char *end, int64_t exponent)
{
    char text[832];
    int n = 0;
    bool tail = false, fraction = false;
    for (; p < end; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        bool kept = n < 800;
        if (!kept) tail |= *p != '0';
        else if (n || *p != '0') text[n++] = *p;
        exponent += !kept - fraction;
    }
    if (!n) return 0;
    if (tail) text[n++] = '1', exponent--;
    exponent = min64(max64(exponent, -100000), 100000);
    snprintf(text + n, sizeof text - (size_t)n, "e%d", (int)exponent);
    return strtod(text, NULL);
}

// Reads a real number. Returns its end, or NULL if there is none. Too large a number is infinite.
static inline const char *real_read(const char *p, const char *end, double *value)
{
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    const char *first = p;
    uint64_t w, more;
    int count = digits_read(p, end, &w), digits = count, fraction = 0;
    p += count;
    while (count == 8) {
        count = digits_read(p, end, &more);
        w = w * power_of_10[count] + more; // may wrap: then there are over 19 digits
        digits += count;
        p += count;
        if (digits > (1 << 30)) return NULL;
    }
    if (p < end && *p == '.') {
        p++;
        do {
            count = digits_read(p, end, &more);
            w = w * power_of_10[count] + more;
            fraction += count;
            p += count;
            if (fraction > (1 << 30)) return NULL;
        } while (count == 8);
        digits += fraction;
    }
    if (!digits) return NULL;
    const char *last = p;
    int64_t exponent = 0;
    if (p < end && ((*p | 32) == 'e' || (*p | 32) == 'd')) {
        p++;
        bool minus = p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        if (!(p = whole_read(p, end, &exponent))) return NULL;
        exponent = min64(exponent, (int64_t)1 << 40);
        if (minus) exponent = -exponent;
    }
    int64_t e = exponent - fraction;
    double x;
    if (digits > 19) {
        x = decimal_slow(first, last, exponent);
    } else if (w <= ((uint64_t)1 << 53) && e >= -22 && e <= 22) {
        // Both are exact doubles, so one operation rounds once.
        static const double exact[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
        x = e < 0 ? (double)w / exact[-e] : (double)w * exact[e];
    } else if (w && e >= -27 && e <= 27) {
        x = decimal_scale(w, (int)e);
    } else {
        x = decimal_slow(first, last, exponent);
    }
    *value = negative ? -x : x;
    return p;
}

#endif
