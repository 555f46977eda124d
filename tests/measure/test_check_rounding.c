// What rounding explains and what it does not. Kernels that are right use less than half of the
// tolerance, whatever the lengths of rows and the sizes of values; those that lose precision, or a
// little of the result, are wrong.
#include "cases.h"
#include "data/gen.h"

#include <math.h>
#include <string.h>

static struct device dev;

// What is done to the inputs or the result of a right kernel.
enum loss {
    NO_LOSS,
    ZEROS,
    TF32,       // inputs with 10 bits behind the point
    IN_F32,     // all arithmetic, of an f64 case
    SCALED_A,   // by 1 + 1e-5
    SCALED_B,   // likewise
    SCALED_ALL, // values of a sparse result, likewise
    DROPPED,    // one nonzero of A
    UNSEEN,     // rows that are not compared, by 1 + 8e-6
};
static enum loss loss;
static int64_t dropped;          // which nonzero
static struct reference *spared; // the rows that are compared

// To the nearest of 11 bits.
static double to_tf32(double x)
{
    double far = x * (0x1p42 + 1);
    return far - (far - x);
}

static double altered(double x, enum loss scaled)
{
    return loss == TF32 ? to_tf32(x) : loss == scaled ? x * (1 + 1e-5) : x;
}

// C = A * B in one chain of additions for each element, k at most K_MAX, row by row.
#define K_MAX 64
static int lossy_run(struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    const int64_t *ptr = A->ptr;
    bool narrow = t->prec == F32 || loss == IN_F32;
    int64_t seen = 0; // rows of the sample up to this one
    for (int32_t i = 0; i < A->m; i++) {
        bool here = loss == UNSEEN && reference_row_number(spared, seen) == i;
        if (here && seen < spared->count - 1) seen++;
        double scale = loss == UNSEEN && !here ? 1 + 8e-6 : 1;
        float f[K_MAX] = {0};
        double d[K_MAX] = {0};
        for (int64_t q = ptr[i]; q < ptr[i + 1]; q++) {
            double a = altered(type_load(t->prec, A->val, q), SCALED_A);
            if (loss == DROPPED && q == dropped) continue;
            for (int64_t j = 0; j < C->cols; j++) {
                double b = altered(type_load(t->prec, B->val, A->idx[q] * B->ld + j), SCALED_B);
                if (narrow)
                    f[j] += (float)a * (float)b;
                else
                    d[j] += a * b;
            }
        }
        for (int64_t j = 0; j < C->cols; j++)
            type_store(t->prec, C->val, i * C->ld + j,
                       loss == ZEROS ? 0 : scale * (narrow ? f[j] : d[j]));
    }
    return OK;
}

static const struct algo lossy = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .run = lossy_run,
};

// C = A * B with sums in the type of C. SCALED_ALL leaves out the first product of each row.
static int narrow_run(struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    const enum prec in = prec_in(t->prec), out = prec_out(t->prec);
    const int64_t *ptr = A->ptr;
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t j = 0; j < C->cols; j++) {
            double sum = 0;
            for (int64_t q = ptr[i] + (loss == SCALED_ALL); q < ptr[i + 1]; q++)
                sum = type_round(out, sum + type_load(in, A->val, q) *
                                                type_load(in, B->val, A->idx[q] * B->ld + j));
            type_store(out, C->val, i * C->ld + j, sum);
        }
    return OK;
}

static const struct algo narrow = {
    .layouts = ROW_MAJOR,
    .precs = BY_TYPE_PRECS,
    .A = {&format_csr},
    .arith = ARITH_RESULT,
    .run = narrow_run,
};

// What a kernel of the program's own makes, with the result altered.
static const struct algo *inner;
static int alter(struct task *t, int err)
{
    for (int64_t q = 0; q < t->R.nnz && !err && loss != NO_LOSS; q++) {
        double c = type_load(t->prec, t->R.val, q);
        type_store(t->prec, t->R.val, q, loss == ZEROS ? 0 : altered(c, SCALED_ALL));
    }
    return err;
}
static int outer_run(struct task *t) { return alter(t, inner->run(t)); }
static int outer_finish(struct task *t) { return alter(t, inner->finish(t)); }

// A kernel that makes C for the check alone has it altered there.
static struct algo outer_of(const struct algo *a)
{
    struct algo outer = *(inner = a);
    if (a->finish)
        outer.finish = outer_finish;
    else
        outer.run = outer_run;
    return outer;
}

static struct check check_loss(struct inputs *in, const struct algo *algo, enum check_mode mode,
                               enum loss how)
{
    const struct algo_entry entry = {"lossy", in->p.op, DEVICE_CPU, algo};
    double opt[ALGO_OPTIONS_MAX] = {0};
    algo_defaults(algo, opt);
    loss = how;
    struct case_outcome out = case_run(in, &entry, opt, mode);
    loss = NO_LOSS;
    CHECK(!out.err, "%s: %s", in->p.op->name, fail_text());
    return out.check;
}

