#include "measure/check.h"

#include "measure/check_rows.h"
#include "measure/check_sparse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The result on the host, as it lay on the device.
struct result_view {
    const struct task *t;
    void *val;
};

static double result_at(const struct result_view *C, int64_t i, int64_t j)
{
    const struct dense_dev *D = &C->t->C;
    int64_t p = D->layout == LAYOUT_ROW ? i * D->ld + j : j * D->ld + i;
    return C->t->in->prec == F32 ? (double)((float *)C->val)[p] : ((double *)C->val)[p];
}

// Compares the rows rows[0 .. count), or all rows if `rows` is NULL, element by element.
static int compare_rows(const struct result_view *C, const int32_t *rows, int64_t count,
                        struct worst *worst, int64_t *elements)
{
    const struct task *t = C->t;
    const struct op *op = &ops[t->algo->op];
    int err = OK;
    int64_t longest = 0, total = 0;
    for (int64_t r = 0; r < count; r++) {
        int64_t length = op->row_length(t->in, rows ? rows[r] : (int32_t)r);
        longest = max64(longest, length);
        total += length;
    }
#pragma omp parallel
    {
        struct worst mine = {0};
        double *ref = mem_alloc(longest, sizeof *ref), *mag = mem_alloc(longest, sizeof *mag);
        bool failed = !ref || !mag;
#pragma omp for schedule(dynamic, 16)
        for (int64_t r = 0; r < count; r++) {
            if (failed || interrupted) continue;
            int32_t i = rows ? rows[r] : (int32_t)r;
            int64_t length = op->row_length(t->in, i), terms = op->row_terms(t->in, i);
            op->reference_row(t->in, i, ref, mag);
            for (int64_t j = 0; j < length; j++) {
                double c = result_at(C, i, j), tol = check_tolerance(t, terms, ref[j], mag[j]);
                worst_add(&mine, check_ratio(c, ref[j], tol), i, j, c, ref[j]);
            }
        }
#pragma omp critical
        {
            worst_add(worst, mine.ratio, mine.i, mine.j, mine.c, mine.ref);
            if (failed) err = ERR_MEMORY;
        }
        mem_free(ref);
        mem_free(mag);
    }
    *elements = total;
    return err ? fail(ERR_MEMORY, "out of host memory for the reference") : OK;
}

// Compares one random combination of each row's elements, which every element has a part in.
static int compare_projections(const struct result_view *C, struct worst *worst)
{
    const struct inputs *in = C->t->in;
    const struct op *op = &ops[C->t->algo->op];
    int32_t m = in->A->m;
    double *want = mem_alloc(m, sizeof *want), *mag = mem_alloc(m, sizeof *mag);
    int err = want && mag ? OK : ERR_MEMORY;
    if (!err) err = op->project(in, want, mag);
    for (int32_t i = 0; i < m && !err; i++) {
        int64_t length = op->row_length(in, i), terms = op->row_terms(in, i);
        double got = 0;
        for (int64_t j = 0; j < length; j++) got += result_at(C, i, j) * op_weight(in, j);
        // Both sides are sums in double of up to terms + length products.
        double ours = 2 * (double)(terms + length + 4) * prec_unit_roundoff(F64) * mag[i];
        double tol = check_tolerance(C->t, terms, mag[i], mag[i]) + ours;
        worst_add(worst, check_ratio(got, want[i], tol), i, -1, got, want[i]);
    }
    mem_free(want);
    mem_free(mag);
    return err;
}

static int compare(const struct result_view *C, enum check_mode mode, struct check *out)
{
    const struct inputs *in = C->t->in;
    struct worst worst = {0};
    bool full = check_is_full(C->t, mode);
    int err;
    if (full) {
        err = compare_rows(C, NULL, in->A->m, &worst, &out->elements);
    } else {
        int32_t rows[CHECK_SAMPLE_ROWS];
        err = compare_rows(C, rows, check_pick_rows(in, rows), &worst, &out->elements);
        if (!err) err = compare_projections(C, &worst);
    }
    if (err) return err;
    if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
    check_verdict(&worst, full, out);
    return OK;
}

static int check_dense(struct task *t, enum check_mode mode, struct check *out)
{
    const struct dense_dev *D = &t->C;
    struct result_view C = {.t = t};
    int64_t bytes = D->rows * D->cols * (int64_t)prec_bytes(t->in->prec);
    int err = OK;
    // Twice, and the second result is checked: what is timed are runs that others came before.
    for (int run = 0; run < 2 && !err; run++) {
        err = device_fill(t->dev, D->val, 0xff, bytes); // NaN in both precisions
        if (!err) err = t->algo->run(t);
    }
    if (!err) err = device_sync(t->dev);
    if (err || mode == CHECK_OFF) return err;
    C.val = mem_alloc(bytes, 1);
    if (!C.val) return ERR_MEMORY;
    err = device_download(t->dev, C.val, D->val, bytes);
    if (!err) err = compare(&C, mode, out);
    mem_free(C.val);
    return err;
}

int check_task(struct task *t, enum check_mode mode, struct check *out)
{
    *out = (struct check){.method = "off", .ok = true};
    return ops[t->algo->op].sparse_row ? check_sparse(t, mode, out) : check_dense(t, mode, out);
}
