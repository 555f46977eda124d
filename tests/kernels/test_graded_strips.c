// `graded` on CUDA by strips of B in shared memory: results of every way to cut A, and where it
// pays.
#include "select/trial.h"
#include "graded_rows.h"

static const struct device_ops *real_ops; // as it was opened with

// Row i has length(i) nonzeros, spread over all n columns; each seventh row is empty.
static int make_spread(int32_t m, int32_t n, int32_t (*length)(int32_t), struct csr *A)
{
    int64_t p = 0;
    int err = csr_alloc(A, m, n, (int64_t)m * n);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < m && !err; i++) {
        const int32_t count = i % 7 == 3 ? 0 : length(i);
        A->ptr[i] = p;
        for (int32_t e = 0; e < count; e++, p++) {
            A->idx[p] = (int32_t)(((int64_t)e * n + i % n) / count);
            A->val[p] = (i + 2 * e) % 7 - 3;
        }
    }
    if (!err) A->ptr[m] = A->nnz = p;
    return err;
}

// What the run tells of strips.
struct told {
    double rows;                 // of a warp; -1: it went by pieces
    double strips_us, pieces_us; // of a trial; -1: there was none
    struct algo_stats stats;
};

static struct told run_told(const struct csr *A, enum prec prec, int64_t k, double strips,
                            const char *option, const char *what)
{
    struct inputs in;
    double opt[ALGO_OPTIONS_MAX] = {0};
    struct told told = {.rows = -1, .strips_us = -1, .pieces_us = -1};
    if (spmm_inputs(&in, &dev, A, prec, LAYOUT_ROW, k, 0)) return told;
    algo_defaults(graded()->algo, opt);
    set_option(graded(), opt, "strips", strips);
    if (option) set_option(graded(), opt, option, 32);
    struct case_outcome out = case_run(&in, graded(), opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s, %s, k %lld, strips %g: %s",
          what, prec_name(prec), (long long)k, strips, out.err ? fail_text() : out.check.reason);
    inputs_free(&in);
    told.rows = stat_of(&out, "strip_rows");
    told.strips_us = stat_of(&out, "strips_timed_us");
    told.pieces_us = stat_of(&out, "pieces_timed_us");
    told.stats = out.stats;
    return told;
}

static double run_strips(const struct csr *A, enum prec prec, int64_t k, double strips,
                         const char *option, const char *what)
{
    return run_told(A, prec, k, strips, option, what).rows;
}

static int32_t ten(int32_t i) { return (void)i, 10; }

static int32_t fifty(int32_t i) { return (void)i, 50; }

static int32_t sixty(int32_t i) { return (void)i, 60; }

static int32_t hundred(int32_t i) { return (void)i, 100; }

static int32_t all(int32_t i) { return (void)i, 600; }

static int32_t up_to_forty(int32_t i) { return i * 11 % 41; }

static int32_t one_long(int32_t i) { return i == 9 ? 1500 : 5; }

// One strip, two and more, of heights that do not divide n; panels that are not full; slabs of
// which the last one is not full; pieces of no nonzeros and of every rest of a step and a block.
static void test_shapes(void)
{
    static const struct {
        int32_t m, n, (*length)(int32_t);
    } cases[] = {{1, 50, fifty},          {33, 64, fifty},    {200, 1600, up_to_forty},
                 {300, 3000, one_long},   {130, 1700, fifty}, {40, 5000, one_long},
                 {513, 1000, up_to_forty}};
    static const int64_t ks[] = {4, 32, 36, 64, 100};
    for (int c = 0; c < COUNT(cases); c++) {
        struct csr A;
        if (make_spread(cases[c].m, cases[c].n, cases[c].length, &A)) return;
        for (int turn = 0; turn < 2 * COUNT(ks); turn++)
            for (int rows = 1; rows <= 4; rows *= 2) {
                const double told =
                    run_strips(&A, turn % 2 ? F64 : F32, ks[turn / 2], rows, NULL, "spread rows");
                CHECK(told == rows, "%g rows of a warp, not %d", told, rows);
            }
        csr_free(&A);
    }
}

static int32_t two_hundred(int32_t i) { return (void)i, 200; }

static int32_t all_but_few(int32_t i) { return i == 9 ? 600 : 1; }

static int32_t but_one_full(int32_t i) { return i == 9 ? 1200 : 60; }

