// Simulation of comparisons: the share of false verdicts, of comparisons that end as a regression
// without a cause, and of planted slowdowns found. The noise between processes follows the models
// below. `test_compare_noise table [CASES [MATRICES [TRIALS]]]` prints all rates.
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "test.h"

#define CASES_MOST 40
#define RUNS_MOST  12
#define WITHIN     0.002 // standard error of ln(time) within a process
#define PLANTED    0.05

static uint64_t drawn;
static double uniform(void) { return (random_value(23, drawn++) + 1) / 2 * 0.999999 + 5e-7; }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()); }
static double slow_clock(double share, double by) { return uniform() < share ? by : 0; }

// Noise of ln(time) between processes. `common` noise is equal in all cases of a process.
enum noise {
    NORMAL_1,   // normal, 1 %
    NORMAL_3,   // normal, 3 %
    BY_CASE,    // normal, 0.2 to 5 %, depending on the case
    CLOCKS_30,  // 30 % of the processes 6 % slower
    CLOCKS_10,  // 10 % of the processes 8 % slower
    OUTLIERS,   // 5 % of the processes 20 to 70 % slower
    DRIFT_3,    // 3 % from the first to the last process, common
    DRIFT_10,   // 10 %, common
    WALK,       // random walk in steps of 2 %
    WALK_ALL,   // random walk in steps of 2 %, common
    CAUCHY,     // Cauchy of scale 1 %
    ALL_1,      // normal, 1 %, common
    BOTH_1,     // normal, 0.7 % common and 0.7 % by case
    ALL_2,      // normal, 2 %, common
    ALL_5,      // normal, 5 %, common
    CLOCKS_ALL, // 30 % of the processes 6 % slower, common
    HALF_5,     // normal, 5 %, common to every other case
    QUARTER_5,  // normal, 5 %, common to every fourth case
    GROUPS_5,   // normal, 5 %, common to each of four groups
    NOISES
};
static const char *const noise_names[NOISES] = {"normal 1 %",
                                                "normal 3 %",
                                                "by case 0.2 to 5 %",
                                                "two clocks 6 %, 30 %",
                                                "two clocks 8 %",
                                                "outliers 5 %",
                                                "drift 3 %",
                                                "drift 10 %",
                                                "walk 2 %",
                                                "walk 2 %, all",
                                                "Cauchy 1 %",
                                                "all alike 1 %",
                                                "0.7 % and 0.7 %",
                                                "all alike 2 %",
                                                "all alike 5 %",
                                                "all alike, clocks 6 %",
                                                "half alike 5 %",
                                                "quarter alike 5 %",
                                                "four groups alike 5 %"};

// Noise of all cases in the process that ran at time `t` of `times`.
static void draw_process(enum noise noise, int t, int times, int cases, const double *scale,
                         double *walk, double *y)
{
    static double common; // of the walk, from process to process
    double all = 0, part[4] = {0}; // part: of the cases i with this i % 4
    switch (noise) {
    case DRIFT_3: all = 0.03 * t / (times - 1); break;
    case DRIFT_10: all = 0.10 * t / (times - 1); break;
    case WALK_ALL: all = common = t ? common + 0.02 * normal() : 0; break;
    case ALL_1: all = 0.01 * normal(); break;
    case BOTH_1: all = 0.007 * normal(); break;
    case ALL_2: all = 0.02 * normal(); break;
    case ALL_5: all = 0.05 * normal(); break;
    case CLOCKS_ALL: all = slow_clock(0.3, 0.06); break;
    case HALF_5: part[1] = part[3] = 0.05 * normal(); break;
    case QUARTER_5: part[0] = 0.05 * normal(); break;
    case GROUPS_5:
        for (int i = 0; i < COUNT(part); i++) part[i] = 0.05 * normal();
        break;
    default: break;
    }
    for (int i = 0; i < cases; i++) {
        double own = 0;
        switch (noise) {
        case NORMAL_1: own = 0.01 * normal(); break;
        case NORMAL_3: own = 0.03 * normal(); break;
        case BY_CASE: own = scale[i] * normal(); break;
        case CLOCKS_30: own = slow_clock(0.3, 0.06); break;
        case CLOCKS_10: own = slow_clock(0.1, 0.08); break;
        case OUTLIERS: own = slow_clock(0.05, log(1.2 + 0.5 * uniform())); break;
        case WALK: own = walk[i] = t ? walk[i] + 0.02 * normal() : 0; break;
        case CAUCHY: own = 0.01 * tan(M_PI * (uniform() - 0.5)); break;
        case BOTH_1: own = 0.007 * normal(); break;
        default: break;
        }
        y[i] = all + part[i % COUNT(part)] + own + WITHIN * normal();
    }
}

