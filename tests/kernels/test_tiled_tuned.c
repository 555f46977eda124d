// `tiled-tuned` on CUDA: which way it takes, by which counts; options of the turned way that
// decide together how rows are cut; and who does a row in the direct way.
#include "cases.h"
#include "shapes.h"

static struct device dev;

static const struct algo_entry *tuned(void)
{
    return algo_find(op_find("spmm"), "tiled-tuned", dev.kind);
}

// ---- The way ----

struct way {
    const char *text;           // NULL: the one that is told to be the fastest
    double even, tiles, turned; // bytes that either moves; -1: not told
    double panels;              // 0: none
};

// By the bytes, of which there may be no tiles, and then by the microseconds that are told.
static const char *told_fastest(const struct outcome *out, struct way want)
{
    const char *ways[] = {want.even && want.tiles < want.turned ? "tiles" : "turned", "direct",
                          "staged"};
    const char *best = ways[0];
    double least = INFINITY;
    for (int w = 0; w < COUNT(ways); w++) {
        char name[32];
        snprintf(name, sizeof name, "%s_us", ways[w]);
        const double us = figure_of(out, name);
        CHECK(us > 0 || w == 2, "%s is not told", name); // B may not fit
        if (us > 0 && us < least) least = us, best = ways[w];
    }
    return best;
}

static void expect_way(const struct csr *A, enum prec prec, int64_t k, double wanted,
                       const char *what, struct way want)
{
    struct inputs in;
    double opt[PARAMS_MAX] = {0};
    if (spmm_inputs(&in, &dev, A, prec, LAYOUT_COL, k, 0)) return;
    algo_defaults(tuned()->algo, opt);
    set_option(tuned(), opt, "method", wanted);
    struct outcome out = case_run(&in, tuned(), opt, CHECK_FULL);
    const struct figure *way = figures_find(&out.figures, "method");
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s: %s", what,
          out.err ? fail_text() : out.check.reason);
    if (!want.text) want.text = told_fastest(&out, want);
    CHECK_TEXT(way ? way->text : "", want.text);
    CHECK(figure_of(&out, "whole_rows") == want.even, "%s: whole_rows is %g", what,
          figure_of(&out, "whole_rows"));
    CHECK(figure_of(&out, "tiles_traffic") == want.tiles, "%s: tiles move %.0f bytes, not %.0f",
          what, figure_of(&out, "tiles_traffic"), want.tiles);
    CHECK(figure_of(&out, "turned_traffic") == want.turned, "%s: turned moves %.0f bytes, not %.0f",
          what, figure_of(&out, "turned_traffic"), want.turned);
    bool tiles = !strcmp(want.text, "tiles");
    CHECK((figure_of(&out, "tiles_bytes") > 0) == tiles && (figure_of(&out, "stages") > 0) == tiles,
          "%s: what is told of tiles", what);
    CHECK(figure_of(&out, "panels") == (tiles ? want.panels : -1), "%s: %g panels", what,
          figure_of(&out, "panels"));
    CHECK((figure_of(&out, "pieces") >= 0) == !strcmp(want.text, "turned"),
          "%s: what is told of pieces", what);
    CHECK((figure_of(&out, "lanes") >= 4) == !strcmp(want.text, "direct"),
          "%s: what is told of lanes", what);
    CHECK((figure_of(&out, "columns") > 0) == !strcmp(want.text, "staged"),
          "%s: what is told of columns", what);
    const char *ways[] = {"tiles", "turned", "direct", "staged"};
    CHECK(wanted < 0 || !strcmp(want.text, ways[(int)wanted]), "%s: not as wanted", what);
    inputs_free(&in);
}

// A tridiagonal matrix; row `full` (-1: none) has all columns.
static int make_mesh(int32_t m, int32_t full, struct csr *A)
{
    int64_t p = 0;
    int err = csr_alloc(A, m, m, 4 * (int64_t)m);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < m && !err; i++) {
        const int32_t first = i == full || !i ? 0 : i - 1;
        const int32_t last = i == full || i == m - 1 ? m - 1 : i + 1;
        A->ptr[i] = p;
        for (int32_t j = first; j <= last; j++, p++) A->idx[p] = j, A->val[p] = (i + j) % 5 - 2;
    }
    if (!err) A->ptr[m] = A->nnz = p;
    return err;
}

