#include "base/size.h"

#include <stdio.h>

#include "base/fail.h"

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

const char *size_text(int64_t bytes, char text[32])
{
    static const char *unit[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double x = (double)bytes;
    int u = 0;
    while (x >= 999.5 && u < 6) x /= 1000, u++;
    snprintf(text, 32, u && x < 99.95 ? "%.1f %s" : "%.0f %s", x, unit[u]);
    return text;
}
