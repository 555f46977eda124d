// Mutants that are right when they are checked, and wrong when they are timed. The check runs
// twice.
#ifndef MUTANTS_TIMED_H
#define MUTANTS_TIMED_H

#include "result.h"
#include "rounding.h"
#include "structure.h"

#define CHECKED_RUNS 2
static inline bool is_timed(const struct live *x) { return x->runs > CHECKED_RUNS; }

static inline bool nothing_after_2(struct live *x) { return x->runs > 2; }
static inline bool nothing_after_3(struct live *x) { return x->runs > 3; }
static inline bool nothing_after_10(struct live *x) { return x->runs > 10; }
static inline bool nothing_at_odd_runs(struct live *x) { return is_timed(x) && x->runs % 2; }
// Sees by the device that it is checked.
static inline bool nothing_unless_checked(struct live *x) { return !x->t->dev->poison; }
// Once the device has warmed up.
static inline bool nothing_after_a_while(struct live *x)
{
    return is_timed(x) && clock_ms() - x->start > 55;
}

static inline void wrong_after_2(struct live *x)
{
    if (is_timed(x)) alter_rows(x, 0, 1, doubled);
}
static inline void element_wrong_after_2(struct live *x)
{
    if (is_timed(x)) element_scaled(x);
}
static inline void zero_after_2(struct live *x)
{
    if (is_timed(x)) all_zero(x);
}
static inline void half_after_2(struct live *x)
{
    for (int64_t i = rows_of(x) / 2; i < rows_of(x) && is_timed(x); i++) alter_row(x, i, zero);
}
static inline void swapped_after_2(struct live *x)
{
    if (is_timed(x)) elements_swapped(x);
}
static inline void bf16_after_2(struct live *x)
{
    if (is_timed(x)) stored_bf16(x);
}
static inline void wrong_at_odd_runs(struct live *x)
{
    if (is_timed(x) && x->runs % 2) element_doubled(x);
}
static inline void wrong_every_20th(struct live *x)
{
    if (x->runs % 20 == 0) element_doubled(x);
}
static inline void column_wrong_after_2(struct live *x)
{
    if (is_timed(x)) column_moved(x);
}
static inline void nonzero_dropped_after_2(struct live *x)
{
    if (is_timed(x)) nonzero_dropped(x);
}

// Rounds operands to 17 bits after the check. The sums of two such results differ by less than two
// right results may.
static inline double to_17_bits(double v) { return keep_bits(v, 17); }
static inline void bits_17_after_2(struct live *x)
{
    if (is_timed(x)) recompute(x, (struct rounding){.a = to_17_bits, .b = to_17_bits});
}

// Changes the last bit of an element in the first timed run, as atomic additions do. Then rounds
// operands to 13 bits.
static inline double to_13_bits(double v) { return keep_bits(v, 13); }
static inline void bits_13_after_another(struct live *x)
{
    const int64_t q = some_place(x);
    if (x->runs == CHECKED_RUNS + 1 && q >= 0) put(x, q, get(x, q) * (1 + 1e-7));
    if (x->runs > CHECKED_RUNS + 1)
        recompute(x, (struct rounding){.a = to_13_bits, .b = to_13_bits});
}

// Adds to what the run before has left: double after the third run, three times after the fourth.
static inline void adds_after_2(struct live *x)
{
    if (!is_timed(x)) return;
    double factor = (double)(x->runs - CHECKED_RUNS + 1);
    for (int64_t i = 0; i < rows_of(x); i++)
        for (int64_t e = 0; e < row_count(x, i); e++)
            put(x, row_first(x, i) + e, factor * get(x, row_first(x, i) + e));
}

#endif
