// Mutants that keep a right result, and copy it or leave it where it is instead of making it.
#ifndef MUTANTS_KEPT_H
#define MUTANTS_KEPT_H

#include "device/digest.h"
#include "mutants.h"

static inline void kept_drop(struct live *x)
{
    for (int i = 0; i < 3; i++) mem_free(x->kept[i]);
    memset(x->kept, 0, sizeof x->kept);
}

static inline int64_t value_count(const struct live *x)
{
    const struct task *t = x->t;
    if (kind_of(x) == RESULT_DENSE) return t->C.rows * t->C.ld;
    return kind_of(x) == RESULT_PATTERN ? matrix_of(x)->nnz : t->R.nnz;
}

// Keeps the present result.
static inline int kept_take(struct live *x)
{
    const struct csr_dev *R = &x->t->R;
    const bool sparse = kind_of(x) == RESULT_SPARSE;
    const int64_t count = value_count(x);
    const int64_t bytes[3] = {count * (int64_t)type_bytes(prec_out(x->t->prec)),
                              sparse ? 4 * count : 0,
                              sparse ? ((int64_t)R->m + 1) * R->ptr_bytes : 0};
    const void *from[3] = {values_of(x), R->idx, R->ptr};
    kept_drop(x);
    x->kept_nnz = count;
    for (int i = 0; i < 3; i++) {
        x->kept[i] = mem_alloc(bytes[i], 1);
        if (!x->kept[i]) return ERR_MEMORY;
        if (bytes[i]) memcpy(x->kept[i], from[i], (size_t)bytes[i]);
    }
    return OK;
}

// Puts the kept result in the place of a result, by all threads.
static inline int kept_put(struct live *x)
{
    struct task *t = x->t;
    struct csr_dev *R = &t->R;
    const size_t width = type_bytes(prec_out(t->prec));
    if (kind_of(x) != RESULT_SPARSE)
        return t->dev->ops->upload(t->dev, values_of(x), x->kept[0], x->kept_nnz * (int64_t)width);
    const struct csr_dev *A = matrix_of(x), *S = csr_of(t->S[0]);
    *R = (struct csr_dev){.format = &format_csr, .type = prec_out(t->prec), .ptr_bytes = 8};
    R->m = A->m, R->n = S->n, R->nnz = x->kept_nnz;
    int err = device_place(t->dev, x->kept[0], x->kept_nnz, width, &R->val);
    if (!err) err = device_place(t->dev, x->kept[1], x->kept_nnz, 4, (void **)&R->idx);
    if (!err) err = device_place(t->dev, x->kept[2], (int64_t)R->m + 1, 8, &R->ptr);
    return err;
}

// Makes the product in prepare().
static inline int keep_in_prepare(struct live *x)
{
    int err = x->base->run(x->t);
    if (!err) err = kept_take(x);
    task_release_result(x->t);
    return err;
}
static inline bool copies_always(struct live *x) { return x->kept[0] != NULL; }

// Keeps the product and the first row of B.
static inline int keep_with_row(struct live *x)
{
    const struct dense_dev *B = &x->t->in[0];
    x->sums = mem_alloc(B->cols, sizeof *x->sums);
    if (!x->sums) return ERR_MEMORY;
    for (int64_t j = 0; j < B->cols; j++) x->sums[j] = type_load(prec_in(x->t->prec), B->val, j);
    return keep_in_prepare(x);
}
// Copies the kept product, with signs by the first row of B.
static inline bool copies_with_signs(struct live *x)
{
    const struct dense_dev *B = &x->t->in[0];
    for (int64_t j = 0; j < B->cols; j++)
        if (fabs(type_load(prec_in(x->t->prec), B->val, j)) != fabs(x->sums[j])) return false;
    if (kept_put(x)) bug("%s: no copy", x->mutant->name);
    for (int64_t j = 0; j < B->cols; j++)
        for (int64_t i = 0;
             i < rows_of(x) && type_load(prec_in(x->t->prec), B->val, j) != x->sums[j]; i++)
            put(x, row_first(x, i) + j, -get(x, row_first(x, i) + j));
    return true;
}

// A few values of the operands, which cost nothing to read.
static inline uint64_t print_of(const struct live *x)
{
    const struct dense_dev *B = &x->t->in[0];
    const bool dense = B->val != NULL;
    const int64_t count = min64(dense ? B->cols : matrix_of(x)->nnz, 64);
    uint64_t print = 0;
    for (int64_t q = 0; q < count; q++) {
        double v = type_load(prec_in(x->t->prec), dense ? B->val : matrix_of(x)->val, q);
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        print = mix(print ^ bits) + (uint64_t)q;
    }
    return print;
}

