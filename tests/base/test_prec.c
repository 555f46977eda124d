// Types of 16 bits: every number goes to a double and back, and rounding goes to the nearest
// number.
#include <math.h>
#include <string.h>

#include "base/prec.h"
#include "test.h"

static double half_value(enum prec type, uint16_t half) { return type_load(type, &half, 0); }
static uint16_t half_bits(enum prec type, double x)
{
    uint16_t half;
    type_store(type, &half, 0, x);
    return half;
}

// The bits of the next number towards infinity.
static double next_up(enum prec type, uint16_t half) { return half_value(type, half + 1); }

static void test_all_numbers(enum prec type)
{
    const char *name = prec_name(type);
    for (int h = 0; h < 1 << 16; h++) {
        const double x = half_value(type, (uint16_t)h);
        const uint16_t back = half_bits(type, x);
        if (isnan(x))
            CHECK(isnan(half_value(type, back)), "%s: NaN %x becomes %x", name, h, back);
        else
            CHECK(back == h, "%s: %x is %g and becomes %x", name, h, x, back);
    }
    const struct type_facts *t = &type_list[type];
    CHECK(half_value(type, 1) == t->smallest, "%s: smallest %g", name, half_value(type, 1));
    CHECK(half_value(type, half_bits(type, t->largest)) == t->largest, "%s: largest", name);
    CHECK(isinf(next_up(type, half_bits(type, t->largest))), "%s: next of the largest", name);
    CHECK(next_up(type, half_bits(type, 1)) == 1 + 2 * t->unit, "%s: next of 1", name);
}

// Halfway between neighbours the even one is taken, beside it the nearer one, however near.
static void test_ties(enum prec type)
{
    const char *name = prec_name(type);
    for (int h = 0; h < 0x7fff; h++) {
        const double low = half_value(type, (uint16_t)h),
                     high = half_value(type, (uint16_t)(h + 1));
        if (!isfinite(high)) break;
        const double middle = (low + high) / 2;
        const int even = h % 2 ? h + 1 : h;
        CHECK(half_bits(type, middle) == even, "%s: %g is a tie", name, middle);
        CHECK(half_bits(type, -middle) == (even | 0x8000), "%s: %g is a tie", name, -middle);
        CHECK(half_bits(type, nextafter(middle, 0)) == h, "%s: under %g", name, middle);
        CHECK(half_bits(type, nextafter(middle, INFINITY)) == h + 1, "%s: over %g", name, middle);
    }
    const double most = type_list[type].largest, step = most * type_list[type].unit;
    CHECK(type_round(type, most + 0.99 * step / 2) == most, "%s: just under infinity", name);
    CHECK(isinf(type_round(type, most + 1.01 * step)), "%s: past the largest", name);
    CHECK(type_round(type, -HUGE_VAL) == -HUGE_VAL, "%s: infinity", name);
}

static void test_list(void)
{
    for (int p = 0; p < PRECS; p++) {
        const enum prec in = prec_in((enum prec)p), out = prec_out((enum prec)p);
        CHECK(in < TYPES && out < TYPES && prec_sum((enum prec)p) < TYPES, "types of %d", p);
        CHECK(p >= TYPES || (in == (enum prec)p && out == in), "%s is a type", prec_name(in));
    }
    const float x = 1;
    CHECK(isnan(type_load(F16_F32, &x, 0)) && isnan(type_round(F16_F32, 1)), "what is no type");
    CHECK(type_bytes(F64) == 8 && type_bytes(BF16) == 2 && !type_bytes(F16_F32), "their bytes");
    CHECK(type_round(F32, 1 + 0x1p-25) == 1 && type_round(F64, 1 + 0x1p-25) != 1, "f32 and f64");
}

int main(void)
{
    test_all_numbers(F16);
    test_all_numbers(BF16);
    test_ties(F16);
    test_ties(BF16);
    test_list();
    return TEST_END();
}
