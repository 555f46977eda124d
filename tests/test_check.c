// The check must find what is wrong: faulty algorithms, each with one planted fault.
#include "measure/check.h"

#include <math.h>

#include "data/gen.h"
#include "measure/prepare.h"
#include "test.h"

enum fault { RIGHT, NO_OUTPUT, ONE_ROW_MISSING, ONE_ULP_TOO_MANY, SMALL, NOT_A_NUMBER, WRONG_SIGN };
static enum fault fault;
static int64_t fault_row, fault_col;

// The right result in double, then the fault.
static int faulty_run(struct task *t)
{
    const struct inputs *in = t->in;
    int64_t k = in->k;
    double *ref = mem_alloc(k, sizeof *ref), *mag = mem_alloc(k, sizeof *mag);
    for (int32_t i = 0; i < in->A->m && fault != NO_OUTPUT; i++) {
        if (fault == ONE_ROW_MISSING && i == fault_row) continue;
        ops[OP_SPMM].reference_row(in, i, ref, mag);
        for (int64_t j = 0; j < k; j++) {
            double c = ref[j];
            double tol =
                (double)(ops[OP_SPMM].row_terms(in, i) + 4) * prec_unit_roundoff(in->prec) * mag[j];
            if (i == fault_row && j == fault_col) {
                if (fault == ONE_ULP_TOO_MANY) c += 1.5 * tol;
                if (fault == SMALL) c += 0.4 * tol;
                if (fault == NOT_A_NUMBER) c = NAN;
                if (fault == WRONG_SIGN) c = -c;
            }
            int64_t p = t->layout == LAYOUT_ROW ? i * t->C.ld + j : j * t->C.ld + i;
            if (in->prec == F32)
                ((float *)t->C.val)[p] = (float)c;
            else
                ((double *)t->C.val)[p] = c;
        }
    }
    mem_free(ref);
    mem_free(mag);
    return OK;
}

#define REPEAT_MS 3.6e6
static int faulty_prepare(struct task *t)
{
    t->repeat_ms = REPEAT_MS;
    return OK;
}

static const struct algo faulty = {
    .name = "faulty",
    .op = OP_SPMM,
    .device = DEVICE_CPU,
    .layouts = BIT(LAYOUT_ROW) | BIT(LAYOUT_COL),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .prepare = faulty_prepare,
    .run = faulty_run,
};

static struct device dev;

// Sparse results: A * A, then the fault, in the row and near the column that are at fault.
enum sparse_fault {
    SPARSE_RIGHT,
    SPARSE_RIGHT_NARROW, // 32-bit row starts
    SPARSE_NO_OUTPUT,
    SPARSE_EMPTY_LATER, // from the second run on
    SPARSE_ROW_LOST,
    SPARSE_ENTRY_LOST,
    SPARSE_OTHER_COLUMN,
    SPARSE_SWAPPED,
    SPARSE_TWICE,
    SPARSE_OUTSIDE,
    SPARSE_NEGATIVE,
    SPARSE_BAD_START,
    SPARSE_BAD_END,
    SPARSE_BAD_SHAPE,
    SPARSE_NOT_A_NUMBER,
    SPARSE_WRONG_SIGN,
    SPARSE_ADDED_ZERO,       // a structure that no sum shows, and ...
    SPARSE_ONE_ULP_TOO_MANY, // ... these two need the row to be compared
    SPARSE_SMALL,
};
static enum sparse_fault sparse_fault;
static int64_t fault_place = 4; // in its row
static int sparse_runs;
static struct csr product; // A * A
static double *product_mag;
static int32_t *product_terms;

static int make_product(const struct csr *A)
{
    struct inputs in = {.A = A, .S = A, .prec = F64, .mul = MUL_AA};
    struct sparse_row row;
    int err = csr_alloc(&product, A->m, A->n, (int64_t)A->m * 36);
    product_mag = mem_alloc(product.nnz, sizeof *product_mag);
    product_terms = mem_alloc(product.nnz, sizeof *product_terms);
    if (!err) err = sparse_row_alloc(&row, &in);
    if (err) return err;
    product.nnz = product.ptr[0] = 0;
    for (int32_t i = 0; i < A->m; i++) {
        ops[OP_SPGEMM].sparse_row(&in, i, &row);
        for (int32_t j = 0; j < A->n; j++) {
            if (!row.terms[j]) continue;
            product.idx[product.nnz] = j;
            product.val[product.nnz] = row.ref[j];
            product_mag[product.nnz] = row.mag[j];
            product_terms[product.nnz++] = row.terms[j];
        }
        product.ptr[i + 1] = product.nnz;
    }
    sparse_row_free(&row);
    CHECK(!csr_check(&product), "%s", csr_check(&product));
    return OK;
}

