// Sums in 16 bits of long rows: the tolerance hides faults, and a run on whole numbers shows them.
#include "base/secret.h"
#include "cases.h"
#include "data/gen.h"
#include "measure/whole.h"

static struct device dev;

enum fault {
    NONE,
    LOST,      // one product of a long row is left out
    LOST_LAST, // the last product of a long row is left out
    LARGE,     // values of A over 100 are cut to 100
    ONE_MORE,  // a product is added twice
};
static enum fault fault;
static int64_t fault_row = 3;

#define LONG  5000
#define LONGS 4 // long rows; the others have 6 nonzeros
#define COLS  6000

// Long rows, and short rows behind them. `large`: a value of each long row.
static int matrix_make(double large, struct csr *A)
{
    const int32_t m = 40;
    int err = csr_alloc(A, m, COLS, LONGS * LONG + (m - LONGS) * 6);
    CHECK(!err, "%s", fail_text());
    if (err) return err;
    A->ptr[0] = 0;
    for (int32_t i = 0; i < m; i++) {
        const int32_t count = i < LONGS ? LONG : 6;
        A->ptr[i + 1] = A->ptr[i] + count;
        for (int32_t x = 0; x < count; x++) {
            A->idx[A->ptr[i] + x] = (int32_t)((int64_t)x * COLS / count);
            A->val[A->ptr[i] + x] = random_value(9, (uint64_t)(A->ptr[i] + x));
        }
        if (i < LONGS && large > 0) A->val[A->ptr[i] + 77] = large;
    }
    return OK;
}

static struct inputs *make(const char *op, const struct csr *A, enum prec prec, int64_t first_axis)
{
    static struct inputs in;
    int64_t axis[AXES_MAX] = {first_axis};
    int err = inputs_make(&in, &dev, op_find(op), A, prec, axis, false, 3);
    CHECK(!err, "%s", fail_text());
    return err ? NULL : &in;
}

// Orders of the products of a row, drawn for each row of each run.
static void shuffle(int64_t *order, int64_t count)
{
    const uint64_t seed = secret();
    for (int64_t x = 0; x < count; x++) {
        const int64_t y = (int64_t)(random_at(seed, (uint64_t)x) % (uint64_t)(x + 1));
        order[x] = order[y];
        order[y] = x;
    }
}

// C = A * B in the type of C, each row in a random order.
static int shuffled_run(struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    const enum prec in = prec_in(t->prec), out = prec_out(t->prec);
    const int64_t *ptr = A->ptr;
    static int64_t order[COLS];
    for (int64_t i = 0; i < A->m; i++) {
        const int64_t count = ptr[i + 1] - ptr[i];
        const int64_t lost = i != fault_row       ? -1
                             : fault == LOST      ? 1234
                             : fault == LOST_LAST ? count - 1
                                                  : -1;
        shuffle(order, count);
        for (int64_t j = 0; j < C->cols; j++) {
            double sum = 0;
            for (int64_t x = 0; x < count; x++) {
                const int64_t q = ptr[i] + order[x];
                double a = type_load(in, A->val, q);
                if (order[x] == lost) continue;
                if (fault == LARGE) a = fmin(a, 100);
                sum = type_round(out, sum + a * type_load(in, B->val, A->idx[q] * B->ld + j));
            }
            type_store(out, C->val, i * C->ld + j, sum);
        }
    }
    return OK;
}

static const struct algo shuffled = {
    .layouts = ROW_MAJOR,
    .precs = BY_TYPE_PRECS,
    .A = {&format_csr},
    .arith = ARITH_RESULT,
    .run = shuffled_run,
};

// Checks an algorithm with a fault. The operands are as before.
static struct check check_of(struct inputs *in, const struct algo *algo, enum check_mode mode,
                             enum fault f)
{
    const struct algo_entry entry = {"shuffled", in->p.op, DEVICE_CPU, algo};
    double opt[ALGO_OPTIONS_MAX] = {0};
    char what[64];
    fault = f;
    struct case_outcome out = case_run(in, &entry, opt, mode);
    CHECK(!out.err && !out.left, "%s, %lld bytes left", fail_text(), (long long)out.left);
    int err = operands_verify(&in->o, what);
    CHECK(!err && !what[0], "%s has changed", what);
    return out.check;
}

static void expect_right(const struct check *c, const struct inputs *in)
{
    CHECK(c->ok && !c->blind && !c->reason[0] && c->error_ratio <= 1, "%s: %s, ratio %g",
          prec_name(in->p.prec), c->reason, c->error_ratio);
    CHECK(c->tolerance_share > 0.1, "%s: share %g", prec_name(in->p.prec), c->tolerance_share);
    CHECK(c->value_error > 1e-4 && c->value_error < c->tolerance_share / 5, "%s: value error %g",
          prec_name(in->p.prec), c->value_error);
}

static void expect_wrong(const struct check *c, const char *what, bool whole)
{
    CHECK(!c->ok && !c->blind && c->error_ratio > 1, "%s: ratio %g, %s", what, c->error_ratio,
          c->reason);
    CHECK(!strstr(c->reason, "with whole numbers: C(3, ") == !whole, "%s: %s", what, c->reason);
}

