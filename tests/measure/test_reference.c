// The reference of a check: made once for all algorithms of a variant, kept or computed again with
// the same verdict, and no wrong verdict where there is no memory for it.
#include "data/gen.h"
#include "faulty.h"
#include "formats/coo.h"
#include "own.h"

static struct device dev;
static struct csr A;

// An operation whose calls of row() are counted.
static struct op counted;
static void (*counted_row)(const struct problem *p, int variant, int32_t i, struct row *row);
static int64_t calls;

static void count_row(const struct problem *p, int variant, int32_t i, struct row *row)
{
#pragma omp atomic
    calls++;
    counted_row(p, variant, i, row);
}

static int start(struct inputs *in, const struct op *op)
{
    int64_t axis[AXES_MAX];
    counted = *op;
    counted_row = op->row;
    counted.row = count_row;
    axes_start(op, 2, axis);
    int err = inputs_make(in, &dev, &counted, &A, F64, axis, false, 0);
    CHECK(!err, "%s", fail_text());
    if (!err) err = right_make(&in->p, 0);
    fault_row = in->p.rows - 1;
    fault_place = 1;
    calls = 0;
    return err;
}

static void finish(struct inputs *in)
{
    right_free();
    inputs_free(in);
}

static void check_calls(const struct inputs *in, int64_t want, const char *when)
{
    CHECK(calls == want, "%s, %s: %lld rows of the reference, not %lld", in->p.op->name, when,
          (long long)calls, (long long)want);
    calls = 0;
}

static const struct algo another = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_coo},
    .arith = ARITH_DOUBLE,
    .run = faulty_run,
};

// Nobody computes a row that was computed before, whoever asks.
static void test_once(const struct op *op)
{
    struct inputs in;
    if (start(&in, op)) return;
    faulty_case(&in, &faulty, CHECK_OFF, NONE);
    check_calls(&in, 0, "unchecked");
    CHECK(faulty_case(&in, &faulty, CHECK_FULL, NONE).check.ok, "%s", op->name);
    check_calls(&in, in.p.rows, "the first algorithm");
    CHECK(faulty_case(&in, &another, CHECK_FULL, NONE).check.ok, "%s", op->name);
    faulty_case(&in, &faulty, CHECK_FULL, WRONG_SIGN);
    check_calls(&in, 0, "other algorithms");
    CHECK(faulty_case(&in, &faulty, CHECK_SAMPLE, NONE).check.ok, "%s", op->name);
    CHECK(in.ref.count > SAMPLE_RANDOM, "%lld rows", (long long)in.ref.count);
    check_calls(&in, op->project ? in.ref.count : 0, "a sample");
    for (int64_t x = 1; x < in.ref.count; x++)
        CHECK(reference_row_number(&in.ref, x - 1) < reference_row_number(&in.ref, x),
              "%s: row %d is compared twice", op->name, reference_row_number(&in.ref, x));
    faulty_case(&in, &another, CHECK_SAMPLE, NONE);
    check_calls(&in, 0, "another algorithm with a sample");
    finish(&in);
}

// m rows of 6 nonzeros in the first columns, and one, `longest`, of 7. -1: none of 7.
static int even_rows(int32_t m, int32_t longest, struct csr *E)
{
    int err = csr_alloc(E, m, m, (int64_t)m * 6 + (longest >= 0));
    int64_t q = 0;
    for (int32_t i = 0; i < m && !err; i++) {
        E->ptr[i] = q;
        for (int32_t j = 0; j < 6 + (i == longest); j++, q++) E->idx[q] = j, E->val[q] = 1;
    }
    if (!err) E->ptr[m] = q;
    return err;
}

// A sample of such a matrix. After an error there is nothing to free.
static int sample_make(const struct op *op, const struct csr *E, uint64_t seed, struct inputs *in)
{
    int64_t axis[AXES_MAX];
    axes_start(op, 0, axis);
    int err = inputs_make(in, &dev, op, E, F64, axis, false, 0);
    if (err) return err;
    in->p.seed = seed;
    err = reference_make(&in->ref, 0, false);
    if (err) inputs_free(in);
    return err;
}

static bool holds(const struct reference *r, int64_t i)
{
    for (int64_t x = 0; x < r->count; x++)
        if (reference_row_number(r, x) == i) return true;
    return false;
}

