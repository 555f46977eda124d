// Mutants of what is multiplied: the right algorithm on copies of the operands that are not right.
// A second sparse factor stays as it is.
#ifndef MUTANTS_OPERANDS_H
#define MUTANTS_OPERANDS_H

#include "mutants.h"
#include "measure/prepare.h"

static inline void operands_drop(struct live *x)
{
    mem_free(x->A.idx);
    mem_free(x->A.val);
    for (int i = 0; i < DENSE_MAX; i++) mem_free(x->in[i].val);
    x->A = (struct csr_dev){0};
    memset(x->in, 0, sizeof x->in);
}
static inline int64_t dense_bytes(const struct live *x, const struct dense_dev *D)
{
    return dense_lines(D) * D->ld * (int64_t)type_bytes(prec_in(x->t->prec));
}
// Memory for copies of A's columns and values and of the dense operands.
static inline int operands_make(struct live *x)
{
    const struct csr_dev *A = matrix_of(x);
    x->A = *A;
    x->A.idx = mem_alloc(A->nnz, sizeof *A->idx);
    x->A.val = mem_alloc(A->nnz, type_bytes(prec_in(x->t->prec)));
    bool whole = x->A.idx && x->A.val;
    for (int i = 0; i < DENSE_MAX && x->t->in[i].val; i++) {
        x->in[i] = x->t->in[i];
        x->in[i].val = mem_alloc(dense_bytes(x, &x->in[i]), 1);
        whole &= x->in[i].val != NULL;
    }
    return whole ? OK : ERR_MEMORY;
}
// Copies the present operands.
static inline void operands_copy(struct live *x)
{
    const struct csr_dev *A = matrix_of(x);
    memcpy(x->A.idx, A->idx, (size_t)A->nnz * sizeof *A->idx);
    memcpy(x->A.val, A->val, (size_t)A->nnz * type_bytes(prec_in(x->t->prec)));
    for (int i = 0; i < DENSE_MAX && x->t->in[i].val; i++)
        memcpy(x->in[i].val, x->t->in[i].val, (size_t)dense_bytes(x, &x->in[i]));
}

static inline double a_at(const struct live *x, int64_t q)
{
    return type_load(prec_in(x->t->prec), x->A.val, q);
}
static inline void a_put(struct live *x, int64_t q, double value)
{
    write_value(x, x->A.val, q, value);
}
// Whether a nonzero is multiplied with anything: rows of a second sparse factor may be empty.
static inline bool is_used(const struct live *x, int64_t q)
{
    if (kind_of(x) != RESULT_SPARSE) return true;
    const struct csr_dev *S = csr_of(x->t->S[0]);
    return csr_start(S, x->A.idx[q]) < csr_start(S, x->A.idx[q] + 1);
}
// The nonzero of row i that has the largest value; -1: there is none.
static inline int64_t a_largest(const struct live *x, int64_t i)
{
    int64_t best = -1;
    for (int64_t q = csr_start(&x->A, i); q < csr_start(&x->A, i + 1); q++)
        if (is_used(x, q) && (best < 0 || fabs(a_at(x, q)) > fabs(a_at(x, best)))) best = q;
    return best;
}
// A row of A of that many nonzeros, all used, at random; -1: there is none.
static inline int64_t a_row(struct live *x, int64_t least)
{
    for (int tries = 0; tries < 1000; tries++) {
        int64_t i = below(x, rows_of(x)), count = 0;
        for (int64_t q = csr_start(&x->A, i); q < csr_start(&x->A, i + 1); q++)
            count += is_used(x, q);
        if (count >= least && count == row_length(x, i)) return i;
    }
    return -1;
}
static inline int64_t a_last_row(const struct live *x)
{
    int64_t i = rows_of(x) - 1;
    while (i > 0 && a_largest(x, i) < 0) i--;
    return i;
}

