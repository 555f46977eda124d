// Mutants of the result's values: elements, rows, columns, all of them.
#ifndef MUTANTS_RESULT_H
#define MUTANTS_RESULT_H

#include "mutants.h"

// One element at random becomes what `to` makes of it.
static inline void alter_element(struct live *x, double (*to)(double))
{
    int64_t q = some_place(x);
    if (q >= 0) put(x, q, to(get(x, q)));
}
static inline void alter_row(struct live *x, int64_t i, double (*to)(double))
{
    for (int64_t e = 0; i >= 0 && e < row_count(x, i); e++)
        put(x, row_first(x, i) + e, to(get(x, row_first(x, i) + e)));
}
static inline void alter_rows(struct live *x, int64_t first, int64_t step, double (*to)(double))
{
    for (int64_t i = first; i < rows_of(x); i += step) alter_row(x, i, to);
}

static inline double zero(double c) { return (void)c, 0; }
static inline double one(double c) { return (void)c, 1; }
static inline double doubled(double c) { return 2 * c; }
static inline double negated(double c) { return -c; }
static inline double not_a_number(double c) { return (void)c, NAN; }
static inline double infinite(double c) { return (void)c, INFINITY; }
static inline double scaled_1e2(double c) { return c * (1 + 1e-2); }
static inline double scaled_1e3(double c) { return c * (1 + 1e-3); }
static inline double scaled_1e5(double c) { return c * (1 + 1e-5); }

static inline void element_dropped(struct live *x) { alter_element(x, zero); }
static inline void element_doubled(struct live *x) { alter_element(x, doubled); }
static inline void element_negated(struct live *x) { alter_element(x, negated); }
static inline void element_nan(struct live *x) { alter_element(x, not_a_number); }
static inline void element_infinite(struct live *x) { alter_element(x, infinite); }
static inline void element_scaled(struct live *x) { alter_element(x, scaled_1e2); }

static inline void flip_bit(struct live *x, int of_f32, int of_f64)
{
    int64_t q = some_place(x);
    if (q < 0) return;
    double c = get(x, q);
    if (x->t->prec == F32) {
        float f = (float)c;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        bits ^= 1u << of_f32;
        memcpy(&f, &bits, sizeof bits);
        c = f;
    } else {
        uint64_t bits;
        memcpy(&bits, &c, sizeof bits);
        bits ^= (uint64_t)1 << of_f64;
        memcpy(&c, &bits, sizeof bits);
    }
    put(x, q, c);
}
// 2^-13 and 2^-32 of the element, or less.
static inline void bit_flipped_low(struct live *x)
{
    if (beyond_rounding(x, x->t->prec == F32 ? 0x1p-14 : 0x1p-33)) flip_bit(x, 10, 20);
}
static inline void bit_flipped_high(struct live *x) { flip_bit(x, 22, 51); }
static inline void bit_flipped_exponent(struct live *x) { flip_bit(x, 24, 53); }

static inline void exchange(struct live *x, int64_t q, int64_t r)
{
    double c = get(x, q);
    put(x, q, get(x, r));
    put(x, r, c);
}
static inline void elements_swapped(struct live *x)
{
    int64_t i = some_row(x, 2);
    if (i < 0) return;
    int64_t q = row_first(x, i) + below(x, row_count(x, i) - 1);
    exchange(x, q, q + 1);
}
static inline void element_of_next_row(struct live *x)
{
    int64_t i = some_row(x, 1);
    if (i >= 0 && i + 1 < rows_of(x) && row_count(x, i + 1))
        put(x, row_first(x, i), get(x, row_first(x, i + 1)));
}
static inline void border_moved(struct live *x)
{
    int64_t i = some_row(x, 1);
    if (i >= 0 && i + 1 < rows_of(x) && row_count(x, i + 1))
        exchange(x, row_first(x, i) + row_count(x, i) - 1, row_first(x, i + 1));
}
// One element has more and another as much less, so that their row's sum stays.
static inline void sum_kept(struct live *x)
{
    int64_t i = some_row(x, 2);
    if (i < 0) return;
    int64_t q = row_first(x, i);
    double c = get(x, q);
    put(x, q, 0);
    put(x, q + 1, get(x, q + 1) + c);
}

