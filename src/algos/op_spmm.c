// SpMM: C = A * B, A sparse m x n, B dense n x k, C dense m x k.
#include "algos/algo.h"

#include <math.h>
#include <string.h>

enum { K, LAYOUT }; // places of the axes
static const struct axis *const axes[] = {[K] = &axis_k, [LAYOUT] = &axis_layout, NULL};
static const char *const variants[] = {"A * B", NULL};

static int make(struct problem *p)
{
    const struct csr *A = p->A;
    int64_t k = p->axis[K], columns;
    p->layout = (enum layout)p->axis[LAYOUT];
    p->rows = A->m, p->cols = k;
    // No factor is larger than 1, so a row's sum of absolute values bounds each of its sums.
    int err = refuse_overflow(p->prec, source_row_sum(p->source));
    if (!err) err = source_used_columns(p->source, &columns); // for compulsory_bytes()
    if (!err) err = size_mul(A->nnz, k, &p->work);
    return err ? err : dense_make(p, 0, A->n, k);
}

static int refuse(const struct problem *p, const struct algo *algo)
{
    return algo_refuse_layout(algo, (enum layout)p->axis[LAYOUT]);
}

// Rows of B that no nonzero of A asks for need not be read.
static int64_t compulsory_bytes(const struct problem *p, int variant, int64_t result_nnz)
{
    (void)variant;
    (void)result_nnz;
    int64_t rows = p->source->used_columns + p->A->m;
    return op_csr_bytes(p->A, p->prec) + rows * p->cols * (int64_t)prec_bytes(p->prec);
}

static int64_t row_length(const struct problem *p, int32_t i)
{
    return p->A->ptr[i + 1] - p->A->ptr[i];
}

static int64_t row_work(const struct problem *p, int32_t i) { return row_length(p, i) * p->cols; }

static int64_t row_room(const struct problem *p, int32_t i)
{
    (void)i;
    return p->cols;
}

static double B_at(const struct problem *p, int64_t q)
{
    return prec_load(p->prec, p->in[0].val, q);
}

static void reference_row(const struct problem *p, int variant, int32_t i, struct row *row)
{
    (void)variant;
    const struct csr *A = p->A;
    int64_t k = p->cols;
    row->count = k;
    row->terms = row_length(p, i);
    memset(row->ref, 0, (size_t)k * sizeof *row->ref);
    memset(row->error, 0, (size_t)k * sizeof *row->error);
    for (int64_t q = A->ptr[i]; q < A->ptr[i + 1]; q++) {
        double a = prec_round(p->prec, A->val[q]);
        int64_t b = A->idx[q] * k;
        for (int64_t j = 0; j < k; j++) {
            double product = a * B_at(p, b + j);
            row->ref[j] += product;
            row->error[j] += fabs(product);
        }
    }
    for (int64_t j = 0; j < k; j++) row->error[j] *= sum_error(row->terms);
}

// C * x = A * (B * x)
static int project(const struct problem *p, int variant, const struct projection *out)
{
    (void)variant;
    const struct csr *A = p->A;
    int64_t k = p->cols;
    double *x = mem_alloc(k, sizeof *x);
    double *Bx = mem_alloc(A->n, sizeof *Bx), *Bx_mag = mem_alloc(A->n, sizeof *Bx_mag);
    int err = x && Bx && Bx_mag ? OK : ERR_MEMORY;
    if (err) goto done;
    for (int64_t j = 0; j < k; j++) x[j] = op_weight(p, j);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < A->n; i++) {
        Bx[i] = Bx_mag[i] = 0;
        for (int64_t j = 0; j < k; j++) {
            double product = B_at(p, i * k + j) * x[j];
            Bx[i] += product;
            Bx_mag[i] += fabs(product);
        }
    }
#pragma omp parallel for schedule(guided)
    for (int32_t i = 0; i < A->m; i++) {
        double want = 0, mag = 0;
        for (int64_t q = A->ptr[i]; q < A->ptr[i + 1]; q++) {
            double a = prec_round(p->prec, A->val[q]);
            want += a * Bx[A->idx[q]];
            mag += fabs(a) * Bx_mag[A->idx[q]];
        }
        int64_t terms = row_length(p, i);
        out->want[i] = want;
        out->size[i] = mag;
        out->error[i] = sum_error(terms) * mag;
        // Both sides are sums in double of up to terms + k products.
        out->own[i] = 2 * sum_error(terms + k) * prec_unit_roundoff(F64) * mag;
    }
done:
    mem_free(x);
    mem_free(Bx);
    mem_free(Bx_mag);
    return err;
}

const struct op op_spmm = {
    .name = "spmm",
    .formula = "C = A * B, B and C dense",
    .result = RESULT_DENSE,
    .axes = axes,
    .variants = variants,
    .make = make,
    .refuse = refuse,
    .compulsory_bytes = compulsory_bytes,
    .row_work = row_work,
    .row_room = row_room,
    .row = reference_row,
    .project = project,
};
