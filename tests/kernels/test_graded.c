// `graded` on CUDA: every shape of the kernel, the kinds of pieces, bundles, layouts.
#include "graded_rows.h"

// ---- Shapes ----

static int32_t all_lengths(int32_t i) { return i < 70 ? i : i == 70 ? 300 : i == 71 ? 700 : i % 7; }

// Sets options, runs a case and checks the result.
static struct case_outcome run_with(struct inputs *in, const struct setting *settings,
                                    const char *what)
{
    double opt[ALGO_OPTIONS_MAX] = {0};
    algo_defaults(graded()->algo, opt);
    for (; settings->name; settings++) set_option(graded(), opt, settings->name, settings->value);
    return run_right(in, opt, what);
}

// Every number of columns to 20 and more, both layouts and precisions, rows of dense matrices close
// together and apart, and every shape that an option can ask for.
static void test_shapes(void)
{
    static const int64_t more[] = {24, 31, 32, 33, 34,  36,  47,  48,  49,  50,  63,  64,  65,
                                   66, 68, 96, 99, 100, 127, 128, 129, 130, 132, 200, 256, 257};
    struct csr A;
    if (make_rows(130, 800, all_lengths, NULL, &A)) return;
    for (int64_t turn = 1; turn <= 20 + COUNT(more); turn++) {
        const int64_t k = turn <= 20 ? turn : more[turn - 21];
        for (int way = 0; way < 4; way++) {
            struct inputs in;
            const enum layout layout = way / 2 ? LAYOUT_COL : LAYOUT_ROW;
            if (spmm_inputs(&in, &dev, &A, way % 2 ? F32 : F64, layout, k, k % 3)) return;
            const struct setting none[] = {{}};
            run_with(&in, none, "all lengths");
            const struct setting shape[] = {{"lanes", 1 << (turn + way) % 6},
                                            {"turned", turn % 2},
                                            {"bundle-min", turn / 2 % 2},
                                            {"bundle-share", 0},
                                            {}};
            run_with(&in, shape, "a shape");
            const struct setting lists[] = {
                {"short", turn % 64}, {"tiny", turn % 5 * 2 - 1},    {"medium", 64},
                {"segment", 128},     {"early-start", turn / 4 % 2}, {}};
            run_with(&in, lists, "lists");
            inputs_free(&in);
        }
    }
    csr_free(&A);
}

// ---- Pieces ----

static const int32_t edges[] = {0, 1, 32, 33, 256, 257, 1024, 1025, 2048, 2049};
static int32_t edge(int32_t i) { return edges[i % COUNT(edges)]; }

static void test_kinds(void)
{
    static const struct {
        int short_most, medium_most, segment;
        double shorts, mediums, segments; // of ten rows
    } cases[] = {{32, 256, 1024, 3, 2, 1 + 1 + 2 + 2 + 3}, {0, 2048, 1000, 1, 8, 3}};
    struct csr A;
    struct inputs in;
    if (make_rows(3 * COUNT(edges), 2100, edge, NULL, &A)) return;
    for (int way = 0; way < 4 * COUNT(cases); way++) {
        const int c = way / 4;
        if (spmm_inputs(&in, &dev, &A, way % 2 ? F32 : F64, LAYOUT_ROW, way / 2 % 2 ? 32 : 33, 0))
            return;
        const struct setting settings[] = {{"short", cases[c].short_most},
                                           {"medium", cases[c].medium_most},
                                           {"segment", cases[c].segment},
                                           {"tiny", -1},
                                           {}};
        const struct case_outcome out = run_with(&in, settings, "edges");
        CHECK(stat_of(&out, "short") == 3 * cases[c].shorts, "%g short rows",
              stat_of(&out, "short"));
        CHECK(stat_of(&out, "medium") == 3 * cases[c].mediums, "%g medium rows",
              stat_of(&out, "medium"));
        CHECK(stat_of(&out, "segments") == 3 * cases[c].segments, "%g segments",
              stat_of(&out, "segments"));
        inputs_free(&in);
    }
    csr_free(&A);
}

static int32_t one_long(int32_t i) { return i == 1 ? 5000 : i == 2 ? 200 : 3; }

