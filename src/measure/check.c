#include "measure/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/result.h"

// The worst element seen so far; j = -1 is a whole row's random combination.
struct worst {
    double ratio;
    int64_t i, j;
    double c, ref;
};

// Of several that are equally wrong the first one, so that it does not depend on the threads.
static void worst_add(struct worst *w, struct worst x)
{
    bool first = x.i < w->i || (x.i == w->i && x.j < w->j);
    if (x.ratio > w->ratio || (x.ratio == w->ratio && x.ratio > 0 && first)) *w = x;
}

// What rounding may have done: `error` units of the arithmetic's roundoff, an underflow in each of
// the terms, and, where sums are in double, the rounding of the result.
static double tolerance(const struct task *t, int64_t terms, double ref, double error)
{
    bool in_double = t->algo->arith == ARITH_DOUBLE;
    double tiny = t->prec == F32 ? FLT_MIN * FLT_EPSILON : DBL_MIN * DBL_EPSILON;
    double u = prec_unit_roundoff(in_double ? F64 : t->prec);
    double stored = in_double ? prec_unit_roundoff(t->prec) * fabs(ref) : 0;
    return u * error + sum_error(terms) * tiny + stored;
}

// How far off in units of the tolerance; infinite for NaN.
static double ratio(double c, double ref, double tol)
{
    double off = fabs(c - ref);
    if (off == 0) return 0;
    return off <= tol || off / tol < HUGE_VAL ? off / tol : HUGE_VAL;
}

// The first way in which row i's columns differ from the reference's, in `text`; both ascend.
static bool same_columns(const struct result_view *R, int64_t i, const struct row *row,
                         char text[160])
{
    int64_t count = result_count(R, i);
    for (int64_t e = 0; e < count && e < row->count; e++)
        if (result_col(R, i, e) < row->col[e]) {
            snprintf(text, 160, "row %lld of C has column %lld, which no product is in",
                     (long long)i, (long long)result_col(R, i, e));
            return false;
        } else if (result_col(R, i, e) > row->col[e]) {
            snprintf(text, 160, "row %lld of C lacks column %d", (long long)i, row->col[e]);
            return false;
        }
    if (count == row->count) return true;
    snprintf(text, 160, "row %lld of C has %lld nonzeros and should have %lld", (long long)i,
             (long long)count, (long long)row->count);
    return false;
}

// Row number x of the reference against the result; false if its structure is wrong.
static bool compare_row(const struct task *t, const struct result_view *R, struct reference *ref,
                        int64_t x, struct row *room, struct worst *worst, char text[160])
{
    int64_t i = reference_row_number(ref, x);
    struct row row = reference_row(ref, x, room);
    if (R->p->op->result == RESULT_SPARSE && !same_columns(R, i, &row, text)) return false;
    for (int64_t e = 0; e < row.count; e++) {
        double c = result_at(R, i, e), want = row.ref[e];
        double off = ratio(c, want, tolerance(t, row.terms, want, row.error[e]));
        worst_add(worst, (struct worst){off, i, result_col(R, i, e), c, want});
    }
    return true;
}

static int compare_rows(const struct task *t, const struct result_view *R, struct reference *ref,
                        struct worst *worst, struct check *out)
{
    int err = OK;
    int64_t elements = 0, broken = ref->count; // the first row whose structure is wrong
#pragma omp parallel reduction(+ : elements)
    {
        struct worst mine = {0};
        struct row room;
        char text[160] = "";
        int64_t my_broken = ref->count;
        bool failed = row_alloc(&room, ref->p, ref->room) != OK;
#pragma omp for schedule(dynamic, 16)
        for (int64_t x = 0; x < ref->count; x++) {
            if (failed || interrupted || my_broken < x) continue;
            if (compare_row(t, R, ref, x, &room, &mine, text))
                elements += result_count(R, reference_row_number(ref, x));
            else
                my_broken = x;
        }
#pragma omp critical
        {
            worst_add(worst, mine);
            if (my_broken < broken) {
                broken = my_broken;
                memcpy(out->reason, text, sizeof text);
            }
            if (failed) err = ERR_MEMORY;
        }
        if (!failed) row_free(&room);
    }
    out->elements = elements;
    return err ? fail(ERR_MEMORY, "out of host memory for the reference") : OK;
}

