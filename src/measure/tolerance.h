// How far off a result may be, from the sizes of rounding errors that the operation derives (op.h),
// and how far off it is: element by element, and in the root mean square of many, which shows a
// loss of precision that no single element does.
//
// A standard error is at most 0.42 of its size, 0.2 to 0.26 where there is one chain of additions:
// no element of a right result comes near 5 sizes in the largest matrices, and the root mean square
// stays under a half. A value that is rounded once, at the end, is off by up to u * |c|, and by
// 0.42 of that in the root mean square. H200: right results are off by at most 0.43 (SpMM, f32),
// 0.50 (SpMM, f64) and 0.32 (A*A, f64) of the tolerance.
#ifndef TOLERANCE_H
#define TOLERANCE_H

#include "algos/algo.h"
#include "base/rounding.h"

// Returns how the algorithm of a task rounds.
struct roundoff tolerance_roundoff(const struct task *t);
// Of an element that sums up so many products and should be `ref`.
struct tolerance tolerance_of(const struct task *t, int64_t terms, double ref, double error);
// Of row i of the projection, in which so many products may underflow.
struct tolerance tolerance_of_row(const struct task *t, int64_t products,
                                  const struct projection *x, int64_t i);

#define BUCKETS 64
struct tally {
    struct bucket bucket[BUCKETS]; // [b]: elements with 2^b to 2^(b+1) - 1 products
};
// Returns the bucket of elements with `terms` products.
struct bucket *tally_bucket(struct tally *t, int64_t terms);
void tally_add(struct tally *t, int64_t terms, double off, double ref,
               const struct tolerance *tolerance);
void tally_add_all(struct tally *t, const struct tally *other);
// Returns the error of a sum of all elements.
double tally_spread(const struct tally *t);
// The largest of the buckets' root mean squares, in units of what is allowed: 1, and more where few
// draws fluctuate. `draws` is how many a row has at least. The bucket is `which`.
double tally_norm(const struct tally *t, int64_t draws, int *which);
// How large the tolerance is beside the elements, in root mean squares, where that is worst.
// Elements that are all 0 are left out. Infinite where a tolerance is.
double tally_share(const struct tally *t);

#endif
