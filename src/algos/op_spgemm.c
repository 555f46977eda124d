// SpGEMM: C = A * S, all sparse, S being A or its transpose. Flops are twice the products, as in
// the papers of hash and tile.
#include "algos/op.h"

#include <math.h>

#include "base/sort.h"

enum { MUL };
enum { AA, AAT };
static const char *const words[] = {[AA] = "aa", [AAT] = "aat", NULL};
static const struct axis axis_mul = {
    .name = "mul",
    .values = "NAMES",
    .about = "aa: A * A, aat: A * A^T",
    .words = words,
    .standard = AA,
};
static const struct axis *const axes[] = {[MUL] = &axis_mul, NULL};
static const char *const variants[] = {"A * S", NULL};

enum { PRODUCTS, NNZ, COMPRESSION };
static const struct op_figure figures[] = {
    [PRODUCTS] = {"products", "multiplications", NULL, true},
    [NNZ] = {"nnz_c", "nonzeros of C", NULL, true},
    [COMPRESSION] = {"compression", "products / nnz_c", "compr.", false},
    {0},
};

static int make(struct problem *p)
{
    const struct csr *A = p->A;
    if (p->axis[MUL] == AA && A->m != A->n)
        return fail(ERR_UNSUPPORTED,
                    "A * A needs a square matrix, this one is %d x %d; try -mul aat", A->m, A->n);
    int err = refuse_overflow(p->prec, source_row_sum(p->source) * source_value(p->source));
    if (!err && p->axis[MUL] == AAT) err = source_transpose(p->source);
    if (err) return err;
    const struct csr *S = p->S = p->axis[MUL] == AA ? A : &p->source->transposed;
    p->rows = A->m, p->cols = S->n;
    int64_t products = 0;
#pragma omp parallel for schedule(static) reduction(+ : products)
    for (int64_t q = 0; q < A->nnz; q++) products += S->ptr[A->idx[q] + 1] - S->ptr[A->idx[q]];
    p->work = products;
    return OK;
}

static int64_t compulsory_bytes(const struct problem *p, int variant, int64_t result_nnz)
{
    (void)variant;
    struct csr C = {.m = (int32_t)p->rows, .nnz = result_nnz};
    int64_t second = p->S == p->A ? 0 : op_csr_bytes(p->S, p->prec);
    return op_csr_bytes(p->A, p->prec) + second + op_csr_bytes(&C, p->prec);
}

static void tell(const struct problem *p, int64_t result_nnz, double *values)
{
    values[PRODUCTS] = (double)p->work;
    values[NNZ] = result_nnz < 0 ? NAN : (double)result_nnz;
    values[COMPRESSION] = result_nnz > 0 ? (double)p->work / (double)result_nnz : NAN;
}

static int64_t row_work(const struct problem *p, int32_t i)
{
    const struct csr *A = p->A, *S = p->S;
    int64_t products = 0;
    for (int64_t q = A->ptr[i]; q < A->ptr[i + 1]; q++)
        products += S->ptr[A->idx[q] + 1] - S->ptr[A->idx[q]];
    return products;
}

static int64_t row_room(const struct problem *p, int32_t i)
{
    return min64(row_work(p, i), p->cols);
}

// A row's sums, spread out over the columns of C.
struct sums {
    uint64_t *cols, *spare; // columns in use, and room to sort them, n each
    double *ref, *mag;      // by column, n each
    int32_t *terms;         // by column: products summed, 0: none; n
};

static struct sums sums_in(void *scratch, int64_t n)
{
    uint64_t *cols = scratch;
    double *ref = (double *)(cols + 2 * n);
    return (struct sums){cols, cols + n, ref, ref + n, (int32_t *)(ref + 2 * n)};
}

static size_t row_scratch(const struct problem *p)
{
    return (size_t)p->cols * (2 * sizeof(uint64_t) + 2 * sizeof(double) + sizeof(int32_t));
}

// Its structure is that of the products: sums that happen to be 0 are there.
static void reference_row(const struct problem *p, int variant, int32_t i, struct row *row)
{
    (void)variant;
    const struct csr *A = p->A, *S = p->S;
    struct sums s = sums_in(row->scratch, p->cols);
    int64_t count = 0;
    for (int64_t x = A->ptr[i]; x < A->ptr[i + 1]; x++) {
        double a = prec_round(p->prec, A->val[x]);
        int32_t l = A->idx[x];
        for (int64_t y = S->ptr[l]; y < S->ptr[l + 1]; y++) {
            int32_t j = S->idx[y];
            double product = a * prec_round(p->prec, S->val[y]);
            if (!s.terms[j]++) {
                s.cols[count++] = (uint64_t)j;
                s.ref[j] = s.mag[j] = 0;
            }
            s.ref[j] += product;
            s.mag[j] += fabs(product);
        }
    }
    sort_keys(s.cols, s.spare, count, 0);
    row->count = count;
    row->terms = 0;
    for (int64_t e = 0; e < count; e++) {
        int64_t j = (int64_t)s.cols[e];
        row->col[e] = (int32_t)j;
        row->ref[e] = s.ref[j];
        row->error[e] = sum_error(s.terms[j]) * s.mag[j];
        row->terms = max64(row->terms, s.terms[j]);
        s.terms[j] = 0;
    }
}

// y = M * x and the same of absolute values.
static void multiply(const struct csr *M, enum prec prec, const double *x, const double *x_mag,
                     double *y, double *y_mag)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t i = 0; i < M->m; i++) {
        double sum = 0, mag = 0;
        for (int64_t q = M->ptr[i]; q < M->ptr[i + 1]; q++) {
            double a = prec_round(prec, M->val[q]);
            sum += a * x[M->idx[q]];
            mag += fabs(a) * x_mag[M->idx[q]];
        }
        y[i] = sum;
        y_mag[i] = mag;
    }
}

// C * x = A * (S * x)
static int project(const struct problem *p, int variant, const struct projection *out)
{
    (void)variant;
    const struct csr *A = p->A, *S = p->S;
    double *x = mem_alloc(S->n, sizeof *x), *x_mag = mem_alloc(S->n, sizeof *x_mag);
    double *y = mem_alloc(S->m, sizeof *y), *y_mag = mem_alloc(S->m, sizeof *y_mag);
    int err = x && x_mag && y && y_mag ? OK : ERR_MEMORY;
    if (err) goto done;
    for (int32_t j = 0; j < S->n; j++) {
        x[j] = op_weight(p, j);
        x_mag[j] = fabs(x[j]);
    }
    multiply(S, p->prec, x, x_mag, y, y_mag);
    multiply(A, p->prec, y, y_mag, out->want, out->size);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < A->m; i++) {
        double mag = out->size[i];
        int64_t terms = A->ptr[i + 1] - A->ptr[i];
        out->error[i] = sum_error(terms) * mag;
        // Both sides are sums in double: of the row's elements, and of A's times S's row.
        out->own[i] = 2 * sum_error(terms + 2 * (int64_t)S->n) * prec_unit_roundoff(F64) * mag;
    }
done:
    mem_free(x);
    mem_free(x_mag);
    mem_free(y);
    mem_free(y_mag);
    return err;
}

const struct op op_spgemm = {
    .name = "spgemm",
    .formula = "C = A * A or A * A^T, all sparse",
    .result = RESULT_SPARSE,
    .axes = axes,
    .variants = variants,
    .figures = figures,
    .make = make,
    .compulsory_bytes = compulsory_bytes,
    .tell = tell,
    .row_work = row_work,
    .row_room = row_room,
    .row_scratch = row_scratch,
    .row = reference_row,
    .project = project,
};
