// Which shape of the kernel `graded` takes: packs, lanes and slabs, for rows and for bundles.
#include "graded_rows.h"

// Which form a row of k columns takes: of packs as wide as rows allow, and of three packs a lane
// where two or four of them would be more.
static void test_forms(void)
{
    static const struct {
        enum prec prec;
        int64_t k;
        double columns, pack;                 // of rows
        double columns_bundled, pack_bundled; // of bundles
    } cases[] = {
        {F32, 17, 32, 4, 24, 4},   {F32, 20, 32, 16, 32, 16},  {F32, 33, 48, 4, 48, 4},
        {F32, 34, 64, 8, 64, 8},   {F32, 36, 64, 16, 64, 16},  {F32, 65, 96, 4, 96, 4},
        {F32, 66, 96, 8, 128, 8},  {F32, 68, 96, 16, 128, 16}, {F32, 129, 192, 4, 192, 4},
        {F64, 17, 24, 8, 24, 8},   {F64, 18, 32, 16, 32, 16},  {F64, 33, 48, 8, 48, 8},
        {F64, 34, 48, 16, 64, 16}, {F64, 49, 64, 8, 64, 8},    {F64, 65, 96, 8, 96, 8},
    };
    struct csr A;
    if (make_rows(360, 3400, thirty_six, with_first, &A)) return;
    for (int c = 0; c < COUNT(cases); c++) {
        struct inputs in;
        double opt[PARAMS_MAX] = {0};
        if (spmm_inputs(&in, &dev, &A, cases[c].prec, LAYOUT_ROW, cases[c].k, 0)) return;
        by_pieces(opt);
        for (int bundles = 0; bundles < 2; bundles++) {
            set_option(graded(), opt, "bundle-min", bundles);
            struct outcome out = run_right(&in, opt, "forms");
            const double columns = bundles ? cases[c].columns_bundled : cases[c].columns,
                         pack = bundles ? cases[c].pack_bundled : cases[c].pack;
            CHECK((figure_of(&out, "bundles") > 0) == bundles, "%g bundles",
                  figure_of(&out, "bundles"));
            CHECK(figure_of(&out, "columns") == columns && figure_of(&out, "pack") == pack,
                  "%s, k %lld, bundles %d: %g columns, packs of %g bytes", prec_name(cases[c].prec),
                  (long long)cases[c].k, bundles, figure_of(&out, "columns"),
                  figure_of(&out, "pack"));
        }
        inputs_free(&in);
    }
    csr_free(&A);
}

static int32_t six_or_seven(int32_t i) { return 6 + i % 2; }
// Six in the mean, with some of each kind.
static int32_t two_or_many(int32_t i) { return i % 125 == 0 ? 400 : i % 125 == 1 ? 100 : 2; }

// Half the lanes do a short row, and by packs of two values only where groups have much to do;
// twice as many do a long one of 49 to 64 columns that begins anywhere. No slab gets wider by that.
static void test_lanes_by_length(void)
{
    static const struct {
        int32_t m, (*length)(int32_t);
        enum prec prec;
        int64_t k;
        double lanes, columns;
        struct setting settings[2];
    } cases[] = {
        {400, twelve, F32, 17, 8, 24, {}},
        {400, twelve, F32, 23, 8, 24, {}},
        {400, thirteen, F32, 23, 16, 32, {}},
        {400, six_or_seven, F32, 25, 8, 32, {}},
        {400, seven, F32, 25, 16, 32, {}},
        {400, six_or_seven, F32, 31, 8, 32, {}},
        {400, four, F32, 33, 16, 48, {}},
        {400, four, F32, 67, 16, 96, {}},
        {200, eighteen, F32, 95, 16, 96, {}},
        {200, nineteen, F32, 95, 32, 96, {}},
        {400, four, F32, 97, 16, 128, {}},
        {200, twelve, F32, 127, 16, 128, {}},
        {200, thirteen, F32, 97, 32, 128, {}},
        {400, four, F32, 129, 32, 192, {}},
        {3072, four, F32, 34, 8, 48, {}},
        {3071, four, F32, 34, 16, 64, {}},
        {3400, six_or_seven, F32, 34, 8, 48, {}},
        {3400, seven, F32, 34, 16, 64, {}},
        {3072, four, F32, 50, 8, 64, {}},
        {3071, four, F32, 62, 16, 64, {}},
        {3400, five, F32, 32, 4, 32, {}},
        {3400, six, F32, 32, 8, 32, {}},
        {200, thirty_two, F32, 49, 32, 64, {}},
        {200, thirty_one, F32, 49, 16, 64, {}},
        {200, thirty_two, F32, 47, 16, 48, {}},
        {200, thirty_two, F64, 49, 16, 64, {}},
        {3400, two_or_many, F32, 21, 8, 24, {}},
        {3400, two_or_many, F32, 34, 8, 48, {}},
        {3400, two_or_many, F32, 50, 8, 64, {}},
        {3400, two_or_many, F32, 67, 16, 96, {}},
        {3400, two_or_many, F32, 97, 16, 128, {}},
        {200, thirty_two, F32, 64, 16, 64, {{"pack", 4}}},
        {40, thirty_two, F32, 97, 16, 64, {}},
        {400, twelve, F32, 17, 16, 32, {{"lanes", 16}}},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const bool uneven = cases[c].length == two_or_many;
        const struct outcome out = run_rows(cases[c].m, cases[c].length, NULL, cases[c].prec,
                                            cases[c].k, cases[c].settings, "lanes by length");
        CHECK(figure_of(&out, "lanes") == cases[c].lanes &&
                  figure_of(&out, "columns") == cases[c].columns,
              "case %d, %s, k %lld: %g lanes, %g columns", c, prec_name(cases[c].prec),
              (long long)cases[c].k, figure_of(&out, "lanes"), figure_of(&out, "columns"));
        CHECK(!uneven || (figure_of(&out, "medium") && figure_of(&out, "segments")),
              "case %d: %g medium, %g segments", c, figure_of(&out, "medium"),
              figure_of(&out, "segments"));
    }
}