// A sample holds the first and the last row, and some of each of five hundred stretches of rows,
// anywhere in it: as all rows have the same work one by that, and as many by the row's number,
// which is counted without those. Another seed has others.
static void test_strata(const struct op *op)
{
    enum { STRETCH = 20, STRETCHES = SAMPLE_RANDOM / 2 };
    const int32_t m = STRETCH * STRETCHES;
    struct csr E;
    struct inputs in[2];
    int err = even_rows(m, -1, &E), made = 0, same = 0, all = 0, at[STRETCH] = {0};
    while (!err && made < 2 && !(err = sample_make(op, &E, 5 + (uint64_t)made, &in[made]))) made++;
    CHECK(!err, "%s", fail_text());
    for (int64_t s = 0; s < STRETCHES && !err; s++) {
        int held = 0;
        for (int32_t o = 0; o < STRETCH; o++) {
            bool here = holds(&in[0].ref, s * STRETCH + o);
            held += here, at[o] += here;
            same += here && holds(&in[1].ref, s * STRETCH + o);
        }
        // The first ones of a class of rows are in the first stretch.
        all += held;
        CHECK(held <= 3 || s == 0 || s == STRETCHES - 1, "%s: %d of stretch %lld", op->name, held,
              (long long)s);
        CHECK(held, "%s: none of stretch %lld", op->name, (long long)s);
    }
    CHECK(err || (all >= SAMPLE_RANDOM && all <= SAMPLE_RANDOM + 2 * SAMPLE_CLASS_ROWS),
          "%s: %d rows", op->name, all);
    for (int o = 0; o < STRETCH && !err; o++)
        CHECK(at[o] > SAMPLE_RANDOM / STRETCH / 2, "%s: %d are number %d of a stretch", op->name,
              at[o], o);
    CHECK(err || same < SAMPLE_RANDOM / 4, "%s: %d rows are those of another seed", op->name, same);
    CHECK(err || (holds(&in[0].ref, 0) && holds(&in[0].ref, m - 1)), "%s: not both ends", op->name);
    while (made) inputs_free(&in[--made]);
    csr_free(&E);
}

// The row with most work is in every sample, also where there are many of nearly as much.
static void test_longest(const struct op *op)
{
    for (int32_t longest = 5050; longest < 5060; longest++) {
        struct csr E;
        struct inputs in;
        int err = even_rows(10000, longest, &E);
        if (!err) err = sample_make(op, &E, 7, &in);
        CHECK(!err, "%s", fail_text());
        CHECK(err || holds(&in.ref, longest), "%s: row %d, the longest, is not compared", op->name,
              longest);
        if (!err) inputs_free(&in);
        csr_free(&E);
    }
}

// Half of the sample goes by work: long rows are there wherever they are, not only the first few of
// their class and the longest. It still has a thousand rows.
static void test_work(const struct op *op)
{
    enum { LONG = 30 };
    const int32_t m = 10000, first = 4321; // from here on every 100th
    struct csr E;
    struct inputs in;
    int64_t length = 900, q = 0;
    int err = csr_alloc(&E, m, m, m + LONG * (length - 1));
    for (int32_t i = 0; i < m && !err; i++) {
        int32_t x = i - first;
        E.ptr[i] = q;
        for (int64_t j = 0; j < (x >= 0 && x < 100 * LONG && x % 100 == 0 ? length : 1); j++, q++)
            E.idx[q] = (int32_t)j, E.val[q] = 1;
    }
    if (!err) E.ptr[m] = q, err = sample_make(op, &E, 9, &in);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = first; i < first + 100 * LONG && !err; i += 100)
        CHECK(holds(&in.ref, i), "%s: the long row %d is not compared", op->name, i);
    CHECK(err || in.ref.count >= SAMPLE_RANDOM, "%s: %lld rows", op->name, (long long)in.ref.count);
    if (!err) inputs_free(&in);
    csr_free(&E);
}

static const struct algo doubled = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .variant = 1,
    .run = faulty_run,
};

// An algorithm of a variant is held against what the variant should be, and no other.
static void test_variants(void)
{
    struct inputs in;
    if (start(&in, &own_op)) return;
    for (int mode = CHECK_FULL; mode <= CHECK_SAMPLE; mode++)
        for (int computes = 0; computes < 2; computes++) {
            right_free();
            if (right_make(&in.p, computes)) break;
            calls = 0;
            struct check plain = faulty_case(&in, &faulty, (enum check_mode)mode, NONE).check;
            check_calls(&in, in.ref.count, "the first variant");
            struct check twice = faulty_case(&in, &doubled, (enum check_mode)mode, NONE).check;
            check_calls(&in, in.ref.count, "the second variant");
            CHECK(plain.ok == !computes && twice.ok == computes,
                  "%s: who computes variant %d: %d as the first, %d as the second", plain.method,
                  computes, plain.ok, twice.ok);
        }
    finish(&in);
}

static bool same_verdict(const struct check *a, const struct check *b)
{
    double x = a->error_ratio, y = b->error_ratio; // sums depend on the order of the threads
    bool near = x == y || fabs(x - y) <= 1e-12 * x;
    return a->ok == b->ok && near && !strcmp(a->method, b->method);
}

