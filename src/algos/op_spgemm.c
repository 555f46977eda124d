// SpGEMM: C = A * S, all sparse, S being A or its transpose. Flops are twice the products, as in
// the papers of hash and tile.
#include "algos/op.h"

#include <math.h>

#include "base/sort.h"
#include "base/squares.h"

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
static const struct op_number numbers[] = {
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
    int err = problem_bound(p, source_row_sum(p->source) * source_value(p->source));
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
    int64_t second = p->S == p->A ? 0 : op_csr_bytes(p->S, prec_in(p->prec));
    return op_csr_bytes(p->A, prec_in(p->prec)) + second + op_csr_bytes(&C, prec_out(p->prec));
}

// Each nonzero (i, l) of A reads row l of S, its columns and values: `work` products in all. Rows
// count with their mean length, rounded down.
static bool gather(const struct problem *p, struct op_gather *out)
{
    const int64_t each = (int64_t)(sizeof *p->S->idx + type_bytes(prec_in(p->prec)));
    const int64_t rows = p->A->nnz;
    *out = (struct op_gather){rows, rows ? p->work * each / rows : 0, p->S->nnz * each};
    return true;
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
    struct sum *sum;        // by column, n
    int32_t *terms;         // by column: products summed, 0: none; n
};

static struct sums sums_in(void *scratch, int64_t n)
{
    uint64_t *cols = scratch;
    struct sum *sum = (struct sum *)(cols + 2 * n);
    return (struct sums){cols, cols + n, sum, (int32_t *)(sum + n)};
}

static size_t row_scratch(const struct problem *p)
{
    return (size_t)p->cols * (2 * sizeof(uint64_t) + sizeof(struct sum) + sizeof(int32_t));
}

// Sums up the products of row i. Returns how many columns it has; they are in s->cols, unsorted.
static int64_t sum_up(const struct problem *p, int32_t i, const struct sums *s)
{
    const struct csr *A = p->A, *S = p->S;
    const bool single = prec_sum(p->prec) == F32;
    int64_t count = 0;
    for (int64_t x = A->ptr[i]; x < A->ptr[i + 1]; x++) {
        double a = problem_sparse(p, A, i, x);
        int32_t l = A->idx[x];
        for (int64_t y = S->ptr[l]; y < S->ptr[l + 1]; y++) {
            int32_t j = S->idx[y];
            if (!s->terms[j]++) {
                s->cols[count++] = (uint64_t)j;
                s->sum[j] = (struct sum){0};
            }
            sum_add(&s->sum[j], single, a * problem_sparse(p, S, l, y));
        }
    }
    return count;
}

// The structure of the row is that of its products: sums that happen to be 0 are kept.
static void reference_row(const struct problem *p, int variant, int32_t i, struct row *row)
{
    (void)variant;
    struct sums s = sums_in(row->scratch, p->cols);
    int64_t count = sum_up(p, i, &s);
    double unit = type_list[prec_sum(p->prec)].unit;
    sort_keys(s.cols, s.spare, count, 0);
    row->count = count;
    row->terms = 0;
    for (int64_t e = 0; e < count; e++) {
        int64_t j = (int64_t)s.cols[e];
        row->col[e] = (int32_t)j;
        row->ref[e] = sum_value(&s.sum[j]);
        row->error[e] = sum_size(&s.sum[j], unit, s.terms[j]);
        row->each[e] = s.terms[j];
        row->terms = max64(row->terms, s.terms[j]);
        s.terms[j] = 0;
    }
}

// The signs of the weights are random, so the errors of a row's elements add up by their squares.
static void project_row(const struct problem *p, int32_t i, const struct sums *s,
                        const struct projection *out)
{
    struct row_pattern pattern = {.count = sum_up(p, i, s)};
    struct squares refs = {0}, errors = {0};
    double want = 0, unit = type_list[prec_sum(p->prec)].unit;
    for (int64_t e = 0; e < pattern.count; e++) {
        int64_t j = (int64_t)s->cols[e];
        double weight = op_weight(p, j), ref = sum_value(&s->sum[j]);
        want += ref * weight;
        squares_add(&refs, ref * weight);
        squares_add(&errors, sum_size(&s->sum[j], unit, s->terms[j]) * weight);
        pattern.hash += op_column_hash(j);
        s->terms[j] = 0;
    }
    out->pattern[i] = pattern;
    out->want[i] = want;
    out->size[i] = squares_root(&refs);
    out->error[i] = squares_root(&errors);
    // Both sides are sums in double of the row's elements.
    out->own[i] = sum_error(2 * pattern.count, out->size[i], want);
}

// All products are summed: sums of columns and of rounded values need each product. Rows are
// neither sorted nor kept.
static int project(const struct problem *p, int variant, const struct projection *out)
{
    (void)variant;
    int err = OK;
#pragma omp parallel
    {
        void *scratch = mem_zero_alloc((int64_t)row_scratch(p), 1);
        struct sums s = sums_in(scratch, p->cols);
#pragma omp for schedule(dynamic, 16)
        for (int32_t i = 0; i < p->A->m; i++)
            if (scratch && !interrupted) project_row(p, i, &s, out);
        if (!scratch) {
            fail_drop(); // the text of this thread
#pragma omp atomic write
            err = ERR_MEMORY;
        }
        mem_free(scratch);
    }
    return err ? fail(ERR_MEMORY, "out of host memory for the reference") : OK;
}

const struct op op_spgemm = {
    .name = "spgemm",
    .formula = "C = A * A or A * A^T, all sparse",
    .result = RESULT_SPARSE,
    .keyed = true,
    .axes = axes,
    .variants = variants,
    .numbers = numbers,
    .product = true,
    .make = make,
    .compulsory_bytes = compulsory_bytes,
    .gather = gather,
    .tell = tell,
    .row_work = row_work,
    .row_room = row_room,
    .row_scratch = row_scratch,
    .row = reference_row,
    .project = project,
};
