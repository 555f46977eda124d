// The rules of timing, on a device whose clock is a script; and the bound of a time.
#include "measure/timing.h"

#include <math.h>
#include <time.h>

#include "measure/bound.h"
#include "test.h"

static double (*next_ms)(int sample); // what sample number `sample` takes, warm-up included
static int runs, marks, flushes;
static bool hot;
static char deeds[1 << 17]; // what was done, a letter each
static int deed_count;

static int note(char deed)
{
    if (deed_count < COUNT(deeds) - 1) deeds[deed_count++] = deed;
    deeds[deed_count] = 0;
    return OK;
}

static int count_run(void *arg) { return (void)arg, runs++, note('r'); }
static int count_before(void *arg) { return (void)arg, note('b'); }
static int count_after(void *arg) { return (void)arg, note('a'); }
static int count_release(void *arg) { return (void)arg, note('x'); }
static bool is_even(void *arg, int64_t sample, bool late)
{
    return (void)arg, !late && sample % 2 == 0;
}
static int fake_start(struct device *d) { return (void)d, OK; }
static int fake_flush(struct device *d) { return (void)d, flushes++, note('f'); }
static int fake_stop(struct device *d, double *ms)
{
    (void)d;
    *ms = next_ms(marks++);
    return OK;
}
static int fake_sync(struct device *d) { return (void)d, OK; }
static int fake_clock(struct device *d, int *now, int *max)
{
    (void)d;
    *now = 1500, *max = 2000;
    return OK;
}
static int fake_throttled(struct device *d) { return (void)d, hot; }

static const struct device_ops fake_ops = {
    .timer_start = fake_start,
    .timer_stop = fake_stop,
    .flush_cache = fake_flush,
    .clock_mhz = fake_clock,
    .throttled = fake_throttled,
    .sync = fake_sync,
    .sync_all = fake_sync,
};

static int measure_with(double (*script)(int), struct timed_work work, struct timing_rule rule,
                        struct timing *t)
{
    struct device d = {.ops = &fake_ops};
    next_ms = script;
    runs = marks = flushes = deed_count = 0;
    return timing_measure(&d, &work, &rule, t);
}

static int measure(double (*script)(int), struct timing_rule rule, struct timing *t)
{
    return measure_with(script, (struct timed_work){.run = count_run}, rule, t);
}

static double steady(int i) { return (void)i, 2.0; }
static double noisy(int i) { return 1.0 + 0.5 * (double)(random_at(9, (uint64_t)i) % 100) / 100; }
static double two_levels(int i) { return i % 2 ? 1.0 : 2.0; }
static double quick(int i) { return (void)i, 0.001; }

static void test_ranks(void)
{
    // From tables of the sign test: the 95 % interval of the median is X(l) .. X(n + 1 - l).
    static const struct {
        int n, l;
    } table[] = {{6, 1},  {8, 1},  {9, 2},   {10, 2},  {12, 3},  {15, 4},
                 {20, 6}, {25, 8}, {30, 10}, {50, 18}, {100, 40}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int lo, hi;
        timing_median_ranks(table[i].n, &lo, &hi);
        CHECK(lo == table[i].l - 1 && hi == table[i].n - table[i].l, "n = %d: [%d, %d]", table[i].n,
              lo, hi);
    }
    int lo, hi, lo2, hi2;
    timing_median_ranks(1000, &lo, &hi);
    timing_median_ranks(1001, &lo2, &hi2);
    CHECK(lo2 - lo >= 0 && lo2 - lo <= 2, "exact and normal ranks differ: %d, %d", lo, lo2);
    // Beyond that: at most 2.5 % below, and not much less. ln of the binomial's terms, which are
    // too small for themselves.
    for (int n = 1001; n < 100000; n = n * 3 / 2) {
        double below = 0, more = 0;
        timing_median_ranks(n, &lo, &hi);
        for (int i = 0; i <= lo + 2; i++) {
            double term = exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) - n * log(2));
            if (i <= lo) below += term;
            more += term;
        }
        CHECK(below <= 0.025 && more > 0.025 && hi == n - 1 - lo, "n = %d: [%d, %d], %g to %g", n,
              lo, hi, below, more);
    }
    timing_median_ranks(1, &lo, &hi);
    CHECK(lo == 0 && hi == 0, "n = 1: [%d, %d]", lo, hi);
}