static void test_long_rows(void)
{
    static const enum prec precs[] = {F16, BF16};
    struct csr A;
    struct inputs *in;
    if (matrix_make(0, &A)) return;
    for (int x = 0; x < COUNT(precs); x++) {
        if (!(in = make("spmm", &A, precs[x], x ? 16 : 64))) continue;
        struct check c = check_of(in, &shuffled, CHECK_AUTO, NONE);
        expect_right(&c, in);
        CHECK(c.digest.bits[0], "no digest");
        if (precs[x] == F16) { // of 64 columns of B one has an element for the lost product
            c = check_of(in, &shuffled, CHECK_AUTO, LOST);
            expect_wrong(&c, "a lost product", true);
            c = check_of(in, &shuffled, CHECK_FULL, LOST_LAST);
            expect_wrong(&c, "a lost last product", true);
        }
        // The own values alone do not show the fault.
        in->stay = true;
        c = check_of(in, &shuffled, CHECK_AUTO, LOST);
        CHECK(!c.ok && c.blind && strstr(c.reason, "not checked: the tolerance"), "%s", c.reason);
        in->stay = false;
        struct algo keeps = shuffled;
        keeps.keeps_values = true;
        c = check_of(in, &keeps, CHECK_AUTO, NONE);
        CHECK(!c.ok && c.blind, "an algorithm that keeps values of A: %s", c.reason);
        inputs_free(in);
    }
    csr_free(&A);
}

// A sample of rows finds a product that any row lacks: in a combination of all elements.
static void test_sample(void)
{
    struct csr A;
    struct inputs *in;
    int err = gen_matrix("uniform:3000:60", 1, &A);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    for (int32_t i = 0; i < A.m; i++) A.val[A.ptr[i + 1] - 1] = 0.01; // within each tolerance
    if ((in = make("spmm", &A, BF16, 4))) {
        struct check c = check_of(in, &shuffled, CHECK_SAMPLE, NONE);
        expect_right(&c, in);
        CHECK_TEXT(c.method, "sample");
        for (fault_row = 2000; fault_row < 2012; fault_row++) {
            c = check_of(in, &shuffled, CHECK_SAMPLE, LOST_LAST);
            CHECK(!c.ok && strstr(c.reason, "with whole numbers: "), "row %lld: %s",
                  (long long)fault_row, c.reason);
        }
        fault_row = 3;
        inputs_free(in);
    }
    csr_free(&A);
}

// A fault that whole numbers do not show is found by the matrix's own values.
static void test_large_values(void)
{
    struct csr A;
    struct inputs *in;
    if (matrix_make(8000, &A)) return;
    if ((in = make("spmm", &A, F16, 8))) {
        struct check c = check_of(in, &shuffled, CHECK_AUTO, LARGE);
        expect_wrong(&c, "a large value is cut", false);
        inputs_free(in);
    }
    csr_free(&A);
}

// Sums of absolute values overflow, sums of the values do not. Sums with other signs can.
static void test_range(void)
{
    struct csr A;
    struct inputs *in;
    int64_t plus = -1, minus = -1;
    if (matrix_make(0, &A)) return;
    if (!(in = make("spmm", &A, F16, 1))) return;
    for (int64_t q = A.ptr[2]; q < A.ptr[3]; q++) {
        const double b = type_load(F16, in->p.in[0].val, A.idx[q]);
        if (b > 0.9) plus = q;
        if (b < -0.9) minus = q;
    }
    inputs_free(in);
    A.val[plus] = A.val[minus] = 40000;
    if (!(in = make("spmm", &A, F16, 1))) return;
    for (int i = 0; i < 8; i++) {
        struct check c = check_of(in, &shuffled, CHECK_FULL, NONE);
        CHECK(c.ok, "%s", c.reason);
    }
    inputs_free(in);
    // Sums on the way to a small one overflow.
    A.val[plus] = A.val[minus] = 60000;
    for (int64_t q = A.ptr[2]; q < A.ptr[3]; q += 2) A.val[q] = 60000;
    if (!(in = make("spmm", &A, F16, 1))) return;
    struct check c = check_of(in, &shuffled, CHECK_FULL, NONE);
    CHECK(!c.ok && c.blind && strstr(c.reason, "overflow"), "%s", c.reason);
    inputs_free(in);
    csr_free(&A);
}

// SpGEMM with C in 16 bits. ONE_MORE adds the first product of a row twice.
static const struct algo *inner;
static int product_run(struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    const int64_t q = A_ptr[A->m / 2], s = S_ptr[A->idx[q]];
    int err = inner->run(t);
    if (err || fault != ONE_MORE) return err;
    int64_t e = ((const int64_t *)t->R.ptr)[A->m / 2];
    while (t->R.idx[e] != S->idx[s]) e++;
    type_store(t->prec, t->R.val, e,
               type_load(t->prec, t->R.val, e) +
                   type_load(t->prec, A->val, q) * type_load(t->prec, S->val, s));
    return OK;
}

