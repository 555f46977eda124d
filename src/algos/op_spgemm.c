// SpGEMM: C = A * S, all sparse, S being A or its transpose. Flops are twice the products, as in
// papers 2 and 5.
#include "algos/op_spgemm.h"

#include <math.h>

const char *mul_name(enum mul mul) { return mul == MUL_AA ? "aa" : "aat"; }

int spgemm_make(struct inputs *in)
{
    const struct csr *A = in->A;
    double largest = 0;
    for (int64_t p = 0; p < A->nnz; p++) largest = fmax(largest, fabs(A->val[p]));
    int err = op_refuse_overflow(in, largest);
    if (err) return err;
    in->S = A;
    if (in->mul == MUL_AAT) {
        double start = clock_ms();
        err = csr_transpose(A, &in->transposed);
        if (err) return err;
        in->S = &in->transposed;
        in->transpose_ms = clock_ms() - start;
    } else if (A->m != A->n) {
        return fail(ERR_UNSUPPORTED,
                    "A * A needs a square matrix, this one is %d x %d; try -mul aat", A->m, A->n);
    }
    int64_t products = 0;
#pragma omp parallel for schedule(static) reduction(+ : products)
    for (int64_t p = 0; p < A->nnz; p++)
        products += in->S->ptr[A->idx[p] + 1] - in->S->ptr[A->idx[p]];
    in->products = products;
    return OK;
}

int64_t spgemm_flops(const struct inputs *in) { return 2 * in->products; }

int64_t spgemm_bytes(const struct inputs *in, int64_t result_nnz)
{
    int64_t bytes = op_csr_bytes(in->A->m, in->A->nnz, in->prec);
    if (in->S != in->A) bytes += op_csr_bytes(in->S->m, in->S->nnz, in->prec);
    return bytes + op_csr_bytes(in->A->m, result_nnz, in->prec);
}

// An element is a sum of at most as many products as A has nonzeros in the row.
int64_t spgemm_row_terms(const struct inputs *in, int32_t i)
{
    return in->A->ptr[i + 1] - in->A->ptr[i];
}

int sparse_row_alloc(struct sparse_row *row, const struct inputs *in)
{
    int64_t n = in->S->n;
    *row = (struct sparse_row){0};
    row->col = mem_alloc(n, sizeof *row->col);
    row->terms = mem_zero_alloc(n, sizeof *row->terms);
    row->ref = mem_alloc(n, sizeof *row->ref);
    row->mag = mem_alloc(n, sizeof *row->mag);
    if (row->col && row->terms && row->ref && row->mag) return OK;
    sparse_row_free(row);
    return ERR_MEMORY;
}

void sparse_row_free(struct sparse_row *row)
{
    mem_free(row->col);
    mem_free(row->terms);
    mem_free(row->ref);
    mem_free(row->mag);
    *row = (struct sparse_row){0};
}

void spgemm_row(const struct inputs *in, int32_t i, struct sparse_row *row)
{
    const struct csr *A = in->A, *S = in->S;
    for (int64_t p = 0; p < row->count; p++) row->terms[row->col[p]] = 0;
    row->count = 0;
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
        double a = prec_round(in->prec, A->val[p]);
        int32_t l = A->idx[p];
        for (int64_t q = S->ptr[l]; q < S->ptr[l + 1]; q++) {
            int32_t j = S->idx[q];
            double product = a * prec_round(in->prec, S->val[q]);
            if (!row->terms[j]++) {
                row->col[row->count++] = j;
                row->ref[j] = row->mag[j] = 0;
            }
            row->ref[j] += product;
            row->mag[j] += fabs(product);
        }
    }
}

// y = M * x and the same of absolute values.
static void multiply(const struct csr *M, enum prec prec, const double *x, const double *x_mag,
                     double *y, double *y_mag)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t i = 0; i < M->m; i++) {
        double sum = 0, mag = 0;
        for (int64_t p = M->ptr[i]; p < M->ptr[i + 1]; p++) {
            double a = prec_round(prec, M->val[p]);
            sum += a * x[M->idx[p]];
            mag += fabs(a) * x_mag[M->idx[p]];
        }
        y[i] = sum;
        y_mag[i] = mag;
    }
}

// C * x = A * (S * x)
int spgemm_project(const struct inputs *in, double *restrict want, double *restrict mag)
{
    const struct csr *S = in->S;
    double *x = mem_alloc(S->n, sizeof *x), *x_mag = mem_alloc(S->n, sizeof *x_mag);
    double *y = mem_alloc(S->m, sizeof *y), *y_mag = mem_alloc(S->m, sizeof *y_mag);
    int err = x && x_mag && y && y_mag ? OK : ERR_MEMORY;
    if (!err) {
        for (int32_t j = 0; j < S->n; j++) {
            x[j] = op_weight(in, j);
            x_mag[j] = fabs(x[j]);
        }
        multiply(S, in->prec, x, x_mag, y, y_mag);
        multiply(in->A, in->prec, y, y_mag, want, mag);
    }
    mem_free(x);
    mem_free(x_mag);
    mem_free(y);
    mem_free(y_mag);
    return err;
}
