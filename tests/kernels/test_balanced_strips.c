// SDDMM's `balanced` on CUDA: every form of its kernels, with and without strips of columns, and
// the rule for strips.
#include "cases.h"
#include "exact/shapes.h"

static struct device dev;

#define UNITS 3 // of the device, as this test has it

static const struct algo_entry *balanced(void)
{
    return algo_find(op_find("sddmm"), "balanced", dev.kind);
}

// Rows without nonzeros, and columns: more than strips of 16 are wide.
static bool with_holes(int32_t i, int32_t j)
{
    return i % 5 != 2 && (j < 40 || j >= 80) &&
           random_at(5, (uint64_t)i * 1000 + (uint64_t)j) % 4 == 0;
}
static bool with_fewer(int32_t i, int32_t j)
{
    return with_holes(i, j) && random_at(6, (uint64_t)i * 1000 + (uint64_t)j) % 3;
}
// Strips of one piece, and of a row that is longer than all others together.
static bool with_long_row(int32_t i, int32_t j) { return i == 57 || (i == 3 && j % 2 == 0); }

static const struct shape holes = {.name = "holes", .m = 120, .n = 200, .rule = with_holes},
                          plenty = {.name = "plenty", .m = 240, .n = 400, .rule = with_holes},
                          fewer = {.name = "fewer", .m = 120, .n = 200, .rule = with_fewer},
                          long_row = {.name = "long row", .m = 70, .n = 333, .rule = with_long_row},
                          one = {.name = "one nonzero", .m = 1, .n = 1, .rule = full},
                          thin = {.name = "thin", .m = 120, .n = 200, .rule = few},
                          flat = {.name = "flat", .m = 4, .n = 300, .rule = full},
                          tall = {.name = "tall", .m = 100, .n = 40, .rule = full},
                          empty = {.name = "empty", .m = 9, .n = 9, .rule = none};

// Options of a case.
struct settings {
    double strips, share, width, threads;
};

// Checks a run and returns the width of its strips, 0 for none.
static double run_right(struct inputs *in, const struct settings *s, const char *shape)
{
    double opt[ALGO_OPTIONS_MAX] = {0};
    algo_defaults(balanced()->algo, opt);
    set_option(balanced(), opt, "strips", s->strips);
    set_option(balanced(), opt, "share", s->share);
    set_option(balanced(), opt, "width", s->width);
    set_option(balanced(), opt, "threads", s->threads);
    struct case_outcome out = case_run(in, balanced(), opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left,
          "%s, %s, k %lld, share %g, width %g, threads %g: %s", shape, prec_name(in->p.prec),
          (long long)in->p.axis[0], s->share, s->width, s->threads,
          out.err ? fail_text() : out.check.reason);
    return stat_of(&out, "strip_width");
}

static double run_shape(const struct shape *shape, enum prec prec, int64_t k,
                        const struct settings *list, int count, int64_t pad)
{
    const int64_t axis[AXES_MAX] = {k};
    struct csr A;
    struct inputs in;
    double width = -1;
    if (shape_build(shape, &A)) return width;
    int err = inputs_make(&in, &dev, op_find("sddmm"), &A, prec, axis, true, pad);
    CHECK(!err, "%s", fail_text());
    for (int c = 0; c < count && !err; c++) {
        width = run_right(&in, &list[c], shape->name);
        bool asked = list[c].strips > 0 && list[c].width > 0;
        CHECK(!asked || width == (A.nnz ? list[c].width : 0), "%s: strips of %g columns, not %g",
              shape->name, width, list[c].width);
    }
    if (!err) inputs_free(&in);
    csr_free(&A);
    return width;
}

// Blocks of a single warp take several shares of `holes`, some one more than others; in blocks of
// 32 not each warp has one.
static const struct settings forced[] = {{1, 0, 0, 0},  {1, 0, 7, 32},   {1, 0, 16, 64},
                                         {1, 0, 1, 96}, {1, 0, 500, 33}, {1, 0, 64, 1024}};

static void test_forms(void)
{
    static const struct settings shares[] = {{0, 8, 0, 0}, {0, 16, 0, 0}, {0, 32, 0, 0}};
    // Rows that fill a group's loads once, several times or in part, or have no 16-byte packs.
    static const int64_t ks[] = {1, 3, 32, 33, 64, 96, 128, 256, 34};
    for (int prec = F32; prec <= F64; prec++)
        for (int x = 0; x < COUNT(ks); x++) {
            run_shape(&holes, (enum prec)prec, ks[x], forced, COUNT(forced), x % 2 ? 4 : 0);
            run_shape(&holes, (enum prec)prec, ks[x], shares, COUNT(shares), x % 2 ? 4 : 0);
        }
}

