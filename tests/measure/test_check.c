// The check must find what is wrong, for every operation: faulty algorithms, each with one planted
// fault, and those that are right.
#include "data/gen.h"
#include "faulty.h"
#include "measure/check_product.h"
#include "own.h"

static struct device dev;

// "spmm, f32, row, full": what a check was of.
static const char *what_of(const struct inputs *in, const char *method)
{
    static char text[128];
    char value[32];
    const struct problem *p = &in->p;
    snprintf(text, sizeof text, "%s, %s, %s", p->op->name, prec_name(p->prec), method);
    for (int a = 0; p->op->axes[a]; a++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %s %s", p->op->axes[a]->name,
                 axis_text(p->op->axes[a], p->axis[a], value));
    return text;
}

static struct check check_fault(struct inputs *in, const struct algo *algo, enum check_mode mode,
                                enum fault f)
{
    struct case_outcome out = faulty_case(in, algo, mode, f);
    CHECK(!out.err, "%s, fault %d: error %d, %s", what_of(in, ""), f, out.err, fail_text());
    return out.check;
}

static void check_right(struct inputs *in, const struct algo *algo, enum check_mode mode,
                        enum fault f, const char *method)
{
    struct check c = check_fault(in, algo, mode, f);
    CHECK(c.ok && c.error_ratio < 1 && !c.reason[0], "%s: ratio %g, %s", what_of(in, method),
          c.error_ratio, c.reason);
    CHECK_TEXT(c.method, method);
}

static void check_wrong(struct inputs *in, enum check_mode mode, enum fault f, const char *name)
{
    struct check c = check_fault(in, &faulty, mode, f);
    CHECK(!c.ok && !(c.error_ratio <= 1) && c.reason[0], "%s: %s is not found, ratio %g",
          what_of(in, c.method), name, c.error_ratio);
}

static unsigned kind_of(const struct inputs *in) { return BIT(in->p.op->result); }

static bool is_sampled(const struct reference *r, int64_t i)
{
    for (int64_t x = 0; x < r->count; x++)
        if (reference_row_number(r, x) == i) return true;
    return false;
}

// Returns the method of CHECK_AUTO if the work is too much for the host to compare every element.
static const char *auto_of(const struct inputs *in)
{
    const struct task t = {.algo = &faulty, .dev = &dev};
    return product_is_on_device(&t, &in->p) || !in->p.op->project ? "full" : "sample";
}

// What the check of this operation says it did, asked for a sample.
static const char *sample_of(const struct op *op) { return op->project ? "sample" : "full"; }

// Of the elements of a row: one with others on both sides, or the first or the last one.
enum spot { INSIDE, FIRST, LAST };

static bool is_at(const struct inputs *in, enum spot spot, int64_t i, int64_t e)
{
    int64_t count = right.ptr[i + 1] - right.ptr[i], q = right.ptr[i] + e;
    if (count < 5 || fabs(right.ref[q]) < 1e-3) return false;
    switch (spot) {
    case FIRST: return e == 0;
    case LAST: return e == count - 1 && (kind_of(in) != SPARSE || right.col[q] + 1 < in->p.cols);
    default: return e > 0 && e < count - 1;
    }
}

// The first row from `from` on that a sample holds, or that none holds, with such an element that
// is not zero.
static bool choose_place(struct inputs *in, enum spot spot, int64_t from, bool compared)
{
    const bool sampled = in->p.op->project;
    int err = reference_make(&in->ref, 0, !sampled);
    CHECK(!err, "%s", fail_text());
    for (int64_t i = from; i < in->p.rows && !err; i++) {
        if (sampled && is_sampled(&in->ref, i) != compared) continue;
        for (int64_t e = 0; e < right.ptr[i + 1] - right.ptr[i]; e++)
            if (is_at(in, spot, i, e)) {
                fault_row = i, fault_place = e;
                return true;
            }
    }
    CHECK(false, "%s: no row for the faults", what_of(in, ""));
    return false;
}

// Elements of the rows that are compared.
static int64_t compared(const struct inputs *in)
{
    int64_t elements = 0;
    for (int64_t x = 0; x < in->ref.count; x++) {
        int32_t i = reference_row_number(&in->ref, x);
        elements += right.ptr[i + 1] - right.ptr[i];
    }
    return elements;
}

