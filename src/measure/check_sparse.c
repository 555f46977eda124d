// The check of a sparse result: first as a structure (row starts, sorted unique columns in range),
// then its rows against the reference, pattern and values.
#include "measure/check_sparse.h"

#include "measure/check_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The result on the host.
struct host_result {
    int64_t nnz;
    int64_t *ptr;
    int32_t *idx;
    void *val;
};

static void host_result_free(struct host_result *R)
{
    mem_free(R->ptr);
    mem_free(R->idx);
    mem_free(R->val);
}

static int download(const struct task *t, struct host_result *R)
{
    const struct csr_dev *D = &t->R;
    int64_t starts = (int64_t)D->m + 1, w = (int64_t)prec_bytes(t->in->prec);
    *R = (struct host_result){.nnz = D->nnz};
    R->ptr = mem_alloc(starts, sizeof *R->ptr);
    R->idx = mem_alloc(D->nnz, sizeof *R->idx);
    R->val = mem_alloc(D->nnz, (size_t)w);
    int err = R->ptr && R->idx && R->val ? OK : ERR_MEMORY;
    if (!err) err = device_download(t->dev, R->ptr, D->ptr, starts * D->ptr_bytes);
    if (!err) err = device_download(t->dev, R->idx, D->idx, D->nnz * 4);
    if (!err) err = device_download(t->dev, R->val, D->val, D->nnz * w);
    if (err || D->ptr_bytes == 8) return err;
    // Widened in place, from the end.
    for (int64_t i = starts - 1; i >= 0; i--) {
        int32_t start;
        memcpy(&start, (char *)R->ptr + 4 * i, 4);
        R->ptr[i] = start;
    }
    return OK;
}

static double value_at(const struct task *t, const struct host_result *R, int64_t p)
{
    return t->in->prec == F32 ? (double)((float *)R->val)[p] : ((double *)R->val)[p];
}

// Says in out->reason what is broken, or leaves it empty.
static void check_structure(const struct task *t, const struct host_result *R, struct check *out)
{
    int32_t m = t->in->A->m, n = t->in->S->n;
    if (t->R.m != m || t->R.n != n) {
        snprintf(out->reason, sizeof out->reason, "C is %d x %d and should be %d x %d", t->R.m,
                 t->R.n, m, n);
        return;
    }
    if (R->ptr[0] != 0 || R->ptr[m] != R->nnz) {
        snprintf(out->reason, sizeof out->reason,
                 "the row starts go from %lld to %lld and should go from 0 to %lld",
                 (long long)R->ptr[0], (long long)R->ptr[m], (long long)R->nnz);
        return;
    }
    for (int32_t i = 0; i < m; i++)
        if (R->ptr[i] > R->ptr[i + 1] || R->ptr[i + 1] > R->nnz) {
            snprintf(out->reason, sizeof out->reason, "row %d ends at %lld, before it starts", i,
                     (long long)R->ptr[i + 1]);
            return;
        }
    int64_t bad = -1;
#pragma omp parallel for schedule(dynamic, 64) reduction(max : bad)
    for (int32_t i = 0; i < m; i++)
        for (int64_t p = R->ptr[i]; p < R->ptr[i + 1]; p++)
            if (R->idx[p] < 0 || R->idx[p] >= n || (p > R->ptr[i] && R->idx[p - 1] >= R->idx[p]))
                bad = max64(bad, i);
    if (bad >= 0)
        snprintf(out->reason, sizeof out->reason,
                 "row %lld: its columns are not ascending, unique and inside the matrix",
                 (long long)bad);
}

// The first way in which row i's columns differ from the reference's, in `text`. They are known to
// be different ones, so as many of the right ones are all.
static bool same_columns(const struct host_result *R, int32_t i, const struct sparse_row *row,
                         char text[160])
{
    int64_t length = R->ptr[i + 1] - R->ptr[i];
    for (int64_t p = R->ptr[i]; p < R->ptr[i + 1]; p++)
        if (!row->terms[R->idx[p]]) {
            snprintf(text, 160, "row %d of C has column %d, which no product is in", i, R->idx[p]);
            return false;
        }
    if (length == row->count) return true;
    snprintf(text, 160, "row %d of C has %lld nonzeros and should have %lld", i, (long long)length,
             (long long)row->count);
    return false;
}