static void test_summary(void)
{
    double samples[] = {5, 1, 3, 2, 40, 3}, even[] = {30, 1, 2, 4};
    struct timing t = {.samples = samples, .count = 5};
    CHECK(timing_summarise(&t) == OK, "%s", fail_text());
    CHECK(t.median == 3 && t.min == 1 && fabs(t.mean - 10.2) < 1e-12, "median %g min %g mean %g",
          t.median, t.min, t.mean);
    CHECK(fabs(t.p5 - 1.2) < 1e-12 && fabs(t.p95 - 33) < 1e-12, "p5 %g p95 %g", t.p5, t.p95);
    CHECK(isnan(t.ci_lo) && isnan(t.ci_hi), "5 samples have an interval: from %g to %g", t.ci_lo,
          t.ci_hi);
    CHECK(samples[0] == 5, "the samples were reordered");
    t = (struct timing){.samples = samples, .count = 6};
    CHECK(timing_summarise(&t) == OK && t.ci_lo == 1 && t.ci_hi == 40, "from %g to %g", t.ci_lo,
          t.ci_hi);
    t = (struct timing){.samples = even, .count = 4};
    CHECK(timing_summarise(&t) == OK && t.median == 3 && t.mean == 9.25, "median %g mean %g",
          t.median, t.mean);
}

static double nothing(int i) { return (void)i, 0.0; }
static int fail_third(void *arg)
{
    return count_run(arg) || runs != 3 ? OK : fail(ERR_DEVICE, "the third run broke");
}
static int fail_late(void *arg)
{
    return count_run(arg) || runs != 40 ? OK : fail(ERR_DEVICE, "a late run broke");
}
static double slow(int i) { return (void)i, 30.0; }
static double slower(int i) { return (void)i, 60.0; }

static double counts(int i) { return 1 + i; }
static int lasting_run(void *arg)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    return count_run(arg);
}

// At least three runs and 50 ms of warm-up come before the first sample, and none of them is one.
static void test_warm_up(void)
{
    struct timing t;
    int err = measure_with(counts, (struct timed_work){.run = lasting_run},
                           (struct timing_rule){.reps = 1}, &t);
    CHECK(!err && t.warmup >= 3 && runs == t.warmup + 1, "%d runs of 30 ms of %d", t.warmup, runs);
    CHECK(!err && t.samples[0] == 1 + t.warmup, "the first sample is a warm-up run");
    timing_free(&t);
    double start = clock_ms();
    err = measure(counts, (struct timing_rule){.reps = 1}, &t);
    double took = clock_ms() - start;
    CHECK(!err && took >= 50 && t.warmup >= 3, "%d runs in %g ms", t.warmup, took);
    CHECK(!err && t.samples[0] == 1 + t.warmup, "the first sample is a warm-up run");
    timing_free(&t);
}

