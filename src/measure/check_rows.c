#include "measure/check_rows.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

double check_tolerance(const struct task *t, int64_t terms, double ref, double mag)
{
    enum prec prec = t->in->prec;
    double tiny = prec == F32 ? FLT_MIN * FLT_EPSILON : DBL_MIN * DBL_EPSILON;
    double u = prec_unit_roundoff(t->algo->arith == ARITH_DOUBLE ? F64 : prec);
    double stored = t->algo->arith == ARITH_DOUBLE ? prec_unit_roundoff(prec) * fabs(ref) : 0;
    return ((double)terms + 4) * (u * mag + tiny) + stored;
}

double check_ratio(double c, double ref, double tol)
{
    double off = fabs(c - ref);
    if (off == 0) return 0;
    return off <= tol || off / tol < HUGE_VAL ? off / tol : HUGE_VAL;
}

void worst_add(struct worst *w, double ratio, int64_t i, int64_t j, double c, double ref)
{
    if (ratio > w->ratio) *w = (struct worst){ratio, i, j, c, ref};
}

int64_t check_pick_rows(const struct inputs *in, int32_t rows[CHECK_SAMPLE_ROWS])
{
    const struct csr *A = in->A;
    int64_t count = 0;
    int32_t longest = 0, empty = -1;
    for (int32_t i = 0; i < A->m; i++) {
        int64_t length = A->ptr[i + 1] - A->ptr[i];
        if (length > A->ptr[longest + 1] - A->ptr[longest]) longest = i;
        if (!length && empty < 0) empty = i;
    }
    rows[count++] = longest;
    rows[count++] = 0;
    rows[count++] = A->m - 1;
    if (empty >= 0) rows[count++] = empty;
    // One of each of as many strata as there are places left, so that none comes twice.
    int64_t left = CHECK_SAMPLE_ROWS - count;
    for (int64_t s = 0; s < left; s++) {
        int64_t first = A->m * s / left, end = A->m * (s + 1) / left;
        rows[count++] = (int32_t)(first + (int64_t)(random_at(in->seed, (uint64_t)s) %
                                                    (uint64_t)(end - first)));
    }
    return count;
}

bool check_is_full(const struct task *t, enum check_mode mode)
{
    const struct op *op = &ops[t->algo->op];
    return mode == CHECK_FULL || t->in->A->m <= CHECK_SAMPLE_ROWS || !op->project ||
           (mode == CHECK_AUTO && op->flops(t->in) <= CHECK_FULL_FLOPS);
}

void check_verdict(const struct worst *worst, bool full, struct check *out)
{
    out->method = full ? "full" : "sample";
    out->error_ratio = worst->ratio;
    out->ok = worst->ratio <= 1;
    if (!out->ok && worst->j >= 0)
        snprintf(out->reason, sizeof out->reason, "C(%lld, %lld) is %.9g and should be %.9g",
                 (long long)worst->i, (long long)worst->j, worst->c, worst->ref);
    else if (!out->ok)
        snprintf(out->reason, sizeof out->reason,
                 "row %lld of C times x is %.9g and should be %.9g", (long long)worst->i, worst->c,
                 worst->ref);
}
