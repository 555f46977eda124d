// `graded` on CUDA, but for its strips: which piece each row becomes, which rows are bundles, every
// shape of the kernel, and products of which one reads what the one before writes.
#include "graded_rows.h"

// All rows have `length` nonzeros, of neighbouring columns. Of `group` rows each begins `shift`
// columns behind the one before, the first `step` behind that of the group before, from the start
// again past the end.
static int make_even(int32_t m, int32_t n, int32_t length, int32_t group, int32_t step,
                     int32_t shift, struct csr *A)
{
    int err = csr_alloc(A, m, n, (int64_t)m * length);
    CHECK(!err, "%s", fail_text());
    if (err) return err;
    A->ptr[0] = 0;
    for (int32_t p = 0; p < m * length; p++) {
        const int32_t i = p / length,
                      first = (i / group * step + i % group * shift) % (n - length + 1);
        A->ptr[i + 1] = p + 1;
        A->idx[p] = first + p % length, A->val[p] = p % 7 - 3;
    }
    return OK;
}

// ---- Pieces ----

static const int32_t edges[] = {0, 1, 32, 33, 256, 257, 1024, 1025, 2048, 2049};
static int32_t edge(int32_t i) { return edges[i % COUNT(edges)]; }

static void test_kinds(void)
{
    struct csr A;
    struct inputs in;
    double opt[PARAMS_MAX] = {0};
    if (make_rows(3 * COUNT(edges), 2100, edge, NULL, &A)) return;
    for (int prec = F32; prec <= F64; prec++) {
        if (spmm_inputs(&in, &dev, &A, (enum prec)prec, LAYOUT_ROW, 32, 0)) return;
        by_pieces(opt);
        set_option(graded(), opt, "short", 32);
        set_option(graded(), opt, "medium", 256);
        set_option(graded(), opt, "segment", 1024);
        struct outcome out = run_right(&in, opt, "edges");
        CHECK(figure_of(&out, "tiny") == 3 * 2, "%g tiny rows", figure_of(&out, "tiny"));
        CHECK(figure_of(&out, "short") == 3, "%g short rows", figure_of(&out, "short"));
        CHECK(figure_of(&out, "medium") == 3 * 2, "%g medium rows", figure_of(&out, "medium"));
        CHECK(figure_of(&out, "segments") == 3 * (1 + 1 + 2 + 2 + 3), "%g segments",
              figure_of(&out, "segments"));
        CHECK(figure_of(&out, "bundles") == 0, "%g bundles", figure_of(&out, "bundles"));
        set_option(graded(), opt, "tiny", -1);
        set_option(graded(), opt, "short", 0);
        set_option(graded(), opt, "medium", 2048);
        set_option(graded(), opt, "segment", 1000);
        out = run_right(&in, opt, "edges moved");
        CHECK(figure_of(&out, "short") == 3, "%g empty rows", figure_of(&out, "short"));
        CHECK(figure_of(&out, "medium") == 3 * 8, "%g medium rows", figure_of(&out, "medium"));
        CHECK(figure_of(&out, "segments") == 3 * 3, "%g segments", figure_of(&out, "segments"));
        inputs_free(&in);
    }
    csr_free(&A);
}

// ---- Tiny rows ----

static int32_t up_to_nine(int32_t i) { return i * 7 % 10; }

// Of any 10 rows one after another one has each length from 0 to 9.
static void test_tiny(void)
{
    static const struct {
        int32_t m;
        int tiny;
        double turns;
    } cases[] = {{10, 8, 1},   {10, 0, 1},   {10, -1, 1},   {1230, 8, 2},
                 {1230, 4, 2}, {1230, 0, 2}, {1230, -1, 2}, {1300, 8, 2}};
    static const int64_t ks[] = {16, 32, 64, 128, 33, 100, 3, 4, 8};
    for (int c = 0; c < COUNT(cases); c++) {
        struct csr A;
        if (make_rows(cases[c].m, 97, up_to_nine, NULL, &A)) return;
        for (int turn = 0; turn < 2 * COUNT(ks); turn++) {
            const int64_t k = ks[turn / 2];
            struct inputs in;
            double opt[PARAMS_MAX] = {0};
            if (spmm_inputs(&in, &dev, &A, turn % 2 ? F64 : F32, LAYOUT_ROW, k, 0)) return;
            by_pieces(opt);
            set_option(graded(), opt, "tiny", cases[c].tiny);
            set_option(graded(), opt, "short", 8);
            struct outcome out = run_right(&in, opt, "tiny rows");
            // With fewer than 4 lanes to a group a team has several: no row is tiny then.
            const int tiny = figure_of(&out, "lanes") < 4 ? -1 : cases[c].tiny;
            CHECK(figure_of(&out, "tiny") == cases[c].m / 10 * (tiny + 1), "k %lld: %g tiny rows",
                  (long long)k, figure_of(&out, "tiny"));
            CHECK(figure_of(&out, "short") == cases[c].m / 10 * (8 - tiny), "k %lld: %g short rows",
                  (long long)k, figure_of(&out, "short"));
            CHECK(tiny < 0 || figure_of(&out, "tiny_rows_per_team") == cases[c].turns,
                  "k %lld: %g turns", (long long)k, figure_of(&out, "tiny_rows_per_team"));
            inputs_free(&in);
        }
        csr_free(&A);
    }
}

