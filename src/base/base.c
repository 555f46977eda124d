#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mix.h"
#include "base/utf8.h"

static _Thread_local char last_failure[FAIL_TEXT_MAX];
volatile sig_atomic_t interrupted;

int fail(enum err code, const char *format, ...)
{
    char text[FAIL_TEXT_MAX], *whole = NULL; // an argument may be the last one's text
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(text, sizeof text, format, args);
    // Of a long one the end is wanted, too; without memory for it the beginning has to do.
    if (length >= FAIL_TEXT_MAX) whole = mem_try_alloc((int64_t)length + 1);
    if (whole) vsnprintf(whole, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    utf8_visible(whole ? whole : text, last_failure, sizeof last_failure);
    mem_free(whole);
    return code;
}

const char *fail_text(void) { return last_failure; }

void bug(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "spbench: a mistake in the program: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    abort();
}

int size_mul(int64_t a, int64_t b, int64_t *product)
{
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, product))
        return fail(ERR_MEMORY, "a size of %lld x %lld is out of range", (long long)a,
                    (long long)b);
    return OK;
}

int size_add(int64_t a, int64_t b, int64_t *sum)
{
    if (a < 0 || b < 0 || __builtin_add_overflow(a, b, sum))
        return fail(ERR_MEMORY, "a size of %lld + %lld is out of range", (long long)a,
                    (long long)b);
    return OK;
}

double clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

uint64_t random_at(uint64_t seed, uint64_t i)
{
    return mix(mix(seed + MIX_STEP) + (i + 1) * MIX_STEP);
}

double random_value(uint64_t seed, uint64_t i)
{
    // 24 random bits: every value is a multiple of 2^-23, so it is exact in f32.
    return (double)(random_at(seed, i) >> 40) * (1.0 / 8388608.0) - 1.0;
}

const char *size_text(int64_t bytes, char text[32])
{
    static const char *unit[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double x = (double)bytes;
    int u = 0;
    while (x >= 999.5 && u < 6) x /= 1000, u++;
    snprintf(text, 32, u && x < 99.95 ? "%.1f %s" : "%.0f %s", x, unit[u]);
    return text;
}
