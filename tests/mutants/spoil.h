// Mutants that change the operands, which other algorithms share.
#ifndef MUTANTS_SPOIL_H
#define MUTANTS_SPOIL_H

#include "timed.h"

enum spot { FIRST_DENSE, LAST_DENSE, FIRST_VALUE, LAST_VALUE, A_START, A_COLUMN };

// The dense value that A's first nonzero is multiplied with; the last one that some nonzero asks
// for.
static inline int64_t dense_spot(const struct live *x, enum spot spot)
{
    const struct csr_dev *A = matrix_of(x);
    const struct dense_dev *D = &x->t->in[0];
    int64_t row = 0, last = 0;
    if (kind_of(x) == RESULT_DENSE) {
        row = A->idx[0];
        for (int64_t q = 0; q < A->nnz; q++) last = max64(last, A->idx[q]);
    } else {
        while (!row_length(x, row)) row++;
        for (last = D->rows - 1; !row_length(x, last);) last--;
    }
    return spot == FIRST_DENSE ? row * D->ld : last * D->ld + D->cols - 1;
}

// Where that is, and how many bytes.
static inline void *spot_of(const struct live *x, enum spot spot, size_t *size)
{
    const struct csr_dev *A = matrix_of(x);
    *size = type_bytes(x->t->prec);
    char *val = A->val;
    switch (spot) {
    case FIRST_DENSE:
    case LAST_DENSE: return (char *)x->t->in[0].val + dense_spot(x, spot) * (int64_t)*size;
    case FIRST_VALUE: return val;
    case LAST_VALUE: return val + (A->nnz - 1) * (int64_t)*size;
    case A_START: *size = (size_t)A->ptr_bytes; return (char *)A->ptr + *size;
    default: *size = sizeof *A->idx; return A->idx;
    }
}

static inline void spoil(struct live *x, enum spot spot)
{
    const struct csr_dev *A = matrix_of(x);
    size_t size;
    void *at = spot_of(x, spot, &size);
    memcpy(x->saved, at, size);
    if (spot == A_START) { // row 0 gives its last nonzero to row 1, or gets the first one of it
        if (A->ptr_bytes != 8) bug("%s: row starts of 32 bits", x->entry.name);
        *(int64_t *)at += row_length(x, 0) ? -1 : 1;
    } else if (spot == A_COLUMN) {
        *(int32_t *)at = (*(int32_t *)at + 1) % A->n;
    } else {
        double v = type_load(x->t->prec, at, 0);
        type_store(x->t->prec, at, 0, v != 0 ? 2 * v : 1);
    }
    x->altered |= memcmp(x->saved, at, size) != 0;
    x->spoiled = true;
}
static inline void restore(struct live *x, enum spot spot)
{
    size_t size;
    void *at = spot_of(x, spot, &size);
    if (x->spoiled) memcpy(at, x->saved, size);
    x->spoiled = false;
}

// From the third run on, and its own result stays right: each run puts back what it needs, and
// spoils it again at its end.
#define SPOILER(name, spot)                                                                        \
    static inline void name##_before(struct live *x) { restore(x, spot); }                         \
    static inline void name##_behind(struct live *x)                                               \
    {                                                                                              \
        if (is_timed(x)) spoil(x, spot);                                                           \
    }
SPOILER(spoils_dense, FIRST_DENSE)
SPOILER(spoils_last_dense, LAST_DENSE)
SPOILER(spoils_value, FIRST_VALUE)
SPOILER(spoils_last_value, LAST_VALUE)
SPOILER(spoils_start, A_START)
SPOILER(spoils_column, A_COLUMN)

static inline void spoils_at_the_end(struct live *x) { spoil(x, FIRST_VALUE); }
// Already while it is checked, so that its own result is wrong.
static inline void spoils_from_the_start(struct live *x)
{
    if (x->runs == 1) spoil(x, FIRST_VALUE);
}

// Multiplies something else while it is timed, and puts back what it was given.
static inline void scale_values(struct live *x, double by)
{
    const struct csr_dev *A = matrix_of(x);
    for (int64_t q = 0; q < A->nnz && is_timed(x); q++)
        write_value(x, A->val, q, by * type_load(x->t->prec, A->val, q));
}
static inline void double_values(struct live *x) { scale_values(x, 2); }
static inline void halve_values(struct live *x) { scale_values(x, 0.5); }

#endif