// A panel of 256 rows for each multiprocessor. The first and the last need 17 lines of 16 floats,
// 33 of 8 doubles, the others one more; each slice has a row of 3. Halves
// of a panel need 10, so they cost less than an eighth more.
static void test_mesh(void)
{
    const int32_t panels = dev.units, m = 256 * panels;
    const double entries = 3.0 * m, nonzeros = entries - 2;
    const double lines = 18.0 * panels - 2, wide_lines = 34.0 * panels - 2;
    struct csr A;
    if (make_mesh(m, -1, &A)) return;
    expect_way(&A, F32, 64, -1, "mesh",
               (struct way){"tiles", 1, entries * 6 * 4 + lines * 64 * 64,
                            nonzeros * (256 + 8) + 2.0 * 256 * m, 2 * panels});
    expect_way(&A, F64, 64, -1, "mesh, f64",
               (struct way){"tiles", 1, entries * 10 * 4 + wide_lines * 64 * 64,
                            nonzeros * (512 + 12) + 2.0 * 512 * m, 2 * panels});
    // Seventeen columns are two passes, and rows of twenty.
    expect_way(&A, F32, 17, -1, "mesh, k 17",
               (struct way){NULL, 1, entries * 6 * 2 + lines * 64 * 17,
                            nonzeros * (80 + 8) + 2.0 * 80 * m, 2 * panels});
    // 130 are two slabs, in each of which entries are read.
    expect_way(&A, F32, 130, -1, "mesh, k 130",
               (struct way){"tiles", 1, entries * 6 * 9 + lines * 64 * 130,
                            nonzeros * (528 + 16) + 2.0 * 528 * m, 2 * panels});
    expect_way(&A, F32, 64, 1, "mesh, forced", (struct way){"turned", -1, -1, -1, 0});
    csr_free(&A);
}

// Half as many panels as multiprocessors: there are two blocks for each with four slabs, but with
// one the paper's rows would be cut.
static void test_few_panels(void)
{
    const int32_t panels = dev.units / 2, m = 256 * panels;
    struct csr A;
    if (make_mesh(m, -1, &A)) return;
    expect_way(&A, F32, 16, -1, "few blocks",
               (struct way){NULL, 0, 3.0 * m * 6 + (18.0 * panels - 2) * 64 * 16,
                            (3.0 * m - 2) * (64 + 8) + 2.0 * 64 * m, 0});
    expect_way(&A, F32, 64, -1, "few panels",
               (struct way){"tiles", 1, 3.0 * m * 6 * 4 + (18.0 * panels - 2) * 64 * 64,
                            (3.0 * m - 2) * (256 + 8) + 2.0 * 256 * m, 2 * panels});
    csr_free(&A);
}

// A long row: its slice is as wide, its panel needs each line, and rows would be cut.
static void test_uneven(void)
{
    const int32_t panels = dev.units, m = 256 * panels;
    const double entries = 3.0 * (m - 32) + 32.0 * m, lines = m / 16 + 18.0 * (panels - 1) - 1;
    struct way want = {NULL, 0, entries * 6 * 4 + lines * 64 * 64, 0, 0};
    struct csr A;
    if (make_mesh(m, 100, &A)) return;
    want.turned = (double)A.nnz * (256 + 8) + 2.0 * 256 * m;
    expect_way(&A, F32, 64, -1, "uneven", want);
    want.text = "tiles"; // segments of 4
    want.panels = (m - 1 + m / 4 + 127) / 128;
    expect_way(&A, F32, 64, 0, "uneven, forced", want);
    csr_free(&A);
}

// All rows of a panel need the same three columns, so its halves need as many lines as it does.
static void test_shared(void)
{
    const int32_t panels = dev.units, m = 256 * panels;
    struct csr A;
    int err = csr_alloc(&A, m, m, 3 * (int64_t)m);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    for (int32_t p = 0; p < 3 * m; p++) A.idx[p] = p / 768 * 256 + p % 3 * 16, A.val[p] = p % 5;
    for (int32_t i = 0; i <= m; i++) A.ptr[i] = 3 * (int64_t)i;
    expect_way(&A, F32, 64, -1, "shared",
               (struct way){"tiles", 1, 3.0 * m * 6 * 4 + 3.0 * panels * 64 * 64,
                            3.0 * m * (256 + 8) + 2.0 * 256 * m, panels});
    csr_free(&A);
}

// Each row has eight columns in lines of their own, so there are no tiles though rows are even.
static void test_apart(void)
{
    const int32_t panels = dev.units, m = 256 * panels, n = 16 * 8 * 256;
    struct csr A;
    int err = csr_alloc(&A, m, n, 8 * (int64_t)m);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    for (int32_t p = 0; p < 8 * m; p++) A.idx[p] = p % 2048 * 16, A.val[p] = p % 5;
    for (int32_t i = 0; i <= m; i++) A.ptr[i] = 8 * (int64_t)i;
    expect_way(&A, F32, 4, -1, "apart",
               (struct way){NULL, 1, 8.0 * m * 6 + 2048.0 * panels * 64 * 4,
                            8.0 * m * (16 + 8) + 2.0 * 16 * n, 0});
    csr_free(&A);
}

