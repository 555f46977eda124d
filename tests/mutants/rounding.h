// Mutants of the arithmetic: the operation as it is written down, with roundings in it that belong
// to another precision.
#ifndef MUTANTS_ROUNDING_H
#define MUTANTS_ROUNDING_H

#include "mutants.h"

// The explicit bits of the mantissa that are kept, to the nearest, ties to even.
static inline double keep_bits(double v, int bits)
{
    uint64_t u, cut = (uint64_t)1 << (52 - bits);
    memcpy(&u, &v, sizeof u);
    u += cut / 2 - 1 + (u / cut & 1);
    u &= ~(cut - 1);
    memcpy(&v, &u, sizeof u);
    return v;
}
static inline double cut_bits(double v, int bits)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    u &= ~(((uint64_t)1 << (52 - bits)) - 1);
    memcpy(&v, &u, sizeof u);
    return v;
}
static inline double to_tf32(double v) { return keep_bits(v, 10); }
static inline double to_tf32_cut(double v) { return cut_bits(v, 10); }
static inline double to_bf16(double v) { return keep_bits(v, 7); }
static inline double to_f32(double v) { return (double)(float)v; }
static inline double to_f32_cut(double v) { return cut_bits(v, 23); }
// Below 2^-14 its numbers are multiples of 2^-24; nothing here comes near its largest one.
static inline double to_fp16(double v)
{
    return fabs(v) < 0x1p-14 ? rint(v * 0x1p24) * 0x1p-24 : keep_bits(v, 10);
}

// Where it rounds, and to what. NULL: not there, and sums to the precision of the case.
struct rounding {
    double (*a)(double); // values of A
    double (*b)(double); // values of the dense operands, or of the second sparse factor
    double (*product)(double);
    double (*sum)(double); // each partial sum
};
// `changed` is set where that makes a difference.
static inline double rounded(double (*to)(double), double v, bool *changed)
{
    double w = to ? to(v) : v;
    *changed |= w != v;
    return w;
}

// Step of a sum: returns sum + a * b, with the roundings of r.
static inline double add_product(enum prec prec, const struct rounding *r, double sum, double a,
                                 double b, bool *changed)
{
    double next = sum + rounded(r->product, a * b, changed);
    return r->sum ? rounded(r->sum, next, changed) : type_round(prec_sum(prec), next);
}

static inline bool compute_dense(struct live *x, const struct rounding *r)
{
    const struct csr_dev *A = matrix_of(x);
    const struct dense_dev *B = &x->t->in[0];
    enum prec prec = x->t->prec;
    bool changed = false;
#pragma omp parallel for schedule(dynamic, 64) reduction(|| : changed)
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t j = 0; j < B->cols; j++) {
            double sum = 0;
            for (int64_t q = csr_start(A, i); q < csr_start(A, i + 1); q++) {
                double a = rounded(r->a, type_load(prec_in(prec), A->val, q), &changed);
                double b = type_load(prec_in(prec), B->val, A->idx[q] * B->ld + j);
                sum = add_product(prec, r, sum, a, rounded(r->b, b, &changed), &changed);
            }
            x->sums[i * B->cols + j] = sum;
        }
    return changed;
}

static inline bool compute_pattern(struct live *x, const struct rounding *r)
{
    const struct csr_dev *A = matrix_of(x);
    const struct dense_dev *X = &x->t->in[0], *Y = &x->t->in[1];
    enum prec prec = x->t->prec;
    bool changed = false;
#pragma omp parallel for schedule(dynamic, 64) reduction(|| : changed)
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t q = csr_start(A, i); q < csr_start(A, i + 1); q++) {
            double sum = 0;
            for (int64_t l = 0; l < X->cols; l++) {
                double a = rounded(r->b, type_load(prec_in(prec), X->val, i * X->ld + l), &changed);
                double b = type_load(prec_in(prec), Y->val, A->idx[q] * Y->ld + l);
                sum = add_product(prec, r, sum, a, rounded(r->b, b, &changed), &changed);
            }
            x->sums[q] = sum * rounded(r->a, type_load(prec_in(prec), A->val, q), &changed);
        }
    return changed;
}

// The structure is that of the right result; `sum` has a place for each column.
static inline bool compute_sparse(struct live *x, const struct rounding *r, double *sum)
{
    const struct csr_dev *A = matrix_of(x), *S = csr_of(x->t->S[0]), *R = &x->t->R;
    enum prec prec = x->t->prec;
    bool changed = false;
    for (int64_t i = 0; i < A->m; i++) {
        for (int64_t e = csr_start(R, i); e < csr_start(R, i + 1); e++) sum[R->idx[e]] = 0;
        for (int64_t p = csr_start(A, i); p < csr_start(A, i + 1); p++) {
            double a = rounded(r->a, type_load(prec_in(prec), A->val, p), &changed);
            for (int64_t q = csr_start(S, A->idx[p]); q < csr_start(S, A->idx[p] + 1); q++) {
                double b = rounded(r->b, type_load(prec_in(prec), S->val, q), &changed);
                int32_t j = S->idx[q];
                sum[j] = add_product(prec, r, sum[j], a, b, &changed);
            }
        }
        for (int64_t e = csr_start(R, i); e < csr_start(R, i + 1); e++) x->sums[e] = sum[R->idx[e]];
    }
    return changed;
}

