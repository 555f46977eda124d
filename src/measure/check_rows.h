// What the checks of dense and of sparse results share: the tolerance, the choice of rows, the
// verdict.
#ifndef CHECK_ROWS_H
#define CHECK_ROWS_H

#include "measure/check.h"

#define CHECK_SAMPLE_ROWS 1004 // 1,000 at random and four by choice

// The worst element seen so far; j = -1 is a whole row's random combination.
struct worst {
    double ratio;
    int64_t i, j;
    double c, ref;
};
void worst_add(struct worst *w, double ratio, int64_t i, int64_t j, double c, double ref);

// |c - ref| <= (terms + 4) * u * sum|a||b|, and what underflow may add.
double check_tolerance(const struct task *t, int64_t terms, double ref, double mag);
// How far off in units of the tolerance; infinite for NaN.
double check_ratio(double c, double ref, double tol);

// Whole rows: the longest, the first, the last, an empty one if any, the others at random.
int64_t check_pick_rows(const struct inputs *in, int32_t rows[CHECK_SAMPLE_ROWS]);
bool check_is_full(const struct task *t, enum check_mode mode);
void check_verdict(const struct worst *worst, bool full, struct check *out);

#endif