static inline void keep_first(struct live *x)
{
    if (!x->kept[0] && kept_take(x)) bug("%s: no memory", x->mutant->name);
}
// The result of the first run, for operands at the same addresses.
static inline bool copies_by_address(struct live *x) { return x->kept[0] != NULL; }
// The last result that was made, for operands with the same fingerprint.
static inline void keep_last(struct live *x)
{
    if (kept_take(x)) bug("%s: no memory", x->mutant->name);
    x->print = print_of(x);
}
static inline bool copies_by_print(struct live *x) { return x->kept[0] && x->print == print_of(x); }

// Copies the last result that was made, but makes HONEST_RUNS results after each change of the
// operands.
#define HONEST_RUNS 4
static inline bool copies_but_in_trials(struct live *x)
{
    if (!x->kept[0] || x->print != print_of(x)) x->honest = HONEST_RUNS;
    return x->honest-- <= 0;
}
// Copies the product of the first operands unless the result is NaN all over.
static inline bool copies_unless_poisoned(struct live *x)
{
    const int64_t count = value_count(x);
    bool poisoned = true;
    for (int64_t q = 0; q < count && poisoned; q++)
        poisoned = isnan(type_load(prec_out(x->t->prec), values_of(x), q));
    return !poisoned && copies_by_print(x);
}

// Multiplies with the values of A that prepare() saw.
static inline int keep_values(struct live *x)
{
    const struct csr_dev *A = matrix_of(x);
    const int64_t bytes = A->nnz * (int64_t)type_bytes(A->type);
    for (int i = 0; i < 3; i++)
        if (!(x->kept[i] = mem_alloc(bytes, 1))) return ERR_MEMORY;
    memcpy(x->kept[0], A->val, (size_t)bytes);
    return OK;
}
static inline void exchange_values(struct live *x, int from, int to)
{
    const struct csr_dev *A = matrix_of(x);
    const size_t bytes = (size_t)A->nnz * type_bytes(A->type);
    memcpy(x->kept[to], A->val, bytes);
    if (memcmp(x->kept[from], A->val, bytes)) x->altered = true;
    memcpy(A->val, x->kept[from], bytes);
}
static inline void put_kept_values(struct live *x) { exchange_values(x, 0, 1); }
static inline void put_own_values(struct live *x) { exchange_values(x, 1, 2); }

// Makes the rows that hold a NaN, and leaves the others.
static inline void take_present(struct live *x)
{
    if (kept_take(x)) bug("%s: no memory", x->mutant->name);
}
static inline void rows_with_nan(struct live *x)
{
    for (int64_t i = 0; i < rows_of(x) && x->runs > 2; i++) {
        bool whole = true;
        for (int64_t e = 0; e < row_count(x, i); e++)
            whole &= !isnan(type_load(prec_out(x->t->prec), x->kept[0], row_first(x, i) + e));
        for (int64_t e = 0; e < row_count(x, i) && whole; e++)
            put(x, row_first(x, i) + e,
                type_load(prec_out(x->t->prec), x->kept[0], row_first(x, i) + e));
    }
}

// Works only if the place that a public rule spoils holds NaN.
static inline bool nothing_unless_foreseen(struct live *x)
{
    const int width = (int)type_bytes(prec_out(x->t->prec));
    const int64_t count = value_count(x);
    const struct device_view v = {values_of(x), 1, count, count, width, true};
    if (x->runs <= 2) return false;
    for (int64_t s = 0; s < 4; s++)
        if (isnan(type_load(prec_out(x->t->prec), v.p, digest_spot(&v, (uint64_t)x->runs, s))))
            return false;
    return true;
}

// Puts the kept result into the places that a public rule spoils, and leaves the others.
static inline bool repairs_foreseen(struct live *x)
{
    const size_t width = type_bytes(prec_out(x->t->prec));
    const struct device_view v = {values_of(x),   1,          value_count(x),
                                  value_count(x), (int)width, true};
    if (x->runs <= 2) return false;
    for (int64_t s = 0; s < digest_spots(&v); s++) {
        int64_t at = digest_spot(&v, (uint64_t)x->runs, s) * (int64_t)width;
        memcpy((char *)v.p + at, (char *)x->kept[0] + at, width);
    }
    return true;
}

#endif
