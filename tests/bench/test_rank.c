// Ranks of cases made up by hand: the fastest and the next case, the noise, and the number of runs
// after which preparation pays.
#include "bench/rank.h"

#include <math.h>

#include "test.h"

#define CASES 5

// A case whose samples are within 1 % of the median. prep: in milliseconds.
static struct rank_case timed(const char *alg, double ms, double prep)
{
    return (struct rank_case){.name = alg,
                              .alg = alg,
                              .samples = 20,
                              .ms = ms,
                              .ci_lo = 0.99 * ms,
                              .ci_hi = 1.01 * ms,
                              .min_ms = 0.98 * ms,
                              .prep_ms = prep};
}

// Without an interval; the fastest sample is 10 % under the median.
static struct rank_case few(const char *alg, double ms)
{
    struct rank_case x = timed(alg, ms, 0);
    x.ci_lo = x.ci_hi = NAN;
    x.min_ms = 0.9 * ms;
    x.samples = 3;
    return x;
}

static struct rank rank_all(struct rank_case *cases, int count, struct rank_case **list)
{
    for (int i = 0; i < count; i++) list[i] = &cases[i];
    return rank_make(list, count);
}

#define CHECK_NEAR(got, want) CHECK(fabs((got) - (want)) < 1e-12, "%.15g, want %.15g", got, want)

static void test_order(void)
{
    struct rank_case x[] = {timed("plain", 8, 0), timed("a", 4, 0), timed("b", 2, 0), few("c", 9),
                            timed("d", NAN, 0)};
    struct rank_case *list[CASES];
    x[0].reference = true;
    x[1].vendor = x[3].vendor = "Lib";
    struct rank r = rank_all(x, CASES, list);
    CHECK(r.best == &x[2] && r.next == &x[1] && r.of_vendor == &x[1], "the fastest");
    CHECK_NEAR(x[0].over_best, 4.0);
    CHECK_NEAR(x[2].over_best, 1.0);
    CHECK(isnan(x[4].over_best), "a time that is none");
    r = rank_all(&x[4], 1, list);
    CHECK(!r.best && !r.next && !r.ready && isnan(x[4].pays_after), "no time at all");
}

// A slow case of few samples is simply slower. Its fastest sample decides.
static void test_few_samples(void)
{
    static const struct {
        double ms;
        bool may;
    } rows[] = {{36, false}, {2.5, false}, {2.25, false}, {2.24, true}, {2.1, true}};
    for (int i = 0; i < COUNT(rows); i++) {
        struct rank_case x[] = {timed("fast", 2, 0), few("slow", rows[i].ms)};
        struct rank_case *list[CASES];
        struct rank r = rank_all(x, 2, list);
        CHECK(r.best == &x[0], "row %d", i);
        CHECK(rank_may_be_best(&r, &x[1]) == rows[i].may, "row %d", i);
        CHECK(r.near == (rows[i].may ? &x[1] : NULL), "row %d", i);
    }
    struct rank_case x[] = {timed("fast", 2, 0), timed("near", 2.03, 0), timed("far", 2.05, 0)};
    struct rank_case *list[CASES];
    struct rank r = rank_all(x, 3, list);
    CHECK(rank_may_be_best(&r, &x[1]) && !rank_may_be_best(&r, &x[2]), "intervals");
}

// auto ran the kernel of b. The difference of the two is noise, for all other cases too.
static void test_noise(void)
{
    struct rank_case x[] = {timed("auto", 2.2, 0), timed("b", 2, 0), timed("c", 2.1, 0),
                            timed("d", 2.3, 0)};
    struct rank_case *list[CASES];
    x[0].picked = "b";
    struct rank r = rank_all(x, 4, list);
    CHECK(r.best == &x[1] && r.next == &x[2] && r.near == &x[2], "auto is no other kernel");
    CHECK_NEAR(r.noise, 2.2 / 2 - 1);
    CHECK(rank_picked(&r, &x[0]) == &x[1], "its pick");
    CHECK(rank_may_be_best(&r, &x[2]) && !rank_may_be_best(&r, &x[3]), "within 10 %%");
    x[0].ms = 1.9;
    r = rank_all(x, 4, list);
    CHECK(r.best == &x[0] && r.next == &x[2], "the pick is no other kernel");
    x[0].device = "cpu", x[1].device = "cuda:0";
    r = rank_all(x, 4, list);
    CHECK(r.noise == 0 && r.next == &x[1], "another device");
    x[1].device = "cpu";
    x[1].own_values = true; // another kernel
    r = rank_all(x, 4, list);
    CHECK(r.noise == 0 && r.next == &x[1], "options that auto does not have");
    x[1].own_values = false;
    x[3].alg = "b";
    r = rank_all(x, 4, list);
    CHECK(r.noise == 0, "two of the name that was picked");
}

// The fastest without preparation is b: 2 ms. a takes less than a tenth of a run.
static void test_pays(void)
{
    static const struct {
        double ms, prep, runs; // NAN: nothing to pay, INFINITY: never
    } rows[] = {
        {1, 0, NAN},   {1, 0.1, NAN},    {1, 0.2, 1},      {1, 0.99, 1},  {1, 1, 2},
        {1.5, 10, 21}, {2, 1, INFINITY}, {3, 1, INFINITY}, {3, NAN, NAN}, {NAN, 1, NAN},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        struct rank_case x[] = {timed("a", 4, 0.3), timed("b", 2, 0),
                                timed("c", rows[i].ms, rows[i].prep), timed("plain", 0.5, 0)};
        struct rank_case *list[CASES];
        x[3].reference = true;
        struct rank r = rank_all(x, 4, list);
        bool itself = isnan(rows[i].runs) && rows[i].ms == 1;
        CHECK(r.ready == (itself ? &x[2] : &x[1]), "row %d: over %s", i, r.ready->name);
        CHECK(isnan(x[0].pays_after) && isnan(x[3].pays_after), "row %d", i);
        CHECK(x[2].pays_after == rows[i].runs || (isnan(x[2].pays_after) && isnan(rows[i].runs)),
              "row %d: %g", i, x[2].pays_after);
    }
    // All need preparation. The case with the least is the one to compare with.
    struct rank_case x[] = {timed("a", 1, 5), timed("b", 0.5, 8)};
    struct rank_case *list[CASES];
    struct rank r = rank_all(x, 2, list);
    CHECK(r.ready == &x[0] && isnan(x[0].pays_after) && x[1].pays_after == 7, "%g",
          x[1].pays_after);
}

TESTS(test_order, test_few_samples, test_noise, test_pays)
