// What a case asks of a format reaches the matrix that is made for it, and the times that making it
// took are told apart.
#include <time.h>

#include "formats/sellp.h"
#include "measure/prepare.h"
#include "own.h"
#include "test.h"

static struct device dev;
enum { SLICE, PAD };

// Its formats' parameters are all that it has.
static const struct algo padded = {.A = {&format_sellp}, .precs = BOTH_PRECS};
static const struct algo_entry padded_entry = {"padded", &own_op, DEVICE_CPU, &padded};

static struct task padded_task(double slice, double pad)
{
    struct task t = {.entry = &padded_entry, .algo = &padded, .dev = &dev, .prec = F64};
    CHECK(algo_option_find(&padded, "slice") == SLICE && algo_option_find(&padded, "pad") == PAD,
          "the parameters of sellp");
    t.opt[SLICE] = slice, t.opt[PAD] = pad;
    return t;
}

// 7 rows, of 3 entries each.
static struct csr seven = {
    7,
    4,
    21,
    (int64_t[]){0, 3, 6, 9, 12, 15, 18, 21},
    (int32_t[]){0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3, 0, 1, 2, 0, 1, 3, 0, 2, 3},
    (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}};

// Values of slice and pad, and the entries with padding that follow from them.
static const struct {
    int slice, pad;
    int64_t stored;
} wanted[] = {{2, 5, 4 * 2 * 5}, {2, 1, 4 * 2 * 3}, {3, 5, 3 * 3 * 5}, {8, 8, 8 * 8}};

static void check_sellp(const struct sparse *X, int i)
{
    const struct sellp *S = sellp_of(X);
    CHECK(S->slice == wanted[i].slice && S->pad == wanted[i].pad && S->stored == wanted[i].stored,
          "slice %d and pad %d became %d and %d, with %lld entries", wanted[i].slice, wanted[i].pad,
          S->slice, S->pad, (long long)S->stored);
}

// Each set of values has a matrix of its own, and it is there when it is asked for again.
static void test_need(void)
{
    struct store s = {.dev = &dev};
    const struct sparse *made[COUNT(wanted)] = {0};
    for (int i = 0; i < 2 * COUNT(wanted); i++) {
        int which = i % COUNT(wanted);
        struct task t = padded_task(wanted[which].slice, wanted[which].pad);
        struct stored *x;
        int err = store_need(&s, &t, &seven, &format_sellp, &x);
        CHECK(!err, "%s", fail_text());
        if (err) break;
        check_sellp(x->X, which);
        CHECK(!made[which] || made[which] == x->X, "what is there is made again");
        made[which] = x->X;
    }
    CHECK(s.count == COUNT(wanted), "%d matrices of %d", s.count, COUNT(wanted));
    store_free(&s);
}

// Each precision has a matrix of its own, and what is there for one is none for the other.
static void test_precs(void)
{
    static const enum prec precs[] = {F64, F32, F64, F32};
    struct store s = {.dev = &dev};
    const struct sparse *made[2] = {0};
    for (int i = 0; i < COUNT(precs); i++) {
        struct task t = padded_task(8, 8);
        struct stored *x;
        t.prec = precs[i];
        int err = store_need(&s, &t, &seven, &format_sellp, &x);
        CHECK(!err, "%s", fail_text());
        if (err) break;
        CHECK(x->type == t.prec && x->X->type == t.prec, "%s for %s", prec_name(x->X->type),
              prec_name(t.prec));
        CHECK(i < 2 || made[t.prec] == x->X, "what is there is made again");
        made[t.prec] = x->X;
    }
    CHECK(s.count == 2, "%d matrices of two precisions", s.count);
    store_free(&s);
}

// A format that only another one is made from has its defaults, whatever the task has there.
static void test_defaults(void)
{
    static const struct algo other = {.A = {&format_csr}, .precs = BOTH_PRECS};
    struct store s = {.dev = &dev};
    struct task t = padded_task(3, 5);
    struct stored *x;
    t.algo = &other;
    CHECK(!store_need(&s, &t, &seven, &format_sellp, &x), "%s", fail_text());
    check_sellp(x->X, COUNT(wanted) - 1);
    store_free(&s);
}

