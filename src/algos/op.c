#include "algos/op.h"

#include "algos/op_spgemm.h"

#include <float.h>
#include <math.h>
#include <string.h>

double op_weight(const struct inputs *in, int64_t j)
{
    double x = random_value(in->seed ^ 0x5eed, (uint64_t)j);
    return x < 0 ? x / 2 - 0.5 : x / 2 + 0.5;
}

// A row's sum of absolute values bounds each of its sums, as no factor is larger than `factor`.
int op_refuse_overflow(const struct inputs *in, double factor)
{
    const struct csr *A = in->A;
    double largest = 0, limit = in->prec == F32 ? FLT_MAX : DBL_MAX;
#pragma omp parallel for schedule(dynamic, 1024) reduction(max : largest)
    for (int32_t i = 0; i < A->m; i++) {
        double sum = 0;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) sum += fabs(A->val[p]);
        largest = fmax(largest, sum);
    }
    double bound = largest * factor;
    if (bound <= limit / 2) return OK;
    return fail(ERR_UNSUPPORTED, "sums of %s %g overflow %s%s",
                bound <= DBL_MAX ? "up to" : "more than", fmin(bound, DBL_MAX), prec_name(in->prec),
                bound <= DBL_MAX / 2 ? "; try -prec f64" : "");
}

int64_t op_csr_bytes(int64_t rows, int64_t nnz, enum prec prec)
{
    return (rows + 1) * 4 + nnz * (4 + (int64_t)prec_bytes(prec));
}

// SpMM: C = A * B, A sparse m x n, B dense n x k, C dense m x k.

// Rows of B that no nonzero of A asks for need not be read.
static int count_used_columns(struct inputs *in)
{
    const struct csr *A = in->A;
    char *used = mem_zero_alloc(A->n, 1);
    if (!used) return ERR_MEMORY;
    for (int64_t p = 0; p < A->nnz; p++) used[A->idx[p]] = 1;
    in->used_columns = 0;
    for (int32_t j = 0; j < A->n; j++) in->used_columns += used[j];
    mem_free(used);
    return OK;
}

static int spmm_make(struct inputs *in)
{
    int64_t n = in->A->n, k = in->k, count;
    int err = op_refuse_overflow(in, 1);
    if (!err) err = count_used_columns(in);
    if (!err) err = size_mul(in->A->nnz, 2 * k, &count); // the flops must fit too
    if (!err) err = size_mul(n, k, &count);
    if (err) return err;
    in->B = mem_alloc(count, prec_bytes(in->prec));
    if (!in->B) return ERR_MEMORY;
    float *f = in->B;
    double *d = in->B;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        double x = random_value(in->seed, (uint64_t)i);
        if (in->integers) x = floor(x * 4);
        if (in->prec == F32)
            f[i] = (float)x;
        else
            d[i] = x;
    }
    return OK;
}

static int64_t spmm_flops(const struct inputs *in) { return 2 * in->A->nnz * in->k; }

static int64_t spmm_bytes(const struct inputs *in, int64_t result_nnz)
{
    (void)result_nnz; // C is dense
    const struct csr *A = in->A;
    int64_t w = (int64_t)prec_bytes(in->prec);
    int64_t sparse = op_csr_bytes(A->m, A->nnz, in->prec);
    return sparse + (in->used_columns + A->m) * in->k * w;
}

static int64_t spmm_row_length(const struct inputs *in, int32_t i)
{
    (void)i;
    return in->k;
}

static int64_t spmm_row_terms(const struct inputs *in, int32_t i)
{
    return in->A->ptr[i + 1] - in->A->ptr[i];
}

static void spmm_reference_row(const struct inputs *in, int32_t i, double *restrict ref,
                               double *restrict mag)
{
    const struct csr *A = in->A;
    const float *Bf = in->B;
    const double *Bd = in->B;
    int64_t k = in->k;
    memset(ref, 0, (size_t)k * sizeof *ref);
    memset(mag, 0, (size_t)k * sizeof *mag);
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
        double a = prec_round(in->prec, A->val[p]);
        int64_t row = A->idx[p] * k;
        for (int64_t j = 0; j < k; j++) {
            double product = a * (in->prec == F32 ? (double)Bf[row + j] : Bd[row + j]);
            ref[j] += product;
            mag[j] += fabs(product);
        }
    }
}

// C * x = A * (B * x)
static int spmm_project(const struct inputs *in, double *restrict want, double *restrict mag)
{
    const struct csr *A = in->A;
    const float *Bf = in->B;
    const double *Bd = in->B;
    double *Bx = mem_alloc(A->n, sizeof *Bx), *Bx_mag = mem_alloc(A->n, sizeof *Bx_mag);
    int err = Bx && Bx_mag ? OK : ERR_MEMORY;
    if (err) goto done;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < A->n; i++) {
        double sum = 0, sum_mag = 0;
        for (int64_t j = 0; j < in->k; j++) {
            int64_t p = i * in->k + j;
            double product = (in->prec == F32 ? (double)Bf[p] : Bd[p]) * op_weight(in, j);
            sum += product;
            sum_mag += fabs(product);
        }
        Bx[i] = sum;
        Bx_mag[i] = sum_mag;
    }
#pragma omp parallel for schedule(guided)
    for (int32_t i = 0; i < A->m; i++) {
        want[i] = mag[i] = 0;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
            double a = prec_round(in->prec, A->val[p]);
            want[i] += a * Bx[A->idx[p]];
            mag[i] += fabs(a) * Bx_mag[A->idx[p]];
        }
    }
done:
    mem_free(Bx);
    mem_free(Bx_mag);
    return err;
}

const struct op ops[] = {
    [OP_SPMM] =
        {
            .name = "spmm",
            .formula = "C = A * B, B and C dense",
            .make = spmm_make,
            .flops = spmm_flops,
            .compulsory_bytes = spmm_bytes,
            .row_length = spmm_row_length,
            .row_terms = spmm_row_terms,
            .reference_row = spmm_reference_row,
            .project = spmm_project,
        },
    [OP_SDDMM] = {.name = "sddmm", .formula = "C = A .* (X * Y^T), X and Y dense"},
    [OP_SPGEMM] =
        {
            .name = "spgemm",
            .formula = "C = A * A or A * A^T, all sparse",
            .make = spgemm_make,
            .flops = spgemm_flops,
            .compulsory_bytes = spgemm_bytes,
            .row_terms = spgemm_row_terms,
            .project = spgemm_project,
            .sparse_row = spgemm_row,
        },
};
const int op_count = sizeof ops / sizeof *ops;

int op_find(const char *name)
{
    for (int i = 0; i < op_count; i++)
        if (!strcmp(ops[i].name, name)) return i;
    return -1;
}

void inputs_free(struct inputs *in)
{
    mem_free(in->B);
    in->B = NULL;
    csr_free(&in->transposed);
}