// Rows that were kept and rows that are computed again, as there was no room to keep them.
static void test_budget(const struct op *op, enum check_mode mode)
{
    struct inputs in;
    if (start(&in, op)) return;
    static const enum fault faults[] = {NONE,         SMALL,        WRONG_SIGN,     ROW_LOST,
                                        NOT_A_NUMBER, ONE_TOO_MANY, NO_OUTPUT_LATER};
    bool full = mode == CHECK_FULL;
    for (int f = 0; f < COUNT(faults); f++) {
        struct check kept[2], again[2];
        reference_free(&in.ref);
        for (int x = 0; x < 2; x++) kept[x] = faulty_case(&in, &faulty, mode, faults[f]).check;
        reference_free(&in.ref);
        CHECK(!reference_make(&in.ref, 0, full), "%s", fail_text());
        in.ref.budget = 0;
        calls = 0;
        for (int x = 0; x < 2; x++) again[x] = faulty_case(&in, &faulty, mode, faults[f]).check;
        if (kept[0].ok) check_calls(&in, 2 * in.ref.count, "no room to keep a row");
        for (int x = 0; x < 2; x++)
            CHECK(same_verdict(&kept[0], &kept[x]) && same_verdict(&kept[0], &again[x]),
                  "%s, fault %d: \"%s\", %g kept; \"%s\", %g computed again", op->name, faults[f],
                  kept[x].reason, kept[x].error_ratio, again[x].reason, again[x].error_ratio);
    }
    // Room for about half of the rows.
    reference_free(&in.ref);
    CHECK(!reference_make(&in.ref, 0, full), "%s", fail_text());
    in.ref.budget = 16 * right.ptr[in.p.rows] * in.ref.count / in.p.rows / 2;
    calls = 0;
    for (int x = 0; x < 2; x++)
        CHECK(faulty_case(&in, &faulty, mode, NONE).check.ok, "%s, some rows kept", op->name);
    CHECK(calls > in.ref.count && calls < 2 * in.ref.count, "%s: %lld calls for 2 x %lld rows",
          op->name, (long long)calls, (long long)in.ref.count);
    finish(&in);
}

static int late_run(struct task *t)
{
    t->R.nnz = right.ptr[right.p->rows];
    if (++faulty_runs == 2) mem_fail_at(starve);
    return OK;
}

// Makes its result for the check alone.
static const struct algo late = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .run = late_run,
    .finish = faulty_sparse,
};

// The n-th allocation after the last run fails, for every n: then there is no verdict.
static void test_no_memory(const struct op *op, const struct algo *algo, enum check_mode mode,
                           enum fault f)
{
    struct inputs in;
    int n = 0;
    struct case_outcome out;
    if (start(&in, op)) return;
    do {
        reference_free(&in.ref); // what an earlier check has made would be there
        starve = ++n;
        out = faulty_case(&in, algo, mode, f);
        CHECK(!out.err || out.err == ERR_UNCHECKED, "%s, allocation %d after the run: error %d, %s",
              op->name, n, out.err, fail_text());
        CHECK(!out.err || strstr(fail_text(), "memory"), "%s", fail_text());
        CHECK(out.err || out.check.ok == (f == NONE), "%s, allocation %d after the run: %s",
              op->name, n, out.check.ok ? "right" : out.check.reason);
    } while (out.err && n < 200);
    starve = 0;
    CHECK(!out.err && n > 4, "%s: error %d after %d allocations", op->name, out.err, n);
    finish(&in);
}

// The fault under way comes before what it is that was asked for.
static int stop_run(struct task *t)
{
    int err = faulty_run(t);
    interrupted = faulty_runs == 2;
    return err;
}
static int fail_later(struct task *t)
{
    int err = faulty_run(t);
    return err || faulty_runs < 2 ? err : fail(ERR_DEVICE, "it broke");
}

static void test_errors(const struct op *op)
{
    struct inputs in;
    struct algo algo = faulty;
    if (start(&in, op)) return;
    algo.run = stop_run;
    for (int mode = CHECK_FULL; mode <= CHECK_SAMPLE; mode++) {
        struct case_outcome out = faulty_case(&in, &algo, (enum check_mode)mode, NONE);
        interrupted = 0;
        CHECK(out.err == ERR_INTERRUPTED, "%s: Ctrl-C gives error %d", op->name, out.err);
    }
    algo.run = fail_later;
    struct case_outcome out = faulty_case(&in, &algo, CHECK_FULL, NONE);
    CHECK(out.err == ERR_DEVICE && !strcmp(fail_text(), "it broke"), "%s: error %d, %s", op->name,
          out.err, fail_text());
    CHECK(!dev.poison, "%s: the device still poisons what it allocates", op->name);
    finish(&in);
}

int main(void)
{
    const struct op *op;
    int err = device_open("cpu", &dev);
    if (!err) err = gen_matrix("uniform:2000:6", 1, &A);
    CHECK(!err, "%s", fail_text());
    if (err) return TEST_END();
    for (int x = 0; (op = op_or_own(x)); x++) {
        test_once(op);
        test_errors(op);
        int last = op->project ? CHECK_SAMPLE : CHECK_FULL; // without it no rows are chosen
        for (int mode = CHECK_FULL; mode <= last; mode++) {
            test_budget(op, (enum check_mode)mode);
            test_no_memory(op, &faulty, (enum check_mode)mode, NONE);
            test_no_memory(op, &faulty, (enum check_mode)mode, NOT_A_NUMBER);
        }
        if (op->project) {
            test_strata(op);
            test_longest(op);
            test_work(op);
        }
        if (op->result == RESULT_SPARSE) test_no_memory(op, &late, CHECK_FULL, NONE);
    }
    test_variants();
    csr_free(&A);
    CHECK(!dev.used_bytes, "%lld bytes left", (long long)dev.used_bytes);
    device_close(&dev);
    return TEST_END();
}
