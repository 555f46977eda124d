// The check must find what is wrong: faulty algorithms, each with one planted fault.
#include "check.h"

#include <math.h>

#include "gen.h"
#include "prepare.h"
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

static const struct algo faulty = {
    .name = "faulty",
    .op = OP_SPMM,
    .device = DEVICE_CPU,
    .layouts = BIT(LAYOUT_ROW) | BIT(LAYOUT_COL),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .run = faulty_run,
};

static struct device dev;

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
    csr_free(&A);

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