// The bound is the larger of two, the one that is known where the other is not.
static void test_bound(void)
{
    static const struct {
        struct roof roof;
        enum prec prec;
        int64_t flops, bytes;
        double ms;
    } table[] = {
        {{.memory_gb_s = 10, .fma_gflops = {30, 15}}, F32, 6000000, 40000000, 4},
        {{.memory_gb_s = 10, .fma_gflops = {30, 15}}, F32, 300000000, 40000000, 10},
        {{.memory_gb_s = 10, .fma_gflops = {30, 15}}, F64, 300000000, 40000000, 20},
        {{.memory_gb_s = 10, .copy_gb_s = 5, .read_gb_s = 10}, F32, 0, 40000000, 4},
        {{.memory_gb_s = 10, .fma_gflops = {30, 15}}, F64, 0, 40000000, 4},
        {{.memory_gb_s = 10, .fma_gflops = {30, 0}}, F64, 300000000, 40000000, 4},
        {{.memory_gb_s = 0, .fma_gflops = {30, 15}}, F32, 300000000, 40000000, 10},
        {{.near_gb_s = 90}, F32, 300000000, 40000000, 0},
    };
    for (int i = 0; i < COUNT(table); i++) {
        double ms =
            bound_roofline_ms(&table[i].roof, table[i].prec, table[i].flops, table[i].bytes);
        CHECK(fabs(ms - table[i].ms) < 1e-9, "row %d: %g ms and should be %g", i, ms, table[i].ms);
    }
}

// A result that each run makes is looked at or released; that leaves no room for batches. After a
// run that failed there is nothing to look at.
static void test_release(void)
{
    struct timed_work work = {
        .run = count_run, .before = count_before, .after = count_after, .release = count_release};
    struct timing t;
    for (int both = 0; both < 2; both++) {
        work.is_due = both ? NULL : is_even;
        int err = measure_with(quick, work, (struct timing_rule){.reps = 4, .warmup = 1}, &t);
        CHECK(!err && t.batch == 1 && t.count == 4, "batch %d, %d samples", t.batch, t.count);
        CHECK_TEXT(deeds, both ? "rxbrarxbrarxbrarxbra" : "rxbrarxbrxbrarxbra");
        timing_free(&t);
    }
    work.run = fail_third;
    int err = measure_with(slow, work, (struct timing_rule){.reps = 5}, &t);
    CHECK(err == ERR_DEVICE && !t.samples, "error %d", err);
    work.run = fail_late;
    err = measure_with(slow, work, (struct timing_rule){.reps = 10000000}, &t);
    CHECK(err == ERR_DEVICE && runs == 40 && !t.samples && !t.count, "error %d", err);
}

// The result of each sample is spoilt before, and looked at after if it is due or the last. So that
// a look is not seen in the cache, a run follows, unless it is so long that it does not matter, or
// the cache is cold.
static void test_hooks(void)
{
    static const struct {
        double (*script)(int);
        bool cold, both;
        const char *deeds;
    } table[] = {{slow, false, false, "rbrarbrbrarbra"},  {slow, false, true, "rbrarbrarbrarbra"},
                 {slower, false, false, "rbrabrbrabra"},  {slower, false, true, "rbrabrabrabra"},
                 {slow, true, false, "rbfrabfrbfrabfra"}, {slow, true, true, "rbfrabfrabfrabfra"}};
    struct timed_work work = {.run = count_run, .before = count_before, .after = count_after};
    struct timing t;
    for (int i = 0; i < COUNT(table); i++) {
        const struct timing_rule rule = {.reps = 4, .warmup = 1, .cold = table[i].cold};
        work.is_due = table[i].both ? NULL : is_even;
        int err = measure_with(table[i].script, work, rule, &t);
        CHECK(!err && t.count == 4 && t.warmup == 1, "row %d: %d samples after %d", i, t.count,
              t.warmup);
        CHECK_TEXT(deeds, table[i].deeds);
        timing_free(&t);
    }
    // A run that is looked at and one to refresh come before each batch, and one to refresh
    // between.
    for (int both = 0; both < 2; both++) {
        work.is_due = both ? NULL : is_even;
        int err = measure_with(quick, work, (struct timing_rule){.reps = 2, .warmup = 2}, &t);
        CHECK(!err && t.batch == 997 && runs == 2 + 2 * 997 + (both ? 5 : 3), "batch %d, %d runs",
              t.batch, runs);
        timing_free(&t);
    }
}