enum planted { NONE, HALF, ONE, EACH };

// Cases are spread over matrices. A process measures the cases of a matrix.
struct trial_setup {
    enum noise noise;
    int cases, matrices, runs; // runs: processes a side of each matrix
    bool apart;                // all of OLD ahead of all of NEW; else OLD NEW, NEW OLD, ...
    enum planted planted;
};

struct rates {
    int trials, red;                       // comparisons; ended as a regression
    int64_t honest, wrong, planted, found; // cases
};

static bool is_slow(const struct trial_setup *s, int i)
{
    return s->planted == EACH || (s->planted == HALF && i % 2) ||
           (s->planted == ONE && i == s->cases / 2);
}

static struct observation seen[SIDES][CASES_MOST][RUNS_MOST];

// Makes up the records of the cases of a matrix.
static void measure(const struct trial_setup *s, int matrix, const double *scale)
{
    static char names[CASES_MOST][SIDES * RUNS_MOST][16];
    double walk[CASES_MOST] = {0}, y[CASES_MOST];
    int n = s->cases / s->matrices, first = matrix * n, times = 2 * s->runs;
    for (int t = 0; t < times; t++) {
        int run = s->apart ? t % s->runs : t / 2, side = s->apart ? t / s->runs : (t + run) % 2;
        char *name = names[matrix][t];
        snprintf(name, sizeof names[0][0], "%d", matrix * times + t);
        draw_process(s->noise, t, times, n, scale + first, walk, y);
        for (int i = first; i < first + n; i++) {
            double ms = 0.005 * pow(1000, (double)i / CASES_MOST) * exp(y[i - first]);
            if (is_slow(s, i) && side == SIDE_NEW) ms *= 1 + PLANTED;
            seen[side][i][run] = (struct observation){.when = 1 + t,
                                                      .status = STATUS_OK,
                                                      .ms = ms,
                                                      .gflops = 1 / ms,
                                                      .low = 1,
                                                      .error = WITHIN,
                                                      .key = (char *)"",
                                                      .run = name,
                                                      .device = (char *)"cuda:0"};
        }
    }
}

static void compare_once(const struct trial_setup *s, struct rates *r)
{
    const struct compare_rule rule = {.threshold = 0.03};
    double scale[CASES_MOST];
    struct comparison c = {.cases = mem_zero_alloc(s->cases, sizeof *c.cases), .count = s->cases};
    if (!c.cases) return;
    for (int i = 0; i < s->cases; i++) {
        scale[i] = 0.002 * pow(25, uniform());
        for (int side = 0; side < SIDES; side++)
            c.cases[i].seen[side] = seen[side][i], c.cases[i].count[side] = s->runs;
    }
    for (int m = 0; m < s->matrices; m++) measure(s, m, scale);
    CHECK(!comparison_judge(&c, &rule), "%s", fail_text());
    r->trials++;
    r->red += comparison_conclude(&c) == CONCLUSION_REGRESSION;
    for (int i = 0; i < s->cases; i++) {
        enum verdict verdict = c.cases[i].verdict;
        bool slow = is_slow(s, i);
        *(slow ? &r->planted : &r->honest) += 1;
        r->found += slow && verdict == VERDICT_SLOWER;
        r->wrong += verdict == VERDICT_FASTER || (!slow && verdict == VERDICT_SLOWER);
    }
    comparison_free(&c);
}

static struct rates simulate(struct trial_setup s, int trials)
{
    struct rates r = {0};
    drawn = 0;
    for (int i = 0; i < trials; i++) compare_once(&s, &r);
    return r;
}

// At most 1 % of the verdicts are false, and 2 % of the comparisons without a change are red.
static void check_false(const char *name, const struct trial_setup *s, const struct rates *r)
{
    CHECK(r->wrong * 100 <= r->honest, "%s, %d matrices, %d runs: %lld of %lld verdicts are false",
          name, s->matrices, s->runs, (long long)r->wrong, (long long)r->honest);
    CHECK(s->planted != NONE || r->red * 50 <= r->trials,
          "%s, %d matrices, %d runs: %d of %d are red", name, s->matrices, s->runs, r->red,
          r->trials);
}

static void test_false(void)
{
    for (int noise = 0; noise < HALF_5; noise++) { // the others: test_part()
        struct trial_setup s = {.noise = (enum noise)noise, .cases = 40, .matrices = 1, .runs = 6};
        struct rates r = simulate(s, 200);
        check_false(noise_names[noise], &s, &r);
        s.planted = HALF;
        r = simulate(s, 25);
        check_false(noise_names[noise], &s, &r);
    }
}