static int compare_projections(const struct task *t, const struct result_view *R,
                               const struct reference *ref, struct worst *worst)
{
    const struct problem *p = ref->p;
    const struct projection *x = &ref->projection;
    double *weight = mem_alloc(p->cols, sizeof *weight);
    if (!weight) return ERR_MEMORY;
#pragma omp parallel
    {
        struct worst mine = {0};
#pragma omp for schedule(static)
        for (int64_t j = 0; j < p->cols; j++) weight[j] = op_weight(p, j);
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < p->rows; i++) {
            int64_t count = result_count(R, i);
            double got = 0;
            for (int64_t e = 0; e < count; e++)
                got += result_at(R, i, e) * weight[result_col(R, i, e)];
            // The elements are rounded one by one, so it is their sizes that add up; and each of
            // the products of all of them may underflow.
            int64_t products = p->op->row_work(p, (int32_t)i) + count;
            double tol = tolerance(t, products, x->size[i], x->error[i]) + x->own[i];
            worst_add(&mine, (struct worst){ratio(got, x->want[i], tol), i, -1, got, x->want[i]});
        }
#pragma omp critical
        worst_add(worst, mine);
    }
    mem_free(weight);
    return OK;
}

static void tell_verdict(const struct worst *w, struct check *out)
{
    out->error_ratio = w->ratio;
    out->ok = w->ratio <= 1;
    if (!out->ok && w->j >= 0)
        snprintf(out->reason, sizeof out->reason, "C(%lld, %lld) is %.9g and should be %.9g",
                 (long long)w->i, (long long)w->j, w->c, w->ref);
    else if (!out->ok)
        snprintf(out->reason, sizeof out->reason,
                 "row %lld of C times x is %.9g and should be %.9g", (long long)w->i, w->c, w->ref);
}

static bool is_full(const struct problem *p, enum check_mode mode)
{
    return mode == CHECK_FULL || p->rows <= SAMPLE_RANDOM || !p->op->project ||
           (mode == CHECK_AUTO && problem_flops(p) <= CHECK_FULL_FLOPS);
}

static int compare(const struct task *t, const struct result_view *R, struct reference *ref,
                   enum check_mode mode, struct check *out)
{
    struct worst worst = {0};
    bool full = is_full(ref->p, mode);
    out->method = full ? "full" : "sample";
    memcpy(out->reason, R->broken, sizeof out->reason);
    int err = out->reason[0] ? OK : reference_make(ref, t->algo->variant, full);
    if (!err && !out->reason[0]) err = compare_rows(t, R, ref, &worst, out);
    if (!err && !out->reason[0] && !full) err = compare_projections(t, R, ref, &worst);
    if (err) return unchecked(err);
    if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
    if (out->reason[0]) {
        out->ok = false;
        out->error_ratio = HUGE_VAL;
        return OK;
    }
    tell_verdict(&worst, out);
    return OK;
}

// Twice, and the second result is checked: what is timed are runs that others came before.
static int run_twice(struct task *t)
{
    int err = OK;
    t->dev->poison = true;
    for (int run = 0; run < 2 && !err; run++) {
        if (run) task_release_result(t);
        err = result_poison(t);
        if (!err) err = task_run(t);
    }
    t->dev->poison = false;
    return err;
}

int check_result(struct task *t, struct reference *ref, enum check_mode mode, struct check *out)
{
    struct result_view R = {0};
    *out = (struct check){.ok = true, .result_nnz = t->R.nnz};
    int err = result_download(t, ref->p, &R);
    if (!err) err = compare(t, &R, ref, mode, out);
    result_free(&R);
    if (!err && out->ok) err = result_digest(t, &out->digest);
    return err;
}

int check_task(struct task *t, struct reference *ref, enum check_mode mode, struct check *out)
{
    *out = (struct check){.method = "off", .ok = true};
    int err = run_twice(t);
    if (!err && t->algo->finish && mode != CHECK_OFF)
        err = unchecked(t->algo->finish(t)); // only the check needs it
    if (!err) err = device_sync(t->dev);
    out->result_nnz = t->R.nnz;
    if (!err && mode != CHECK_OFF) err = check_result(t, ref, mode, out);
    task_release_result(t);
    if (err) out->method = NULL;
    return err;
}