static int refuse(void *arg) { return (void)arg, fail(ERR_UNCHECKED, "refused"); }
static int refuse_change(void *arg, bool really)
{
    return really == *(bool *)arg ? fail(ERR_UNCHECKED, "refused") : OK;
}

static void test_hook_errors(void)
{
    for (int i = 0; i < 4; i++) {
        bool really = i == 2;
        struct timed_work work = {.run = count_run, .arg = &really};
        struct timing t;
        if (i == 0) work.before = refuse;
        if (i == 1) work.after = refuse;
        if (i >= 2) work.change = refuse_change;
        int err = measure_with(slow, work, (struct timing_rule){.reps = 4, .warmup = 1}, &t);
        CHECK(err == ERR_UNCHECKED && !t.samples, "hook %d: error %d", i, err);
        CHECK(i >= 2 || runs == 1 + i, "hook %d: %d runs", i, runs);
    }
}

// Runs whose time depends on the inputs: as they were, touched, or changed.
enum inputs { USUAL, TOUCHED, CHANGED };
static double usual_ms = 1;
static double cost[3], spent; // of a run; of all since the clock was read
static double other_cost;     // of a run from trial number other_from of kind other_kind on
static enum inputs inputs, other_kind;
static int other_from = 99, trials[3];
static int warm_ms, change_ms; // what the first three runs take; a change
static double slept_ms, began; // in changes; begin of the measurement

static double by_inputs(int i)
{
    double ms = spent;
    (void)i;
    spent = 0;
    return ms;
}
static void rest(int ms)
{
    if (ms) nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}
static int trial_run(void *arg)
{
    spent += trials[inputs] >= other_from && inputs == other_kind ? other_cost : cost[inputs];
    inputs = USUAL;
    if (runs < 3) rest(warm_ms);
    return count_run(arg);
}
static int trial_change(void *arg, bool really)
{
    (void)arg;
    inputs = really ? CHANGED : TOUCHED;
    trials[inputs]++;
    // Further trials take no more than their share of the time, and 3 are taken at the end.
    CHECK(trials[inputs] <= 3 || slept_ms <= 0.25 * (clock_ms() - began), "%g of %g ms", slept_ms,
          clock_ms() - began);
    rest(change_ms);
    slept_ms += change_ms;
    return note(really ? 'C' : 'c');
}

static const struct timed_work trial_work = {
    .run = trial_run, .before = count_before, .after = count_after, .change = trial_change};

static int measure_trials(double touched, double changed, struct timing_rule rule, struct timing *t)
{
    cost[USUAL] = usual_ms, cost[TOUCHED] = touched, cost[CHANGED] = changed;
    trials[TOUCHED] = trials[CHANGED] = 0;
    slept_ms = spent = 0;
    inputs = USUAL;
    began = clock_ms();
    return measure_with(by_inputs, trial_work, rule, t);
}

// Trials: one of each kind in 8 rounds, at random rounds. The same inputs come first. Trials are no
// samples.
static void test_trials(void)
{
    enum { EIGHTS = 1600, LEAST = 3, MOST = 100 }; // 25 or 50 on average
    int count[8][8] = {{0}}, place[2] = {-1, -1}, round = 0;
    struct timing t;
    warm_ms = 100;
    int err = measure_trials(5, 5, (struct timing_rule){.reps = 8 * EIGHTS, .warmup = 3}, &t);
    warm_ms = 0;
    CHECK(!err && t.count == 8 * EIGHTS, "%d samples: %s", t.count, err ? fail_text() : "");
    CHECK(!err && t.min == 1 && t.mean == 1 && t.changed_ms == 5 && t.same_ms == 5,
          "samples of %g, %g and %g ms", t.mean, t.same_ms, t.changed_ms);
    for (const char *b = strchr(deeds, 'b'); b; b = strchr(b + 1, 'b')) {
        const bool changed = b[1] == 'C', trial = changed || b[1] == 'c';
        if (trial) {
            CHECK(!strncmp(b + 2, "ra", 2), "a trial is not looked at: %.9s", b);
            CHECK(place[changed] < 0 && place[true] < 0, "round %d: a wrong trial", round);
            place[changed] = round % 8;
        } else if (++round % 8 == 0) {
            CHECK(place[false] >= 0 && place[true] >= 0, "no trials before round %d", round);
            if (place[false] >= 0 && place[true] >= 0) count[place[false]][place[true]]++;
            place[false] = place[true] = -1;
        }
    }
    for (int i = 0; i < 8; i++)
        for (int x = i; x < 8; x++)
            CHECK(count[i][x] >= LEAST && count[i][x] <= MOST, "rounds %d and %d: %d", i, x,
                  count[i][x]);
    timing_free(&t);
    // In the cold the cache is flushed after the change.
    err = measure_trials(1, 1, (struct timing_rule){.reps = 1, .warmup = 1, .cold = true}, &t);
    CHECK(!err && strstr(deeds, "bCfra"), "%s", deeds);
    timing_free(&t);
}

