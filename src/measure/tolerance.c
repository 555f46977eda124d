#include "measure/tolerance.h"

#include <math.h>

// Unit roundoff of sums on tensor cores, over the unit roundoff of f32. Tensor cores truncate
// partial sums of 16-bit products. H100, cuBLAS, f16, 8,192 terms with 1,024 nonzeros: with a
// value of 1 the error is 1.3 times the tolerance.
#define TENSOR_UNITS 8

struct roundoff tolerance_roundoff(const struct task *t)
{
    // The smallest f64 as tolerance: the ratio of an exact value is then 0, not 0 / 0.
    if (t->exact) return (struct roundoff){.smallest_stored = type_list[F64].smallest};
    const struct type_facts *sums = &type_list[algo_sums(t->algo, t->prec)],
                            *stored = &type_list[prec_out(t->prec)];
    const bool cut = t->algo->tensor && prec_in(t->prec) != prec_sum(t->prec);
    return (struct roundoff){.sums = sums->unit * (cut ? TENSOR_UNITS : 1),
                             .stored = stored->unit > sums->unit ? stored->unit : 0,
                             .smallest = sums->smallest,
                             .smallest_stored = stored->smallest};
}

struct tolerance tolerance_of(const struct task *t, int64_t terms, double ref, double error)
{
    struct roundoff r = tolerance_roundoff(t);
    return tolerance_make(&r, terms, ref, error);
}

struct tolerance tolerance_of_row(const struct task *t, int64_t products, int64_t count,
                                  const struct projection *x, int64_t i)
{
    // Elements are rounded one by one, and their weights have random signs. An element below the
    // normal numbers is off by up to half the smallest number, whatever its size: `tiny` bounds the
    // root mean square of these errors.
    const struct roundoff r = tolerance_roundoff(t);
    struct tolerance c = tolerance_of(t, products, x->size[i], x->error[i]);
    double own = type_list[F64].unit * x->own[i], stored = r.stored * x->size[i];
    double tiny = sqrt((double)count) * r.smallest_stored / 2;
    c.element += ELEMENT_SIZES * (own + tiny) + (ELEMENT_SIZES - STORED_SIZES) * stored;
    c.norm += NORM_SIZES * own + tiny;
    return c;
}

struct bucket *tally_bucket(struct tally *t, int64_t terms)
{
    return &t->bucket[terms > 1 ? 63 - __builtin_clzll((uint64_t)terms) : 0];
}

void tally_add(struct tally *t, int64_t terms, double off, double ref,
               const struct tolerance *tolerance)
{
    bucket_add(tally_bucket(t, terms), off, ref, tolerance);
}

void tally_add_all(struct tally *t, const struct tally *other)
{
    for (int b = 0; b < BUCKETS; b++) bucket_add_all(&t->bucket[b], &other->bucket[b]);
}

// Most independent draws in a row of elements: further elements share operands.
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

// Returns the share of these errors of a bucket in its elements.
static double share_of(const struct squares *errors, const struct bucket *b)
{
    double error = squares_root(errors), size = squares_root(&b->should_be);
    double share = size == 0 && isfinite(error) ? 0 : error / size;
    return isnan(share) ? INFINITY : share;
}

static void add_shares(struct error_shares *most, const struct bucket *b)
{
    most->tolerance = fmax(most->tolerance, share_of(&b->allowed, b));
    most->error = fmax(most->error, share_of(&b->off, b));
}

// Least number of elements of a bucket that is judged alone: fewer can all be near 0 by chance.
#define SHARE_COUNT 32

struct error_shares tally_shares(const struct tally *t)
{
    struct bucket group = {0}, last = {0};
    struct error_shares most = {0};
    for (int b = BUCKETS - 1; b >= 0; b--) {
        bucket_add_all(&group, &t->bucket[b]);
        if (group.count < SHARE_COUNT) continue;
        add_shares(&most, &group);
        last = group;
        group = (struct bucket){0};
    }
    bucket_add_all(&last, &group);
    add_shares(&most, &last);
    return most;
}
