// What times of several processes say: stats found by hand or by other programs, and how often
// the verdict is false, and a slowdown found, over thousands of made-up cases.
#include "compare/compare_stats.h"

#include <math.h>

#include "base/student.h"
#include "test.h"

static bool near(double got, double want) { return fabs(got - want) <= 2e-5 * fabs(want) + 1e-12; }
#define CHECK_NEAR(got, want)                                                                      \
    CHECK(near(got, want), "%.9g, want %.9g", (double)(got), (double)(want))

// By tables of the distribution.
static void test_student(void)
{
    CHECK_NEAR(student_quantile(0.05, 1), 12.70620);
    CHECK_NEAR(student_quantile(0.05, 2), 4.302653);
    CHECK_NEAR(student_quantile(0.05, 10), 2.228139);
    CHECK_NEAR(student_quantile(0.01, 30), 2.749996);
    CHECK_NEAR(student_quantile(0.05, INFINITY), 1.959964);
    CHECK_NEAR(student_p(2, 5), 0.1019395);
    CHECK_NEAR(student_p(-10, 2), 0.009852457);
    CHECK_NEAR(student_p(1, 1), 0.5);
    CHECK_NEAR(student_p(0, 3), 1);
    CHECK_NEAR(student_p(40, 8), 1.682424e-10);
    CHECK_NEAR(student_p(5, 1e9), 5.733031e-7);
}

static void test_location(void)
{
    double x[] = {9, 1, 2, 3, 100}, y[] = {4, 2}, one[] = {7}, variance, dof;
    CHECK_NEAR(stats_location(x, 5, &variance, &dof), (2 + 3 + 9) / 3.0);
    // Winsorized: 2 2 3 9 9, of which the squares around 5 are 54.
    CHECK_NEAR(variance, 54 / 3.0 / 2);
    CHECK_NEAR(dof, 2);
    CHECK_NEAR(stats_location(y, 2, &variance, &dof), 3);
    CHECK_NEAR(variance, 1);
    CHECK_NEAR(dof, 1);
    CHECK_NEAR(stats_location(one, 1, &variance, &dof), 7);
    CHECK_NEAR(variance, 0);
    CHECK_NEAR(dof, 0);
}

static int estimate_case(struct estimate *e, const double *y_old, int n_old, const double *y_new,
                         int n_new, bool paired)
{
    static int process[512];
    for (int i = 0; i < COUNT(process); i++) process[i] = i;
    const struct times t = {{y_old, y_new}, {process, process}, {n_old, n_new}, paired};
    return estimate_group(e, &t, 1, t.n, 0);
}

// A single case: what a t-test says.
static void test_one_case(void)
{
    const double a[] = {1, 2, 3}, b[] = {4, 6, 8};
    struct estimate e = {0};
    CHECK(!estimate_case(&e, a, 3, b, 3, false) && !estimate_all(&e, 1), "%s", fail_text());
    CHECK_NEAR(e.shift, 4);
    CHECK_NEAR(e.unit, 5); // twice the mean of 1 and 4
    CHECK_NEAR(e.weight, 3);
    CHECK_NEAR(e.t_dof, 4);
    CHECK_NEAR(e.error, sqrt(5 / 3.0));
    CHECK_NEAR(e.p, student_p(4 / sqrt(5 / 3.0), 4));
    CHECK_NEAR(e.hi - e.shift, 2.776445 * sqrt(5 / 3.0));
    CHECK_NEAR(e.p_of_all, 4 * e.p); // as of 4 cases
    CHECK(!e.guessed, "guessed");
    // Pairs: differences 3, 4, 5.
    CHECK(!estimate_case(&e, a, 3, b, 3, true) && !estimate_all(&e, 1), "%s", fail_text());
    CHECK_NEAR(e.shift, 4);
    CHECK_NEAR(e.unit, 1);
    CHECK_NEAR(e.t_dof, 2);
    CHECK_NEAR(e.error, sqrt(1 / 3.0));
    // Errors within processes are the least that there can be.
    e.within = 4;
    CHECK(!estimate_all(&e, 1), "%s", fail_text());
    CHECK_NEAR(e.error, 2);
    // One process against three.
    e = (struct estimate){0};
    CHECK(!estimate_case(&e, b, 1, a, 3, false) && !estimate_all(&e, 1), "%s", fail_text());
    CHECK_NEAR(e.shift, -2);
    CHECK_NEAR(e.unit, 2);
    CHECK_NEAR(e.weight, 1.5);
    CHECK_NEAR(e.t_dof, 2);
}