// ---- Segments ----

static int32_t one_long(int32_t i) { return i == 1 ? 20000 : i == 2 ? 200 : 3; }

static int32_t two_long(int32_t i) { return i == 1 ? 600 : i == 2 ? 400 : 3; }

// Where the device is not full segments are short, but a row that is little longer is not cut.
static void test_uncut(void)
{
    const struct outcome out = run_rows(40, two_long, NULL, F32, 32, NULL, "two long rows");
    const double segment = figure_of(&out, "segment_length");
    CHECK(segment < 400, "segments of %g", segment);
    CHECK(figure_of(&out, "segments") == ceil(600 / segment) + 1, "%g segments",
          figure_of(&out, "segments"));
}

// The sums of many segments are added up by all threads of a block, whatever the width of a slab.
static void test_segments(void)
{
    static const int64_t ks[] = {32, 96, 128, 4, 33, 127, 129};
    struct csr A;
    if (make_rows(40, 20000, one_long, NULL, &A)) return;
    for (int turn = 0; turn < 2 * COUNT(ks); turn++) {
        struct inputs in;
        double opt[PARAMS_MAX] = {0};
        if (spmm_inputs(&in, &dev, &A, turn % 2 ? F64 : F32, LAYOUT_ROW, ks[turn / 2], 0)) return;
        by_pieces(opt);
        set_option(graded(), opt, "medium", 100);
        struct outcome out = run_right(&in, opt, "one long row");
        const double cut = ceil(20000 / figure_of(&out, "segment_length"));
        CHECK(figure_of(&out, "segments") == cut + 1, "%g segments", figure_of(&out, "segments"));
        set_option(graded(), opt, "segment", 128); // then every row that is longer is cut
        out = run_right(&in, opt, "many segments");
        CHECK(figure_of(&out, "segments") == 157 + 2, "%g segments", figure_of(&out, "segments"));
        inputs_free(&in);
    }
    csr_free(&A);
}

static int32_t sixty(int32_t i) { return (void)i, 60; }

static int32_t sixty_five(int32_t i) { return (void)i, 65; }

static int32_t one_in_five_20(int32_t i) { return i % 5 == 4 ? 20 : 9; }

static int32_t one_in_31_20(int32_t i) { return i % 31 == 30 ? 20 : 3; }

static int32_t half_26_half_40(int32_t i) { return i % 2 ? 26 : 40; }

// Rows that would be a warp's are short if there would else be more blocks than the device holds,
// and if all blocks fit then; by the least bound of three. With 32 bytes in a lane 32 blocks fit
// here, 28 with more registers; with 16 bytes 40 and 36.
static void test_one_wave(void)
{
    static const struct {
        const char *what;
        int32_t m, (*length)(int32_t);
        enum prec prec;
        int64_t k;
        double short_most, medium; // what is told
        struct setting asked;
    } cases[] = {
        {"up to 32", 150, twenty, F32, 128, 32, 0, {}},
        {"by an option", 150, twenty, F32, 128, 17, 150, {"short", 17}},
        {"another option", 150, forty, F32, 128, 32, 150, {"medium", 92}},
        {"two slabs", 75, twenty, F32, 256, 32, 0, {}},
        {"nine slabs", 16, twenty, F32, 576, 32, 0, {}},
        {"no columns", 50, twenty, F32, 0, 8, 50, {}},
        {"up to 48", 150, forty, F32, 128, 48, 0, {}},
        {"up to 64", 150, sixty, F64, 64, 64, 0, {}},
        {"up to 64, as many as fit", 256, sixty, F64, 64, 64, 0, {}},
        {"one more", 257, sixty, F64, 64, 32, 257, {}},
        {"too long", 150, sixty_five, F32, 128, 32, 150, {}},
        {"no need", 128, forty, F32, 128, 30, 128, {}},
        {"others are too many", 300, one_in_five_20, F32, 128, 19, 60, {}},
        {"tiny ones beside", 496, one_in_31_20, F32, 128, 32, 0, {}},
        {"only as many as must", 132, half_26_half_40, F32, 128, 32, 66, {}},
        {"more registers", 240, forty, F32, 128, 32, 240, {"more-registers", 1}},
        {"16 bytes, no need", 144, forty, F32, 32, 16, 144, {}},
        {"16 bytes, one more", 145, forty, F32, 32, 64, 0, {}}, // two groups for each
        {"16 bytes, too many for two groups", 273, forty, F32, 32, 48, 0, {}},
        {"16 bytes, no more registers", 148, forty, F32, 32, 17, 148, {"more-registers", 0}},
        {"16 bytes, no such form", 160, forty, F32, 30, 18, 160, {}},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct setting asked[] = {cases[c].asked, {}};
        const struct outcome out = run_rows(cases[c].m, cases[c].length, NULL, cases[c].prec,
                                            cases[c].k, asked, cases[c].what);
        CHECK(figure_of(&out, "short_most") == cases[c].short_most &&
                  figure_of(&out, "medium") == cases[c].medium,
              "%s: short up to %g, %g medium", cases[c].what, figure_of(&out, "short_most"),
              figure_of(&out, "medium"));
    }
}