// Two, but one row behind a first block of 1,024 is as long as a warp goes through, or longer.
static int32_t two_or_256(int32_t i) { return i == 1030 ? 256 : 2; }
static int32_t two_or_257(int32_t i) { return i == 1030 ? 257 : 2; }

// Where groups have 3 to 11 nonzeros each, of 512 with 8 lanes or 256 with 16, slabs of at most 256
// bytes are taken: unless a quarter of them or more would lie past the end of a row, which fits in
// 512 bytes, and no row is long.
static void test_narrow_slabs(void)
{
    static const struct {
        int32_t m, (*length)(int32_t);
        enum prec prec;
        int64_t k;
        double columns;
    } cases[] = {
        {200, twelve, F32, 66, 96},      {200, twelve, F32, 68, 96},
        {200, twelve, F32, 72, 96},      {200, twelve, F32, 76, 32},
        {200, twelve, F32, 80, 32},      {200, twelve, F32, 128, 64},
        {200, twelve, F32, 132, 64},     {100, twelve, F32, 68, 32},
        {480, twelve, F32, 76, 96},      {200, twelve, F64, 34, 48},
        {200, twelve, F64, 38, 16},      {200, twelve, F64, 66, 32},
        {128, twelve, F32, 68, 96},      {400, two_or_many, F32, 68, 32},
        {1100, two_or_256, F32, 68, 96}, {1100, two_or_257, F32, 68, 32},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct outcome out = run_rows(cases[c].m, cases[c].length, NULL, cases[c].prec,
                                            cases[c].k, NULL, "narrow slabs");
        CHECK(figure_of(&out, "columns") == cases[c].columns, "case %d, %s, k %lld: %g columns", c,
              prec_name(cases[c].prec), (long long)cases[c].k, figure_of(&out, "columns"));
    }
}

// On a full device 16 lanes share a row of B for a bundle, where 512 groups of 8 lanes have 28
// nonzeros each, or 128 of 32 lanes 112. Not if a slab gets wider by that, or bundles too long, or
// most lanes have nothing to load.
static void test_lanes_of_bundles(void)
{
    static const struct {
        int32_t m, (*length)(int32_t), (*to)(int32_t);
        int64_t k;
        double lanes, columns, bundles;
        struct setting settings[3];
    } cases[] = {
        {399, thirty_six, with_first, 25, 16, 32, 133, {}},
        {396, thirty_six, with_first, 25, 8, 32, 132, {}},
        {399, thirty_six, with_first, 31, 16, 32, 133, {}},
        {399, thirty_six, with_first, 23, 8, 24, 133, {}},
        {399, thirty_six, with_first, 18, 16, 32, 133, {}},
        {396, thirty_six, with_first, 18, 8, 32, 132, {}},
        {399, thirty_six, with_first, 30, 16, 32, 133, {}},
        {399, thirty_six, with_first, 14, 8, 16, 133, {}},
        {399, thirty_six, with_first, 28, 8, 32, 133, {}},
        {399, thirty_six, with_first, 66, 16, 96, 133, {}},
        {396, thirty_six, with_first, 66, 32, 128, 132, {}},
        {399, thirty_six, with_first, 94, 16, 96, 133, {}},
        {399, thirty_six, with_first, 98, 32, 128, 133, {}},
        {399, thirty_six, with_first, 67, 32, 96, 133, {}},
        {399, thirty_six, with_first, 68, 32, 128, 133, {}},
        {120, three_hundred, with_first, 29, 8, 32, 40, {}},
        {120, three_hundred, with_first, 30, 8, 32, 40, {}},
        {3300, five, with_first, 30, 8, 32, 1100, {}},
        {3300, fifteen, with_first, 30, 16, 32, 1100, {}},
        {399, thirty_six, with_first, 25, 8, 32, 133, {{"lanes", 8}}},
        {399, thirty_six, with_first, 34, 16, 32, 133, {{"slab", 128}}},
        {798, twenty, with_second, 25, 16, 32, 266, {{"bundle-min", 1}}},
        {798, twenty, with_second, 30, 16, 32, 266, {{"bundle-min", 1}}},
        {798, twenty, with_second, 66, 16, 96, 266, {{"bundle-min", 1}}},
        {798, thirty_six, some_with_first, 25, 16, 32, 134, {{"bundle-share", 0.3}}},
        {798, thirty_six, some_with_first, 18, 16, 32, 134, {{"bundle-share", 0.3}}},
        {798, thirty_six, some_with_first, 66, 16, 96, 134, {{"bundle-share", 0.3}}},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct outcome out = run_rows(cases[c].m, cases[c].length, cases[c].to, F32,
                                            cases[c].k, cases[c].settings, "lanes of bundles");
        CHECK(figure_of(&out, "bundles") == cases[c].bundles &&
                  figure_of(&out, "lanes") == cases[c].lanes &&
                  figure_of(&out, "columns") == cases[c].columns,
              "case %d, k %lld: %g bundles, %g lanes, %g columns", c, (long long)cases[c].k,
              figure_of(&out, "bundles"), figure_of(&out, "lanes"), figure_of(&out, "columns"));
    }
}

int main(void)
{
    static void (*const tests[])(void) = {
        test_forms, test_lanes_by_length, test_narrow_slabs, test_lanes_of_bundles, NULL,
    };
    return main_on_cuda(&dev, UNITS, tests);
}