static struct inputs *make(const char *op, const struct csr *A, enum prec prec, int64_t first_axis)
{
    static struct inputs in;
    int64_t axis[AXES_MAX] = {first_axis};
    int err = inputs_make(&in, &dev, op_find(op), A, prec, axis, false, 0);
    CHECK(!err, "%s", fail_text());
    return err ? NULL : &in;
}

static int generate(const char *spec, double scale, struct csr *A)
{
    int err = gen_matrix(spec, 1, A);
    CHECK(!err, "%s", fail_text());
    for (int64_t q = 0; q < A->nnz && !err; q++) A->val[q] *= scale;
    return err;
}

static void expect_right(const struct check *c, const char *what, enum prec prec)
{
    // Exact sums that are rounded once use all of the tolerance. Rounded sums use half.
    CHECK(c->ok && c->error_ratio <= 1 && c->tolerance_share < 0.01 && c->tolerance_share > 0,
          "%s, %s: ratio %g, share %g, %s", what, prec_name(prec), c->error_ratio,
          c->tolerance_share, c->reason);
}

static void expect_wrong(const struct check *c, const char *what, enum prec prec, enum loss how)
{
    CHECK(!c->ok && !c->blind && c->error_ratio > 1 && c->reason[0],
          "%s, %s, loss %d: ratio %g, %s", what, prec_name(prec), how, c->error_ratio, c->reason);
}

static const struct spmm_case {
    const char *spec;
    int64_t k;
    double scale;
    bool f32_only; // it takes long
} spmm_cases[] = {
    {"aspect:2:2000000", 8, 1, true},      {"aspect:9:160000", 64, 1, false},
    {"uniform:500:200", 8, 1, false},      {"uniform:3000:3", 16, 1, false},
    {"aspect:4:40000", 16, 1e200, false},  {"aspect:4:40000", 16, 1e-200, false},
    {"uniform:3000:3", 16, 0x1p60, false}, {"uniform:3000:3", 16, 0x1p-60, false},
};

static void test_spmm_case(const struct spmm_case *x, struct inputs *in)
{
    const enum prec prec = in->p.prec;
    bool far = x->scale > 1e30 || x->scale < 1e-30;
    struct check c = check_loss(in, &lossy, CHECK_FULL, NO_LOSS);
    expect_right(&c, x->spec, prec);
    CHECK(c.seen_share == 1, "%s: %g seen", x->spec, c.seen_share);
    for (enum loss how = ZEROS; how <= SCALED_B; how++) {
        if (how == IN_F32 && (prec == F32 || far)) continue;
        // In rows of a million f32 cannot tell 1e-5.
        if ((how == SCALED_A || how == SCALED_B) && x->f32_only) continue;
        c = check_loss(in, &lossy, CHECK_FULL, how);
        expect_wrong(&c, x->spec, prec, how);
    }
}

// SpMM with rows from short ones to a million nonzeros, with values of any size.
static void test_spmm(void)
{
    for (const struct spmm_case *x = spmm_cases; x < spmm_cases + COUNT(spmm_cases); x++)
        for (int prec = F32; prec <= F64; prec++) {
            struct csr A;
            struct inputs *in;
            if (prec == F32 ? x->scale > 1e30 || x->scale < 1e-30 : x->f32_only) continue;
            if (generate(x->spec, x->scale, &A)) continue;
            if ((in = make("spmm", &A, (enum prec)prec, x->k))) {
                test_spmm_case(x, in);
                inputs_free(in);
            }
            csr_free(&A);
        }
}

// A loss that shows in no single element: then the reason says so.
static void test_norm(void)
{
    struct csr A;
    struct inputs *in;
    if (generate("aspect:9:160000", 1, &A)) return;
    if ((in = make("spmm", &A, F32, 64))) {
        struct check c = check_loss(in, &lossy, CHECK_FULL, SCALED_A);
        CHECK(strstr(c.reason, "C, where about 2^14 products are summed, is ") == c.reason &&
                  strstr(c.reason, "times as inexact as rounding explains"),
              "%s", c.reason);
        inputs_free(in);
    }
    csr_free(&A);
}