static void test_prepare(void)
{
    struct source source;
    struct operands o;
    source_init(&source, &seven);
    struct problem p = {.op = &own_op, .source = &source, .prec = F64, .axis = {1, 0}};
    CHECK(!problem_make(&p), "%s", fail_text());
    operands_init(&o, &dev);
    operands_use(&o, &p);
    for (int i = 0; i < COUNT(wanted); i++) {
        struct task t = padded_task(wanted[i].slice, wanted[i].pad);
        struct setup setup;
        int err = task_prepare(&t, &o, &setup);
        CHECK(!err, "%s", fail_text());
        if (err) break;
        check_sellp(t.A[0], i);
        const struct algo_stat *f = algo_stats_find(&t.stats, "padding");
        double padding = (double)wanted[i].stored / 21;
        CHECK(f && f->number == padding, "padding %g, not %g", f ? f->number : -1, padding);
        task_teardown(&t);
    }
    operands_free(&o);
    problem_free(&p);
    source_free(&source);
}

// A^T is made from A: its conversion is preparation. A format that is made from A^T has the cost of
// A^T, unless the algorithm asks for A^T too. A in place of A^T is given.
static void test_transposed(void)
{
    static const struct {
        struct algo algo;
        int64_t trans;
        int count;
        const char *of;
        bool prepared;
    } table[] = {
        {{.A = {&format_csr}}, 2, 1, "A^T", true},
        {{.A = {&format_sellp}}, 2, 1, "A^T", true},
        {{.A = {&format_csr, &format_sellp}}, 2, 2, "A^T", true},
        {{.A = {&format_csr}, .transposes = true}, 1, 1, "A", false},
    };
    for (int x = 0; x < COUNT(table); x++) {
        struct source source;
        struct operands o;
        struct setup setup;
        struct algo algo = table[x].algo;
        algo.layouts = ROW_MAJOR, algo.precs = BOTH_PRECS;
        struct task t = {.algo = &algo};
        struct problem p = {.op = op_find("spmm"),
                            .source = &source,
                            .prec = F64,
                            .axis = {1, LAYOUT_ROW, table[x].trans}};
        source_init(&source, &seven);
        CHECK(!problem_make(&p), "%s", fail_text());
        operands_init(&o, &dev);
        operands_use(&o, &p);
        algo_defaults(&algo, t.opt);
        int err = task_prepare(&t, &o, &setup);
        CHECK(!err, "%s", fail_text());
        if (!err) {
            double convert = 0;
            for (int i = 0; i < setup.count; i++) convert += setup.formats[i].cost.convert_ms;
            CHECK(setup.count == table[x].count, "row %d: %d formats", x, setup.count);
            CHECK_TEXT(setup.formats[0].of, table[x].of);
            CHECK(setup_prep_ms(&setup) == setup.analyse_ms + (table[x].prepared ? convert : 0),
                  "row %d: prepared in %g ms of %g", x, setup_prep_ms(&setup), convert);
            CHECK(convert > 0 || !table[x].prepared, "row %d: no time", x);
            CHECK(t.transposed == (table[x].trans == 1), "row %d", x);
            CHECK(o.store.count == table[x].count, "row %d: %d matrices are left", x,
                  o.store.count);
            CHECK(t.A[0]->m == (table[x].trans == 1 ? seven.m : seven.n), "row %d: %d rows", x,
                  t.A[0]->m);
            task_teardown(&t);
        }
        operands_free(&o);
        problem_free(&p);
        source_free(&source);
    }
}

// A format whose making takes as long as is said here, one time after the other.
static int slow_ms[4], makings;
static int no_arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    (void)X;
    (void)list;
    return 0;
}
static int make_slowly(struct device *d, const struct sparse *from, const double *opt,
                       struct sparse *out)
{
    (void)d;
    (void)from;
    (void)opt;
    (void)out;
    struct timespec rest = {.tv_nsec = slow_ms[makings++ % 4] * 1000000L};
    nanosleep(&rest, NULL);
    return OK;
}
static const struct format slow = {.name = "slow",
                                   .size = sizeof(struct sparse),
                                   .from = &format_csr,
                                   .arrays = no_arrays,
                                   .make = make_slowly};