// Noise shared by some of the cases is not taken for a change of these cases.
static void test_part(void)
{
    for (int noise = HALF_5; noise <= GROUPS_5; noise++) {
        struct trial_setup s = {.noise = (enum noise)noise, .cases = 40, .matrices = 1, .runs = 6};
        struct rates r = simulate(s, 1500);
        CHECK(r.red * 200 <= r.trials && r.wrong * 200 <= r.honest,
              "%s: %d of %d are red, %lld of %lld verdicts are false", noise_names[noise], r.red,
              r.trials, (long long)r.wrong, (long long)r.honest);
    }
}

static bool is_drift(enum noise noise)
{
    return noise == DRIFT_3 || noise == DRIFT_10 || noise == WALK || noise == WALK_ALL;
}

// Other numbers of processes, cases and matrices, over all kinds of noise. Two processes a side may
// agree by chance, so this holds for the sum only.
static void test_setups(void)
{
    static const struct trial_setup setups[] = {
        {.cases = 40, .matrices = 4, .runs = 6},  // 4 groups of processes
        {.cases = 40, .matrices = 20, .runs = 6}, // groups of 2 cases show no effects
        {.cases = 4, .matrices = 1, .runs = 6},
        {.cases = 40, .matrices = 1, .runs = 3},
        {.cases = 40, .matrices = 1, .runs = 2},
        {.cases = 40, .matrices = 1, .runs = 1},
        {.cases = 40, .matrices = 1, .runs = 6, .apart = true}};
    for (int i = 0; i < COUNT(setups); i++) {
        struct rates sum = {0};
        for (int noise = 0; noise < NOISES; noise++) {
            struct trial_setup s = setups[i];
            s.noise = (enum noise)noise;
            if (s.apart && is_drift(s.noise)) continue; // drift looks like a change
            struct rates r = simulate(s, 40);
            sum.trials += r.trials, sum.red += r.red;
            sum.honest += r.honest, sum.wrong += r.wrong;
        }
        check_false("all noise", &setups[i], &sum);
        CHECK(setups[i].runs > 1 || (!sum.red && !sum.wrong), "%d guesses are red", sum.red);
    }
}

// If processes differ by 1 % or less, a change of 5 % is found in 90 % of cases.
static void test_found(void)
{
    static const enum noise quiet[] = {NORMAL_1, ALL_1, BOTH_1, DRIFT_3};
    for (int i = 0; i < COUNT(quiet); i++)
        for (int planted = HALF; planted <= EACH; planted++) {
            struct trial_setup s = {quiet[i], 40, 1, 6, false, (enum planted)planted};
            struct rates r = simulate(s, planted == ONE ? 80 : 10);
            CHECK(r.found * 10 >= r.planted * 9, "%s, %d: %lld of %lld found", noise_names[s.noise],
                  planted, (long long)r.found, (long long)r.planted);
        }
}

static double percent(int64_t part, int64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

// Arguments: cases, matrices, trials.
static void print_table(int argc, char **argv)
{
    static const int runs[] = {6, 12, 3, 2, 1};
    int values[] = {40, 1, 400};
    for (int i = 0; i < argc && i < COUNT(values); i++) values[i] = atoi(argv[i]);
    printf("%d cases, %d matrices, %d trials, in percent\n", values[0], values[1], values[2]);
    printf("runs  %-22s  %6s %6s  %10s  %s\n", "noise", "false", "red", "false half",
           "found: half, one, all");
    for (int k = 0; k < COUNT(runs); k++)
        for (int noise = 0; noise < NOISES; noise++) {
            struct rates r[EACH + 1];
            struct trial_setup s = {(enum noise)noise, values[0], values[1], runs[k], false, NONE};
            for (int p = NONE; p <= EACH; p++) {
                s.planted = (enum planted)p;
                r[p] = simulate(s, p == NONE ? values[2] : values[2] / 4);
            }
            printf("%4d  %-22s  %6.2f %6.1f  %10.2f  %5.0f %5.0f %5.0f\n", s.runs,
                   noise_names[noise], percent(r[NONE].wrong, r[NONE].honest),
                   percent(r[NONE].red, r[NONE].trials), percent(r[HALF].wrong, r[HALF].honest),
                   percent(r[HALF].found, r[HALF].planted), percent(r[ONE].found, r[ONE].planted),
                   percent(r[EACH].found, r[EACH].planted));
        }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "table")) {
        print_table(argc - 2, argv + 2);
        return 0;
    }
    RUN_ALL(test_false, test_part, test_setups, test_found);
    return TEST_END();
}