// A single nonzero that is left out, in a row that is not compared, shows in the projection.
static void test_dropped(void)
{
    const int32_t m = 3000;
    struct csr A;
    struct inputs *in;
    int64_t q = 0;
    int err = csr_alloc(&A, m, m, (int64_t)m / 1000 * 500500), found = 0;
    for (int32_t i = 0; i < m && !err; i++) {
        A.ptr[i] = q;
        for (int32_t j = 0; j <= i * 7 % 1000; j++, q++)
            A.idx[q] = 3 * j, A.val[q] = random_value(3, (uint64_t)q);
    }
    if (!err) A.ptr[m] = q;
    CHECK(!err && q == A.nnz, "%lld nonzeros", (long long)q);
    if (!err && (in = make("spmm", &A, F32, 8))) {
        struct check c = check_loss(in, &lossy, CHECK_SAMPLE, NO_LOSS);
        expect_right(&c, "rows of up to 1,000, sampled", F32);
        CHECK(!strcmp(c.method, "sample") && c.seen_share > 0.3 && c.seen_share < 0.6, "%g seen",
              c.seen_share);
        for (int64_t x = 0; x < in->ref.count - 1; x++) {
            int32_t i = reference_row_number(&in->ref, x) + 1;
            if (i == reference_row_number(&in->ref, x + 1) || x % 100) continue;
            dropped = (A.ptr[i] + A.ptr[i + 1]) / 2;
            c = check_loss(in, &lossy, CHECK_SAMPLE, DROPPED);
            expect_wrong(&c, "a nonzero left out, sampled", F32, DROPPED);
            found++;
        }
        CHECK(found > 5, "only %d rows", found);
        inputs_free(in);
    }
    csr_free(&A);
}

static void test_product(struct inputs *in, const struct algo *algo, const char *what, bool equal)
{
    const struct algo outer = outer_of(algo);
    const enum prec prec = in->p.prec;
    int last = in->p.rows > SAMPLE_RANDOM ? CHECK_SAMPLE : CHECK_FULL;
    for (int mode = CHECK_FULL; mode <= last; mode++) {
        struct check c = check_loss(in, &outer, (enum check_mode)mode, NO_LOSS);
        expect_right(&c, what, prec);
        c = check_loss(in, &outer, (enum check_mode)mode, ZEROS);
        expect_wrong(&c, what, prec, ZEROS);
        if (equal) continue; // what hides 1e-5
        c = check_loss(in, &outer, (enum check_mode)mode, SCALED_ALL);
        expect_wrong(&c, what, prec, SCALED_ALL);
    }
}

// A slight loss in all rows but those that are compared: no combination of a row shows it, all of
// them together do.
static void test_unseen(void)
{
    struct csr A;
    struct inputs *in;
    if (generate("uniform:3000:1000", 1, &A)) return;
    if ((in = make("spmm", &A, F32, 8))) {
        spared = &in->ref;
        struct check c = check_loss(in, &lossy, CHECK_SAMPLE, NO_LOSS);
        expect_right(&c, "uniform:3000:1000, sampled", F32);
        c = check_loss(in, &lossy, CHECK_SAMPLE, UNSEEN);
        expect_wrong(&c, "uniform:3000:1000, sampled", F32, UNSEEN);
        CHECK(strstr(c.reason, "times as inexact"), "%s", c.reason);
        inputs_free(in);
    }
    csr_free(&A);
}

// In double as well the roundings of equal products go one way: the reference is exact all the
// same, and knows how far others may be off.
static void test_equal(void)
{
    struct csr A;
    struct inputs *in;
    struct row row;
    if (generate("aspect:2:100000", 1, &A)) return;
    for (int64_t q = 0; q < A.nnz; q++) A.val[q] = 0.1;
    if ((in = make("spgemm", &A, F64, 1)) && !row_alloc(&row, &in->p, 2)) {
        in->p.op->row(&in->p, 0, 0, &row);
        long double want = (long double)A.n * (0.1 * 0.1);
        double plain = 0, u = type_list[F64].unit;
        for (int32_t l = 0; l < A.n; l++) plain += 0.1 * 0.1;
        double off = (double)fabsl(row.ref[0] - want), plain_off = (double)fabsl(plain - want);
        CHECK(off <= u * row.ref[0], "%.17g, not %.17Lg", row.ref[0], want);
        CHECK(plain_off > 100 * u * row.ref[0], "a plain sum is off by %g alone", plain_off);
        CHECK(u * row.error[0] >= 3 * plain_off, "%g, and a plain sum is off by %g",
              row.error[0] * u, plain_off);
        row_free(&row);
    }
    if (in) inputs_free(in);
    csr_free(&A);
}