#define PAIRS 6
#define GROUP 5 // cases

// Effects of processes on all cases are found: the shared variance is that of the effects, and the
// own variance is that of the rest. Case 0 has the first pairs only.
static void test_shared(void)
{
    static const double effects[PAIRS] = {0.03, -0.05, 0.01, 0.04, -0.02, -0.01}; // mean 0
    static const int process[PAIRS] = {0, 1, 2, 3, 4, 5};
    double y[2][GROUP][PAIRS] = {{{0}}}, squares = 0;
    struct estimate e[GROUP] = {{0}};
    struct times times[GROUP];
    for (int i = 0; i < PAIRS; i++) squares += effects[i] * effects[i];
    for (int c = 0; c < GROUP; c++) {
        int n = c ? PAIRS : PAIRS - 1;
        times[c] = (struct times){{y[0][c], y[1][c]}, {process, process}, {n, n}, true};
        for (int i = 0; i < PAIRS; i++) y[1][c][i] = 0.1 * c + effects[i];
    }
    const int processes[2] = {PAIRS, PAIRS};
    CHECK(!estimate_group(e + 1, times + 1, GROUP - 1, processes, 0), "%s", fail_text());
    CHECK(!estimate_all(e + 1, GROUP - 1), "%s", fail_text());
    double variance = squares / (PAIRS - 1) / PAIRS;
    for (int c = 1; c < GROUP; c++) {
        CHECK(near(e[c].shared_variance, variance) && near(e[c].shared_dof, PAIRS - 1), "case %d",
              c);
        CHECK(near(e[c].shift, 0.1 * c + e[1].shift - 0.1), "case %d: %g", c, e[c].shift);
        CHECK(e[c].unit < 1e-12 && e[c].own_variance < 1e-3 * variance, "case %d: %g", c,
              e[c].unit);
        double p = 4 * student_p(e[c].shift / sqrt(variance), PAIRS - 1);
        CHECK(fabs(log(e[c].p_of_all / p)) < 0.1, "case %d: p %g, want %g", c, e[c].p_of_all, p);
    }
    CHECK(!estimate_group(e, times, GROUP, processes, 0), "%s", fail_text());
    CHECK(e[0].shared_dof > 4 && e[0].shared_variance > e[1].shared_variance, "fewer pairs");
    // Too few cases: the noise is that of each.
    CHECK(!estimate_group(e + 1, times + 1, 3, processes, 0), "%s", fail_text());
    CHECK(e[1].shared_variance <= 0 && e[1].unit > 1e-4, "3 cases: %g", e[1].shared_variance);
}

// One process a side, one case: what is assumed, and no more.
static void test_guess_alone(void)
{
    const double a[] = {0}, b[] = {0.02};
    struct estimate e = {.assumed = 0.01};
    CHECK(!estimate_case(&e, a, 1, b, 1, false) && !estimate_all(&e, 1), "%s", fail_text());
    CHECK(e.guessed, "not guessed");
    CHECK_NEAR(e.t_dof, 2);
    CHECK(e.error > 0.009 && e.error < 0.01, "%g", e.error);
}

static uint64_t drawn;
static double uniform(void) { return (random_value(11, drawn++) + 1) / 2 * 0.999999 + 5e-7; }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()); }