// Three trials of each kind are taken if there is time. Without time there is one with other
// inputs. Further trials of a suspect have time of their own.
static void test_few_trials(void)
{
    struct timing t;
    change_ms = 5;
    for (int reps = 1; reps <= 80; reps += 79) {
        int err = measure_trials(1, 1, (struct timing_rule){.reps = reps, .warmup = 1}, &t);
        CHECK(!err && trials[CHANGED] >= 3 && trials[TOUCHED] >= 3, "%d and %d trials",
              trials[CHANGED], trials[TOUCHED]);
        CHECK(reps > 1 || trials[CHANGED] + trials[TOUCHED] == 6, "more than needed");
        CHECK(strcspn(deeds, "c") < strcspn(deeds, "C"), "other inputs come first: %.99s", deeds);
        timing_free(&t);
    }
    change_ms = 0;
    warm_ms = 2;
    int touched = 0;
    for (int i = 0; i < 40; i++) {
        // A whole run more is noise if no trial with the same inputs says how long a run takes.
        const double changed = i % 20 ? 1900 : 2100;
        usual_ms = 1000;
        int err = measure_trials(changed, changed, (struct timing_rule){.most_ms = 1}, &t);
        usual_ms = 1;
        const bool alone = trials[TOUCHED] != 1, kept = alone && i % 20 == 0;
        CHECK(err == (kept ? ERR_UNCHECKED : OK) && trials[CHANGED] == (kept ? 41 : 1) &&
                  trials[TOUCHED] <= (kept ? 40 : 1),
              "%g ms: error %d, %d and %d trials", changed, err, trials[CHANGED], trials[TOUCHED]);
        CHECK(err || (t.count == 1 && isinf(t.same_ms) == alone && t.changed_ms == changed),
              "%d samples, %g and %g ms", t.count, t.same_ms, t.changed_ms);
        touched += !alone;
        timing_free(&t);
    }
    warm_ms = 0;
    CHECK(touched < 20, "%d of 40 have a trial with the same inputs in the first round", touched);
}

