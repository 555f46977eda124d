#include "op.h"

#include <math.h>
#include <string.h>

// SpMM: C = A * B, A sparse m x n, B dense n x k, C dense m x k.

static int spmm_make(struct inputs *in)
{
    int64_t n = in->A->n, k = in->k, count;
    if (size_mul(n, k, &count)) return ERR_MEMORY;
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

static int64_t spmm_bytes(const struct inputs *in)
{
    const struct csr *A = in->A;
    int64_t w = (int64_t)prec_bytes(in->prec);
    int64_t sparse = ((int64_t)A->m + 1) * 4 + A->nnz * (4 + w);
    return sparse + ((int64_t)A->n + A->m) * in->k * w;
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

const struct op ops[] = {
    [OP_SPMM] = {"spmm", "C = A * B, B and C dense", spmm_make, spmm_flops, spmm_bytes,
                 spmm_row_length, spmm_row_terms, spmm_reference_row},
    [OP_SDDMM] = {.name = "sddmm", .formula = "C = A .* (X * Y^T), X and Y dense"},
    [OP_SPGEMM] = {.name = "spgemm", .formula = "C = A * A or A * A^T, all sparse"},
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
}