// The sums of many segments are added up by all threads of a block, for slabs of any width.
static void test_segments(void)
{
    static const int64_t ks[] = {1, 2, 3, 4, 8, 32, 33, 96, 127, 128, 129};
    struct csr A;
    if (make_rows(40, 5000, one_long, NULL, &A)) return;
    for (int turn = 0; turn < 4 * COUNT(ks); turn++) {
        struct inputs in;
        if (spmm_inputs(&in, &dev, &A, turn % 2 ? F64 : F32, turn / 2 % 2 ? LAYOUT_COL : LAYOUT_ROW,
                        ks[turn / 4], 0))
            return;
        const struct setting settings[] = {{"medium", 100}, {"segment", 128}, {}};
        const struct case_outcome out = run_with(&in, settings, "many segments");
        CHECK(stat_of(&out, "segments") == 40 + 2, "%g segments", stat_of(&out, "segments"));
        inputs_free(&in);
    }
    csr_free(&A);
}

static int32_t one_in_100(int32_t i) { return i % 100 == 50 ? 40 : 0; }

// Rows of C are zero if rows of A are empty. Matrices without rows, columns or nonzeros.
static void test_empty(void)
{
    static const struct {
        int32_t m, n, (*length)(int32_t);
    } cases[] = {{1000, 60, one_in_100}, {1, 1, zero}, {500, 3, zero}, {0, 7, zero}, {9, 0, zero}};
    for (int c = 0; c < COUNT(cases); c++) {
        struct csr A;
        if (make_rows(cases[c].m, cases[c].n, cases[c].length, NULL, &A)) return;
        for (int way = 0; way < 12; way++) {
            static const int64_t ks[] = {1, 8, 33};
            const struct setting none[] = {{}};
            struct inputs in;
            if (spmm_inputs(&in, &dev, &A, way % 2 ? F32 : F64,
                            way / 2 % 2 ? LAYOUT_COL : LAYOUT_ROW, ks[way / 4], 0))
                return;
            run_with(&in, none, "empty rows");
            inputs_free(&in);
        }
        csr_free(&A);
    }
}

// ---- Bundles ----

static int32_t six_hundred(int32_t i) { return (void)i, 600; }
static int32_t mixed(int32_t i) { return i % 9 < 3 ? 50 : i % 9 < 6 ? 12 : 5 + i % 50; }

static void test_bundles(void)
{
    static const struct {
        const char *what;
        int32_t m, (*length)(int32_t), (*to)(int32_t);
        double alike, share; // options
        double bundles, bundled;
    } cases[] = {
        {"alike, medium", 360, thirty_six, with_first, 3, 1, 120, 1},
        {"alike, short", 360, twenty, with_first, 3, 1, 120, 1},
        {"too long", 30, six_hundred, with_first, 1.5, 0.5, 0, 0},
        {"a row is left", 361, thirty_six, with_first, 1.6, 0.5, 120, 360.0 / 361},
        {"two rows are left", 362, thirty_six, with_first, 1.6, 0.5, 120, 360.0 / 362},
        {"two of three are alike", 360, twenty, with_second, 1.2, 0.5, 120, 1},
        {"half of them", 288, thirty_six, some_with_first, 2.5, 0.5, 48, 0.5},
        {"half are not enough", 288, thirty_six, some_with_first, 2.5, 0.51, 0, 0.5},
        {"lengths differ", 360, mixed, with_first, 2.5, 0.1, 120, 1},
        {"not wanted", 360, thirty_six, with_first, 0, 0, 0, -1},
        {"fewer than a bundle", 2, thirty_six, with_first, 1, 0, 0, -1},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        struct csr A;
        if (make_rows(cases[c].m, 3400, cases[c].length, cases[c].to, &A)) return;
        static const int64_t ks[] = {32, 128, 34, 99, 130, 129, 12, 16, 256};
        for (int turn = 0; turn < 2 * COUNT(ks); turn++) {
            struct inputs in;
            double opt[ALGO_OPTIONS_MAX] = {0};
            if (spmm_inputs(&in, &dev, &A, turn % 2 ? F64 : F32, LAYOUT_ROW, ks[turn / 2], 0))
                return;
            algo_defaults(graded()->algo, opt);
            set_option(graded(), opt, "bundle-min", cases[c].alike);
            set_option(graded(), opt, "bundle-share", cases[c].share);
            set_option(graded(), opt, "short", 32);
            set_option(graded(), opt, "medium", 256);
            struct case_outcome out = run_right(&in, opt, cases[c].what);
            CHECK(stat_of(&out, "bundles") == cases[c].bundles, "%s: %g bundles", cases[c].what,
                  stat_of(&out, "bundles"));
            CHECK(fabs(stat_of(&out, "bundle_share") - cases[c].bundled) < 1e-9, "%s: %g bundled",
                  cases[c].what, stat_of(&out, "bundle_share"));
            inputs_free(&in);
        }
        csr_free(&A);
    }
}