static void free_product(void)
{
    csr_free(&product);
    mem_free(product_mag);
    mem_free(product_terms);
}

static void store(const struct task *t, int64_t p, int32_t j, double x)
{
    t->R.idx[p] = j;
    if (t->in->prec == F32)
        ((float *)t->R.val)[p] = (float)x;
    else
        ((double *)t->R.val)[p] = x;
}

// Entry p of the product, which is the one at fault.
static double faulty_value(const struct task *t, int64_t p)
{
    double c = product.val[p], u = prec_unit_roundoff(t->in->prec);
    double tol = ((double)product_terms[p] + 4) * u * product_mag[p];
    switch (sparse_fault) {
    case SPARSE_NOT_A_NUMBER: return NAN;
    case SPARSE_WRONG_SIGN: return -c;
    case SPARSE_ONE_ULP_TOO_MANY: return c + 1.5 * tol;
    case SPARSE_SMALL: return c + 0.4 * tol;
    default: return c;
    }
}

static int sparse_run(struct task *t)
{
    const struct csr *P = &product;
    int64_t at = P->ptr[fault_row] + fault_place, count = 0; // the entry at fault
    int64_t *ptr;
    bool empty = sparse_fault == SPARSE_EMPTY_LATER && sparse_runs++ > 0;
    t->R = (struct csr_dev){.m = P->m, .n = P->n, .ptr_bytes = 8};
    int err = device_alloc(t->dev, (int64_t)P->m + 1, sizeof *ptr, &t->R.ptr);
    if (!err) err = device_alloc(t->dev, P->nnz + 1, sizeof *t->R.idx, (void **)&t->R.idx);
    if (!err) err = device_alloc(t->dev, P->nnz + 1, prec_bytes(t->in->prec), &t->R.val);
    if (err || sparse_fault == SPARSE_NO_OUTPUT) return err;
    ptr = t->R.ptr;
    ptr[0] = 0;
    for (int32_t i = 0; i < P->m; i++) {
        bool lost = sparse_fault == SPARSE_ROW_LOST && i == fault_row;
        for (int64_t p = P->ptr[i]; p < P->ptr[i + 1] && !lost && !empty; p++) {
            int32_t j = P->idx[p];
            if (p == at && sparse_fault == SPARSE_ENTRY_LOST) continue;
            if (p == at && sparse_fault == SPARSE_OTHER_COLUMN) j++;
            if (p == at && sparse_fault == SPARSE_OUTSIDE) j = P->n;
            if (p == at && sparse_fault == SPARSE_NEGATIVE) j = -1;
            if (p == at && sparse_fault == SPARSE_TWICE) j = P->idx[p - 1];
            store(t, count++, j, p == at ? faulty_value(t, p) : P->val[p]);
            if (p == at && sparse_fault == SPARSE_ADDED_ZERO) store(t, count++, j + 1, 0);
        }
        ptr[i + 1] = count;
    }
    t->R.nnz = count;
    if (sparse_fault == SPARSE_SWAPPED) {
        store(t, at, P->idx[at + 1], P->val[at + 1]);
        store(t, at + 1, P->idx[at], P->val[at]);
    }
    if (sparse_fault == SPARSE_BAD_START) ptr[fault_row] = ptr[fault_row + 1] + 1;
    if (sparse_fault == SPARSE_BAD_END) ptr[P->m]--;
    if (sparse_fault == SPARSE_BAD_SHAPE) t->R.n--;
    if (sparse_fault == SPARSE_RIGHT_NARROW) {
        int32_t *narrow = t->R.ptr;
        for (int32_t i = 0; i <= P->m; i++) narrow[i] = (int32_t)ptr[i];
        t->R.ptr_bytes = 4;
    }
    return OK;
}