static int32_t half_24_half_72(int32_t i) { return i % 2 ? 24 : 72; }

static int32_t half_3_half_40(int32_t i) { return i % 2 ? 3 : 40; }

// A short row has two groups of 8 lanes if all blocks fit by that, with a twentieth to spare: 34
// here.
static void test_pairs(void)
{
    static const struct {
        const char *what;
        int32_t m, (*length)(int32_t);
        int64_t k;
        double team, medium; // what is told
        struct setting asked;
    } cases[] = {
        {"no need", 144, forty, 32, 8, 144, {}},
        {"a warp each is too many", 145, forty, 32, 16, 0, {}},
        {"as many as fit", 272, forty, 32, 16, 0, {}},
        {"one more", 273, forty, 32, 8, 0, {}},
        {"slabs that are not full", 272, forty, 28, 16, 0, {}},
        {"no such form", 150, forty, 30, 8, 150, {}},
        {"no more registers", 145, forty, 32, 8, 145, {"more-registers", 0}},
        {"lengths by an option", 145, forty, 32, 8, 145, {"short", 17}},
        {"half are a warp's", 170, half_24_half_72, 32, 16, 85, {}},
        {"too many are", 190, half_24_half_72, 32, 8, 95, {}},
        {"half are else tiny", 260, half_3_half_40, 32, 16, 0, {}},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct setting asked[] = {cases[c].asked, {}};
        const struct outcome out =
            run_rows(cases[c].m, cases[c].length, NULL, F32, cases[c].k, asked, cases[c].what);
        const double team = figure_of(&out, "team"), medium = figure_of(&out, "medium"),
                     tiny = figure_of(&out, "tiny");
        CHECK(team == cases[c].team && medium == cases[c].medium && tiny == 0,
              "%s: teams of %g lanes, %g medium, %g tiny", cases[c].what, team, medium, tiny);
    }
}

static int32_t one_of_40(int32_t i) { return i == 5 ? 40 : 20; }

static int32_t one_of_65(int32_t i) { return i == 5 ? 65 : 20; }

static int32_t one_in_four_short(int32_t i) { return i % 4 ? 24 : 8; }

static int32_t three_in_ten_short(int32_t i) { return i % 10 > 2 ? 24 : 8; }

// Slabs of 512 bytes, not 256, where each row is a warp's, and a warp to each row of all slabs of
// 256 bytes would be nine tenths of the 32 blocks that the device holds, or more, and of the slabs
// of 512 no more than the 28 that it holds of those.
static void test_wider_slabs(void)
{
    static const struct {
        const char *what;
        int32_t m, (*length)(int32_t);
        enum prec prec;
        int64_t k;
        double lanes;
        struct setting asked;
    } cases[] = {
        {"two slabs", 57, twenty, F32, 128, 16, {}},
        {"f64", 57, twenty, F64, 64, 16, {}},
        {"the device is not full", 56, twenty, F32, 128, 8, {}},
        {"as many as fit", 112, twenty, F32, 128, 16, {}},
        {"one more", 113, twenty, F32, 128, 8, {}},
        {"four slabs", 29, twenty, F32, 256, 16, {}},
        {"four slabs, not full", 28, twenty, F32, 256, 8, {}},
        {"as short as rows may be", 57, sixteen, F32, 128, 16, {}},
        {"shorter rows", 57, fifteen, F32, 128, 8, {}},
        {"a segment", 57, one_of_65, F32, 128, 8, {}},
        {"a quarter is short", 80, one_in_four_short, F32, 128, 16, {}},
        {"more are short", 70, three_in_ten_short, F32, 128, 8, {}},
        {"three packs to a lane", 57, twenty, F32, 192, 8, {}},
        {"narrow packs", 73, seventeen, F32, 127, 16, {}},
        {"fewer registers", 120, twenty, F32, 128, 16, {"more-registers", 0}},
        {"short ones are not tiny", 70, three_in_ten_short, F32, 128, 8, {"tiny", -1}},
        {"slabs by an option", 57, twenty, F32, 128, 8, {"slab", 256}},
        {"lanes by an option", 57, twenty, F32, 128, 8, {"lanes", 8}},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct setting asked[] = {cases[c].asked, {}};
        const struct outcome out = run_rows(cases[c].m, cases[c].length, NULL, cases[c].prec,
                                            cases[c].k, asked, cases[c].what);
        CHECK(figure_of(&out, "lanes") == cases[c].lanes, "%s: %g lanes, %g columns", cases[c].what,
              figure_of(&out, "lanes"), figure_of(&out, "columns"));
    }
}