#define RUNS_MOST 64

// n processes a side of a case whose processes differ by `scale`.
static void draw(struct estimate *e, int n, double scale, bool heavy, double shift, bool paired)
{
    double y[2][RUNS_MOST];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < n; i++) {
            double wide = heavy ? 1 / sqrt(-log(uniform())) : 1; // t of 2 degrees of freedom
            y[side][i] = scale * wide * normal() + (side ? shift : 0);
        }
    if (estimate_case(e, y[0], n, y[1], n, paired)) CHECK(false, "%s", fail_text());
}

enum planted { NONE, HALF, ONE, ALL };
#define CASES 100

struct rates {
    int64_t honest, wrong, planted, found;
};

#define H200 0.004 // how much its processes differ

// Sets of 100 cases, as an H200 shows them: heavy tails within each case (model 0), or cases that
// differ in their spread (1).
static struct rates simulate(int sets, double scale, int model, enum planted planted, int n,
                             bool paired)
{
    struct rates r = {0};
    struct estimate e[CASES];
    for (int set = 0; set < sets; set++) {
        bool slow[CASES];
        for (int i = 0; i < CASES; i++) {
            double of_case = model ? scale / sqrt(-log(uniform())) : scale;
            slow[i] = planted == ALL || (planted == HALF && i % 2) || (planted == ONE && !i);
            e[i] = (struct estimate){.size_class = 1 + i % 3, .assumed = 0.0055};
            draw(&e[i], n, of_case, !model, slow[i] ? log(1.05) : 0, paired);
        }
        CHECK(!estimate_all(e, CASES), "%s", fail_text());
        for (int i = 0; i < CASES; i++) {
            bool changed = e[i].p_of_all < STATS_LEVEL && fabs(e[i].shift) > log(1.03);
            *(slow[i] ? &r.planted : &r.honest) += 1;
            *(slow[i] ? &r.found : &r.wrong) += changed && (!slow[i] || e[i].shift > 0);
        }
    }
    return r;
}

// Pairs of a case that is measured until it is clear.
struct course {
    double y[2][512];
    int pairs;
    bool open; // is measured
};

// A comparison of MANY cases that is looked at until each is clear; `factor` is that of p. Returns
// true if it has a false verdict at its end: no case has changed.
#define MANY 6
static bool is_false(int model, double scale, double threshold, int factor)
{
    static struct course c[MANY];
    struct estimate e[MANY];
    bool wrong = false, open = true;
    for (int i = 0; i < MANY; i++) c[i].pairs = 0, c[i].open = true;
    for (int look = 0; look < STATS_LOOKS && open; look++) {
        for (int i = 0; i < MANY; i++) {
            for (; c[i].open && c[i].pairs < stats_look_pairs(look); c[i].pairs++)
                for (int side = 0; side < 2; side++) {
                    double wide = model ? 1 / sqrt(-log(uniform())) : 1;
                    c[i].y[side][c[i].pairs] = scale * wide * normal();
                }
            e[i] = (struct estimate){.looks = factor};
            if (estimate_case(&e[i], c[i].y[0], c[i].pairs, c[i].y[1], c[i].pairs, true))
                CHECK(false, "%s", fail_text());
        }
        CHECK(!estimate_all(e, MANY), "%s", fail_text());
        wrong = open = false;
        for (int i = 0; i < MANY; i++) {
            bool changed = e[i].p_of_all < STATS_LEVEL && fabs(e[i].shift) > log1p(threshold);
            bool same = e[i].lo > -log1p(threshold) && e[i].hi < log1p(threshold);
            wrong |= changed;
            open |= c[i].open = !changed && !same;
        }
    }
    return wrong;
}