static const struct algo sparse_faulty = {
    .name = "sparse-faulty",
    .op = OP_SPGEMM,
    .device = DEVICE_CPU,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .run = sparse_run,
};

static struct check check_sparse_fault(const struct csr *A, enum prec prec, enum check_mode mode,
                                       enum sparse_fault f)
{
    struct inputs in = {.A = A, .prec = prec, .seed = 5, .mul = MUL_AA};
    struct operands o;
    struct setup setup;
    int64_t bytes;
    struct check check = {0};
    struct task t = {.algo = &sparse_faulty};
    sparse_fault = f;
    sparse_runs = 0;
    CHECK(!ops[OP_SPGEMM].make(&in), "%s", fail_text());
    operands_init(&o, &dev, &in, LAYOUT_ROW);
    CHECK(!task_prepare(&t, &o, &setup, &bytes), "%s", fail_text());
    int64_t before = dev.used_bytes;
    CHECK(!check_task(&t, mode, &check), "%s", fail_text());
    CHECK(dev.used_bytes == before && !t.R.val, "the check left %lld bytes",
          (long long)(dev.used_bytes - before));
    task_teardown(&t);
    operands_free(&o);
    inputs_free(&in);
    return check;
}

static void test_sparse(const struct csr *A, enum prec prec, enum check_mode mode,
                        const char *method)
{
    struct check c;
    for (int f = SPARSE_RIGHT; f <= SPARSE_RIGHT_NARROW; f++) {
        c = check_sparse_fault(A, prec, mode, (enum sparse_fault)f);
        CHECK(c.ok && c.error_ratio < 1 && !strcmp(c.method, method), "%s: ratio %g, %s", c.method,
              c.error_ratio, c.reason);
        CHECK(c.result_nnz == product.nnz, "%lld nonzeros", (long long)c.result_nnz);
        CHECK(mode == CHECK_FULL ? c.elements == product.nnz : c.elements > 1000 * 20,
              "only %lld elements", (long long)c.elements);
    }
    int last = mode == CHECK_FULL ? SPARSE_ONE_ULP_TOO_MANY : SPARSE_WRONG_SIGN;
    for (int f = SPARSE_NO_OUTPUT; f <= last; f++) {
        c = check_sparse_fault(A, prec, mode, (enum sparse_fault)f);
        CHECK(!c.ok && !(c.error_ratio <= 1) && c.reason[0],
              "%s, %s: fault %d not found, ratio %g: %s", method, prec_name(prec), f, c.error_ratio,
              c.reason);
    }
    c = check_sparse_fault(A, prec, mode, SPARSE_SMALL);
    CHECK(c.ok && (prec == F32 || c.error_ratio > 0), "inside the tolerance, but ratio %g",
          c.error_ratio);
}

// Of the rows without a product and of those with one the first are in every sample. Here most rows
// are empty, the others a diagonal, and one of the first of these has a zero too many, which shows
// in no sum.
static void test_sample_classes(void)
{
    struct csr A;
    int32_t m = 6000, first = 3000;
    int err = csr_alloc(&A, m, m, m - first);
    for (int32_t i = 0; i <= m && !err; i++) A.ptr[i] = max64(0, i - first);
    for (int32_t i = first; i < m && !err; i++) A.idx[i - first] = i, A.val[i - first] = 1;
    if (!err) err = make_product(&A);
    CHECK(!err, "%s", fail_text());
    fault_row = first + 1; // the one before is there as the longest of all rows
    fault_place = 0;
    if (!err) {
        struct check c = check_sparse_fault(&A, F64, CHECK_SAMPLE, SPARSE_RIGHT);
        CHECK(c.ok, "%s", c.reason);
        c = check_sparse_fault(&A, F64, CHECK_SAMPLE, SPARSE_ADDED_ZERO);
        CHECK(!c.ok, "a zero too many in a row of one product is not found");
    }
    free_product();
    csr_free(&A);
}