// A run that takes half a run more after a change of its inputs than after writes to the same
// memory keeps its results. The least time of each kind counts. If the machine is busy, a whole run
// is noise. If later trials with the same inputs are as slow, the machine may be the cause.
static void test_verdict(void)
{
    static const struct {
        double touched, changed;
        enum inputs kind; // of the trials that take `other` ms from number `from` on
        int from;
        double other;
        int err;
        int trials; // with other inputs
    } table[] = {
        {1, 1, USUAL, 99, 0, OK, 3},
        {1, 1.501, USUAL, 99, 0, OK, 3},
        {1, 1.503, USUAL, 99, 0, ERR_WRONG, 23},
        {1, 2.2, USUAL, 99, 0, ERR_WRONG, 23},
        {3, 2.6, USUAL, 99, 0, OK, 3},
        {2.4, 4, USUAL, 99, 0, ERR_WRONG, 23},
        {0.1, 1.2, USUAL, 99, 0, ERR_WRONG, 23},
        {5, 0.1, USUAL, 99, 0, OK, 3},
        {1, 4, TOUCHED, 2, 9, ERR_UNCHECKED, 43},  // slow later trials do not hide the fast one
        {1, 4, TOUCHED, 14, 9, ERR_UNCHECKED, 43}, // a few fast ones may be chance
        {1, 4, TOUCHED, 15, 9, ERR_WRONG, 23},
        {9, 4, TOUCHED, 3, 1, ERR_WRONG, 23}, // nor slow earlier ones
        {1, 1, CHANGED, 2, 9, OK, 3},
        {1, 9, CHANGED, 10, 1, OK, 10}, // noise, until a fast one
        {1, 9, CHANGED, 23, 1, OK, 23},
        {1, 9, CHANGED, 24, 1, ERR_WRONG, 23},
    };
    struct timing t;
    for (int i = 0; i < COUNT(table); i++) {
        other_kind = table[i].kind;
        other_from = table[i].from;
        other_cost = table[i].other;
        int err = measure_trials(table[i].touched, table[i].changed,
                                 (struct timing_rule){.reps = 1, .warmup = 3}, &t);
        const double more = table[i].changed - table[i].touched;
        const int want = err || !t.busy || more > 1.002 ? table[i].err : OK;
        CHECK(err == want, "row %d: error %d: %s", i, err, err ? fail_text() : "");
        CHECK(err != ERR_WRONG || strstr(fail_text(), "it keeps results"), "row %d: %s", i,
              fail_text());
        CHECK(trials[CHANGED] == (want == table[i].err ? table[i].trials : 3),
              "row %d: %d trials with other inputs", i, trials[CHANGED]);
        timing_free(&t);
    }
    other_kind = USUAL;
    other_from = 99;
}

// Work that ends long after the event that follows a run, in most batches; or when the result is
// read.
static int lateness_ms, touch_ms;
static int late_sync(struct device *d)
{
    (void)d;
    rest(lateness_ms);
    return OK;
}
static void late_touch(void *arg)
{
    (void)arg;
    rest(touch_ms);
}
static void test_late(void)
{
    struct device_ops late_ops = fake_ops;
    struct device d = {.ops = &late_ops};
    struct timed_work work = {.run = count_run, .after = count_after, .touch = late_touch};
    struct timing t;
    late_ops.sync_all = late_sync;
    next_ms = steady;
    for (int i = 0; i < 3; i++) {
        lateness_ms = i == 1 ? 4 : 0;
        touch_ms = i == 2 ? 4 : 0;
        int err = timing_measure(&d, &work, &(struct timing_rule){.reps = 3, .warmup = 1}, &t);
        CHECK(err == (i ? ERR_WRONG : OK), "%d: error %d", i, err);
        timing_free(&t);
    }
}

// A clock that does not tick: there is a result, and an end.
static void test_no_time(void)
{
    struct timing t;
    int err = measure(nothing, (struct timing_rule){.limit_ms = 1}, &t);
    CHECK(!err && t.median == 0 && t.batch == 997 && t.count >= 10, "%d samples of %g", t.count,
          t.median);
    timing_free(&t);
}

