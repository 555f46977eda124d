// `narrow` on CUDA: every shape of the kernel, rows that end at and cross the borders of tiles.
#include "graded_rows.h"

static const struct algo_entry *narrow(void)
{
    return algo_find(op_find("spmm"), "narrow", dev.kind);
}

// Runs a case with a shape, early or not, and checks the result.
static struct case_outcome run_shape(struct inputs *in, int shape, bool early, const char *what)
{
    double opt[ALGO_OPTIONS_MAX] = {0};
    algo_defaults(narrow()->algo, opt);
    set_option(narrow(), opt, "shape", shape);
    set_option(narrow(), opt, "early-start", early);
    struct case_outcome out = case_run(in, narrow(), opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s, shape %d, %s, k %lld: %s", what,
          shape, prec_name(in->p.prec), (long long)in->p.axis[0],
          out.err ? fail_text() : out.check.reason);
    return out;
}

// Every form, with rows of dense matrices close together or apart.
static void run_all(const char *what, int32_t m, int32_t n, int32_t (*length)(int32_t))
{
    static const struct {
        enum prec prec;
        enum layout layout;
        int64_t k;
        int pad;
    } cases[] = {{F32, LAYOUT_ROW, 1, 0}, {F32, LAYOUT_COL, 1, 1}, {F32, LAYOUT_ROW, 1, 3},
                 {F32, LAYOUT_ROW, 2, 2}, {F32, LAYOUT_ROW, 2, 0}, {F64, LAYOUT_ROW, 1, 1},
                 {F64, LAYOUT_COL, 1, 0}};
    struct csr A;
    if (make_rows(m, n, length, NULL, &A)) return;
    for (int c = 0; c < COUNT(cases); c++) {
        struct inputs in;
        if (spmm_inputs(&in, &dev, &A, cases[c].prec, cases[c].layout, cases[c].k, cases[c].pad))
            return;
        for (int shape = 1; shape <= 2; shape++) run_shape(&in, shape, (c + shape) % 2, what);
        inputs_free(&in);
    }
    csr_free(&A);
}

// Refused: k = 3, k = 2 in f64, odd distances of rows at k = 2, and column-major with k = 2.
static void test_refusals(void)
{
    static const struct {
        enum prec prec;
        enum layout layout;
        int64_t k;
        int pad;
    } cases[] = {{F32, LAYOUT_ROW, 3, 0},
                 {F32, LAYOUT_ROW, 2, 1},
                 {F64, LAYOUT_ROW, 2, 0},
                 {F32, LAYOUT_COL, 2, 0},
                 {F64, LAYOUT_COL, 2, 0}};
    struct csr A;
    if (make_rows(40, 40, zero, NULL, &A)) return;
    for (int c = 0; c < COUNT(cases); c++) {
        double opt[ALGO_OPTIONS_MAX] = {0};
        struct inputs in;
        algo_defaults(narrow()->algo, opt);
        if (spmm_inputs(&in, &dev, &A, cases[c].prec, cases[c].layout, cases[c].k, cases[c].pad))
            return;
        const struct case_outcome out = case_run(&in, narrow(), opt, CHECK_FULL);
        CHECK(out.err == ERR_UNSUPPORTED && !out.left, "case %d: %s", c, fail_text());
        inputs_free(&in);
    }
    csr_free(&A);
}

static int32_t mixed(int32_t i) { return i % 5 == 4 ? 0 : i % 37 == 7 ? 290 : i % 11; }
static int32_t one_of_512(int32_t i) { return i == 3 ? 509 : i < 3 ? 1 : 0; }
static int32_t of_1024(int32_t i) { return (void)i, 1024; }
static int32_t one(int32_t i) { return (void)i, 1; }
static int32_t one_huge(int32_t i) { return i == 2 ? 9000 : i == 3 ? 4000 : i % 3; }
static int32_t first_is_huge(int32_t i) { return i ? 0 : 5000; }
// Lengths of heads below and above the 512 nonzeros that a tile computes again.
static int32_t heads(int32_t i) { return 61 * (i % 41 + 1) + i; }

static void test_edges(void)
{
    run_all("mixed", 700, 300, mixed);
    run_all("one tile and trailing empty rows", 900, 600, one_of_512);
    run_all("rows that end with tiles", 5, 1024, of_1024);
    run_all("one nonzero in a row", 2049, 3, one);
    run_all("one huge row", 9, 9000, one_huge);
    run_all("a huge row, then empty rows", 3, 5000, first_is_huge);
    run_all("empty rows alone", 600, 3, zero);
    run_all("no rows", 0, 7, zero);
    run_all("no columns", 9, 0, zero);
}

static void test_heads(void)
{
    struct csr A;
    if (make_rows(83, 3000, heads, NULL, &A)) return;
    for (int turn = 0; turn < 3; turn++) {
        struct inputs in;
        if (spmm_inputs(&in, &dev, &A, turn % 2 ? F64 : F32, LAYOUT_ROW, turn / 2 + 1, 0)) return;
        for (int shape = 1; shape <= 2; shape++) run_shape(&in, shape, false, "heads");
        inputs_free(&in);
    }
    csr_free(&A);
}

// The shape by the size and the longest row, with UNITS multiprocessors.
static void test_choice(void)
{
    static const struct {
        int32_t m, (*length)(int32_t);
        int64_t k;
        double shape, tile;
    } cases[] = {{70, mixed, 1, 1, 512},
                 {9, one_huge, 1, 2, 1024},
                 {9, one_huge, 2, 2, 1024},
                 {2560 * UNITS, one, 1, 2, 1024},
                 {2560 * UNITS - 1, one, 2, 1, 512}};
    for (int c = 0; c < COUNT(cases); c++) {
        struct csr A;
        struct inputs in;
        if (make_rows(cases[c].m, 9000, cases[c].length, NULL, &A)) return;
        if (spmm_inputs(&in, &dev, &A, F32, LAYOUT_ROW, cases[c].k, 0)) return;
        const struct case_outcome out = run_shape(&in, 0, false, "choice");
        CHECK(stat_of(&out, "shape") == cases[c].shape && stat_of(&out, "tile") == cases[c].tile,
              "case %d: shape %g, tiles of %g", c, stat_of(&out, "shape"), stat_of(&out, "tile"));
        inputs_free(&in);
        csr_free(&A);
    }
}

int main(void)
{
    static void (*const tests[])(void) = {test_edges, test_refusals, test_heads, test_choice, NULL};
    return main_on_cuda(&dev, UNITS, tests);
}