// Lengths are then those of the wider slabs, by which a warp does half as much of a row, and rows
// are counted anew; rows somewhat longer are a warp's there, too. Where most would be segments, the
// narrow slabs and their lengths stay.
static void test_lengths_of_wider_slabs(void)
{
    static const struct {
        const char *what;
        int32_t m, (*length)(int32_t);
        double lanes, medium_most, segments;
    } cases[] = {
        {"one too long", 57, one_of_40, 16, 32, 1},
        {"all somewhat longer", 60, forty, 16, 55, 0},
        {"half are too long", 57, half_24_half_72, 8, 86, 0},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct outcome out =
            run_rows(cases[c].m, cases[c].length, NULL, F32, 128, NULL, cases[c].what);
        CHECK(figure_of(&out, "lanes") == cases[c].lanes &&
                  figure_of(&out, "medium_most") == cases[c].medium_most &&
                  figure_of(&out, "segments") == cases[c].segments,
              "%s: %g lanes, medium up to %g, %g segments", cases[c].what, figure_of(&out, "lanes"),
              figure_of(&out, "medium_most"), figure_of(&out, "segments"));
    }
}

static int32_t eighty(int32_t i) { return (void)i, 80; }

static int32_t one_in_seven_80(int32_t i) { return i % 7 == 6 ? 80 : 120; }

static int32_t one_in_five_80(int32_t i) { return i % 5 == 4 ? 80 : 120; }

static int32_t one_in_four_80(int32_t i) { return i % 4 == 3 ? 80 : 120; }

static int32_t ninety_six(int32_t i) { return (void)i, 96; }

static int32_t ninety_seven(int32_t i) { return (void)i, 97; }

// Rows up to half longer than a medium one, which has 64 nonzeros here, are medium, too, if over
// 15 % of the nonzeros are theirs and the device is full.
static void test_somewhat_longer(void)
{
    static const struct {
        const char *what;
        int32_t (*length)(int32_t i);
        int32_t m;
        double medium_most, medium;
    } cases[] = {
        {"all are", eighty, 40, 96, 40},
        {"all are, but the device is not full", eighty, 30, 64, 0},
        {"a seventh of the rows, a tenth of the nonzeros", one_in_seven_80, 35, 64, 0},
        {"a fifth of the rows, a seventh of the nonzeros", one_in_five_80, 35, 64, 0},
        {"a quarter of the rows, 18 % of the nonzeros", one_in_four_80, 36, 96, 9},
        {"the longest", ninety_six, 34, 96, 34},
        {"longer", ninety_seven, 34, 64, 0},
        {"by an option", eighty, 40, 64, 0},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct setting asked[] = {{"medium", c == COUNT(cases) - 1 ? 64 : 0}, {}};
        const struct outcome out =
            run_rows(cases[c].m, cases[c].length, NULL, F32, 32, asked, cases[c].what);
        CHECK(figure_of(&out, "medium_most") == cases[c].medium_most &&
                  figure_of(&out, "medium") == cases[c].medium,
              "%s: up to %g, %g of them", cases[c].what, figure_of(&out, "medium_most"),
              figure_of(&out, "medium"));
    }
}

static int32_t two_hundred(int32_t i) { return (void)i, 200; }

static int32_t two_hundred_and_56(int32_t i) { return (void)i, 256; }

// A warp's groups go through twice as much where they have 16 lanes or more, and 128 nonzeros each.
static void test_longer_medium(void)
{
    static const struct {
        int32_t m, (*length)(int32_t);
        int64_t k;
        double slab, lanes, medium_most; // the option; what is told
    } cases[] = {
        {163, two_hundred, 128, 512, 16, 128},        {164, two_hundred, 128, 512, 16, 256},
        {128, two_hundred_and_56, 128, 512, 16, 256}, {81, two_hundred, 129, 0, 32, 64},
        {82, two_hundred, 129, 0, 32, 128},           {330, two_hundred, 32, 0, 8, 256},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct setting asked[] = {{"slab", cases[c].slab}, {}};
        const struct outcome out =
            run_rows(cases[c].m, cases[c].length, NULL, F32, cases[c].k, asked, "long rows");
        CHECK(figure_of(&out, "lanes") == cases[c].lanes &&
                  figure_of(&out, "medium_most") == cases[c].medium_most,
              "%d rows, k %lld: %g lanes, up to %g", cases[c].m, (long long)cases[c].k,
              figure_of(&out, "lanes"), figure_of(&out, "medium_most"));
    }
}

// ---- Registers ----

static int32_t three(int32_t i) { return (void)i, 3; }

static int32_t one_in_39(int32_t i) { return i % 39 == 38 ? 12 : 3; }

static int32_t one_in_42(int32_t i) { return i % 42 == 41 ? 12 : 3; }

static int32_t one_in_three(int32_t i) { return i % 3 == 2 ? 12 : 3; }

static int32_t two_in_five(int32_t i) { return i % 5 >= 3 ? 12 : 3; }

static int32_t one_in_39_long(int32_t i) { return i % 39 == 38 ? 600 : 3; }