static void test_rules(void)
{
    struct timing t;
    int err = measure(steady, (struct timing_rule){.limit_ms = 2000}, &t);
    CHECK(!err && t.count == 10 && !strcmp(t.stop, "precision"), "%d samples, %s", t.count, t.stop);
    CHECK(t.warmup >= 3 && runs == t.warmup + t.count && t.batch == 1, "%d runs", runs);
    CHECK(t.median == 2 && t.ci_lo == 2 && t.ci_hi == 2 && t.clock_mhz[1] == 1500, "%g", t.median);
    timing_free(&t);

    err = measure(two_levels, (struct timing_rule){.limit_ms = 2000}, &t);
    CHECK(!err && t.count == 20 && !strcmp(t.stop, "noise"), "%d samples, %s", t.count, t.stop);
    timing_free(&t);

    err = measure(noisy, (struct timing_rule){.limit_ms = 2000}, &t);
    CHECK(!err && t.count >= 20 && t.ci_lo <= t.median && t.median <= t.ci_hi, "%d samples, %s",
          t.count, t.stop);
    timing_free(&t);

    err = measure(noisy, (struct timing_rule){.limit_ms = 0}, &t);
    CHECK(!err && t.count == 10 && !strcmp(t.stop, "time"), "%d samples, %s", t.count, t.stop);
    timing_free(&t);

    err = measure(noisy, (struct timing_rule){.reps = 3}, &t);
    CHECK(!err && t.count == 3 && !strcmp(t.stop, "reps"), "%d samples, %s", t.count, t.stop);
    timing_free(&t);

    err = measure(quick, (struct timing_rule){.reps = 5}, &t);
    CHECK(!err && t.batch == 997 && runs == t.warmup + 5 * 997, "batch %d, %d runs", t.batch, runs);
    CHECK(fabs(t.median - 0.001 / 997) < 1e-12, "the batch was not divided out: %g", t.median);
    timing_free(&t);

    hot = true;
    err = measure(quick, (struct timing_rule){.reps = 5, .cold = true}, &t);
    CHECK(!err && t.batch == 1 && flushes == 5 && t.throttled, "batch %d, %d flushes", t.batch,
          flushes);
    timing_free(&t);
    hot = false;
}

static double given_ms;
static double given(int i) { return (void)i, given_ms; }

// Enough runs for a millisecond, and a prime number of them.
static void test_batches(void)
{
    static const struct {
        double ms;
        int batch;
    } table[] = {{0.21, 1},  {0.2, 1},   {0.19, 7},     {0.15, 7},    {0.14, 11},
                 {0.04, 29}, {0.02, 53}, {0.0101, 101}, {0.001, 997}, {1e-9, 997}};
    struct timing t;
    for (int i = 0; i < COUNT(table); i++) {
        given_ms = table[i].ms;
        int err = measure(given, (struct timing_rule){.reps = 1}, &t);
        CHECK(!err && t.batch == table[i].batch, "%g ms: %d runs, not %d", given_ms, t.batch,
              table[i].batch);
        CHECK_TEXT(t.launch, "call");
        CHECK(isnan(t.back_to_back) && isnan(t.separator_ms), "runs on the host cannot overlap");
        timing_free(&t);
    }
}

static double wobbling(int i) { return given_ms * noisy(i); }
static int lasts(void *arg)
{
    (void)arg;
    nanosleep(&(struct timespec){.tv_nsec = (long)(given_ms * 1e6)}, NULL);
    return count_run(arg);
}