static int compare_rows(const struct task *t, const struct host_result *R, const int32_t *rows,
                        int64_t count, struct worst *worst, struct check *out)
{
    const struct op *op = &ops[t->algo->op];
    int err = OK;
    int64_t elements = 0;
#pragma omp parallel reduction(+ : elements)
    {
        struct worst mine = {0};
        struct sparse_row row;
        char text[160] = "";
        bool failed = sparse_row_alloc(&row, t->in) != OK;
#pragma omp for schedule(dynamic, 16)
        for (int64_t r = 0; r < count; r++) {
            if (failed || interrupted || text[0]) continue;
            int32_t i = rows ? rows[r] : (int32_t)r;
            op->sparse_row(t->in, i, &row);
            if (!same_columns(R, i, &row, text)) continue;
            for (int64_t p = R->ptr[i]; p < R->ptr[i + 1]; p++) {
                int32_t j = R->idx[p];
                double c = value_at(t, R, p);
                double tol = check_tolerance(t, row.terms[j], row.ref[j], row.mag[j]);
                worst_add(&mine, check_ratio(c, row.ref[j], tol), i, j, c, row.ref[j]);
            }
            elements += row.count;
        }
#pragma omp critical
        {
            worst_add(worst, mine.ratio, mine.i, mine.j, mine.c, mine.ref);
            if (text[0]) memcpy(out->reason, text, sizeof text);
            if (failed) err = ERR_MEMORY;
        }
        if (!failed) sparse_row_free(&row);
    }
    out->elements = elements;
    return err ? fail(ERR_MEMORY, "out of host memory for the reference") : OK;
}

static int compare_projections(const struct task *t, const struct host_result *R,
                               struct worst *worst)
{
    const struct inputs *in = t->in;
    const struct op *op = &ops[t->algo->op];
    int32_t m = in->A->m;
    double *want = mem_alloc(m, sizeof *want), *mag = mem_alloc(m, sizeof *mag);
    int err = want && mag ? OK : ERR_MEMORY;
    if (!err) err = op->project(in, want, mag);
    if (err) goto done;
#pragma omp parallel
    {
        struct worst mine = {0};
#pragma omp for schedule(dynamic, 64)
        for (int32_t i = 0; i < m; i++) {
            int64_t terms = op->row_terms(in, i), length = R->ptr[i + 1] - R->ptr[i];
            double got = 0;
            for (int64_t p = R->ptr[i]; p < R->ptr[i + 1]; p++)
                got += value_at(t, R, p) * op_weight(in, R->idx[p]);
            // Both sides are sums in double: of the row's elements, and of A's times S's row.
            double ours = 2 * (double)(terms + length + in->S->n + 4) * prec_unit_roundoff(F64);
            double tol = check_tolerance(t, terms, mag[i], mag[i]) + ours * mag[i];
            worst_add(&mine, check_ratio(got, want[i], tol), i, -1, got, want[i]);
        }
#pragma omp critical
        worst_add(worst, mine.ratio, mine.i, mine.j, mine.c, mine.ref);
    }
done:
    mem_free(want);
    mem_free(mag);
    return err;
}

// Algorithms treat rows by their size, so to the rows of any check come the one with most products
// and the first few of each class c: those of 2^(c-1) .. 2^c - 1 products, c = 0 those of none.
#define CLASS_ROWS  8
#define SAMPLE_ROWS (CHECK_SAMPLE_ROWS + 64 * CLASS_ROWS + 1)
static int64_t pick_rows(const struct inputs *in, int32_t rows[SAMPLE_ROWS])
{
    const struct csr *A = in->A;
    int64_t count = check_pick_rows(in, rows), most = -1;
    int taken[64] = {0};
    int32_t most_row = 0;
    for (int32_t i = 0; i < A->m; i++) {
        int64_t products = 0;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
            products += in->S->ptr[A->idx[p] + 1] - in->S->ptr[A->idx[p]];
        if (products > most) most = products, most_row = i;
        int c = products ? 64 - __builtin_clzll((uint64_t)products) : 0;
        if (taken[c] < CLASS_ROWS) taken[c]++, rows[count++] = i;
    }
    rows[count++] = most_row;
    return count;
}

static int compare(const struct task *t, const struct host_result *R, enum check_mode mode,
                   struct check *out)
{
    struct worst worst = {0};
    int32_t rows[SAMPLE_ROWS];
    bool full = check_is_full(t, mode);
    int err = OK;
    out->method = full ? "full" : "sample";
    check_structure(t, R, out);
    if (!out->reason[0]) {
        int64_t count = full ? t->in->A->m : pick_rows(t->in, rows);
        err = compare_rows(t, R, full ? NULL : rows, count, &worst, out);
        if (!err && !full && !out->reason[0]) err = compare_projections(t, R, &worst);
    }
    if (err) return err;
    if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
    if (out->reason[0]) {
        out->ok = false;
        out->error_ratio = HUGE_VAL;
        return OK;
    }
    check_verdict(&worst, full, out);
    return OK;
}

int check_sparse(struct task *t, enum check_mode mode, struct check *out)
{
    struct host_result R = {0};
    t->dev->poison = true;
    int err = t->algo->run(t);
    // Twice, and the second result is checked: what is timed are runs that others came before.
    if (!err) {
        task_release_result(t);
        err = t->algo->run(t);
    }
    t->dev->poison = false;
    if (!err && t->algo->finish && mode != CHECK_OFF) err = t->algo->finish(t);
    if (!err) err = device_sync(t->dev);
    out->result_nnz = t->R.nnz;
    if (!err && mode != CHECK_OFF) {
        err = download(t, &R);
        if (!err) err = compare(t, &R, mode, out);
    }
    host_result_free(&R);
    task_release_result(t);
    return err;
}