static inline void last_element_dropped(struct live *x)
{
    int64_t i = rows_of(x) - 1;
    while (i > 0 && !row_count(x, i)) i--;
    if (row_count(x, i)) put(x, row_first(x, i) + row_count(x, i) - 1, 0);
}
static inline void row_dropped(struct live *x) { alter_row(x, some_row(x, 1), zero); }
static inline void row_longest_dropped(struct live *x) { alter_row(x, longest_row(x), zero); }
static inline void row_last_dropped(struct live *x) { alter_row(x, rows_of(x) - 1, zero); }
static inline void row_scaled(struct live *x) { alter_row(x, some_row(x, 1), scaled_1e3); }
static inline void rows_32nd_dropped(struct live *x) { alter_rows(x, 31, 32, zero); }
static inline void rows_65536_dropped(struct live *x) { alter_rows(x, 65536, 1, zero); }
static inline void rows_swapped(struct live *x)
{
    int64_t i = some_row(x, 1);
    if (i < 0 || i + 1 >= rows_of(x)) return;
    for (int64_t e = 0; e < min64(row_count(x, i), row_count(x, i + 1)); e++)
        exchange(x, row_first(x, i) + e, row_first(x, i + 1) + e);
}

static inline void all_zero(struct live *x) { alter_rows(x, 0, 1, zero); }
static inline void all_constant(struct live *x) { alter_rows(x, 0, 1, one); }
static inline void all_absolute(struct live *x) { alter_rows(x, 0, 1, fabs); }
static inline void all_negated(struct live *x) { alter_rows(x, 0, 1, negated); }
static inline void all_scaled(struct live *x)
{
    if (beyond_rounding(x, 1e-5)) alter_rows(x, 0, 1, scaled_1e5);
}
// By 1e-4 of its size, up or down at random.
static inline void all_noisy(struct live *x)
{
    if (!beyond_rounding(x, 1e-4)) return;
    for (int64_t i = 0; i < rows_of(x); i++)
        for (int64_t e = 0; e < row_count(x, i); e++) {
            int64_t q = row_first(x, i) + e;
            put(x, q, get(x, q) * (below(x, 2) ? 1 + 1e-4 : 1 - 1e-4));
        }
}

// Rows, or values, one place on; the last becomes the first.
static inline void rows_rotated(struct live *x)
{
    for (int64_t i = 0; i + 1 < rows_of(x); i++)
        for (int64_t e = 0; e < min64(row_count(x, i), row_count(x, i + 1)); e++)
            exchange(x, row_first(x, i) + e, row_first(x, i + 1) + e);
}
static inline void columns_rotated(struct live *x)
{
    for (int64_t i = 0; i < rows_of(x); i++)
        for (int64_t e = 0; e + 1 < row_count(x, i); e++)
            exchange(x, row_first(x, i) + e, row_first(x, i) + e + 1);
}
static inline void column_last_dropped(struct live *x)
{
    for (int64_t i = 0; i < rows_of(x); i++)
        if (row_count(x, i)) put(x, row_first(x, i) + row_count(x, i) - 1, 0);
}

// A block of rows and columns; mutants of blocks show only where there is one.
#define BLOCK 4
static inline void block_transposed(struct live *x)
{
    if (rows_of(x) < BLOCK || x->t->C.cols < BLOCK) return;
    for (int64_t i = 0; i < BLOCK; i++)
        for (int64_t j = 0; j < i; j++) exchange(x, row_first(x, i) + j, row_first(x, j) + i);
}
// The second 32 rows hold what the first do.
static inline void block_misplaced(struct live *x)
{
    for (int64_t i = 0; i < 32 && i + 32 < rows_of(x); i++)
        for (int64_t e = 0; e < min64(row_count(x, i), row_count(x, i + 32)); e++)
            put(x, row_first(x, i + 32) + e, get(x, row_first(x, i) + e));
}

#endif