// Forms of more registers: with 16 bytes of a row in a lane where not nearly all rows are tiny,
// with 32 where rows are long and blocks few: a warp each, that is 112 on this device. With 16
// lanes in f64 also where blocks are more, and over a third of the pieces are not tiny or one is
// long. Never where there is no such form; and any case is right with either.
static void test_registers(void)
{
    static const struct {
        const char *what;
        int32_t (*length)(int32_t i);
        int32_t m;
        enum prec prec;
        int64_t k;
        double slab, roomy, can;
    } cases[] = {
        {"all tiny", three, 1638, F32, 32, 128, 0, 1},
        {"tiny, but one in 39", one_in_39, 1638, F32, 32, 128, 1, 1},
        {"tiny, but one in 42", one_in_42, 1638, F32, 32, 128, 0, 1},
        {"tiny, but one in 39 is long", one_in_39_long, 1638, F32, 32, 128, 1, 1},
        {"none tiny", twenty, 100, F32, 32, 128, 1, 1},
        {"another form", twenty, 100, F32, 24, 128, 1, 1},
        {"two packs, few blocks", twenty, 112, F32, 64, 256, 1, 1},
        {"two packs, more blocks", twenty, 113, F32, 64, 256, 0, 1},
        {"two packs, many blocks", twenty, 129, F32, 128, 512, 0, 1},
        {"two packs, short rows", three, 100, F32, 64, 256, 0, 1},
        {"f64, few blocks", twenty, 112, F64, 64, 512, 1, 1},
        {"f64, more blocks", twenty, 128, F64, 64, 512, 1, 1},
        {"f64, many blocks", twenty, 129, F64, 64, 512, 1, 1},
        {"f64, many blocks, 8 lanes", twenty, 129, F64, 64, 256, 0, 1},
        {"f64, all tiny", three, 1638, F64, 64, 512, 0, 1},
        {"f64, tiny, but one in 39", one_in_39, 1638, F64, 64, 512, 0, 1},
        {"f64, one in 39 is long", one_in_39_long, 1638, F64, 64, 512, 1, 1},
        {"f64, a third is not tiny", one_in_three, 1638, F64, 64, 512, 0, 1},
        {"f64, more are not", two_in_five, 1640, F64, 64, 512, 1, 1},
        {"narrow packs", twenty, 100, F32, 30, 128, 0, 0},
        {"three packs", twenty, 100, F32, 96, 512, 0, 0},
    };
    for (int c = 0; c < COUNT(cases); c++)
        for (int roomy = -1; roomy <= 1; roomy++) {
            const struct setting asked[] = {
                {"slab", cases[c].slab}, {"short", 8}, {"more-registers", roomy}, {}};
            const struct outcome out = run_rows(cases[c].m, cases[c].length, NULL, cases[c].prec,
                                                cases[c].k, asked, cases[c].what);
            const double want = roomy < 0 ? cases[c].roomy : roomy * cases[c].can;
            CHECK(figure_of(&out, "more_registers") == want, "%s, %d: %g", cases[c].what, roomy,
                  figure_of(&out, "more_registers"));
        }
}

static int32_t sixty_three(int32_t i) { return (void)i, 63; }

static int32_t sixty_four(int32_t i) { return (void)i, 64; }

static int32_t one_in_26_short(int32_t i) { return i % 26 ? 80 : 20; }

static int32_t one_of_600(int32_t i) { return i == 5 ? 600 : 80; }

static int32_t one_of_390(int32_t i) { return i == 5 ? 390 : 80; }

// In f64 with more than 28 blocks, which is what the device holds of those with more registers, but
// no more than 32, which it holds of the others: more registers if pieces are not even, or medium
// and not long. A row of 390 is cut; among 122 of 80 it has less than a 25th of the nonzeros.
static void test_registers_of_even_pieces(void)
{
    static const struct {
        const char *what;
        int32_t m, (*length)(int32_t);
        double roomy;
    } cases[] = {
        {"medium, not long", 120, sixty_three, 1},
        {"longer", 120, sixty_four, 0},
        {"as many as fit", 128, sixty_four, 0},
        {"one more", 129, sixty_four, 1},
        {"5 of 125 are short", 125, one_in_26_short, 1},
        {"5 of 126", 126, one_in_26_short, 0},
        {"one is long", 118, one_of_600, 1},
        {"one of 118 is not as long", 118, one_of_390, 1},
        {"one of 122 is", 122, one_of_390, 0},
        {"all short", 250, twenty, 0},
    };
    const struct setting asked[] = {{"slab", 512}, {"tiny", -1}, {"short", 20}, {}};
    for (int c = 0; c < COUNT(cases); c++) {
        const struct outcome out =
            run_rows(cases[c].m, cases[c].length, NULL, F64, 64, asked, cases[c].what);
        CHECK(figure_of(&out, "more_registers") == cases[c].roomy, "%s: %g, %g medium, %g segments",
              cases[c].what, figure_of(&out, "more_registers"), figure_of(&out, "medium"),
              figure_of(&out, "segments"));
    }
}

// ---- Rows of which most are empty ----

static int32_t forty_in_ten(int32_t i) { return i % 10 ? 0 : 40; }
static int32_t ten_in_twenty(int32_t i) { return i % 20 ? 0 : 10; }
static int32_t none(int32_t i) { return (void)i, 0; }