// If nothing has changed, few measurements that continue until a clear verdict are false. Without
// the correction for looks more are false, so this test can fail.
static void test_looks(void)
{
    CHECK(stats_look_pairs(0) == 8 && stats_look_pairs(1) == 12 && stats_look_pairs(4) == 40 &&
              stats_look_pairs(STATS_LOOKS - 1) == 307,
          "%d", stats_look_pairs(STATS_LOOKS - 1));
    CHECK(stats_look_factor(7) == 1 && stats_look_factor(8) == STATS_LOOKS, "factors");
    for (int model = 0; model < 2; model++) {
        int rounds = 400, wrong = 0, bare = 0, usual = 0;
        for (int i = 0; i < rounds; i++) {
            wrong += is_false(model, 0.1, 1e-6, STATS_LOOKS); // any change is one
            bare += is_false(model, 0.1, 1e-6, 1);
            usual += is_false(model, 0.1, 0.03, STATS_LOOKS);
        }
        printf("model %d: of %d, %d false, %d with the usual threshold, %d uncorrected\n", model,
               rounds, wrong, usual, bare);
        CHECK(wrong * 25 <= rounds && usual * 25 <= rounds, "model %d: %d and %d false of %d",
              model, wrong, usual, rounds);
        CHECK(bare * 15 > rounds, "model %d: only %d of %d uncorrected", model, bare, rounds);
    }
}

// With the default number of processes, which is why it is that.
static void test_rates(void)
{
    for (int model = 0; model < 2; model++)
        for (int planted = NONE; planted <= ALL; planted++)
            for (int paired = 0; paired < 2; paired++) {
                int sets = planted == ONE ? 120 : 24;
                struct rates r = simulate(sets, H200, model, (enum planted)planted, 6, paired);
                CHECK(r.wrong * 100 <= r.honest, "model %d, planted %d, paired %d: %lld of %lld",
                      model, planted, paired, (long long)r.wrong, (long long)r.honest);
                // A single slow case among a hundred has the most to prove.
                int least = planted == ONE ? 80 : 90;
                CHECK(r.found * 100 >= r.planted * least,
                      "model %d, planted %d, paired %d: %lld of %lld found", model, planted, paired,
                      (long long)r.found, (long long)r.planted);
            }
}

// A process a side: hardly a false verdict.
static void test_rates_guessed(void)
{
    for (int model = 0; model < 2; model++) {
        struct rates none = simulate(24, H200, model, NONE, 1, false);
        CHECK(none.wrong * 100 <= none.honest, "model %d: %lld of %lld", model,
              (long long)none.wrong, (long long)none.honest);
    }
}

// Processes that differ by a third, as on processors with many neighbours: nothing is found, and
// nothing is made up.
static void test_rates_noisy(void)
{
    for (int model = 0; model < 2; model++)
        for (int n = 2; n <= 6; n += 4) {
            struct rates r = simulate(24, 0.3, model, NONE, n, n == 6);
            CHECK(r.wrong * 100 <= r.honest, "model %d, n %d: %lld of %lld", model, n,
                  (long long)r.wrong, (long long)r.honest);
        }
}

// With as many processes as a report advises by the spread of six, 5 % are found.
static void test_advice(void)
{
    struct estimate e[CASES];
    double spread[CASES];
    for (int i = 0; i < CASES; i++) {
        e[i] = (struct estimate){.size_class = 1};
        draw(&e[i], 6, 0.01, true, 0, true);
    }
    CHECK(!estimate_all(e, CASES), "%s", fail_text());
    for (int i = 0; i < CASES; i++) spread[i] = e[i].spread;
    stats_median(spread, CASES); // sorts
    int n = stats_runs_needed(spread[94], 5, 3);
    CHECK(n > 6 && n <= RUNS_MOST, "%d", n);
    struct rates r = simulate(8, 0.01, 0, HALF, n, true);
    CHECK(r.found * 100 >= r.planted * 95 && r.wrong * 100 <= r.honest,
          "%d: %lld of %lld found, "
          "%lld of %lld false",
          n, (long long)r.found, (long long)r.planted, (long long)r.wrong, (long long)r.honest);
}