// The first making is in convert_ms and the second in warm_ms. Nothing is said of how long one may
// take at most, as the machine may be busy.
static void test_times(void)
{
    static const int lengths[][2] = {{1, 60}, {60, 1}};
    for (int i = 0; i < COUNT(lengths); i++) {
        struct store s = {.dev = &dev};
        struct task t = padded_task(8, 8);
        struct stored *x;
        memcpy(slow_ms, lengths[i], sizeof lengths[i]);
        makings = 0;
        CHECK(!store_need(&s, &t, &seven, &slow, &x) && makings == 2, "%d makings", makings);
        const struct format_cost *cost = &x->cost[0];
        CHECK(cost->convert_ms >= slow_ms[0] && cost->warm_ms >= slow_ms[1] && !cost->upload_ms,
              "%d and %d ms became %g and %g, and %g for copies", slow_ms[0], slow_ms[1],
              cost->convert_ms, cost->warm_ms, cost->upload_ms);
        store_free(&s);
    }
}

// One making of a format that takes so long; the warm time, and how often it was made.
static double warm_ms(const int lengths[4], int *made)
{
    struct store s = {.dev = &dev, .again = STORE_AGAIN_MAX};
    struct task t = padded_task(8, 8);
    struct stored *x;
    memcpy(slow_ms, lengths, sizeof slow_ms);
    makings = 0;
    CHECK(!store_need(&s, &t, &seven, &slow, &x), "%s", fail_text());
    double ms = x->cost[0].warm_ms;
    store_free(&s);
    *made = makings;
    return ms;
}

// What is quickly made is made three times more, and one slow time of them is none of the format. A
// busy machine makes all of them longer: it gets several tries.
static void test_median(void)
{
    static const int quick[4] = {1, 40, 2, 4}, slow_first[4] = {1, 70, 1, 1},
                     slow_then[4] = {1, 1, 70, 1};
    double ms = 0;
    int made = 0;
    for (int i = 0; i < 20 && !(made == 4 && ms >= 4 && ms < 14); i++) ms = warm_ms(quick, &made);
    CHECK(made == 4 && ms >= 4 && ms < 14, "%g ms of %d makings, not the median of 40, 2 and 4", ms,
          made);
    ms = warm_ms(slow_first, &made);
    CHECK(made == 2 && ms >= 70, "%g ms of %d makings, where the second takes 70", ms, made);
    ms = warm_ms(slow_then, &made);
    CHECK(made <= 3, "%d makings, where the third takes 70 ms", made);
}

// The n-th allocation fails, in the first making or in a later one: nothing stays.
static void test_lost_memory(void)
{
    int err, n = 0;
    do {
        struct store s = {.dev = &dev, .again = STORE_AGAIN_MAX};
        struct task t = padded_task(8, 8);
        struct stored *x;
        mem_fail_at(++n);
        err = store_need(&s, &t, &seven, &format_sellp, &x);
        mem_fail_at(0);
        CHECK(!err || (err == ERR_MEMORY && !x), "allocation %d: %s", n, fail_text());
        store_free(&s);
        CHECK(!dev.used_bytes, "allocation %d: %lld bytes left", n, (long long)dev.used_bytes);
    } while (err && n < 200);
    CHECK(!err && n > 4, "it ended after %d allocations", n);
}

// In f64 the CPU takes csr as it is: there is nothing to convert, the first time or later.
static void test_copied(void)
{
    struct store s = {.dev = &dev};
    struct task t = padded_task(8, 8);
    struct stored *x;
    CHECK(!store_need(&s, &t, &seven, &format_csr, &x), "%s", fail_text());
    const struct format_cost *cost = &x->cost[0];
    CHECK(cost->convert_ms == 0 && cost->warm_ms == 0 && cost->upload_ms > 0,
          "%g and %g ms to convert, %g to copy", cost->convert_ms, cost->warm_ms, cost->upload_ms);
    store_free(&s);
}

TESTS_ON_CPU(dev, test_need, test_precs, test_defaults, test_prepare, test_transposed, test_times,
             test_median, test_lost_memory, test_copied)