// By the mean of all, rows of 40 would be as short as those of 4, and a device that empty rows fill
// would not be full.
static void test_empty_rows(void)
{
    static const struct {
        const char *what;
        int32_t m, (*length)(int32_t);
        double lanes, turns, not_medium;
    } cases[] = {
        {"40 in each tenth row", 3400, forty_in_ten, 8, 2, 3060},
        {"10 in each twentieth", 3000, ten_in_twenty, 8, 2, 3000},
        {"the same, few rows", 1600, ten_in_twenty, 8, 2, 1520},
        {"fewer", 1000, ten_in_twenty, 8, 1, 950},
        {"4 in each row", 3400, four, 4, 2, 3400},
        {"nothing", 3000, none, 8, 2, 3000},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        const struct outcome out =
            run_rows(cases[c].m, cases[c].length, NULL, F32, 32, NULL, cases[c].what);
        const double not_medium = figure_of(&out, "tiny") + figure_of(&out, "short");
        CHECK(figure_of(&out, "lanes") == cases[c].lanes &&
                  figure_of(&out, "tiny_rows_per_team") == cases[c].turns &&
                  not_medium == cases[c].not_medium,
              "%s: %g lanes, %g turns, %g tiny or short", cases[c].what, figure_of(&out, "lanes"),
              figure_of(&out, "tiny_rows_per_team"), not_medium);
    }
}

// ---- How scattered the columns are ----

static void test_scatter(void)
{
    static const struct {
        const char *what;
        int32_t n, step; // row i begins in column i * step, from the start again past the end
        double near, far, bytes;
    } cases[] = {
        {"all columns are new", 34000, 20, 1, 1, 256},
        {"half are", 34000, 10, 0.5, 0.5, 512},
        {"new nearby alone", 4000, 20, 1, 4000.0 / 16384, 256},
        {"few", 60, 1, 0.03, 0.004, 512},
    };
    const int32_t m = 1700, length = 20;
    for (int c = 0; c < COUNT(cases); c++) {
        struct csr A;
        if (make_even(m, cases[c].n, length, 1, cases[c].step, 0, &A)) return;
        for (int prec = F32; prec <= F64; prec++) {
            struct inputs in;
            double opt[PARAMS_MAX] = {0}, bytes = cases[c].bytes;
            if (spmm_inputs(&in, &dev, &A, prec, LAYOUT_ROW, prec == F32 ? 128 : 64, 0)) return;
            by_pieces(opt);
            set_option(graded(), opt, "bundle-min", 0);
            const struct outcome out = run_right(&in, opt, cases[c].what);
            const bool past = 2 * 512 * (int64_t)A.n > 3 * dev.cache_bytes;
            const bool fits = 128 * (int64_t)A.n <= 3 * dev.cache_bytes;
            if (past && bytes == 256) bytes = cases[c].far >= 0.9 && fits ? 128 : 512;
            CHECK(fabs(figure_of(&out, "new_near") - cases[c].near) < 0.05 &&
                      fabs(figure_of(&out, "new_far") - cases[c].far) < 0.05,
                  "%s: %g, %g", cases[c].what, figure_of(&out, "new_near"),
                  figure_of(&out, "new_far"));
            CHECK(figure_of(&out, "columns") * (double)prec_bytes((enum prec)prec) == bytes,
                  "%s: slabs of %g columns", cases[c].what, figure_of(&out, "columns"));
            inputs_free(&in);
        }
        csr_free(&A);
    }
}

// No slab of 64 columns pays where over a fifth of two lies past the end of a row, or most of the
// last of six.
static void test_slabs_too_empty(void)
{
    static const struct {
        int64_t k;
        double columns;
    } cases[] = {{100, 128}, {104, 64}, {128, 64}, {324, 192}, {352, 64}};
    const int64_t own = dev.cache_bytes;
    struct csr A;
    if (make_even(1700, 4000, 20, 1, 20, 0, &A)) return;
    dev.cache_bytes = (int64_t)1 << 30; // holds B
    for (int c = 0; c < COUNT(cases); c++) {
        struct inputs in;
        double opt[PARAMS_MAX] = {0};
        if (spmm_inputs(&in, &dev, &A, F32, LAYOUT_ROW, cases[c].k, 0)) break;
        by_pieces(opt);
        set_option(graded(), opt, "bundle-min", 0);
        const struct outcome out = run_right(&in, opt, "slabs too empty");
        CHECK(figure_of(&out, "columns") == cases[c].columns, "k %lld: %g columns",
              (long long)cases[c].k, figure_of(&out, "columns"));
        inputs_free(&in);
    }
    dev.cache_bytes = own;
    csr_free(&A);
}