// The largest nonzero of a row, times `factor`.
static inline void scale_product(struct live *x, int64_t i, double factor)
{
    int64_t q = i < 0 ? -1 : a_largest(x, i);
    if (q >= 0) a_put(x, q, a_at(x, q) * factor);
}
static inline void product_dropped(struct live *x) { scale_product(x, a_row(x, 1), 0); }
static inline void product_of_longest_dropped(struct live *x)
{
    scale_product(x, longest_row(x), 0);
}
static inline void product_of_last_dropped(struct live *x) { scale_product(x, a_last_row(x), 0); }
static inline void product_doubled(struct live *x) { scale_product(x, a_row(x, 1), 2); }
static inline void product_negated(struct live *x) { scale_product(x, a_row(x, 1), -1); }
static inline void product_scaled(struct live *x)
{
    if (beyond_rounding(x, 1e-2 / sqrt((double)row_length(x, longest_row(x)))))
        scale_product(x, a_row(x, 1), 1 + 1e-2);
}

static inline void products_exchange(struct live *x, int64_t q, int64_t r)
{
    double a = a_at(x, q);
    a_put(x, q, a_at(x, r));
    a_put(x, r, a);
}
static inline void products_swapped(struct live *x)
{
    int64_t i = a_row(x, 2);
    if (i >= 0) products_exchange(x, csr_start(&x->A, i), csr_start(&x->A, i) + 1);
}
static inline void products_across_border(struct live *x)
{
    int64_t i = a_row(x, 1), q = i < 0 ? 0 : csr_start(&x->A, i + 1);
    if (i >= 0 && q < x->A.nnz) products_exchange(x, q - 1, q);
}
static inline void columns_off_by_one(struct live *x)
{
    for (int64_t q = 0; q < x->A.nnz; q++) x->A.idx[q] = (x->A.idx[q] + 1) % x->A.n;
    x->altered |= x->A.nnz > 0 && x->A.n > 1;
}
static inline void column_off_by_one(struct live *x)
{
    int64_t i = a_row(x, 1), q = i < 0 ? 0 : a_largest(x, i);
    if (i < 0 || x->A.n < 2) return;
    x->A.idx[q] = (x->A.idx[q] + 1) % x->A.n;
    x->altered = true;
}
// The last nonzero of each row: that of a loop which ends too early.
static inline void last_products_dropped(struct live *x)
{
    for (int64_t i = 0; i < rows_of(x); i++)
        if (row_length(x, i)) a_put(x, csr_start(&x->A, i + 1) - 1, 0);
}
// The rest of a row behind whole groups of four.
static inline void remainders_dropped(struct live *x)
{
    for (int64_t i = 0; i < rows_of(x); i++) {
        int64_t end = csr_start(&x->A, i + 1);
        for (int64_t q = end - row_length(x, i) % 4; q < end; q++) a_put(x, q, 0);
    }
}
static inline void values_forgotten(struct live *x)
{
    for (int64_t q = 0; q < x->A.nnz; q++) a_put(x, q, 1);
}

static inline double dense_at(const struct live *x, int i, int64_t row, int64_t col)
{
    return type_load(prec_in(x->t->prec), x->in[i].val, row * x->in[i].ld + col);
}
static inline void dense_put(struct live *x, int i, int64_t row, int64_t col, double value)
{
    write_value(x, x->in[i].val, row * x->in[i].ld + col, value);
}
// The last step along k.
static inline void last_k_dropped(struct live *x)
{
    for (int64_t i = 0; i < x->in[0].rows; i++) dense_put(x, 0, i, x->in[0].cols - 1, 0);
}
// The row of B, or of Y, that some nonzero asks for.
static inline void dense_row_dropped(struct live *x)
{
    int last = x->in[1].val ? 1 : 0;
    int64_t i = a_row(x, 1), row = i < 0 ? 0 : x->A.idx[a_largest(x, i)];
    for (int64_t j = 0; j < x->in[last].cols && i >= 0; j++) dense_put(x, last, row, j, 0);
}
static inline void dense_rows_rotated(struct live *x)
{
    struct dense_dev *D = &x->in[0];
    for (int64_t i = 0; i + 1 < D->rows; i++)
        for (int64_t j = 0; j < D->cols; j++) {
            double b = dense_at(x, 0, i, j);
            dense_put(x, 0, i, j, dense_at(x, 0, i + 1, j));
            dense_put(x, 0, i + 1, j, b);
        }
}

#endif