// The samples end in time if 6 exist, or if they would take more than a second; so many as were
// asked for, if no limit was.
static void test_limits(void)
{
    static const struct {
        struct timing_rule rule;
        double run_ms;
        int least_warmup, most_warmup, least, most; // runs, samples
        const char *stop;
    } table[] = {
        {{.most_ms = 240, .limit_ms = 240}, 20, 1, 2, 6, 10, "time"},
        {{.most_ms = 1, .limit_ms = 1}, 60, 1, 1, 6, 6, "time"},
        {{.most_ms = 1, .limit_ms = 1}, 300, 1, 1, 2, 3, "time"},
        {{.most_ms = 100, .reps = 50}, 30, 1, 1, 6, 6, "time"},
        {{.most_ms = 1, .reps = 2}, 30, 1, 1, 2, 2, "reps"},
        {{.most_ms = 100000, .reps = 3}, 20, 3, 3, 3, 3, "reps"},
        {{.reps = 1}, 600, 1, 1, 1, 1, "reps"}, // a second run would end after more than a second
        {{.reps = 1, .warmup = 7}, 10, 7, 7, 1, 1, "reps"},
        {{.most_ms = 1, .limit_ms = 1, .warmup = 4}, 20, 1, 1, 6, 6, "time"},
        {{.most_ms = 100000, .limit_ms = 10}, 10, 3, 6, 10, 10, "time"},
    };
    struct timing t;
    for (int i = 0; i < COUNT(table); i++) {
        given_ms = table[i].run_ms;
        int err = measure_with(wobbling, (struct timed_work){.run = lasts}, table[i].rule, &t);
        CHECK(!err && t.count >= table[i].least && t.count <= table[i].most, "row %d: %d samples",
              i, t.count);
        CHECK(t.warmup >= table[i].least_warmup && t.warmup <= table[i].most_warmup,
              "row %d: %d runs first", i, t.warmup);
        CHECK_TEXT(t.stop, table[i].stop);
        timing_free(&t);
    }
}

static double first_long(int i) { return i == 1 ? 4000 : 2000; }
static double long_warm_up(int i) { return i ? 2000 : 4000; }
static double grows(int i) { return 2000 * pow(1.5, i); }
static double grows_late(int i) { return rest(200), grows(i); }
static int looks, late_looks;
static int slow_look(void *arg) { return (void)arg, rest(100), looks++, OK; }
static bool is_late(void *arg, int64_t sample, bool late)
{
    (void)arg;
    late_looks += late;
    return sample == 0 || !late;
}

// Fewer than 6 samples are enough if their median is near the shortest run, that of the warm-up
// included; else others follow, until twice the limit and a second have passed.
static void test_few_samples(void)
{
    static const struct {
        double (*script)(int);
        int least, most;
    } table[] = {{long_warm_up, 1, 1}, {first_long, 3, 3}, {grows, 6, 6}, {grows_late, 2, 4}};
    struct timing t;
    for (int i = 0; i < COUNT(table); i++) {
        int err = measure(table[i].script, (struct timing_rule){.most_ms = 1e-6}, &t);
        CHECK(!err && t.count >= table[i].least && t.count <= table[i].most && t.warmup == 1,
              "row %d: %d samples", i, t.count);
        CHECK_TEXT(t.stop, "time");
        timing_free(&t);
    }
    // Looks take the time: beyond the limit few are due, but the last sample is looked at.
    struct timed_work work = {.run = count_run, .after = slow_look, .is_due = is_late};
    looks = late_looks = 0;
    int err = measure_with(steady, work, (struct timing_rule){.most_ms = 50}, &t);
    CHECK(!err && t.count == 6 && looks == 2 && late_looks == 5, "%d samples, %d looks, %d late",
          t.count, looks, late_looks);
    timing_free(&t);
    // A short limit makes batches shorter, not samples fewer.
    err = measure(quick, (struct timing_rule){.most_ms = 0.6}, &t);
    CHECK(!err && t.count >= 6 && t.batch == 101, "%d samples of %d runs", t.count, t.batch);
    timing_free(&t);
}

int main(void)
{
    RUN_ALL(test_ranks, test_summary, test_rules, test_warm_up, test_bound, test_release,
            test_hooks, test_hook_errors, test_trials, test_few_trials, test_verdict, test_late,
            test_batches, test_limits, test_few_samples, test_no_time);
    struct timing t;
    interrupted = 1;
    CHECK(measure(steady, (struct timing_rule){.reps = 5}, &t) == ERR_INTERRUPTED, "not noticed");
    interrupted = 0;
    for (int n = 1; n < 3; n++) {
        mem_fail_at(n);
        CHECK(measure(steady, (struct timing_rule){.reps = 70}, &t) == ERR_MEMORY && !t.samples,
              "allocation %d", n);
        mem_fail_at(0);
    }
    return TEST_END();
}
