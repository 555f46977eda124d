// Error bounds of sums whose additions are rounded. The reference on the host and the check on a
// device share them, so both come to the same verdict.
#ifndef ROUNDING_H
#define ROUNDING_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mix.h" // HOST_DEVICE
#include "base/squares.h"

// Returns the size of the rounding error of a sum of `terms` products, in units of roundoff.
// `partial`: the root of the sum of their squares, or a bound of the partial sums.
static HOST_DEVICE inline double sum_error(int64_t terms, double partial, double sum)
{
    double square = partial * partial + sum * sum; // hypot() takes ten times as long
    bool is_exact = square > 1e-280 && square < 1e300;
    return sqrt((double)terms + 1) * (is_exact ? sqrt(square) : hypot(partial, sum));
}

// A sum of products. `ref` + `low` is the sum in twice the precision of double. Double alone would
// not do: roundings of equal products go one way.
struct sum {
    double ref, low;
    double mag;   // sum of absolute values
    double plain; // sum, rounded to the type of sums after each addition
};

// Adds the product x. `single`: sums are in f32, else in f64.
static HOST_DEVICE inline void sum_add(struct sum *s, bool single, double x)
{
    double sum = s->ref + x, part = sum - s->ref, plain = s->plain + x;
    s->low += (s->ref - (sum - part)) + (x - part);
    s->ref = sum;
    s->mag += fabs(x);
    s->plain = single ? (double)(float)plain : plain;
}

static HOST_DEVICE inline double sum_value(const struct sum *s) { return s->ref + s->low; }

// Returns the size of the sum's rounding error, in units of the roundoff `unit` of the problem's
// precision. The products have the matrix's signs, not random ones. If many are equal, the
// roundings go one way. The plain sum shows how far. A sum in another order goes up to PLAIN_ERRORS
// times as far.
#define PLAIN_ERRORS 4
static HOST_DEVICE inline double sum_size(const struct sum *s, double unit, int64_t terms)
{
    double ref = sum_value(s), largest = (s->mag + fabs(ref)) / 2;
    double plain = fabs(s->plain - s->ref - s->low) / unit;
    return fmax(sum_error(terms, largest, ref), PLAIN_ERRORS * plain);
}

// Sums of a right kernel use half of each tolerance at most; see measure/tolerance.h. One rounding
// uses up to all of STORED_SIZES.
#define ELEMENT_SIZES 5.0
#define NORM_SIZES    0.5
#define STORED_SIZES  1.0 // for a value that is rounded once, at the end

struct tolerance {
    double element; // largest error of an element
    double norm;    // largest root mean square of the errors of such elements
};

// Rounding of an algorithm.
struct roundoff {
    double sums;     // unit roundoff of its sums
    double stored;   // unit roundoff of a result that is stored in fewer bits; 0: as its sums
    double smallest; // smallest sum above 0: the error if a product underflows
    double smallest_stored; // smallest result above 0: the error if a result underflows
};

// Returns the tolerance of an element, a sum of `terms` products with the value `ref`. `error`: the
// size of its rounding error, in units of roundoff.
static HOST_DEVICE inline struct tolerance tolerance_make(const struct roundoff *r, int64_t terms,
                                                          double ref, double error)
{
    double sums = r->sums * error, stored = r->stored * fabs(ref);
    double tiny = ((double)terms + 1) * r->smallest + r->smallest_stored;
    struct tolerance t;
    t.element = (1 + r->stored) * ELEMENT_SIZES * sums + STORED_SIZES * stored + tiny;
    t.norm = NORM_SIZES * sums + stored + tiny;
    return t;
}

// Returns the error of c in units of the tolerance; infinite for NaN.
static HOST_DEVICE inline double error_ratio(double c, double ref, double tolerance)
{
    double off = fabs(c - ref);
    if (off == 0) return 0;
    return off <= tolerance || off / tolerance < HUGE_VAL ? off / tolerance : HUGE_VAL;
}

// Sums over several elements.
struct bucket {
    int64_t count;
    double off2;              // sum of (error / tolerance.norm)^2
    struct squares off;       // sum over the errors
    struct squares allowed;   // sum over tolerance.element
    struct squares should_be; // sum over the right values
};

static HOST_DEVICE inline void bucket_add(struct bucket *b, double off, double ref,
                                          const struct tolerance *t)
{
    double r = off / t->norm;
    b->count++;
    b->off2 += r * r;
    squares_add(&b->off, off);
    squares_add(&b->allowed, t->element);
    squares_add(&b->should_be, ref);
}

static HOST_DEVICE inline void bucket_add_all(struct bucket *b, const struct bucket *other)
{
    b->count += other->count;
    b->off2 += other->off2;
    squares_add_all(&b->off, &other->off);
    squares_add_all(&b->allowed, &other->allowed);
    squares_add_all(&b->should_be, &other->should_be);
}

#endif