// Slabs of 128 bytes pay while the cache holds a third of one of all rows of B, or more, and a row
// of B is wanted two and a half times or more.
static void test_no_slab_pays(void)
{
    static const struct {
        int32_t m;
        bool fits, pays;
    } cases[] = {{4250, true, true}, {4250, false, false}, {4249, true, false}};
    const int32_t n = 33999, length = 20;
    const int64_t own = dev.cache_bytes, third = (int64_t)n * 128 / 3;
    for (int c = 0; c < COUNT(cases); c++) {
        struct csr A;
        if (make_even(cases[c].m, n, length, 1, length, 0, &A)) return;
        for (int prec = F32; prec <= F64; prec++) {
            struct inputs in;
            double opt[PARAMS_MAX] = {0};
            if (spmm_inputs(&in, &dev, &A, (enum prec)prec, LAYOUT_ROW, prec == F32 ? 128 : 64, 0))
                return;
            by_pieces(opt);
            dev.cache_bytes = third - !cases[c].fits;
            const struct outcome out = run_right(&in, opt, "all columns are new");
            dev.cache_bytes = own;
            CHECK(figure_of(&out, "columns") * (double)prec_bytes((enum prec)prec) ==
                      (cases[c].pays ? 128 : 512),
                  "%d rows, fits %d: slabs of %g columns", cases[c].m, cases[c].fits,
                  figure_of(&out, "columns"));
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
        static const int64_t ks[] = {32, 128, 34, 99, 130, 129, 12, 1, 3, 16, 256};
        for (int turn = 0; turn < 2 * COUNT(ks); turn++) {
            struct inputs in;
            double opt[PARAMS_MAX] = {0};
            if (spmm_inputs(&in, &dev, &A, turn % 2 ? F64 : F32, LAYOUT_ROW, ks[turn / 2], 0))
                return;
            by_pieces(opt);
            set_option(graded(), opt, "bundle-min", cases[c].alike);
            set_option(graded(), opt, "bundle-share", cases[c].share);
            set_option(graded(), opt, "short", 32);
            set_option(graded(), opt, "medium", 256);
            struct outcome out = run_right(&in, opt, cases[c].what);
            CHECK(figure_of(&out, "bundles") == cases[c].bundles, "%s: %g bundles", cases[c].what,
                  figure_of(&out, "bundles"));
            CHECK(fabs(figure_of(&out, "bundle_share") - cases[c].bundled) < 1e-9, "%s: %g bundled",
                  cases[c].what, figure_of(&out, "bundle_share"));
            inputs_free(&in);
        }
        csr_free(&A);
    }
}

static int32_t twenty_eight(int32_t i) { return (void)i, 28; }

// Short bundles are shorter than short rows, in f64 by much, and they stay so where with longer
// ones all blocks would fit, as with the first of these. On a full device medium ones are not
// longer, as medium rows are.
static void test_short_bundles(void)
{
    static const struct {
        int32_t m, (*length)(int32_t);
    } cases[] = {{393, twenty_eight}, {801, twenty_eight}, {990, forty}};
    for (int c = 0; c < 2 * COUNT(cases); c++) {
        const int32_t m = cases[c / 2].m;
        const enum prec prec = c % 2 ? F64 : F32;
        const struct outcome out =
            run_rows(m, cases[c / 2].length, with_first, prec, 64, NULL, "bundles");
        CHECK(figure_of(&out, "bundles") == m / ALIKE &&
                  figure_of(&out, "short_most") == (prec == F32 ? 24 : 8),
              "%s, %d rows: %g bundles, short up to %g", prec_name(prec), m,
              figure_of(&out, "bundles"), figure_of(&out, "short_most"));
        CHECK(figure_of(&out, "medium_most") * figure_of(&out, "lanes") <= 64 * 32,
              "%s, %d rows: medium up to %g", prec_name(prec), m, figure_of(&out, "medium_most"));
    }
}

// Where bundles are too long for a form, or not alike enough, one with narrower slabs is taken: it
// has more groups for them, or wider packs. `shift` columns on begins the next row of a bundle.
static void test_narrower_bundles(void)
{
    static const struct {
        const char *what;
        enum prec prec;
        int32_t m, length, shift;
        int64_t k;
        double slab, bundles, columns; // the option; what is told
        double medium_most;            // by the form that is taken; -1: whatever it is
    } cases[] = {
        {"not long", F32, 66, 60, 0, 128, 0, 22, 128, 32},
        {"as long as may be", F32, 66, 128, 0, 128, 0, 22, 128, 64},
        {"one longer", F32, 66, 129, 0, 128, 0, 22, 64, -1},
        {"long", F32, 42, 100, 0, 128, 0, 14, 64, 65},
        {"longer", F32, 21, 200, 0, 128, 0, 7, 32, 131},
        {"as long as narrow slabs allow", F32, 18, 512, 0, 128, 0, 6, 32, 256},
        {"one longer than that", F32, 18, 513, 0, 128, 0, 0, 128, -1},
        {"too long", F32, 9, 500, 0, 128, 0, 0, 128, -1},
        {"long, but f64", F64, 42, 100, 0, 64, 0, 0, 64, -1},
        {"long, but an option", F32, 42, 100, 0, 128, 512, 0, 128, -1},
        {"alike enough", F32, 78, 60, 5, 160, 0, 26, 192, 36},
        {"alike enough for wide packs alone", F32, 78, 60, 15, 160, 0, 26, 64, -1},
        {"short, alike enough for wide packs alone", F32, 117, 40, 10, 160, 0, 39, 64, -1},
        {"hardly alike", F32, 78, 60, 30, 160, 0, 0, 192, -1},
    };
    for (int c = 0; c < COUNT(cases); c++) {
        struct csr A;
        struct inputs in;
        double opt[PARAMS_MAX] = {0};
        if (make_even(cases[c].m, 5000, cases[c].length, ALIKE, 37, cases[c].shift, &A)) return;
        if (spmm_inputs(&in, &dev, &A, cases[c].prec, LAYOUT_ROW, cases[c].k, 0)) return;
        by_pieces(opt);
        set_option(graded(), opt, "slab", cases[c].slab);
        const struct outcome out = run_right(&in, opt, cases[c].what);
        CHECK(figure_of(&out, "bundles") == cases[c].bundles &&
                  figure_of(&out, "columns") == cases[c].columns,
              "%s: %g bundles, slabs of %g columns", cases[c].what, figure_of(&out, "bundles"),
              figure_of(&out, "columns"));
        CHECK(cases[c].medium_most < 0 || figure_of(&out, "medium_most") == cases[c].medium_most,
              "%s: medium up to %g", cases[c].what, figure_of(&out, "medium_most"));
        inputs_free(&in);
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
    const int64_t bytes = (int64_t)prec_bytes(t->prec);
    CHECK(B->cols <= COUNT(wide), "a row of B does not fit");
    return device_upload(&dev, (char *)B->val + j * B->ld * bytes,
                         t->prec == F32 ? (void *)narrow : (void *)wide, B->cols * bytes);
}

// What is not finite in a row of B reaches the rows of A that have its column, with a zero as their
// value or not, and no other row of their bundles.
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
        const int64_t bytes = (int64_t)prec_bytes(prec);
        char *C = mem_alloc(A.m * k, (size_t)bytes);
        algo_defaults(t.algo, t.opt);
        set_option(t.entry, t.opt, "bundle-min", alike);
        set_option(t.entry, t.opt, "lanes", lanes);
        set_option(t.entry, t.opt, "strips", lanes ? 0 : 2);
        int err = task_prepare(&t, &in.o, &setup);
        const struct figure *bundles = figures_find(&t.figures, "bundles");
        const struct figure *taken = figures_find(&t.figures, lanes ? "lanes" : "strip_rows");
        CHECK(!err && (!lanes || (bundles && bundles->number == (alike ? 4 : 0))) && taken &&
                  taken->number == (lanes ? lanes : 2),
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
    check_infinity(F32, 64, 16, sixteen, true); // with a shelf
    check_infinity(F64, 32, 16, sixteen, true);
    check_infinity(F32, 32, 0, thirteen, true); // by strips
    check_infinity(F64, 32, 0, thirteen, true);
    check_infinity(F32, 29, 8, thirteen, false); // rounds that are not full
    check_infinity(F64, 32, 16, thirteen, false);
    check_infinity(F32, 4, 4, five, false); // tiny rows, of two rounds
    check_infinity(F64, 32, 8, five, false);
}

// ---- Shapes ----

static int32_t all_lengths(int32_t i)
{
    return i < 70 ? i : i == 70 ? 300 : i == 71 ? 2100 : i % 7;
}

static void test_shapes(void)
{
    static const int64_t more[] = {127, 128, 129, 130, 132, 160, 192, 200, 256, 257, 258, 260, 513};
    struct csr A;
    if (make_rows(150, 2300, all_lengths, NULL, &A)) return;
    for (int64_t k = 1; k <= 100 + COUNT(more); k++) {
        struct inputs in;
        double opt[PARAMS_MAX] = {0};
        if (spmm_inputs(&in, &dev, &A, k % 2 ? F32 : F64, LAYOUT_ROW, k <= 100 ? k : more[k - 101],
                        0))
            return;
        by_pieces(opt);
        run_right(&in, opt, "all lengths");
        set_option(graded(), opt, "lanes", (double)(1 << k % 6));
        run_right(&in, opt, "lanes");
        by_pieces(opt);
        if (k % 8 == 0) {
            set_option(graded(), opt, "slab", 128);
            struct outcome out = run_right(&in, opt, "slabs of 128 bytes");
            CHECK(figure_of(&out, "columns") * (double)prec_bytes(in.p.prec) <= 128,
                  "slabs of %g columns", figure_of(&out, "columns"));
            by_pieces(opt);
            set_option(graded(), opt, "pack", 8);
            out = run_right(&in, opt, "packs of 8 bytes");
            CHECK(figure_of(&out, "pack") == 8, "packs of %g bytes", figure_of(&out, "pack"));
            set_option(graded(), opt, "pack", 1); // less than a value has
            run_right(&in, opt, "packs of one value");
            by_pieces(opt);
            set_option(graded(), opt, "more-registers", 1);
            run_right(&in, opt, "more registers");
        }
        inputs_free(&in);
        if (spmm_inputs(&in, &dev, &A, k % 2 ? F64 : F32, LAYOUT_ROW, k <= 100 ? k : more[k - 101],
                        0))
            return;
        by_pieces(opt);
        run_right(&in, opt, "all lengths");
        inputs_free(&in);
    }
    csr_free(&A);
}

int main(void)
{
    static void (*const tests[])(void) = {
        test_kinds,
        test_tiny,
        test_segments,
        test_uncut,
        test_one_wave,
        test_pairs,
        test_wider_slabs,
        test_lengths_of_wider_slabs,
        test_longer_medium,
        test_somewhat_longer,
        test_registers,
        test_registers_of_even_pieces,
        test_empty_rows,
        test_scatter,
        test_slabs_too_empty,
        test_no_slab_pays,
        test_bundles,
        test_short_bundles,
        test_narrower_bundles,
        test_infinity,
        test_shapes,
        NULL,
    };
    return main_on_cuda(&dev, UNITS, tests);
}
