// Sums of squares of any size, and what is counted over many elements.
#include "measure/tolerance.h"
#include "test.h"

static bool near(double x, double want) { return fabs(x - want) <= 1e-12 * want; }

// Numbers whose squares overflow, underflow, or are lost beside each other; added one by one and as
// sums of two halves.
static void test_squares(void)
{
    static const struct {
        double x[4], root;
    } table[] = {{{0, 0, 0, 0}, 0},
                 {{3, 0, 4, 0}, 5},
                 {{-1, 1, -1, 1}, 2},
                 {{3e200, 4e200, 1, 0}, 5e200},
                 {{4e-200, 0, 3e-200, 0}, 5e-200},
                 {{0, 1e-300, 1e300, 0}, 1e300},
                 {{1e300, 1e300, 1e300, 1e300}, 2e300}};
    for (int t = 0; t < COUNT(table); t++) {
        struct squares all = {0}, half[2] = {{0}};
        for (int i = 0; i < 4; i++) {
            squares_add(&all, table[t].x[i]);
            squares_add(&half[i / 2], table[t].x[i]);
        }
        squares_add_all(&half[0], &half[1]);
        CHECK(near(squares_root(&all), table[t].root), "%d: %g, not %g", t, squares_root(&all),
              table[t].root);
        CHECK(near(squares_root(&half[0]), table[t].root), "%d, halves: %g, not %g", t,
              squares_root(&half[0]), table[t].root);
    }
    for (int i = 0; i < 3; i++) {
        struct squares s = {0}, other = {0};
        for (int x = 0; x < 3; x++) squares_add(&s, x == i ? NAN : x);
        squares_add_all(&other, &s);
        CHECK(isnan(squares_root(&s)) && isnan(squares_root(&other)), "NaN at %d is lost", i);
    }
}

static struct tally tally;

static void start(void) { tally = (struct tally){0}; }

static void add(int64_t count, int64_t terms, double off, double ref, double element)
{
    const struct tolerance tolerance = {.element = element, .norm = 0.1};
    for (int64_t i = 0; i < count; i++) tally_add(&tally, terms, off, ref, &tolerance);
}

// Each class of terms is looked at by itself, and few draws may be farther off.
static void test_norm(void)
{
    int which;
    start();
    CHECK(tally_norm(&tally, 8, &which) == 0, "nothing is off");
    add(10000, 1, 0, 1, 1);
    add(100, 1023, 0.2, 1, 1);
    add(100, 1024, 0.1, 1, 1);
    double norm = tally_norm(&tally, 1000, &which);
    CHECK(near(norm, 2 / (1 + 3 / 8.0)) && which == 9, "64 draws: %g in 2^%d", norm, which);
    norm = tally_norm(&tally, 4, &which);
    CHECK(near(norm, 2 / (1 + 3 / 2.0)) && which == 9, "4 draws: %g in 2^%d", norm, which);
    add(1, 0, 0.6, 1, 1); // those of no terms are with those of one
    norm = tally_norm(&tally, 1000, &which);
    CHECK(near(norm, 2 / (1 + 3 / 8.0)) && which == 9, "one of many: %g in 2^%d", norm, which);
    add(1, 1 << 20, 0.6, 1, 1);
    norm = tally_norm(&tally, 1000, &which);
    CHECK(near(norm, 6 / 4.0) && which == 20, "a single one: %g in 2^%d", norm, which);
}

// The tolerance beside the elements, of classes that have enough of them.
static void test_share(void)
{
    start();
    CHECK(tally_shares(&tally).tolerance == 0, "of nothing");
    add(1000, 4, 0, 0, 1e-3);
    add(32, 1000, 0.25, 2, 1);
    CHECK(tally_shares(&tally).error == 0.125, "%g", tally_shares(&tally).error);
    start();
    add(1000, 4, 0, 0, 1e-3);
    CHECK(tally_shares(&tally).tolerance == 0, "of elements that are all 0");
    add(100, 16, 0, 1, 1e-3);
    CHECK(near(tally_shares(&tally).tolerance, 1e-3), "%g", tally_shares(&tally).tolerance);
    add(100, 64, 0, 0.1, 1e-3);
    CHECK(near(tally_shares(&tally).tolerance, 1e-2), "%g", tally_shares(&tally).tolerance);
    add(1, 128, 0, 1e-9, 1e-3); // by chance
    CHECK(tally_shares(&tally).tolerance < 1.01e-2, "%g", tally_shares(&tally).tolerance);
    add(1, 2, 0, 1, INFINITY);
    CHECK(tally_shares(&tally).tolerance == INFINITY, "%g", tally_shares(&tally).tolerance);
    start();
    add(3, 1, 0, 1e-9, 1e-3); // too few for a class, but all there are
    CHECK(tally_shares(&tally).tolerance > 1e5, "%g", tally_shares(&tally).tolerance);
    start();
    add(3, 1, 0, 0, INFINITY);
    CHECK(tally_shares(&tally).tolerance == INFINITY, "%g", tally_shares(&tally).tolerance);
}

// Halves of the elements put together are all of them.
static void test_halves(void)
{
    struct tally half;
    int which, again;
    start();
    add(40, 9, 0.3, 2, 1e-4);
    half = tally;
    add(50, 70, 0.2, 3, 1e-2);
    struct tally all = tally;
    start();
    add(50, 70, 0.2, 3, 1e-2);
    tally_add_all(&tally, &half);
    CHECK(near(tally_norm(&tally, 9, &which), tally_norm(&all, 9, &again)) && which == again,
          "norm");
    CHECK(near(tally_shares(&tally).tolerance, tally_shares(&all).tolerance), "share");
    CHECK(near(tally_shares(&tally).error, tally_shares(&all).error), "share of errors");
}

TESTS(test_squares, test_norm, test_share, test_halves)