// Row `j` of B becomes infinite.
static int spoil_row(const struct task *t, int64_t j)
{
    float narrow[64];
    double wide[64];
    for (int c = 0; c < COUNT(wide); c++) narrow[c] = INFINITY, wide[c] = INFINITY;
    const struct dense_dev *B = &t->in[0];
    const int64_t bytes = (int64_t)type_bytes(t->prec);
    CHECK(B->cols <= COUNT(wide), "a row of B does not fit");
    return device_upload(&dev, (char *)B->val + j * B->ld * bytes,
                         t->prec == F32 ? (void *)narrow : (void *)wide, B->cols * bytes);
}

// An infinity in a row of B reaches the rows of A that have its column, also with a value of zero,
// and no other row.
static void check_infinity(enum prec prec, int64_t k, double lanes, int32_t (*length)(int32_t),
                           bool alike)
{
    struct csr A;
    struct inputs in;
    struct setup setup;
    if (make_rows(12, 100, length, with_second, &A)) return;
    if (spmm_inputs(&in, &dev, &A, prec, LAYOUT_ROW, k, 0)) return;
    for (int64_t j = 0; j < A.n; j++) {
        struct task t = {.entry = graded(), .algo = graded()->algo};
        const int64_t bytes = (int64_t)type_bytes(prec);
        char *C = mem_alloc(A.m * k, (size_t)bytes);
        algo_defaults(t.algo, t.opt);
        set_option(t.entry, t.opt, "bundle-min", alike);
        set_option(t.entry, t.opt, "lanes", lanes);
        int err = task_prepare(&t, &in.o, &setup);
        const struct algo_stat *bundles = algo_stats_find(&t.stats, "bundles");
        const struct algo_stat *taken = algo_stats_find(&t.stats, "lanes");
        CHECK(!err && bundles && bundles->number == (alike ? 4 : 0) && taken &&
                  taken->number == lanes,
              "%s", fail_text());
        if (!err) err = spoil_row(&t, j);
        if (!err) err = task_run(&t);
        if (!err) err = device_download(&dev, C, t.C.val, A.m * k * bytes);
        CHECK(!err && C && t.C.ld == k, "%s", fail_text());
        for (int32_t i = 0; i < A.m && !err; i++) {
            bool has = false, finite = true, all = true;
            for (int64_t p = A.ptr[i]; p < A.ptr[i + 1]; p++) has |= A.idx[p] == j;
            for (int64_t c = i * k; c < (i + 1) * k; c++) {
                const bool is =
                    prec == F32 ? isfinite(((float *)C)[c]) : isfinite(((double *)C)[c]);
                finite &= is, all &= !is;
            }
            CHECK(has ? all : finite, "row %d, column %lld infinite: %s", i, (long long)j,
                  has ? "it is lost" : "it is not this row's");
        }
        mem_free(C);
        task_teardown(&t);
        operands_free(&in.o); // B is made anew
        operands_init(&in.o, &dev);
        operands_use(&in.o, &in.p);
    }
    inputs_free(&in);
    csr_free(&A);
}

static void test_infinity(void)
{
    check_infinity(F32, 32, 8, sixteen, true);
    check_infinity(F32, 64, 16, sixteen, true);
    check_infinity(F64, 32, 16, sixteen, true);
    check_infinity(F32, 8, 2, sixteen, true);
    check_infinity(F32, 29, 16, thirteen, false);
    check_infinity(F64, 32, 16, thirteen, false);
    check_infinity(F32, 4, 1, five, false);
    check_infinity(F64, 32, 8, five, false);
}

int main(void)
{
    static void (*const tests[])(void) = {
        test_shapes, test_kinds, test_segments, test_empty, test_bundles, test_infinity, NULL,
    };
    return main_on_cuda(&dev, UNITS, tests);
}