static void test_products(void)
{
    struct csr A;
    struct inputs *in;
    int err = gen_matrix("uniform:150:120", 1, &A);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    A.val[A.ptr[75]] = 0.25; // a product that the tolerance hides
    inner = algo_find(op_find("spgemm"), "gustavson", DEVICE_CPU)->algo;
    struct algo algo = *inner;
    algo.arith = ARITH_RESULT;
    algo.run = product_run;
    for (int64_t mul = 0; mul < 2; mul++) {
        if (!(in = make("spgemm", &A, BF16, mul))) continue;
        struct check c = check_of(in, &algo, CHECK_AUTO, NONE);
        expect_right(&c, in);
        c = check_of(in, &algo, CHECK_AUTO, ONE_MORE);
        CHECK(!c.ok && strstr(c.reason, "with whole numbers: C(75, "), "added twice: %s", c.reason);
        inputs_free(in);
    }
    csr_free(&A);
}

// The most products of an element that are not 0, and the products of all short rows.
static bool count_products(const struct problem *p, double *most, double *in_short)
{
    struct problem all = *p;
    struct csr A = *p->A, S = p->S ? *p->S : A;
    struct row row;
    int64_t room = 1;
    bool right = true;
    *most = *in_short = 0;
    A.val = mem_alloc(A.nnz, sizeof *A.val);
    S.val = mem_alloc(S.nnz, sizeof *S.val);
    for (int64_t q = 0; q < A.nnz; q++) A.val[q] = fabs(p->A->val[q]);
    for (int64_t q = 0; q < S.nnz && p->S; q++) S.val[q] = fabs(p->S->val[q]);
    for (int i = 0; i < DENSE_MAX; i++)
        for (int64_t x = 0; x < p->in[i].rows * p->in[i].cols; x++) {
            const double value = type_load(prec_in(p->prec), p->in[i].val, x);
            right &= value == 0 || fabs(value) == 1;
            type_store(prec_in(p->prec), p->in[i].val, x, fabs(value));
        }
    all.A = &A;
    all.S = &S;
    for (int32_t i = 0; i < p->rows; i++) room = max64(room, p->op->row_room(p, i));
    CHECK(!row_alloc(&row, p, room), "%s", fail_text());
    for (int32_t i = 0; i < p->rows; i++) {
        p->op->row(&all, 0, i, &row);
        for (int64_t e = 0; e < row.count; e++) {
            *most = fmax(*most, row.ref[e]);
            if (A.ptr[i + 1] - A.ptr[i] < 100) *in_short += row.ref[e];
        }
    }
    row_free(&row);
    mem_free(A.val);
    mem_free(S.val);
    return right;
}

// No element has so many products that a partial sum is rounded. Many short rows keep products.
static void test_exact(void)
{
    static const struct {
        const char *op;
        int64_t axis[AXES_MAX];
    } table[] = {{"spmm", {64}},   {"spmm", {1}},     {"spmm", {8, 0, 1}}, {"spmm", {8, 1, 2}},
                 {"sddmm", {300}}, {"sddmm", {5000}}, {"spgemm", {0}},     {"spgemm", {1}}};
    static const enum prec precs[] = {F16, BF16};
    struct csr A, turned, square, small;
    if (matrix_make(0, &A)) return;
    CHECK(!csr_transpose(&A, &turned), "%s", fail_text());
    CHECK(!gen_matrix("uniform:700:600", 1, &square), "%s", fail_text());
    CHECK(!gen_matrix("uniform:60:6", 1, &small), "%s", fail_text());
    for (int x = 0; x < COUNT(table); x++)
        for (int i = 0; i < COUNT(precs); i++) {
            const enum result_kind result = op_find(table[x].op)->result;
            const struct csr *of = result == RESULT_SPARSE    ? &square
                                   : result == RESULT_PATTERN ? &small
                                   : table[x].axis[2]         ? &turned
                                                              : &A;
            struct source source;
            struct whole w;
            struct problem p = {.op = op_find(table[x].op), .source = &source, .prec = precs[i]};
            double most, in_short, range = 1 / type_list[precs[i]].unit;
            memcpy(p.axis, table[x].axis, sizeof p.axis);
            source_init(&source, of);
            CHECK(!problem_make(&p), "%s", fail_text());
            CHECK(!whole_make(&p, precs[i], &w), "%s", fail_text());
            CHECK(w.p.work == p.work && w.p.rows == p.rows, "another structure");
            CHECK(count_products(&w.p, &most, &in_short), "other values are drawn");
            CHECK(most <= range && most > range / 10, "%s %lld %s: %g products", table[x].op,
                  (long long)p.axis[0], prec_name(precs[i]), most);
            CHECK(result == RESULT_SPARSE || in_short > 4, "%s: %g products in short rows",
                  table[x].op, in_short);
            whole_free(&w);
            problem_free(&p);
            source_free(&source);
        }
    csr_free(&A);
    csr_free(&turned);
    csr_free(&square);
    csr_free(&small);
}

TESTS_ON_CPU(dev, test_long_rows, test_sample, test_large_values, test_range, test_products,
             test_exact)