// Every kernel of products that the CPU has, on values near the ends of what double holds, and on
// equal ones: there all roundings of a sum have one direction.
static void test_spgemm(void)
{
    static const struct {
        const char *spec;
        double scale;
        bool equal;
    } table[] = {{"uniform:1200:8", 1, false},
                 {"uniform:1200:8", 1e150, false},
                 {"uniform:1200:8", 1e-150, false},
                 {"aspect:20:60000", 1, true},
                 {"uniform:1200:8", 1, true}};
    for (int x = 0; x < COUNT(table) * 2; x++) {
        struct csr A;
        struct inputs *in;
        const enum prec prec = x % 2 ? F64 : F32;
        double scale = table[x / 2].scale;
        if ((prec == F32 && scale != 1) || generate(table[x / 2].spec, scale, &A)) continue;
        for (int64_t q = 0; q < A.nnz && table[x / 2].equal; q++) A.val[q] = 0.1;
        in = make("spgemm", &A, prec, 1);
        for (const struct algo_entry *e = algos; e < algos + algo_count && in; e++)
            if (e->op == in->p.op && e->device == DEVICE_CPU && !algo_missing(e))
                test_product(in, e->algo, table[x / 2].spec, table[x / 2].equal);
        if (in) inputs_free(in);
        csr_free(&A);
    }
}

// Large odd numbers with ones around them: each square loses what is added to it, and in all rows
// alike, so that what the errors of a row come to is not by chance.
static void test_lost(void)
{
    const int32_t m = 1200;
    struct csr A;
    struct inputs *in;
    int64_t q = 0;
    int err = csr_alloc(&A, m, m, (int64_t)m * 25);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    for (int32_t i = 0; i < m; i++) {
        A.ptr[i] = q;
        for (int32_t j = 0; j < m; j++) {
            int32_t apart = i > j ? i - j : j - i;
            if (apart & (apart - 1)) continue; // neither 0 nor a power of 2
            A.idx[q] = j;
            A.val[q++] = apart ? 1 : 4097 + 2 * i;
        }
    }
    A.ptr[m] = A.nnz = q;
    if ((in = make("spgemm", &A, F32, 1)))
        for (const struct algo_entry *e = algos; e < algos + algo_count; e++)
            if (e->op == in->p.op && e->device == DEVICE_CPU && !algo_missing(e))
                test_product(in, e->algo, "large diagonal", true);
    if (in) inputs_free(in);
    csr_free(&A);
}

// Sums in 16 bits are right if the descriptor declares them, and wrong otherwise. The tolerance
// still shows a lost product in f16. In bf16 the result of whole numbers has to be exact.
static void test_narrow(void)
{
    struct csr A;
    struct inputs *in;
    struct algo silent = narrow;
    silent.arith = ARITH_PREC;
    if (generate("uniform:400:20", 1, &A)) return;
    if ((in = make("spmm", &A, F16, 8))) {
        struct check c = check_loss(in, &narrow, CHECK_FULL, NO_LOSS);
        CHECK(c.ok && c.tolerance_share > 0.01 && c.tolerance_share < 0.1, "share %g: %s",
              c.tolerance_share, c.reason);
        c = check_loss(in, &narrow, CHECK_FULL, SCALED_ALL);
        expect_wrong(&c, "a lost product", F16, SCALED_ALL);
        c = check_loss(in, &silent, CHECK_FULL, NO_LOSS);
        expect_wrong(&c, "sums in f16 that should be in f32", F16, NO_LOSS);
        inputs_free(in);
    }
    if ((in = make("spmm", &A, BF16, 8))) {
        struct check c = check_loss(in, &narrow, CHECK_FULL, NO_LOSS);
        CHECK(c.ok && !c.blind && c.tolerance_share > 0.1, "share %g: %s", c.tolerance_share,
              c.reason);
        c = check_loss(in, &narrow, CHECK_FULL, SCALED_ALL);
        expect_wrong(&c, "a lost product", BF16, SCALED_ALL);
        inputs_free(in);
    }
    if ((in = make("spmm", &A, F32, 8))) {
        struct check c = check_loss(in, &narrow, CHECK_FULL, NO_LOSS);
        expect_right(&c, "sums in f32", F32);
        inputs_free(in);
    }
    csr_free(&A);
}

// Results below the normal numbers of f16 are rounded to multiples of the smallest number. The
// errors of a row add up in the projection.
static void test_underflow(void)
{
    const struct algo *algo = algo_find(op_find("spmm"), "reference", DEVICE_CPU)->algo;
    struct csr A;
    struct inputs *in;
    if (generate("uniform:3000:2", 1, &A)) return;
    for (int64_t q = A.ptr[A.m / 2]; q < A.nnz; q++) A.val[q] = ldexp(A.val[q], -20);
    if ((in = make("spmm", &A, F16, 64))) {
        struct check c = check_loss(in, algo, CHECK_FULL, NO_LOSS);
        expect_right(&c, "small results", F16);
        c = check_loss(in, algo, CHECK_SAMPLE, NO_LOSS);
        expect_right(&c, "small results, sampled", F16);
        inputs_free(in);
    }
    csr_free(&A);
}

TESTS_ON_CPU(dev, test_spmm, test_norm, test_dropped, test_unseen, test_equal, test_spgemm,
             test_lost, test_narrow, test_underflow)