static void test_mode(struct inputs *in, enum check_mode mode, const char *method)
{
    bool sparse = in->p.op->result == RESULT_SPARSE;
    check_right(in, &faulty, mode, NONE, method);
    if (sparse) check_right(in, &faulty, mode, NARROW, method);
    struct check c = check_fault(in, &faulty, mode, NONE);
    CHECK(c.result_nnz == (sparse ? right.ptr[in->p.rows] : 0), "%s: %lld nonzeros",
          what_of(in, method), (long long)c.result_nnz);
    bool full = !strcmp(method, "full");
    CHECK(full || in->ref.count > SAMPLE_RANDOM, "%s: only %lld rows", what_of(in, method),
          (long long)in->ref.count);
    int64_t want = full ? right.ptr[in->p.rows] : compared(in);
    CHECK(c.elements == want, "%s: %lld elements, not %lld", what_of(in, method),
          (long long)c.elements, (long long)want);
    for (const struct planted *x = planted; x < planted + COUNT(planted); x++)
        if ((x->kinds & kind_of(in)) && (!(x->marks & APART) || in->o.pad) &&
            (!(x->marks & HIDDEN) || mode == CHECK_FULL))
            check_wrong(in, mode, x->fault, x->name);
    c = check_fault(in, &faulty, mode, NO_OUTPUT_LATER);
    CHECK(sparse || !strncmp(c.reason, "C(0, ", 5) || !strncmp(c.reason, "row 0 ", 6),
          "%s: where all is equally wrong, it is not the first that is told but %s",
          what_of(in, method), c.reason);
    c = check_fault(in, &faulty, mode, SMALL);
    CHECK(c.ok && (in->p.prec == F32 || c.error_ratio > 0),
          "%s: inside the tolerance, but ratio %g", what_of(in, method), c.error_ratio);
}

// Faults of single elements: at either end of a row that is compared, and in rows anywhere that a
// sample has only in its random combinations.
static void test_places(struct inputs *in)
{
    const int64_t m = in->p.rows;
    const struct {
        enum spot spot;
        int64_t from;
        bool compared;
    } table[] = {{FIRST, m / 4, true},
                 {LAST, m / 4, true},
                 {FIRST, m / 2, false},
                 {LAST, m / 6, false},
                 {INSIDE, 1, false}};
    for (int x = 0; x < COUNT(table); x++) {
        bool compared = table[x].compared || !in->p.op->project;
        if (!choose_place(in, table[x].spot, table[x].from, table[x].compared)) return;
        for (const struct planted *f = planted; f < planted + COUNT(planted); f++) {
            if (!(f->kinds & kind_of(in)) || !(f->marks & ELEMENT)) continue;
            if (compared || !(f->marks & HIDDEN)) check_wrong(in, CHECK_SAMPLE, f->fault, f->name);
        }
        if (kind_of(in) != SPARSE) continue;
        // What is not there is not compared with the row behind.
        struct check c = check_fault(in, &faulty, CHECK_SAMPLE, ENTRY_LOST);
        CHECK(isinf(c.error_ratio) && !strncmp(c.reason, "row ", 4), "%s, an entry is missing: %s",
              what_of(in, c.method), c.reason);
        c = check_fault(in, &faulty, CHECK_SAMPLE, OTHER_COLUMN);
        CHECK(isinf(c.error_ratio) && !strncmp(c.reason, "row ", 4), "%s, another column: %s",
              what_of(in, c.method), c.reason);
    }
}

// Who sums in double has the rounding of the result alone to excuse him.
static void test_in_double(struct inputs *in)
{
    check_right(in, &faulty_double, CHECK_FULL, NONE, "full");
    check_right(in, &faulty_double, CHECK_SAMPLE, NONE, sample_of(in->p.op));
    struct check c = check_fault(in, &faulty_double, CHECK_FULL, SMALL);
    CHECK(c.ok == (in->p.prec == F64), "%s, summed in double: ratio %g", what_of(in, "full"),
          c.error_ratio);
}