#define FEW_ROWS 256
// A panel whose row i has `each` pairs of neighbours, each in another line.
static void expect_lines(int each, double lines)
{
    const int32_t n = 16 * FEW_ROWS * each;
    const int64_t nnz = (int64_t)2 * FEW_ROWS * each;
    struct csr A;
    CHECK(!csr_alloc(&A, FEW_ROWS, n, nnz), "%s", fail_text());
    for (int64_t p = 0; p < nnz / 2; p++) {
        A.idx[2 * p] = (int32_t)(16 * p);
        A.idx[2 * p + 1] = (int32_t)(16 * p + 1);
        A.val[2 * p] = (double)(p % 5);
        A.val[2 * p + 1] = 1;
    }
    for (int i = 0; i <= FEW_ROWS; i++) A.ptr[i] = (int64_t)2 * each * i;
    expect_way(&A, F32, 4, -1, "lines",
               (struct way){NULL, 0, (double)nnz * 6 + lines * 64 * 4,
                            (double)nnz * (16 + 8) + 2.0 * 16 * n, 0});
    csr_free(&A);
}

// Up to 6144 lines of a panel are told apart; of more each nonzero counts.
static void test_many_lines(void)
{
    expect_lines(24, 6144);
    expect_lines(25, 2 * 6400);
}

static void test_empty(void)
{
    const struct shape empty = {.name = "empty", .m = 1024, .n = 10, .rule = none};
    struct csr A;
    if (shape_build(&empty, &A)) return;
    expect_way(&A, F32, 5, -1, "empty", (struct way){"direct", -1, -1, -1, 0});
    csr_free(&A);
}

// ---- Windows and pieces ----

static const struct setting {
    double window, threads, piece;
} together[] = {{8, 64, 1},    {16, 256, 5},   {32, 32, 33},
                {128, 32, 64}, {128, 256, 64}, {64, 96, 300}};

static void test_setting(struct inputs *in, const struct setting *s, const char *shape)
{
    double opt[PARAMS_MAX] = {0};
    algo_defaults(tuned()->algo, opt);
    set_option(tuned(), opt, "method", 1);
    set_option(tuned(), opt, "block-rows", s->window);
    set_option(tuned(), opt, "threads", s->threads);
    set_option(tuned(), opt, "block-nonzeros", s->piece);
    struct outcome out = case_run(in, tuned(), opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left,
          "%s, \"%s\", k %lld, window=%g, threads=%g, piece=%g: %s", prec_name(in->p.prec), shape,
          (long long)in->p.axis[0], s->window, s->threads, s->piece,
          out.err ? fail_text() : out.check.reason);
    CHECK(figure_of(&out, "pieces") > 1, "\"%s\", piece=%g: %g pieces", shape, s->piece,
          figure_of(&out, "pieces"));
}

static void test_pieces(void)
{
    const struct shape cut[] = {
        {.name = "one dense row", .m = 40, .n = 400, .rule = dense_row},
        {.name = "long rows among short ones", .m = 160, .n = 700, .rule = long_then_short},
        {.name = "power law", .m = 120, .n = 400, .rule = power_law},
    };
    const int64_t columns[] = {1, 30, 64, 130};
    for (int s = 0; s < COUNT(cut); s++) {
        struct csr A;
        if (shape_build(&cut[s], &A)) continue;
        for (int c = 0; c < COUNT(columns); c++) {
            struct inputs in;
            if (spmm_inputs(&in, &dev, &A, (s + c) % 2 ? F32 : F64, LAYOUT_COL, columns[c], 0))
                continue;
            for (int x = 0; x < COUNT(together); x++) test_setting(&in, &together[x], cut[s].name);
            inputs_free(&in);
        }
        csr_free(&A);
    }
}

// A run of the mesh by turning B; `threads` is the option.
static void expect_blocks(int32_t m, double threads, double window, double want)
{
    struct csr A;
    struct inputs in;
    double opt[PARAMS_MAX] = {0};
    if (make_mesh(m, -1, &A)) return;
    if (!spmm_inputs(&in, &dev, &A, F32, LAYOUT_COL, 64, 0)) {
        algo_defaults(tuned()->algo, opt);
        set_option(tuned(), opt, "method", 1);
        set_option(tuned(), opt, "threads", threads);
        struct outcome out = case_run(&in, tuned(), opt, CHECK_FULL);
        CHECK(!out.err && out.check.error_ratio == 0, "%d rows, threads=%g", m, threads);
        CHECK(figure_of(&out, "block_rows") == window && figure_of(&out, "threads") == want,
              "%d rows, threads=%g: windows of %g rows, %g threads", m, threads,
              figure_of(&out, "block_rows"), figure_of(&out, "threads"));
        inputs_free(&in);
    }
    csr_free(&A);
}

