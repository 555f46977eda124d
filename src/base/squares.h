// A sum of squares that neither overflows nor underflows, stored as scale^2 * sum. `scale` is the
// largest term. NaN stays NaN.
#ifndef SQUARES_H
#define SQUARES_H

#include <math.h>
#include <stdbool.h>

#include "base/mix.h" // HOST_DEVICE

struct squares {
    double scale, sum;
};

static HOST_DEVICE inline void squares_add(struct squares *s, double x)
{
    x = fabs(x);
    if (x == 0) return;
    double r = x > s->scale ? s->scale / x : x / s->scale;
    s->sum = x > s->scale ? 1 + s->sum * r * r : s->sum + r * r;
    if (x > s->scale) s->scale = x;
}

static HOST_DEVICE inline void squares_add_all(struct squares *s, const struct squares *other)
{
    if (other->sum == 0) return;
    bool larger = other->scale > s->scale;
    double r = larger ? s->scale / other->scale : other->scale / s->scale;
    s->sum = larger ? other->sum + s->sum * r * r : s->sum + other->sum * r * r;
    if (larger) s->scale = other->scale;
}

// Returns the square root of the sum.
static HOST_DEVICE inline double squares_root(const struct squares *s)
{
    return s->scale * sqrt(s->sum);
}

#endif
