// The rules of timing, on a device whose clock is a script; and the bound of a time.
#include "measure/timing.h"

#include <math.h>
#include <time.h>

#include "measure/model.h"
#include "test.h"

static double (*next_ms)(int sample); // what sample number `sample` takes, warm-up excluded
static int runs, marks, flushes, afters;
static bool hot;

static int count_run(void *arg) { return (void)arg, runs++, OK; }
static void count_after(void *arg) { (void)arg, afters++; }
static int fake_start(struct device *d) { return (void)d, OK; }
static int fake_flush(struct device *d) { return (void)d, flushes++, OK; }
static int fake_stop(struct device *d, double *ms)
{
    (void)d;
    *ms = next_ms(marks++);
    return OK;
}
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
};

static int measure_with(double (*script)(int), int (*run)(void *), void (*after)(void *),
                        struct timing_rule rule, struct timing *t)
{
    struct device d = {.ops = &fake_ops};
    next_ms = script;
    runs = marks = flushes = afters = 0;
    return timing_measure(&d, run, after, NULL, &rule, t);
}

static int measure(double (*script)(int), struct timing_rule rule, struct timing *t)
{
    return measure_with(script, count_run, NULL, rule, t);
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
    timing_median_ranks(1, &lo, &hi);
    CHECK(lo == 0 && hi == 0, "n = 1: [%d, %d]", lo, hi);
}

static void test_summary(void)
{
    double samples[] = {5, 1, 3, 2, 40}, even[] = {30, 1, 2, 4};
    struct timing t = {.samples = samples, .count = 5};
    CHECK(timing_summarise(&t) == OK, "%s", fail_text());
    CHECK(t.median == 3 && t.min == 1 && fabs(t.mean - 10.2) < 1e-12, "median %g min %g mean %g",
          t.median, t.min, t.mean);
    CHECK(fabs(t.p5 - 1.2) < 1e-12 && fabs(t.p95 - 33) < 1e-12, "p5 %g p95 %g", t.p5, t.p95);
    CHECK(t.ci_lo == 1 && t.ci_hi == 40, "from %g to %g", t.ci_lo, t.ci_hi);
    CHECK(samples[0] == 5, "the samples were reordered");
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
    int err = measure_with(counts, lasting_run, NULL, (struct timing_rule){.reps = 1}, &t);
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
        double ms = model_bound_ms(&table[i].roof, table[i].prec, table[i].flops, table[i].bytes);
        CHECK(fabs(ms - table[i].ms) < 1e-9, "row %d: %g ms and should be %g", i, ms, table[i].ms);
    }
}

// What is done after each run leaves no room for batches, and is done after one that failed, too.
static void test_after(void)
{
    struct timing t;
    int err = measure_with(quick, count_run, count_after, (struct timing_rule){.reps = 5}, &t);
    CHECK(!err && t.batch == 1 && runs == t.warmup + 5 && afters == runs && marks == runs,
          "batch %d, %d runs, %d times after one", t.batch, runs, afters);
    timing_free(&t);
    err = measure_with(slow, fail_third, count_after, (struct timing_rule){.reps = 5}, &t);
    CHECK(err == ERR_DEVICE && runs == 3 && afters == 3 && !t.samples, "%d runs, %d times after",
          runs, afters);
    err = measure_with(slow, fail_late, count_after, (struct timing_rule){.reps = 10000000}, &t);
    CHECK(err == ERR_DEVICE && afters == runs && !t.samples && !t.count, "error %d", err);
}

// A clock that does not tick: there is a result, and an end.
static void test_no_time(void)
{
    struct timing t;
    int err = measure(nothing, (struct timing_rule){.limit_ms = 1}, &t);
    CHECK(!err && t.median == 0 && t.batch == 1000 && t.count >= 10, "%d samples of %g", t.count,
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
    CHECK(!err && t.batch == 1000 && runs == t.warmup + 5 * 1000, "batch %d, %d runs", t.batch,
          runs);
    CHECK(fabs(t.median - 0.001 / 1000) < 1e-12, "the batch was not divided out: %g", t.median);
    timing_free(&t);

    hot = true;
    err = measure(quick, (struct timing_rule){.reps = 5, .cold = true}, &t);
    CHECK(!err && t.batch == 1 && flushes == 5 && t.throttled, "batch %d, %d flushes", t.batch,
          flushes);
    timing_free(&t);
    hot = false;
}

int main(void)
{
    test_ranks();
    test_summary();
    test_rules();
    test_warm_up();
    test_bound();
    test_after();
    test_no_time();
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