// Four windows for each multiprocessor if there can be, and 512 threads.
static void test_blocks(void)
{
    const int32_t enough = 32 * 4 * dev.units;
    expect_blocks(2 * enough, 0, 32, 64);
    expect_blocks(enough - 32, 0, 16, 128);
    expect_blocks(enough / 4, 0, 8, 128);
    expect_blocks(enough / 8, 0, 8, 256);
    expect_blocks(enough / 8, 32, 8, 32);
    expect_blocks(enough / 8, 100, 8, 96);
    expect_blocks(enough / 8, 1024, 8, 256);
}

// ---- The direct way ----

// Row i has lengths[i % 8] of the n columns, one apart from the other.
static int make_lengths(const int32_t lengths[8], int32_t m, int32_t n, struct csr *A)
{
    int64_t p = 0;
    int err = csr_alloc(A, m, n, (int64_t)m * n);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < m && !err; i++) {
        const int32_t length = lengths[i % 8];
        A->ptr[i] = p;
        for (int32_t j = 0; j < length; j++, p++)
            A->idx[p] = (int32_t)((int64_t)j * n / length), A->val[p] = (i + j) % 5 - 2;
    }
    if (!err) A->ptr[m] = A->nnz = p;
    return err;
}

static void expect_direct(const struct csr *A, enum prec prec, int64_t k, double lanes)
{
    struct inputs in;
    double opt[PARAMS_MAX] = {0};
    if (spmm_inputs(&in, &dev, A, prec, LAYOUT_COL, k, 0)) return;
    algo_defaults(tuned()->algo, opt);
    set_option(tuned(), opt, "method", 2);
    struct outcome out = case_run(&in, tuned(), opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s, k %lld, %g lanes: %s",
          prec_name(prec), (long long)k, lanes, out.err ? fail_text() : out.check.reason);
    CHECK(figure_of(&out, "lanes") == lanes, "k %lld: %g lanes, not %g", (long long)k,
          figure_of(&out, "lanes"), lanes);
    inputs_free(&in);
}

// Groups of 4 to 32 lanes take rows of up to 8 nonzeros a lane, warps of up to 256, blocks the
// others: each of these limits, and one more. Several of a warp, and of a block, are long.
static void test_direct(void)
{
    static const struct {
        int32_t lengths[8];
        double lanes, full; // where the device has idle lanes, and where not
    } rows[] = {
        {{1, 0, 3, 4, 5, 2, 1, 0}, 4, 4},
        {{0, 1, 32, 33, 0, 2, 0, 1}, 16, 8},
        {{0, 1, 64, 65, 0, 2, 0, 1}, 32, 16},
        {{8, 8, 0, 7, 9, 8, 128, 129}, 32, 32},
        {{128, 129, 3, 256, 257, 0, 1000, 255}, 32, 32},
        {{257, 1000, 258, 511, 512, 513, 1, 0}, 32, 32},
    };
    const int64_t columns[] = {1, 4, 7, 130};
    for (int r = 0; r < COUNT(rows); r++) {
        struct csr A;
        if (make_lengths(rows[r].lengths, 83, 1003, &A)) continue;
        for (int c = 0; c < COUNT(columns); c++)
            expect_direct(&A, (r + c) % 2 ? F32 : F64, columns[c],
                          columns[c] < 130 ? rows[r].lanes : rows[r].full);
        csr_free(&A);
    }
}

// Few long rows are not for blocks that go through them one after the other, nor does B fit.
static void test_long_rows(void)
{
    static const int32_t lengths[8] = {2000, 2000};
    struct csr A;
    struct inputs in;
    double opt[PARAMS_MAX] = {0};
    if (make_lengths(lengths, 2, 40000, &A)) return;
    if (spmm_inputs(&in, &dev, &A, F32, LAYOUT_COL, 4, 0)) return;
    algo_defaults(tuned()->algo, opt);
    struct outcome out = case_run(&in, tuned(), opt, CHECK_FULL);
    const struct figure *way = figures_find(&out.figures, "method");
    CHECK(!out.err && out.check.error_ratio == 0, "two long rows");
    CHECK_TEXT(way ? way->text : "", "turned");
    inputs_free(&in);
    csr_free(&A);
}

#define UNITS 4 // multiprocessors that what is decided here is for

int main(void)
{
    static void (*const tests[])(void) = {test_mesh,   test_few_panels, test_uneven,    test_shared,
                                          test_apart,  test_many_lines, test_empty,     test_pieces,
                                          test_blocks, test_direct,     test_long_rows, NULL};
    return main_on_cuda(&dev, UNITS, tests);
}