static struct check check_fault(const struct csr *A, enum prec prec, enum layout layout, int64_t k,
                                enum check_mode mode, enum fault f)
{
    struct inputs in = {.A = A, .prec = prec, .k = k, .seed = 5};
    struct operands o;
    struct setup setup;
    int64_t bytes;
    struct check check = {0};
    struct task t = {.algo = &faulty};
    fault = f;
    CHECK(!ops[OP_SPMM].make(&in), "%s", fail_text());
    operands_init(&o, &dev, &in, layout);
    CHECK(!task_prepare(&t, &o, &setup, &bytes), "%s", fail_text());
    CHECK(setup.analyse_ms < -REPEAT_MS / 2, "%g ms, what was repeated is in it", setup.analyse_ms);
    CHECK(!check_task(&t, mode, &check), "%s", fail_text());
    task_teardown(&t);
    operands_free(&o);
    inputs_free(&in);
    return check;
}

static void test_mode(const struct csr *A, enum check_mode mode, const char *method)
{
    for (int prec = F32; prec <= F64; prec++)
        for (int layout = 0; layout < 2; layout++) {
            struct check c = check_fault(A, (enum prec)prec, (enum layout)layout, 9, mode, RIGHT);
            CHECK(c.ok && c.error_ratio < 1 && !strcmp(c.method, method), "%s: ratio %g, %s",
                  c.method, c.error_ratio, c.reason);
            CHECK(c.elements >= 1000 * 9 || c.elements == (int64_t)A->m * 9, "only %lld elements",
                  (long long)c.elements);
            for (int f = NO_OUTPUT; f <= WRONG_SIGN; f++) {
                if (f == SMALL) continue;
                c = check_fault(A, (enum prec)prec, (enum layout)layout, 9, mode, (enum fault)f);
                // One rounding too many shows where it is compared, not in a random combination.
                bool must = f != ONE_ULP_TOO_MANY || mode == CHECK_FULL;
                CHECK(!must || (!c.ok && !(c.error_ratio <= 1) && c.reason[0]),
                      "%s, %s: fault %d not found, ratio %g", method, prec_name((enum prec)prec), f,
                      c.error_ratio);
            }
        }
    struct check c = check_fault(A, F64, LAYOUT_ROW, 9, mode, SMALL);
    CHECK(c.ok && c.error_ratio > 0, "inside the tolerance, but ratio %g", c.error_ratio);
}

int main(void)
{
    struct csr A;
    int err = device_open("cpu", &dev);
    if (!err) err = gen_matrix("uniform:5000:6", 1, &A);
    CHECK(!err, "%s", fail_text());
    if (err) return TEST_END();
    // A row and a column that the sample of rows does not hold: the projection must find it.
    fault_row = 3333, fault_col = 4;
    test_mode(&A, CHECK_FULL, "full");
    test_mode(&A, CHECK_SAMPLE, "sample");
    struct check c = check_fault(&A, F32, LAYOUT_ROW, 3, CHECK_AUTO, RIGHT);
    CHECK_TEXT(c.method, "full");
    c = check_fault(&A, F32, LAYOUT_ROW, 3, CHECK_OFF, NO_OUTPUT);
    CHECK(c.ok && !strcmp(c.method, "off"), "check off says %s", c.method);

    err = make_product(&A);
    CHECK(!err, "%s", fail_text());
    for (int prec = F32; prec <= F64 && !err; prec++) {
        test_sparse(&A, (enum prec)prec, CHECK_FULL, "full");
        test_sparse(&A, (enum prec)prec, CHECK_SAMPLE, "sample");
    }
    c = check_sparse_fault(&A, F64, CHECK_OFF, SPARSE_RIGHT);
    CHECK(c.ok && c.result_nnz == product.nnz, "check off: %lld nonzeros", (long long)c.result_nnz);
    free_product();
    csr_free(&A);
    test_sample_classes();

    // 0 rows, and rows that are all empty.
    err = gen_matrix("uniform:1:1", 1, &A);
    CHECK(!err, "%s", fail_text());
    if (!err) {
        fault_row = 0, fault_col = 0;
        c = check_fault(&A, F64, LAYOUT_ROW, 1, CHECK_SAMPLE, WRONG_SIGN);
        CHECK(!c.ok && !strcmp(c.method, "full"), "1 x 1: %s, ratio %g", c.method, c.error_ratio);
        csr_free(&A);
    }
    device_close(&dev);
    return TEST_END();
}