// Rows of X and Y of at most 64 bytes, with 16-byte packs and without, and blocks of given sizes.
static void test_narrow(void)
{
    static const struct settings shares[] = {
        {0, 8, 0, 0}, {0, 16, 0, 32}, {0, 32, 0, 128}, {0, 0, 0, 1024}};
    static const int64_t ks[] = {1, 2, 4, 6, 8, 12, 16, 18};
    for (int prec = F32; prec <= F64; prec++)
        for (int x = 0; x < COUNT(ks); x++)
            for (int pad = 0; pad <= 4; pad += 2)
                run_shape(&holes, (enum prec)prec, ks[x], shares, COUNT(shares), pad);
}

static void test_shapes(void)
{
    for (int prec = F32; prec <= F64; prec++) {
        run_shape(&long_row, (enum prec)prec, 32, forced, COUNT(forced), 0);
        run_shape(&one, (enum prec)prec, 32, forced, COUNT(forced), 0);
        run_shape(&thin, (enum prec)prec, 128, forced, COUNT(forced), 0);
        run_shape(&empty, (enum prec)prec, 3, forced, COUNT(forced), 0);
    }
}

// Strips as wide as the root of 120 * 200 / UNITS, or narrower where rows of Y are long, or none.
static void test_choice(void)
{
    static const struct {
        const struct shape *shape;
        enum prec prec;
        int64_t k;
        double strips, wanted, width; // -1, 0 or 1, the option, and what comes of it
        const char *why;
    } cases[] = {
        {&holes, F32, 128, -1, 0, 67, "strips pay"},
        {&holes, F64, 128, -1, 0, 67, "strips pay"},
        {&holes, F32, 600, -1, 0, 50, "strips pay, and L1 has room for 54 rows of Y"},
        {&holes, F32, 128, 0, 0, 0, "strips pay but are not wanted"},
        {&holes, F32, 32, -1, 0, 0, "rows of Y are short"},
        {&holes, F32, 32, 1, 0, 67, "rows of Y are short, but strips are wanted"},
        {&plenty, F32, 64, -1, 0, 134, "rows of Y have 256 bytes"},
        {&plenty, F32, 63, -1, 0, 0, "rows of Y have 252 bytes"},
        {&plenty, F64, 32, -1, 0, 134, "rows of Y have 256 bytes"},
        {&plenty, F64, 31, -1, 0, 0, "rows of Y have 248 bytes"},
        {&plenty, F16, 64, -1, 0, 134, "sums of a row of Y have 256 bytes"},
        {&plenty, BF16_F32, 63, -1, 0, 0, "sums of a row of Y have 252 bytes"},
        {&thin, F32, 2048, -1, 0, 0, "segments are short"},
        {&flat, F32, 128, -1, 2, 0, "600 segments save 600 rows, not 607"},
        {&flat, F32, 128, -1, 3, 3, "400 segments save 800 rows, 610 are enough"},
        {&flat, F32, 128, -1, 197, 197, "8 segments save 1,192 rows, just enough"},
        {&flat, F32, 128, -1, 198, 0, "multiprocessors fetch too much of Y"},
        {&flat, F32, 128, -1, 300, 0, "one strip is the whole matrix"},
        {&tall, F32, 128, -1, 20, 0, "256 nonzeros in the order of CSR have 40 columns"},
        {&fewer, F32, 256, -1, 199, 0, "each multiprocessor fetches nearly all of Y"},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct settings s = {cases[c].strips, 0, cases[c].wanted, 0};
        double width = run_shape(cases[c].shape, cases[c].prec, cases[c].k, &s, 1, 0);
        CHECK(width == cases[c].width, "%s, %s, k %lld: strips of %g columns, not %g: %s",
              cases[c].shape->name, prec_name(cases[c].prec), (long long)cases[c].k, width,
              cases[c].width, cases[c].why);
    }
}

int main(void)
{
    static void (*const tests[])(void) = {test_forms, test_narrow, test_shapes, test_choice, NULL};
    return main_on_cuda(&dev, UNITS, tests);
}
