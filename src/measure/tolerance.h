// Allowed and found errors of a result. The operation derives the sizes of rounding errors (op.h).
// An error is judged element by element, and in the root mean square of many elements, which shows
// a loss of precision that no single element shows.
//
// A standard error is at most 0.42 of its size, 0.2 to 0.26 for one chain of additions. So no
// element of a right result comes near 5 sizes in the largest matrices, and the root mean square
// stays below a half. A value that is rounded once, at the end, is off by up to u * |c|, and by
// 0.42 of that in the root mean square. H200: right results are off by at most 0.43 (SpMM, f32),
// 0.50 (SpMM, f64) and 0.32 (A*A, f64) of the tolerance.
#ifndef TOLERANCE_H
#define TOLERANCE_H

#include "algos/algo.h"
#include "base/rounding.h"

// Returns how the algorithm of a task rounds.
struct roundoff tolerance_roundoff(const struct task *t);
// Returns the tolerance of an element that sums `terms` products and should be `ref`.
struct tolerance tolerance_of(const struct task *t, int64_t terms, double ref, double error);
// Returns the tolerance of row i of the projection, which combines `count` elements. Up to
// `products` products may underflow.
struct tolerance tolerance_of_row(const struct task *t, int64_t products, int64_t count,
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
// Returns the largest root mean square of a bucket over the allowed one: 1, and more for few draws,
// which fluctuate. `draws`: least number of elements of a row. Sets *which to the bucket.
double tally_norm(const struct tally *t, int64_t draws, int *which);
// Tolerance and error over the typical element, as root mean squares, each of its worst group of
// buckets. A group of elements that should be 0 has the share 0. An infinite tolerance or error
// gives an infinite share.
struct error_shares {
    double tolerance, error;
};
struct error_shares tally_shares(const struct tally *t);

#endif