// By strips for sure where A is dense and rows are even, or an option asks; for sure not where rows
// of B begin anywhere, where another option says how pieces are to be, where there are few
// nonzeros, or where one row has so many of a panel's that all others wait for it.
static void test_choice(void)
{
    static const struct {
        int32_t m, n, (*length)(int32_t);
        enum prec prec;
        int64_t k;
        double strips;
        const char *option;
        enum { STRIPS, PIECES, TRIAL } want;
        const char *why;
    } cases[] = {
        {900, 600, all, F32, 64, -1, NULL, STRIPS, "full rows"},
        {900, 600, all, F64, 16, -1, NULL, STRIPS, "full rows"},
        {900, 600, two_hundred, F32, 64, -1, NULL, STRIPS, "rows are a third full"},
        {900, 600, all, F32, 64, 0, NULL, PIECES, "an option says so"},
        {900, 600, all, F32, 63, -1, NULL, PIECES, "rows of B begin anywhere"},
        {900, 600, all, F32, 63, 2, NULL, PIECES, "rows of B begin anywhere, and an option asks"},
        {900, 600, all, F32, 64, -1, "medium", PIECES, "an option is about pieces"},
        {900, 6000, fifty, F32, 64, -1, NULL, PIECES, "there are few nonzeros"},
        {900, 6000, fifty, F32, 64, 1, NULL, STRIPS, "there are few nonzeros, but an option asks"},
        {128, 1200, sixty, F32, 64, -1, NULL, TRIAL, "there are some nonzeros"},
        {128, 1200, but_one_full, F32, 64, -1, NULL, PIECES, "one warp would take longest"},
        {500, 600, all_but_few, F32, 64, -1, NULL, PIECES, "one row has most of the nonzeros"},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        struct csr A;
        if (make_spread(cases[c].m, cases[c].n, cases[c].length, &A)) return;
        const struct told x =
            run_told(&A, cases[c].prec, cases[c].k, cases[c].strips, cases[c].option, cases[c].why);
        CHECK((x.strips_us >= 0) == (cases[c].want == TRIAL), "a trial, or none, of case %d: %s", c,
              cases[c].why);
        if (cases[c].want != TRIAL)
            CHECK((x.rows > 0) == (cases[c].want == STRIPS), "%g rows of a warp by strips: %s",
                  x.rows, cases[c].why);
        csr_free(&A);
    }
}

// The device, whose runs take as long as is said here: those of the first trial and the others.
static double trial_us[2];
static int timed_runs;

static int stop_timer(struct device *d, double *ms)
{
    int err = real_ops->timer_stop(d, ms);
    *ms = trial_us[timed_runs++ >= TRIAL_FEW] / 1e3;
    return err;
}

// Either way is taken where it is the faster one, and what it tells is as if the other one had
// never been prepared.
static void test_trial(void)
{
    static const char *const of_pieces[] = {"short", "lanes", "columns", "short_most",
                                            "bundle_share"};
    struct csr A;
    if (make_spread(128, 1000, hundred, &A)) return;
    real_ops = dev.ops;
    struct device_ops fake = *real_ops;
    fake.graph_make = NULL;
    fake.timer_stop = stop_timer;
    dev.ops = &fake;
    for (int strips_win = 0; strips_win < 2; strips_win++) {
        trial_us[0] = strips_win ? 20 : 30;
        trial_us[1] = strips_win ? 30 : 20;
        timed_runs = 0;
        const struct told x = run_told(&A, F32, 64, -1, NULL, "two ways");
        CHECK(x.strips_us == trial_us[0] && x.pieces_us == trial_us[1],
              "strips take %g us, pieces %g", x.strips_us, x.pieces_us);
        CHECK((x.rows > 0) == strips_win, "%g rows of a warp by strips", x.rows);
        for (int i = 0; i < COUNT(of_pieces); i++)
            CHECK(!strips_win || !algo_stats_find(&x.stats, of_pieces[i]), "%s without pieces",
                  of_pieces[i]);
        CHECK(strips_win || algo_stats_find(&x.stats, "lanes"), "pieces set no stat");
    }
    dev.ops = real_ops;
    csr_free(&A);
}

// From a few nonzeros of a row to all of them: by pieces for sure, by a trial, by strips for sure.
static void test_denser(void)
{
    static int32_t (*const lengths[])(int32_t) = {ten, fifty, hundred, all};
    static const int want[] = {0, 1, 1, 2};
    for (int i = 0; i < COUNT(lengths); i++) {
        struct csr A;
        if (make_spread(600, 640, lengths[i], &A)) return;
        const struct told x = run_told(&A, F32, 32, -1, NULL, "denser rows");
        const int found = x.strips_us >= 0 ? 1 : x.rows > 0 ? 2 : 0;
        CHECK(found == want[i], "%lld nonzeros: 0 by pieces, 1 a trial, 2 by strips: %d, not %d",
              (long long)A.nnz, found, want[i]);
        csr_free(&A);
    }
}

int main(void)
{
    static void (*const tests[])(void) = {test_shapes, test_choice, test_trial, test_denser, NULL};
    return main_on_cuda(&dev, UNITS, tests);
}