// The example of Benjamini and Hochberg 1995: of these 15, the first four are rejected at 5 %.
static void test_correction(void)
{
    static const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                               0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
    struct estimate e[COUNT(p)];
    for (int i = 0; i < COUNT(p); i++) {
        double t = i == COUNT(p) - 1 ? 0 : student_quantile(p[i], 9);
        e[i] = (struct estimate){.dof = 9, .unit = 1, .weight = 1, .shift = t};
    }
    CHECK(!estimate_all(e, COUNT(p)), "%s", fail_text());
    int rejected = 0;
    for (int i = 0; i < COUNT(p); i++) {
        rejected += e[i].p_of_all < 0.05;
        CHECK(!i || e[i].p_of_all >= e[i - 1].p_of_all, "p of all falls at %d", i);
    }
    // All units are the same, so the fit takes the spread for known, and p is smaller; the order
    // and the factors stay: n / k * p, and never more than what follows.
    CHECK(e[14].p_of_all <= 1 && rejected >= 4, "%d rejected", rejected);
    for (int i = 0; i < COUNT(p); i++) {
        double least = 1;
        for (int k = i; k < COUNT(p); k++)
            least = fmin(least, e[k].p * fmax(4, COUNT(p) / (k + 1.0)));
        CHECK_NEAR(e[i].p_of_all, least);
    }
}

// Cases of the same spread lend each other their degrees of freedom; where the spread of one is a
// hundred times that of the others, it is left to its own.
static void test_pooling(void)
{
    struct estimate e[50];
    double known = 0;
    for (int i = 0; i < 50; i++) {
        e[i] = (struct estimate){0};
        draw(&e[i], 3, 0.01, false, 0, false);
    }
    CHECK(!estimate_all(e, 50), "%s", fail_text());
    for (int i = 0; i < 50; i++) known += e[i].spread / 50;
    CHECK(e[0].t_dof > 12, "%g degrees of freedom", e[0].t_dof);
    CHECK(known > 1.2e-4 && known < 3e-4, "spread %g", known); // 2 * 0.01^2
    for (int i = 0; i < 50; i++) draw(&e[i], 3, i % 5 ? 0.001 : 0.1, false, 0, false);
    CHECK(!estimate_all(e, 50), "%s", fail_text());
    CHECK(e[0].t_dof < 8, "%g degrees of freedom", e[0].t_dof);
    double wide = 0, narrow = 0;
    for (int i = 0; i < 50; i++) *(i % 5 ? &narrow : &wide) += sqrt(e[i].spread);
    CHECK(4 * wide > 15 * narrow, "%g and %g", wide, narrow);
}

static void test_classes(void)
{
    CHECK(stats_class(0.0199) == 0 && stats_class(0.02) == 1 && stats_class(0.2) == 2 &&
              stats_class(1.99) == 2 && stats_class(2) == 3,
          "classes");
}

// The advice holds: with so many pairs, what is planted is over the threshold in 95 % of draws.
static void test_runs_needed(void)
{
    CHECK(stats_runs_needed(1e-9, 5, 3) == 3, "%d", stats_runs_needed(1e-9, 5, 3));
    double scale = 0.02; // of a process
    int n = stats_runs_needed(2 * scale * scale, 5, 3), over = 0;
    CHECK(n > 3 && n < 16, "%d", n);
    for (int i = 0; i < 2000; i++) {
        double sum = 0;
        for (int r = 0; r < n; r++) sum += scale * (normal() - normal()) / n;
        over += log(1.05) + sum > log(1.03);
    }
    CHECK(over > 1880 && over < 1980, "%d of 2000", over);
}

TESTS(test_student, test_location, test_one_case, test_shared, test_guess_alone, test_rates,
      test_rates_guessed, test_rates_noisy, test_advice, test_correction, test_pooling,
      test_classes, test_runs_needed, test_looks)
