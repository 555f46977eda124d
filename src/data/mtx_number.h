// A parser of numbers: correctly rounded, independent of the locale, eight digits at a time. The
// text needs no final zero.
#ifndef MTX_NUMBER_H
#define MTX_NUMBER_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "digits_read takes the first character from the low byte"
#endif

static const uint64_t power_of_10[9] = {1,      10,      100,      1000,     10000,
                                        100000, 1000000, 10000000, 100000000};

// Reads up to 8 digits at p into *value. Returns the number of digits.
static inline int digits_read(const char *p, const char *end, uint64_t *value)
{
    uint64_t x = 0;
    if (end - p >= 8)
        memcpy(&x, p, 8);
    else
        for (int i = 0; i < end - p; i++) x |= (uint64_t)(unsigned char)p[i] << 8 * i;
    x ^= 0x3030303030303030u; // a digit is now a byte of 0 to 9
    // Sets the high bit of the lowest byte above 9. A carry may spoil higher bytes, which are
    // unused.
    uint64_t other = (x | (x + 0x7676767676767676u)) & 0x8080808080808080u;
    int count = other ? __builtin_ctzll(other) >> 3 : 8;
    // Shifts out the bytes behind the digits. Two shifts, because a shift by 64 is undefined.
    x = x << (32 - 4 * count) << (32 - 4 * count);
    x = x * 10 + (x >> 8);
    *value = ((x & 0x000000ff000000ffu) * 0x000f424000000064u +
              ((x >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
             32;
    return count;
}

// Reads a whole number >= 0 into *value; 2^63 - 1 if the number is larger. Returns its end, or NULL
// if there is no digit.
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

// 5^k for k = 0 to 26, shifted left until the high bit is set.
static const uint64_t power_of_5[27] = {
    0x8000000000000000u, 0xa000000000000000u, 0xc800000000000000u, 0xfa00000000000000u,
    0x9c40000000000000u, 0xc350000000000000u, 0xf424000000000000u, 0x9896800000000000u,
    0xbebc200000000000u, 0xee6b280000000000u, 0x9502f90000000000u, 0xba43b74000000000u,
    0xe8d4a51000000000u, 0x9184e72a00000000u, 0xb5e620f480000000u, 0xe35fa931a0000000u,
    0x8e1bc9bf04000000u, 0xb1a2bc2ec5000000u, 0xde0b6b3a76400000u, 0x8ac7230489e80000u,
    0xad78ebc5ac620000u, 0xd8d726b7177a8000u, 0x878678326eac9000u, 0xa968163f0a57b400u,
    0xd3c21bcecceda100u, 0x84595161401484a0u, 0xa56fa5b99019a5c8u};

// The first 128 bits of 5^(27 k) for k = -11 to 10, high half first. Exact for k = 0 to 2, else
// truncated.
static const uint64_t power_of_5_27[22][2] = {
    {0xa76c582338ed2621u, 0xaf2af2b80af6f24eu}, // 5^-297
    {0x873e4f75e2224e68u, 0x5a7744a6e804a291u}, // 5^-270
    {0xda7f5bf590966848u, 0xaf39a475506a899eu}, // 5^-243
    {0xb080392cc4349decu, 0xbd8d794d96aacfb3u}, // 5^-216
    {0x8e938662882af53eu, 0x547eb47b7282ee9cu}, // 5^-189
    {0xe65829b3046b0afau, 0x0cb4a5a3112a5112u}, // 5^-162
    {0xba121a4650e4ddebu, 0x92f34d62616ce413u}, // 5^-135
    {0x964e858c91ba2655u, 0x3a6a07f8d510f86fu}, // 5^-108
    {0xf2d56790ab41c2a2u, 0xfae27299423fb9c3u}, // 5^-81
    {0xc428d05aa4751e4cu, 0xaa97e14c3c26b886u}, // 5^-54
    {0x9e74d1b791e07e48u, 0x775ea264cf55347du}, // 5^-27
    {0x8000000000000000u, 0x0000000000000000u}, // 5^0
    {0xcecb8f27f4200f3au, 0x0000000000000000u}, // 5^27
    {0xa70c3c40a64e6c51u, 0x999090b65f67d924u}, // 5^54
    {0x86f0ac99b4e8dafdu, 0x69a028bb3ded71a3u}, // 5^81
    {0xda01ee641a708de9u, 0xe80e6f4820cc9495u}, // 5^108
    {0xb01ae745b101e9e4u, 0x5ec05dcff72e7f8fu}, // 5^135
    {0x8e41ade9fbebc27du, 0x14588f13be847307u}, // 5^162
    {0xe5d3ef282a242e81u, 0x8f1668c8a86da5fau}, // 5^189
    {0xb9a74a0637ce2ee1u, 0x6d953e2bd7173692u}, // 5^216
    {0x95f83d0a1fb69cd9u, 0x4abdaf101564f98eu}, // 5^243
    {0xf24a01a73cf2dccfu, 0xbc633b39673c8cecu}, // 5^270
};
#define DECIMAL_SCALE_MIN (-285)
#define DECIMAL_SCALE_MAX 288

// Returns floor(log2(5^k)), for k in the range of the tables.
static inline int power_of_5_log2(int k) { return (k * 152170) >> 16; }

// Sets *x to w * 10^e, correctly rounded, for w > 0 and e within the limits: x is a normal number.
// Returns false if 128 bits do not decide a tie.
static inline bool decimal_scale(uint64_t w, int e, double *x)
{
    // w * 5^e as a * b, both normalised. a is exact, b is truncated.
    int k = (e + 297) / 27 - 11, zeros = __builtin_clzll(w);
    unsigned __int128 a = (unsigned __int128)(w << zeros) * power_of_5[e - 27 * k];
    uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a;
    uint64_t b1 = power_of_5_27[k + 11][0], b0 = power_of_5_27[k + 11][1];
    // The upper half of the product: the number is at least `high`, and less than high + 4.
    unsigned __int128 high = (unsigned __int128)a1 * b1 + ((unsigned __int128)a1 * b0 >> 64) +
                             ((unsigned __int128)a0 * b1 >> 64);
    uint64_t top = (uint64_t)(high >> 64), low = (uint64_t)high;
    int drop = 11 - __builtin_clzll(top); // bits of `top` beyond the 53 of a double
    uint64_t half = (uint64_t)1 << (drop - 1), rest = top & (2 * half - 1);
    if ((rest == half && low == 0) || (rest == half - 1 && low >= (uint64_t)-3)) return false;
    uint64_t kept = (top >> drop) + (rest >= half);
    int exponent = drop + 2 - zeros + e + power_of_5_log2(e - 27 * k) + power_of_5_log2(27 * k);
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, 8);
    *x = (double)kept * scale;
    return true;
}

// Returns the value for any digits and exponent, by strtod() of "digits e exponent". Without a
// decimal point the locale does not matter. Digits past the 800th can only break a tie.
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
        if (!kept)
            tail |= *p != '0';
        else if (n || *p != '0')
            text[n++] = *p;
        exponent += !kept - fraction;
    }
    if (!n) return 0;
    if (tail) text[n++] = '1', exponent--;
    exponent = min64(max64(exponent, -100000), 100000);
    snprintf(text + n, sizeof text - (size_t)n, "e%d", (int)exponent);
    return strtod(text, NULL);
}

// Reads a real number into *value; infinite if too large. Returns its end, or NULL if there is
// none.
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
        // Both operands are exact doubles, so the operation rounds once.
        static const double exact[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
        x = e < 0 ? (double)w / exact[-e] : (double)w * exact[e];
    } else if (!w || e < DECIMAL_SCALE_MIN || e > DECIMAL_SCALE_MAX ||
               !decimal_scale(w, (int)e, &x)) {
        x = decimal_slow(first, last, exponent);
    }
    *value = negative ? -x : x;
    return p;
}

#endif
