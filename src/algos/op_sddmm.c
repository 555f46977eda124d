// SDDMM: C = A .* (X * Y^T), A sparse m x n, X dense m x k, Y dense n x k, C on the pattern of A.
#include "algos/algo.h"
#include "algos/op_sddmm.h"

#include <math.h>

enum { K }; // places of the axes
static const struct axis *const axes[] = {[K] = &axis_k, NULL};

static const char *const variants[] = {
    [SDDMM_SCALED] = "A .* (X * Y^T)",
    [SDDMM_UNSCALED] = "X * Y^T on the pattern of A, not scaled",
    NULL,
};

static int make(struct problem *p)
{
    const struct csr *A = p->A;
    int64_t k = p->axis[K], columns;
    p->layout = LAYOUT_ROW;
    p->rows = A->m, p->cols = A->n;
    // No factor of X and Y is larger than 1 (in tests than 4, of matrices that are far from it).
    int err = problem_bound(p, fmax(source_value(p->source), 1) * (double)k);
    if (!err) err = source_used_columns(p->source, &columns); // for compulsory_bytes()
    if (!err) err = size_mul(A->nnz, k, &p->work);
    if (!err) err = dense_make(p, 0, A->m, k);
    return err ? err : dense_make(p, 1, A->n, k);
}

// A and the values of C, and the rows of X and Y that nonzeros ask for. Who does not scale needs of
// A its pattern alone.
static int64_t compulsory_bytes(const struct problem *p, int variant, int64_t result_nnz)
{
    (void)result_nnz;
    int64_t rows = source_used_rows(p->source) + p->source->used_columns;
    const enum prec in = prec_in(p->prec), out = prec_out(p->prec);
    int64_t values = variant == SDDMM_UNSCALED ? 0 : p->A->nnz;
    return csr_bytes(p->A->m, 0, 4, in) + p->A->nnz * (4 + (int64_t)type_bytes(out)) +
           (rows * p->axis[K] + values) * (int64_t)type_bytes(in);
}

// The row of Y that a nonzero has the number of; those of X come once and in order.
static bool gather(const struct problem *p, struct op_gather *out)
{
    int64_t row_bytes = p->axis[K] * (int64_t)type_bytes(prec_in(p->prec));
    *out = (struct op_gather){p->A->nnz, row_bytes, p->source->used_columns * row_bytes};
    return true;
}

static int64_t row_room(const struct problem *p, int32_t i)
{
    return p->A->ptr[i + 1] - p->A->ptr[i];
}

static int64_t row_work(const struct problem *p, int32_t i) { return row_room(p, i) * p->axis[K]; }

static void reference_row(const struct problem *p, int variant, int32_t i, struct row *row)
{
    const struct csr *A = p->A;
    int64_t k = p->axis[K], first = A->ptr[i];
    row->count = row_room(p, i);
    row->terms = row->count ? k : 0;
    for (int64_t e = 0; e < row->count; e++) {
        double a = variant == SDDMM_UNSCALED ? 1 : problem_sparse(p, A, i, first + e);
        double sum = 0, squares = 0; // X and Y are drawn and small: no square overflows
        for (int64_t l = 0; l < k; l++) {
            double x = problem_dense(p, 0, i, l), y = problem_dense(p, 1, A->idx[first + e], l);
            sum += x * y;
            squares += x * y * x * y;
        }
        row->ref[e] = a * sum;
        // Scaling is a rounding more, of a sum that sum_error() has k times already.
        row->error[e] = fabs(a) * sum_error(k, sqrt(squares), sum);
    }
}

const struct op op_sddmm = {
    .name = "sddmm",
    .formula = "C = A .* (X * Y^T), X and Y dense, C on the pattern of A",
    .result = RESULT_PATTERN,
    .keyed = true,
    .axes = axes,
    .variants = variants,
    .make = make,
    .compulsory_bytes = compulsory_bytes,
    .gather = gather,
    .row_work = row_work,
    .row_room = row_room,
    .row = reference_row,
};
