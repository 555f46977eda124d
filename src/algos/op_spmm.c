// SpMM: C = A * B, A sparse m x n, B dense n x k, C dense m x k. With -trans, A is
// the transpose of the matrix that was read.
#include "algos/algo.h"
#include "base/squares.h"

#include <math.h>
#include <string.h>

enum { TRANS_NO, TRANS_FLAG, TRANS_COPY };
static const char *const trans_words[] = {
    [TRANS_NO] = "no", [TRANS_FLAG] = "flag", [TRANS_COPY] = "copy", NULL};
static const int64_t trans_products[] = {
    [TRANS_NO] = TRANS_NO, [TRANS_FLAG] = TRANS_FLAG, [TRANS_COPY] = TRANS_FLAG};
static const struct axis axis_trans = {
    .name = "trans",
    .values = "NAMES",
    .about = "A^T * B; flag: by a transposed mode of the library, copy: after A^T is made",
    .words = trans_words,
    .standard = TRANS_NO,
    .quiet = true,
    .optional = true,
    .products = trans_products,
};

enum { K, LAYOUT, TRANS }; // places of the axes
static const struct axis *const axes[] = {
    [K] = &axis_k, [LAYOUT] = &axis_layout, [TRANS] = &axis_trans, NULL};
static const char *const variants[] = {"A * B", NULL};

// Sets A to the transpose of the matrix that was read.
static int transpose(struct problem *p)
{
    int err = source_transpose(p->source);
    if (err) return err;
    p->factor = p->source->turned;
    p->A = p->factor->A;
    if (p->axis[TRANS] == TRANS_COPY) p->stored = p->A;
    return OK;
}

static int make(struct problem *p)
{
    int64_t k = p->axis[K], columns;
    int err = p->axis[TRANS] == TRANS_NO ? OK : transpose(p);
    if (err) return err;
    p->layout = (enum layout)p->axis[LAYOUT];
    p->rows = p->A->m, p->cols = k;
    // No factor is larger than 1, so a row's sum of absolute values bounds each of its sums.
    err = problem_bound(p, source_row_sum(p->factor));
    if (!err) err = source_used_columns(p->factor, &columns); // for compulsory_bytes()
    if (!err) err = size_mul(p->A->nnz, k, &p->work);
    return err ? err : dense_make(p, 0, p->A->n, k);
}

static int refuse(const struct problem *p, const struct algo *algo)
{
    if (algo->columns && p->axis[K] > algo->columns)
        return fail(ERR_UNSUPPORTED,
                    algo->columns == 1 ? "the algorithm is for k = %d only"
                                       : "the algorithm is for k up to %d",
                    algo->columns);
    if (p->stored != p->A && !algo->transposes)
        return fail(ERR_UNSUPPORTED, "the algorithm has no transposed mode; use -trans copy");
    return algo_refuse_layout(algo, (enum layout)p->axis[LAYOUT]);
}

// Rows of B without a nonzero of A in their column need not be read.
static int64_t compulsory_bytes(const struct problem *p, int variant, int64_t result_nnz)
{
    (void)variant;
    (void)result_nnz;
    const enum prec in = prec_in(p->prec);
    return op_csr_bytes(p->A, in) + p->factor->used_columns * p->cols * (int64_t)type_bytes(in) +
           p->A->m * p->cols * (int64_t)type_bytes(prec_out(p->prec));
}