static void test_modes(struct inputs *in)
{
    struct check c;
    test_mode(in, CHECK_FULL, "full");
    if (in->p.op->project) test_mode(in, CHECK_SAMPLE, "sample");
    test_in_double(in);
    check_right(in, &faulty, CHECK_AUTO, NONE, "full");
    int64_t work = in->p.work; // as if there were as much as is compared, and too much
    in->p.work = CHECK_FULL_FLOPS / 2;
    check_right(in, &faulty, CHECK_AUTO, NONE, "full");
    in->p.work = CHECK_FULL_FLOPS / 2 + 1;
    check_right(in, &faulty, CHECK_AUTO, NONE, auto_of(in));
    in->p.work = work;
    c = check_fault(in, &faulty, CHECK_OFF, NO_OUTPUT_LATER);
    CHECK(c.ok && !strcmp(c.method, "off"), "check off says %s", c.method);
    c = check_fault(in, &faulty, CHECK_OFF, NONE);
    CHECK(c.result_nnz == (in->p.op->result == RESULT_SPARSE ? right.ptr[in->p.rows] : 0),
          "check off: %lld nonzeros", (long long)c.result_nnz);
}

// An operation without the short cut has every element compared.
static void test_no_projection(const struct csr *A)
{
    struct op op = own_op;
    struct inputs in;
    int64_t axis[AXES_MAX];
    op.project = NULL;
    axes_start(&op, 0, axis);
    int err = inputs_make(&in, &dev, &op, A, F32, axis, false, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    if (!right_make(&in.p, 0)) check_right(&in, &faulty, CHECK_SAMPLE, NONE, "full");
    right_free();
    inputs_free(&in);
}

static void test_op(const struct op *op, const struct csr *A)
{
    int64_t axis[AXES_MAX];
    axes_start(op, 3, axis);
    do
        for (int prec = F32; prec <= F64; prec++)
            for (int64_t pad = 0; pad <= (op->result == RESULT_DENSE ? 3 : 0); pad += 3) {
                struct inputs in;
                int err = inputs_make(&in, &dev, op, A, (enum prec)prec, axis, false, pad);
                CHECK(!err, "%s", fail_text());
                if (err) return;
                bool ready = !right_make(&in.p, 0);
                if (ready && choose_place(&in, INSIDE, in.p.rows * 2 / 3, false)) test_modes(&in);
                if (ready && !pad && prec == F64) test_places(&in);
                right_free();
                inputs_free(&in);
            }
    while (axes_next_words(op, axis));
}

// Of the rows without work and of those with least the first are in every sample. Here most rows
// are empty, the others a diagonal, and one of the first of these has what shows in no sum.
static void test_sample_classes(const struct op *op)
{
    struct csr A;
    struct inputs in;
    int64_t axis[AXES_MAX];
    const int32_t m = 6000, first = 3000;
    int err = csr_alloc(&A, m, m, m - first);
    for (int32_t i = 0; i <= m && !err; i++) A.ptr[i] = max64(0, i - first);
    for (int32_t i = first; i < m && !err; i++) A.idx[i - first] = i, A.val[i - first] = 1;
    axes_start(op, 0, axis);
    if (!err) err = inputs_make(&in, &dev, op, &A, F64, axis, false, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    fault_row = first + 1; // the one before is there as the longest of all rows
    fault_place = 0;
    if (!right_make(&in.p, 0)) {
        check_right(&in, &faulty, CHECK_SAMPLE, NONE, sample_of(op));
        for (const struct planted *x = planted; x < planted + COUNT(planted); x++)
            if ((x->marks & HIDDEN) && (x->kinds & kind_of(&in)))
                check_wrong(&in, CHECK_SAMPLE, x->fault, x->name);
    }
    right_free();
    inputs_free(&in);
    csr_free(&A);
}

// How a result comes out whose every element is off by so many of the smallest numbers for each of
// its products.
static struct check check_shifted(struct inputs *in, enum check_mode mode, double shift)
{
    double smallest = in->p.prec == F32 ? 0x1p-149 : 0x1p-1074;
    faulty_shift = shift * (double)right.terms[0] * smallest;
    struct check c = check_fault(in, &faulty, mode, NONE);
    faulty_shift = 0;
    return c;
}

// Values so small that every product is rounded to a whole number of the smallest ones: as many
// roundings as there are products, in each element and in the sum of a row, and not many more.
static void test_underflow(const struct op *op, enum prec prec)
{
    const int32_t m = 1100, length = op->result == RESULT_SPARSE ? 20 : 50;
    // In a product of sparse matrices it is the square that is so small.
    int exponent = (prec == F32 ? -149 : -1074) / (op->result == RESULT_SPARSE ? 2 : 1);
    struct csr A;
    struct inputs in;
    int64_t axis[AXES_MAX];
    axes_start(op, 3, axis);
    int err = csr_alloc(&A, m, m, (int64_t)m * length);
    for (int32_t i = 0; i <= m && !err; i++) A.ptr[i] = (int64_t)i * length;
    for (int64_t q = 0; q < A.nnz && !err; q++)
        A.idx[q] = (int32_t)(q % length), A.val[q] = ldexp(1, exponent);
    if (!err) err = inputs_make(&in, &dev, op, &A, prec, axis, false, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    err = right_make(&in.p, 0);
    for (int mode = CHECK_FULL; mode <= CHECK_SAMPLE && !err; mode++) {
        struct check c = check_shifted(&in, (enum check_mode)mode, 0.4);
        CHECK(c.error_ratio <= 1 && c.error_ratio > 0.1, "%s: underflow in each product, ratio %g",
              what_of(&in, c.method), c.error_ratio);
        CHECK(!c.ok && c.blind && strstr(c.reason, "not checked"),
              "%s: nothing but underflow, and ok: %s", what_of(&in, c.method), c.reason);
        c = check_shifted(&in, (enum check_mode)mode, 3);
        CHECK(!c.ok && !c.blind && c.error_ratio < 10, "%s: more than underflows, ratio %g",
              what_of(&in, c.method), c.error_ratio);
    }
    right_free();
    inputs_free(&in);
    csr_free(&A);
}

// As many rows as a sample draws are all compared, and one more is a sample.
static void test_few_rows(const struct op *op)
{
    int64_t axis[AXES_MAX];
    axes_start(op, 0, axis);
    for (int32_t m = SAMPLE_RANDOM - 50; m <= SAMPLE_RANDOM + 1; m += m < SAMPLE_RANDOM ? 50 : 1) {
        struct csr A;
        struct inputs in;
        int err = csr_alloc(&A, m, m, m);
        for (int32_t i = 0; i <= m && !err; i++) A.ptr[i] = i;
        for (int32_t i = 0; i < m && !err; i++) A.idx[i] = i, A.val[i] = 1;
        if (!err) err = inputs_make(&in, &dev, op, &A, F64, axis, false, 0);
        CHECK(!err, "%s", fail_text());
        if (err) return;
        if (!right_make(&in.p, 0))
            check_right(&in, &faulty, CHECK_SAMPLE, NONE,
                        m > SAMPLE_RANDOM ? sample_of(op) : "full");
        right_free();
        inputs_free(&in);
        csr_free(&A);
    }
}

// Matrices so small that a sample is all of them, or nothing at all.
static void test_tiny(const struct op *op)
{
    static const struct {
        int32_t n, nnz;
    } sizes[] = {{1, 1}, {1, 0}, {4, 0}, {0, 0}};
    int64_t axis[AXES_MAX];
    axes_start(op, 0, axis);
    fault_row = fault_place = 0;
    for (int s = 0; s < COUNT(sizes); s++) {
        struct csr A;
        struct inputs in;
        int err = csr_alloc(&A, sizes[s].n, sizes[s].n, sizes[s].nnz);
        for (int32_t i = 0; i <= sizes[s].n && !err; i++) A.ptr[i] = i ? sizes[s].nnz : 0;
        if (!err && A.nnz) A.idx[0] = 0, A.val[0] = 0.75;
        if (!err) err = inputs_make(&in, &dev, op, &A, F64, axis, false, 0);
        CHECK(!err, "%s", fail_text());
        if (err) return;
        if (!right_make(&in.p, 0)) {
            check_right(&in, &faulty, CHECK_SAMPLE, NONE, "full");
            if (A.nnz) check_wrong(&in, CHECK_SAMPLE, WRONG_SIGN, "1 x 1");
            if (op->result == RESULT_SPARSE) check_wrong(&in, CHECK_FULL, BAD_END, "a bad end");
        }
        right_free();
        inputs_free(&in);
        csr_free(&A);
    }
}

// An algorithm that drops zeros may leave out elements that should be 0, and no others. Blocks of
// [1 1; 1 -1] have squares with zeros.
static void test_dropped_zeros(const struct op *op)
{
    const int32_t m = 6000;
    struct csr A;
    struct inputs in;
    int64_t axis[AXES_MAX];
    axes_start(op, 0, axis);
    int err = csr_alloc(&A, m, m, 2 * m);
    for (int32_t i = 0; i <= m && !err; i++) A.ptr[i] = 2 * i;
    for (int32_t q = 0; q < 2 * m && !err; q++)
        A.idx[q] = q / 4 * 2 + q % 2, A.val[q] = q % 4 == 3 ? -1 : 1;
    if (!err) err = inputs_make(&in, &dev, op, &A, F32, axis, false, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    if (!right_make(&in.p, 0))
        for (int mode = 0; mode < 2; mode++) {
            const enum check_mode asked = mode ? CHECK_SAMPLE : CHECK_FULL;
            const char *method = mode ? sample_of(op) : "full";
            check_right(&in, &faulty_dropping, asked, NONE, method);
            check_right(&in, &faulty_dropping, asked, ZEROS_LOST, method);
            check_wrong(&in, asked, ZEROS_LOST, "zeros are missing");
            for (fault_row = m / 2; fault_row < m / 2 + 2; fault_row++) {
                fault_place = fault_row % 2; // the element of 2
                struct check c = check_fault(&in, &faulty_dropping, asked, ENTRY_LOST);
                CHECK(!c.ok && c.reason[0], "%s: a lost element is not found, ratio %g",
                      what_of(&in, c.method), c.error_ratio);
            }
            fault_row = m / 2 + 1; // its last element moves out of its block
            fault_place = 1;
            struct check c = check_fault(&in, &faulty_dropping, asked, OTHER_COLUMN);
            CHECK(!c.ok && c.reason[0], "%s: another column is not found, ratio %g",
                  what_of(&in, c.method), c.error_ratio);
        }
    fault_row = fault_place = 0;
    right_free();
    inputs_free(&in);
    csr_free(&A);
}

static void test_all(const struct op *op, const struct csr *A)
{
    test_op(op, A);
    test_sample_classes(op);
    test_tiny(op);
    test_few_rows(op);
    if (op->result == RESULT_SPARSE) test_dropped_zeros(op);
    test_underflow(op, F32);
    test_underflow(op, F64);
}

// Checks sparse results on a CUDA device. The matrix is small because the emulator is slow.
static void test_on_cuda(void)
{
    struct csr A;
    const struct op *op;
    if (!open_kind(DEVICE_CUDA, &dev)) return;
    int err = gen_matrix("uniform:1400:4", 1, &A);
    CHECK(!err, "%s", fail_text());
    for (int x = 0; !err && (op = op_or_own(x)); x++)
        if (op->result == RESULT_SPARSE) test_all(op, &A);
    csr_free(&A);
    CHECK(!dev.used_bytes, "%lld bytes left on the GPU", (long long)dev.used_bytes);
    device_close(&dev);
}

int main(void)
{
    struct csr A;
    const struct op *op;
    int err = device_open("cpu", &dev);
    if (!err) err = gen_matrix("uniform:5000:6", 1, &A);
    CHECK(!err, "%s", fail_text());
    if (err) return TEST_END();
    for (int x = 0; (op = op_or_own(x)); x++) test_all(op, &A);
    test_no_projection(&A);
    csr_free(&A);
    CHECK(!dev.used_bytes, "%lld bytes left", (long long)dev.used_bytes);
    device_close(&dev);
    test_on_cuda();
    return TEST_END();
}
