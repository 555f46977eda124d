// `graded` on CUDA by strips of B in shared memory: results of every way to cut A, and where it
// pays.
#include "cases.h"

#define UNITS 4 // multiprocessors that what is decided here is for

static struct device dev;

static const struct algo_entry *graded(void)
{
    return algo_find(op_find("spmm"), "graded", dev.kind);
}

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
};

static struct told run_told(const struct csr *A, enum prec prec, int64_t k, double strips,
                            const char *option, const char *what)
{
    struct inputs in;
    double opt[PARAMS_MAX] = {0};
    struct told told = {-1, -1, -1};
    if (spmm_inputs(&in, &dev, A, prec, LAYOUT_ROW, k, 0)) return told;
    algo_defaults(graded()->algo, opt);
    set_option(graded(), opt, "strips", strips);
    if (option) set_option(graded(), opt, option, 32);
    struct outcome out = case_run(&in, graded(), opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s, %s, k %lld, strips %g: %s",
          what, prec_name(prec), (long long)k, strips, out.err ? fail_text() : out.check.reason);
    inputs_free(&in);
    told.rows = figure_of(&out, "strip_rows");
    told.strips_us = figure_of(&out, "strips_timed_us");
    told.pieces_us = figure_of(&out, "pieces_timed_us");
    return told;
}

static double run_right(const struct csr *A, enum prec prec, int64_t k, double strips,
                        const char *option, const char *what)
{
    return run_told(A, prec, k, strips, option, what).rows;
}

static int32_t length_wanted;

static int32_t as_wanted(int32_t i) { return (void)i, length_wanted; }

static int make_dense(int32_t m, int32_t n, int32_t length, struct csr *A)
{
    length_wanted = length;
    return make_spread(m, n, as_wanted, A);
}

static int32_t fifty(int32_t i) { return (void)i, 50; }

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
                    run_right(&A, turn % 2 ? F64 : F32, ks[turn / 2], rows, NULL, "spread rows");
                CHECK(told == rows, "%g rows of a warp, not %d", told, rows);
            }
        csr_free(&A);
    }
}

static int32_t two_hundred(int32_t i) { return (void)i, 200; }

static int32_t all_but_few(int32_t i) { return i == 9 ? 600 : 1; }

// Where A is so dense, and rows so even, that no trial is needed, or an option asks; not where rows
// of B begin anywhere, where another option says how pieces are to be, or where one row has most of
// the nonzeros.
static void test_choice(void)
{
    struct csr dense, full_rows, even, uneven;
    if (make_spread(900, 600, two_hundred, &dense) || make_dense(900, 600, 600, &full_rows) ||
        make_spread(900, 6000, fifty, &even) || make_spread(500, 600, all_but_few, &uneven))
        return;
    CHECK(run_right(&dense, F32, 64, -1, NULL, "dense") > 0, "strips do not pay");
    CHECK(run_right(&full_rows, F64, 16, -1, NULL, "full rows") > 0, "strips do not pay in f64");
    CHECK(run_right(&dense, F32, 64, 0, NULL, "dense") < 0, "strips against an option");
    CHECK(run_right(&dense, F32, 63, -1, NULL, "k is odd") < 0, "strips of rows unaligned");
    CHECK(run_right(&dense, F32, 63, 2, NULL, "k is odd") < 0, "strips of rows unaligned");
    CHECK(run_right(&dense, F32, 64, -1, "medium", "medium rows") < 0, "pieces are meant");
    CHECK(run_right(&even, F32, 64, -1, NULL, "few nonzeros") < 0, "strips of few nonzeros");
    CHECK(run_right(&uneven, F32, 64, -1, NULL, "one long row") < 0, "strips of one long row");
    csr_free(&dense);
    csr_free(&full_rows);
    csr_free(&even);
    csr_free(&uneven);
}

// From a few nonzeros of a row to all of them: by pieces, by the faster way of the two, by strips.
static void test_trial(void)
{
    int by[2] = {0}, timed = 0;
    for (int32_t length = 10; length <= 640; length *= 2) {
        struct csr A;
        if (make_dense(600, 640, length, &A)) return;
        const struct told x = run_told(&A, F32, 32, -1, NULL, "denser rows");
        const bool strips = x.rows > 0, trial = x.strips_us >= 0;
        CHECK(trial == (x.pieces_us >= 0), "one way was timed, the other not");
        if (trial)
            CHECK(strips == (x.strips_us < x.pieces_us), "not the faster one: %g and %g us, %g",
                  x.strips_us, x.pieces_us, x.rows);
        else
            CHECK(!by[1] || strips, "%d nonzeros of a row by pieces, fewer by strips", length);
        timed += trial;
        if (!trial) by[strips]++;
        csr_free(&A);
    }
    CHECK(by[0] && timed && by[1], "%d by pieces for sure, %d timed, %d by strips for sure", by[0],
          timed, by[1]);
}

int main(void)
{
    static void (*const tests[])(void) = {test_shapes, test_choice, test_trial, NULL};
    return main_on_cuda(&dev, UNITS, tests);
}