// Each nonzero (i, j) reads row j of B. Rows of a column-major B are not contiguous, so there is no
// bound for that layout.
static bool gather(const struct problem *p, struct op_gather *out)
{
    int64_t row_bytes = p->cols * (int64_t)type_bytes(prec_in(p->prec));
    *out = (struct op_gather){p->A->nnz, row_bytes, p->factor->used_columns * row_bytes};
    return p->layout == LAYOUT_ROW;
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

// A power of two that brings the largest value of row i near 1, so that squares of its products
// neither overflow nor underflow.
static double row_scale(const struct problem *p, int32_t i)
{
    const struct csr *A = p->A;
    double largest = 0;
    int exponent;
    for (int64_t q = A->ptr[i]; q < A->ptr[i + 1]; q++)
        largest = fmax(largest, fabs(type_round(prec_in(p->prec), A->val[q])));
    frexp(largest, &exponent);
    return ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

static void reference_row(const struct problem *p, int variant, int32_t i, struct row *row)
{
    (void)variant;
    const struct csr *A = p->A;
    int64_t k = p->cols;
    double scale = row_scale(p, i);
    row->count = k;
    row->terms = row_length(p, i);
    memset(row->ref, 0, (size_t)k * sizeof *row->ref);
    memset(row->error, 0, (size_t)k * sizeof *row->error);
    for (int64_t q = A->ptr[i]; q < A->ptr[i + 1]; q++) {
        double a = problem_sparse(p, A, i, q);
        for (int64_t j = 0; j < k; j++) {
            double x = problem_dense(p, 0, A->idx[q], j), scaled = a * scale * x;
            row->ref[j] += a * x;
            row->error[j] += scaled * scaled;
        }
    }
    for (int64_t j = 0; j < k; j++)
        row->error[j] = sum_error(row->terms, sqrt(row->error[j]) / scale, row->ref[j]);
}

// Row i of B times the weights, and the root of the sum of the squares of these products.
static void weigh_row(const struct problem *p, const double *x, int64_t i, double *sum,
                      double *root)
{
    double all = 0, squares = 0;
    for (int64_t j = 0; j < p->cols; j++) {
        double product = problem_dense(p, 0, i, j) * x[j];
        all += product;
        squares += product * product;
    }
    *sum = all;
    *root = sqrt(squares);
}

// Row i of A times these.
static void project_row(const struct problem *p, int32_t i, const double *Bx, const double *Bx_root,
                        const struct projection *out)
{
    const struct csr *A = p->A;
    int64_t terms = row_length(p, i);
    double want = 0;
    struct squares squares = {0};
    for (int64_t q = A->ptr[i]; q < A->ptr[i + 1]; q++) {
        double a = problem_sparse(p, A, i, q);
        want += a * Bx[A->idx[q]];
        squares_add(&squares, a * Bx_root[A->idx[q]]);
    }
    double root = squares_root(&squares);
    out->want[i] = want;
    // Each column of B is drawn, so the squares of a row's sums are on average those of its
    // products; and of k = 1 it is that one sum.
    out->size[i] = hypot(root, want);
    out->error[i] = sum_error(terms, root, want);
    // Both sides are sums in double: of the row's elements, and of A's times B's row.
    out->own[i] = sum_error(terms + 2 * p->cols, root, want);
}

// C * x = A * (B * x)
static int project(const struct problem *p, int variant, const struct projection *out)
{
    (void)variant;
    const struct csr *A = p->A;
    double *x = mem_alloc(p->cols, sizeof *x);
    double *Bx = mem_alloc(A->n, sizeof *Bx), *Bx_root = mem_alloc(A->n, sizeof *Bx_root);
    int err = x && Bx && Bx_root ? OK : ERR_MEMORY;
    if (err) goto done;
    for (int64_t j = 0; j < p->cols; j++) x[j] = op_weight(p, j);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < A->n; i++) weigh_row(p, x, i, &Bx[i], &Bx_root[i]);
#pragma omp parallel for schedule(guided)
    for (int32_t i = 0; i < A->m; i++) project_row(p, i, Bx, Bx_root, out);
done:
    mem_free(x);
    mem_free(Bx);
    mem_free(Bx_root);
    return err;
}

const struct op op_spmm = {
    .name = "spmm",
    .formula = "C = A * B, B and C dense",
    .result = RESULT_DENSE,
    .keyed = true,
    .axes = axes,
    .variants = variants,
    .make = make,
    .refuse = refuse,
    .compulsory_bytes = compulsory_bytes,
    .gather = gather,
    .row_work = row_work,
    .row_room = row_room,
    .row = reference_row,
    .project = project,
};