static inline void compute(struct live *x, const struct rounding *r)
{
    int64_t count = 0;
    for (int64_t i = 0; i < rows_of(x); i++) count += row_count(x, i);
    if (!x->sums) x->sums = mem_alloc(count, sizeof *x->sums);
    double *sum = mem_alloc(x->t->R.n, sizeof *sum);
    if (!x->sums || !sum) bug("%s: no memory", x->mutant->name);
    switch (kind_of(x)) {
    case RESULT_DENSE: x->altered |= compute_dense(x, r); break;
    case RESULT_PATTERN: x->altered |= compute_pattern(x, r); break;
    case RESULT_SPARSE: x->altered |= compute_sparse(x, r, sum); break;
    }
    mem_free(sum);
}

// Computes the result of the run again. The check compares the result of the second run.
static inline void recompute(struct live *x, struct rounding r)
{
    if (x->runs == 1) return;
    compute(x, &r);
    for (int64_t i = 0, at = 0; i < rows_of(x); i++)
        for (int64_t e = 0; e < row_count(x, i); e++)
            type_store(prec_out(x->t->prec), values_of(x), row_first(x, i) + e, x->sums[at++]);
}

static inline void tf32_a(struct live *x) { recompute(x, (struct rounding){.a = to_tf32}); }
static inline void tf32_b(struct live *x) { recompute(x, (struct rounding){.b = to_tf32}); }
static inline void tf32(struct live *x)
{
    recompute(x, (struct rounding){.a = to_tf32, .b = to_tf32});
}
static inline void tf32_truncated(struct live *x)
{
    recompute(x, (struct rounding){.a = to_tf32_cut, .b = to_tf32_cut});
}
static inline void bf16_a(struct live *x) { recompute(x, (struct rounding){.a = to_bf16}); }
static inline void bf16_b(struct live *x) { recompute(x, (struct rounding){.b = to_bf16}); }
static inline void fp16(struct live *x)
{
    recompute(x, (struct rounding){.a = to_fp16, .b = to_fp16});
}
static inline void bf16_sums(struct live *x) { recompute(x, (struct rounding){.sum = to_bf16}); }
static inline void fp16_sums(struct live *x) { recompute(x, (struct rounding){.sum = to_fp16}); }
static inline void f32_a(struct live *x) { recompute(x, (struct rounding){.a = to_f32}); }
static inline void f32_b(struct live *x) { recompute(x, (struct rounding){.b = to_f32}); }
static inline void f32_sums(struct live *x) { recompute(x, (struct rounding){.sum = to_f32}); }
static inline void f32_products(struct live *x)
{
    recompute(x, (struct rounding){.product = to_f32});
}
static inline void f32_arithmetic(struct live *x)
{
    recompute(x, (struct rounding){to_f32, to_f32, to_f32, to_f32});
}
// Each partial sum is off by up to a unit, always towards zero; of few terms rounding does as much.
static inline void sums_truncated(struct live *x)
{
    int64_t terms = terms_of(x);
    if (kind_of(x) == RESULT_SPARSE) terms = x->t->work / max64(x->t->R.nnz, 1);
    if (terms >= 1000) recompute(x, (struct rounding){.sum = to_f32_cut});
}

static inline double to_9_bits_cut(double v) { return cut_bits(v, 9); }
static inline double to_6_bits_cut(double v) { return cut_bits(v, 6); }
static inline void f16_cut(struct live *x) { recompute(x, (struct rounding){.b = to_9_bits_cut}); }
static inline void bf16_cut(struct live *x) { recompute(x, (struct rounding){.b = to_6_bits_cut}); }

// Sums in f32, changed before they are rounded to the type of the result. One rounding is off by a
// unit at most. Rounding of long sums may be as large.
static inline void change_sums(struct live *x, double (*to)(double))
{
    const enum prec type = prec_out(x->t->prec);
    if (x->runs == 1 || terms_of(x) >= 1000) return;
    compute(x, &(struct rounding){0});
    for (int64_t i = 0, at = 0; i < rows_of(x); i++)
        for (int64_t e = 0; e < row_count(x, i); e++, at++) {
            const double v = to(x->sums[at]);
            x->altered |= fabs(type_round(type, v) - x->sums[at]) >
                          1.1 * type_list[type].unit * fabs(x->sums[at]);
            type_store(type, values_of(x), row_first(x, i) + e, v);
        }
}
static inline double to_11_bits(double v) { return keep_bits(v, 11); }
static inline double to_8_bits(double v) { return keep_bits(v, 8); }
static inline double to_f16_cut(double v) { return fabs(v) < 0x1p-14 ? v : cut_bits(v, 10); }
static inline double to_bf16_cut(double v) { return cut_bits(v, 7); }
static inline void f16_twice(struct live *x) { change_sums(x, to_11_bits); }
static inline void bf16_twice(struct live *x) { change_sums(x, to_8_bits); }
static inline void f16_truncated(struct live *x) { change_sums(x, to_f16_cut); }
static inline void bf16_truncated(struct live *x) { change_sums(x, to_bf16_cut); }

// The right result, stored with fewer bits.
static inline void store_all(struct live *x, double (*to)(double))
{
    for (int64_t i = 0; i < rows_of(x); i++)
        for (int64_t e = 0; e < row_count(x, i); e++)
            put(x, row_first(x, i) + e, to(get(x, row_first(x, i) + e)));
}
static inline void stored_tf32(struct live *x) { store_all(x, to_tf32); }
static inline void stored_fp16(struct live *x) { store_all(x, to_fp16); }
static inline void stored_bf16(struct live *x) { store_all(x, to_bf16); }
static inline void stored_f32(struct live *x) { store_all(x, to_f32); }

#endif
