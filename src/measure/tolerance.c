#include "measure/tolerance.h"

#include <float.h>

// Of what is rounded once. A right kernel is to use half of each tolerance at the most.
#define STORED_SIZES 2.0

static double smallest(enum prec prec)
{
    return prec == F32 ? FLT_MIN * FLT_EPSILON : DBL_MIN * DBL_EPSILON;
}

// `rounding` of the sums, `stored` of a result that was summed in double, `tiny` by underflow.
static struct tolerance add_up(double rounding, double stored, double tiny)
{
    return (struct tolerance){.element = ELEMENT_SIZES * rounding + STORED_SIZES * stored + tiny,
                              .norm = NORM_SIZES * rounding + stored + tiny,
                              .spread = rounding + stored + tiny};
}

// Each product may underflow, and what is stored.
static double tiny_of(const struct task *t, int64_t products)
{
    return ((double)products + 2) * smallest(t->prec);
}

struct tolerance tolerance_of(const struct task *t, int64_t terms, double ref, double error)
{
    bool in_double = t->algo->arith == ARITH_DOUBLE;
    double u = prec_unit_roundoff(t->prec), stored = in_double ? u * fabs(ref) : 0;
    double rounding = (in_double ? prec_unit_roundoff(F64) : u) * error;
    return add_up(rounding, stored, tiny_of(t, terms));
}

struct tolerance tolerance_of_row(const struct task *t, int64_t products,
                                  const struct projection *x, int64_t i)
{
    // Elements are rounded one by one, and their weights have random signs.
    struct tolerance c = tolerance_of(t, products, x->size[i], x->error[i]);
    double own = prec_unit_roundoff(F64) * x->own[i];
    double stored = t->algo->arith == ARITH_DOUBLE ? prec_unit_roundoff(t->prec) * x->size[i] : 0;
    c.element += ELEMENT_SIZES * own + (ELEMENT_SIZES - STORED_SIZES) * stored;
    c.norm += NORM_SIZES * own;
    return c;
}

void tally_add(struct tally *t, int64_t terms, double off, double ref,
               const struct tolerance *tolerance)
{
    struct bucket *b = &t->bucket[terms > 1 ? 63 - __builtin_clzll((uint64_t)terms) : 0];
    double r = off / tolerance->norm;
    b->count++;
    b->off2 += r * r;
    squares_add(&b->allowed, tolerance->element);
    squares_add(&b->should_be, ref);
    squares_add(&t->spread, tolerance->spread);
}

static void bucket_add_all(struct bucket *b, const struct bucket *other)
{
    b->count += other->count;
    b->off2 += other->off2;
    squares_add_all(&b->allowed, &other->allowed);
    squares_add_all(&b->should_be, &other->should_be);
}

void tally_add_all(struct tally *t, const struct tally *other)
{
    for (int b = 0; b < BUCKETS; b++) bucket_add_all(&t->bucket[b], &other->bucket[b]);
    squares_add_all(&t->spread, &other->spread);
}

// More elements than these are no more independent draws: they share operands.
#define DRAWS 64

double tally_norm(const struct tally *t, int64_t draws, int *which)
{
    double most = 0;
    *which = 0;
    for (int x = 0; x < BUCKETS; x++) {
        const struct bucket *b = &t->bucket[x];
        if (!b->count) continue;
        double count = (double)min64(b->count, min64(draws, DRAWS));
        double norm = sqrt(b->off2 / (double)b->count) / (1 + 3 / sqrt(count));
        if (norm > most) most = norm, *which = x;
    }
    return most;
}

static double share_of(const struct bucket *b)
{
    double allowed = squares_root(&b->allowed), size = squares_root(&b->should_be);
    double share = size == 0 && isfinite(allowed) ? 0 : allowed / size;
    return isnan(share) ? INFINITY : share;
}

// Of a few elements all may be near 0 by chance; so many are judged together.
#define SHARE_COUNT 32

double tally_share(const struct tally *t)
{
    struct bucket group = {0}, last = {0};
    double most = 0;
    for (int b = BUCKETS - 1; b >= 0; b--) {
        bucket_add_all(&group, &t->bucket[b]);
        if (group.count < SHARE_COUNT) continue;
        most = fmax(most, share_of(&group));
        last = group;
        group = (struct bucket){0};
    }
    bucket_add_all(&last, &group);
    return fmax(most, share_of(&last));
}
