// Batches of short runs on a device where runs overlap: kept apart by separators whose time is
// taken off, and back to back; as a graph where that can be had. The device's clock knows what was
// started.
#include "measure/batch.h"

#include <math.h>

#include "measure/timing.h"
#include "test.h"

#define RUN_MS       0.016 // alone
#define SEPARATOR_MS 0.001
#define OVERLAP_MS   0.004 // saved by a run that directly follows another one
#define BATCH        67    // 63 would be enough

struct graph {
    double ms;
};

static double clock_now; // of the device
static double kept;      // while a graph is made: its time
static bool capturing, after_run;
static int runs, graphs, graphs_made, graph_launches;
static int fails_from, fails_last; // these graphs cannot be made

static void pass(double ms) { *(capturing ? &kept : &clock_now) += ms; }

static int fake_run(void *arg)
{
    (void)arg;
    runs++;
    pass(RUN_MS - (after_run ? OVERLAP_MS : 0));
    after_run = true;
    return OK;
}
static int fake_separate(struct device *d)
{
    (void)d;
    pass(SEPARATOR_MS);
    after_run = false;
    return OK;
}

static double started;
static int fake_start(struct device *d)
{
    (void)d;
    after_run = false;
    started = clock_now;
    return OK;
}
static int fake_stop(struct device *d, double *ms)
{
    (void)d;
    *ms = clock_now - started;
    return OK;
}
static int fake_flush(struct device *d) { return (void)d, OK; }
static int fake_sync(struct device *d) { return (void)d, OK; }
static int fake_clock(struct device *d, int *now, int *max)
{
    (void)d;
    *now = *max = 0;
    return OK;
}
static int fake_throttled(struct device *d) { return (void)d, 0; }

static int fake_make(struct device *d, int (*launch)(void *arg), void *arg, void **graph)
{
    (void)d;
    graphs_made++;
    kept = 0;
    capturing = true;
    after_run = false;
    int err = launch(arg);
    capturing = false;
    if (graphs_made >= fails_from && graphs_made <= fails_last)
        return fail(ERR_UNSUPPORTED, "no graph");
    struct graph *g = mem_zero_alloc(1, sizeof *g);
    if (!g) return ERR_MEMORY;
    g->ms = kept;
    graphs++;
    *graph = g;
    return err;
}
static int fake_launch(struct device *d, void *graph)
{
    (void)d;
    graph_launches++;
    clock_now += ((struct graph *)graph)->ms;
    return OK;
}
static void fake_free(struct device *d, void *graph)
{
    (void)d;
    graphs--;
    mem_free(graph);
}

static struct device_ops ops = {
    .timer_start = fake_start,
    .timer_stop = fake_stop,
    .flush_cache = fake_flush,
    .sync = fake_sync,
    .sync_all = fake_sync,
    .clock_mhz = fake_clock,
    .throttled = fake_throttled,
    .separate = fake_separate,
    .graph_make = fake_make,
    .graph_launch = fake_launch,
    .graph_free = fake_free,
};

static int measure(const struct timed_work *work, struct timing_rule rule, struct timing *t)
{
    struct device d = {.kind = DEVICE_CUDA, .ops = &ops};
    clock_now = 0;
    runs = graphs_made = graph_launches = 0;
    int err = timing_measure(&d, work, &rule, t);
    CHECK(!graphs, "%d graphs are left", graphs);
    return err;
}

static void check_times(const struct timing *t)
{
    CHECK_TEXT(t->launch, "graph");
    CHECK(t->batch == BATCH, "%d runs in a batch", t->batch);
    CHECK(fabs(t->median - RUN_MS) < 1e-9, "apart: %g ms", t->median);
    double back = RUN_MS - OVERLAP_MS * (t->batch - 1) / t->batch;
    CHECK(fabs(t->back_to_back - back) < 1e-9, "back to back: %g ms, not %g", t->back_to_back,
          back);
    CHECK(fabs(t->separator_ms - SEPARATOR_MS) < 1e-9, "separator: %g ms", t->separator_ms);
    struct timed_median apart = timing_of_kind(t, TIMING_SEPARATE);
    struct timed_median close = timing_of_kind(t, TIMING_BACK_TO_BACK);
    CHECK(apart.ms == t->median && apart.ci_lo == t->ci_lo && apart.ci_hi == t->ci_hi, "apart: %g",
          apart.ms);
    CHECK(close.ms == t->back_to_back && close.ci_lo == t->back_ci_lo &&
              close.ci_hi == t->back_ci_hi,
          "back to back: %g", close.ms);
}

// One by one, as the host launches them: nothing is known but the time back to back.
static void check_stream(const struct timing *t)
{
    double back = RUN_MS - OVERLAP_MS * (t->batch - 1) / t->batch;
    CHECK_TEXT(t->launch, "stream");
    CHECK(t->batch == BATCH && fabs(t->median - back) < 1e-9, "%d runs, %g ms, not %g", t->batch,
          t->median, back);
    CHECK(isnan(t->back_to_back) && isnan(t->separator_ms), "%g ms apart", t->back_to_back);
    CHECK(isnan(t->back_ci_lo) && isnan(t->back_ci_hi) && !t->back_samples, "samples of it");
    CHECK(timing_of_kind(t, TIMING_BACK_TO_BACK).ms == t->median, "its only time is another one");
}

static const struct timed_work plain = {.run = fake_run};

static void test_graph(void)
{
    struct timing t;
    int err = measure(&plain, (struct timing_rule){.reps = 6}, &t);
    CHECK(!err && graphs_made == 3, "%d graphs", graphs_made);
    check_times(&t);
    // In the warm-up one by one, and once in each of two graphs; each graph is launched once, then
    // the separators' for their time, then both others for each sample.
    CHECK(runs == t.warmup + 2 * t.batch, "%d runs", runs);
    CHECK(graph_launches == 3 + 9 + 2 * 6, "%d launches", graph_launches);
    timing_free(&t);
}

// Samples of both kinds by turns, and what they say each by itself: runs get slower here, those
// back to back twice as fast as the others.
static double slowed_by; // of a run, as a share
static bool is_slowing;
static int slow_launch(struct device *d, void *graph)
{
    double before = clock_now;
    int err = fake_launch(d, graph);
    bool apart = clock_now - before > BATCH * RUN_MS;
    if (is_slowing) clock_now += (clock_now - before) * slowed_by * (apart ? 1 : 2);
    if (is_slowing && !apart) slowed_by += 0.01;
    return err;
}

static int begin_to_slow(void *arg)
{
    (void)arg;
    is_slowing = true;
    return OK;
}

static void test_samples(void)
{
    const struct timed_work work = {.run = fake_run, .before = begin_to_slow};
    struct timing t;
    slowed_by = is_slowing = 0;
    ops.graph_launch = slow_launch;
    int err = measure(&work, (struct timing_rule){.reps = 7}, &t);
    ops.graph_launch = fake_launch;
    CHECK(!err && t.count == 7 && t.back_samples, "%d samples", t.count);
    double back = RUN_MS - OVERLAP_MS * (t.batch - 1) / t.batch, apart = RUN_MS + SEPARATOR_MS;
    for (int i = 0; i < t.count && t.back_samples; i++) {
        CHECK(fabs(t.samples[i] - (apart * (1 + 0.01 * i) - SEPARATOR_MS)) < 1e-9, "sample %d: %g",
              i, t.samples[i]);
        CHECK(fabs(t.back_samples[i] - back * (1 + 0.02 * i)) < 1e-9, "sample %d back to back: %g",
              i, t.back_samples[i]);
    }
    CHECK(fabs(t.back_to_back - back * 1.06) < 1e-9, "median back to back: %g", t.back_to_back);
    CHECK(t.back_ci_lo == t.back_samples[0] && t.back_ci_hi == t.back_samples[6], "from %g to %g",
          t.back_ci_lo, t.back_ci_hi);
    timing_free(&t);
    // Too few have no interval.
    err = measure(&plain, (struct timing_rule){.reps = 5}, &t);
    CHECK(!err && t.back_to_back > 0 && isnan(t.back_ci_lo) && isnan(t.back_ci_hi), "%g to %g",
          t.back_ci_lo, t.back_ci_hi);
    timing_free(&t);
}

// Changes of the inputs come ahead of each run of a trial, in a graph as well. Writes to the same
// memory take the same time, so the time that a run saves by a kept result shows.
#define TRIAL_GRAPH 31 // runs of a trial in a graph
static double change_takes;
static int changes, touches, losses;
static bool has_changed;
static int fake_change(void *arg, bool really)
{
    (void)arg;
    *(really ? &changes : &touches) += 1;
    has_changed = really;
    after_run = false;
    pass(change_takes);
    return OK;
}
static int lazy_run(void *arg)
{
    (void)arg;
    runs++;
    pass(has_changed ? RUN_MS : RUN_MS / 4);
    has_changed = false;
    return OK;
}
static void fake_lose(void *arg) { (void)arg, losses++; }

static int measure_changes(int (*run)(void *arg), double ms, struct timing_rule rule,
                           struct timing *t)
{
    const struct timed_work work = {.run = run, .change = fake_change, .lose = fake_lose};
    change_takes = ms;
    changes = touches = losses = 0;
    return measure(&work, rule, t);
}

static void test_change(void)
{
    struct timing t;
    for (int stream = 0; stream < 2; stream++) {
        const struct timing_rule rule = {.reps = 9, .stream = stream};
        const int count = stream ? BATCH : TRIAL_GRAPH;
        int err = measure_changes(fake_run, 0.003, rule, &t);
        CHECK(!err && fabs(t.same_ms - RUN_MS - 0.003) < 1e-9 && t.changed_ms == t.same_ms,
              "%g and %g ms: %s", t.same_ms, t.changed_ms, err ? fail_text() : "");
        if (!err && !stream) check_times(&t);
        if (!err && stream) check_stream(&t);
        CHECK(touches % count == 0 && touches >= 3 * count && changes == touches && !losses,
              "%d, %d", touches, changes);
        timing_free(&t);
        err = measure_changes(lazy_run, 0.003, rule, &t);
        CHECK(err == ERR_WRONG && strstr(fail_text(), "it keeps results"), "lazy: error %d", err);
        CHECK(changes >= 23 * TRIAL_GRAPH && !losses, "%d changes", changes);
    }
}

// A trial whose changes cannot be captured, or not launched, loses the inputs.
static int failing_launch(struct device *d, void *graph)
{
    return graphs_made > 3 ? fail(ERR_MEMORY, "no launch") : fake_launch(d, graph);
}
static void test_lost_change(void)
{
    const struct timing_rule rule = {.reps = 9};
    struct timing t;
    for (int g = 4; g <= 9; g++) {
        fails_from = fails_last = g;
        int err = measure_changes(fake_run, 0.003, rule, &t);
        fails_from = fails_last = 0;
        CHECK(err == ERR_DEVICE && strstr(fail_text(), "no graph"), "graph %d: error %d", g, err);
        CHECK(losses == 1 && graphs_made == g, "graph %d: %d losses", g, losses);
    }
    ops.graph_launch = failing_launch;
    int err = measure_changes(fake_run, 0.003, rule, &t);
    ops.graph_launch = fake_launch;
    CHECK(err == ERR_MEMORY && losses == 1, "error %d, %d losses", err, losses);
}

// Without time there are trials, too. A change that takes longer than a run is no kept result.
static void test_slow_change(void)
{
    for (int stream = 0; stream < 2; stream++)
        for (int lazy = 0; lazy < 2; lazy++) {
            const struct timing_rule rule = {.most_ms = 1e-3, .stream = stream};
            struct timing t;
            int err = measure_changes(lazy ? lazy_run : fake_run, 5 * RUN_MS, rule, &t);
            CHECK(err == (lazy ? ERR_WRONG : OK), "stream %d, lazy %d: error %d, %s", stream, lazy,
                  err, err ? fail_text() : "");
            CHECK(err || t.count == TIMING_INTERVAL_SAMPLES, "%d samples", t.count);
            timing_free(&t);
        }
}

static void test_stream(void)
{
    struct timing t;
    int err = measure(&plain, (struct timing_rule){.reps = 6, .stream = true}, &t);
    CHECK(!err && !graphs_made, "%d graphs", graphs_made);
    check_stream(&t);
    CHECK(runs == t.warmup + 6 * t.batch, "%d runs", runs);
    timing_free(&t);
    // Whichever graph cannot be made: the times of all chains are then those of a stream.
    for (int n = 1; n <= 3; n++) {
        fails_from = fails_last = n;
        err = measure(&plain, (struct timing_rule){.reps = 6}, &t);
        CHECK(!err && graphs_made == n && !graph_launches, "graph %d: %d made", n, graphs_made);
        check_stream(&t);
        timing_free(&t);
    }
    fails_from = fails_last = 0;
    ops.graph_make = NULL;
    err = measure(&plain, (struct timing_rule){.reps = 6}, &t);
    CHECK(!err && !graph_launches, "%s", fail_text());
    check_stream(&t);
    timing_free(&t);
    ops.graph_make = fake_make;
}

static int no_run(void *arg) { return (void)arg, OK; }

static void test_alone(void)
{
    static const struct {
        bool cold;
        int (*release)(void *arg);
    } table[] = {{true, NULL}, {false, no_run}};
    struct timing t;
    for (int i = 0; i < COUNT(table); i++) {
        const struct timed_work work = {.run = fake_run, .release = table[i].release};
        int err = measure(&work, (struct timing_rule){.reps = 6, .cold = table[i].cold}, &t);
        CHECK(!err && !graphs_made && t.batch == 1, "row %d: a batch of %d", i, t.batch);
        CHECK(isnan(t.back_to_back) && isnan(t.separator_ms), "row %d: %g", i, t.back_to_back);
        CHECK_TEXT(t.launch, "stream");
        timing_free(&t);
    }
}

// Nothing is started: what is left of a sample is what the clock can tell, and not 0 or less.
static void test_nothing(void)
{
    const struct timed_work work = {.run = no_run};
    struct timing t;
    int err = measure(&work, (struct timing_rule){.reps = 6}, &t);
    CHECK(!err && t.median > 0 && t.median < 1e-6, "%g ms", t.median);
    timing_free(&t);
}

static int fail_in_sample(void *arg)
{
    return ++*(int *)arg == 4 ? fail(ERR_UNCHECKED, "refused") : OK;
}
static void test_errors(void)
{
    int calls = 0;
    const struct timed_work work = {.run = fake_run, .after = fail_in_sample, .arg = &calls};
    struct timing t;
    int err = measure(&work, (struct timing_rule){.reps = 6}, &t);
    CHECK(err == ERR_UNCHECKED && calls == 4 && !t.samples, "error %d", err);
    for (int n = 1; n < 6; n++) { // the graphs, then room for samples
        mem_fail_at(n);
        err = measure(&plain, (struct timing_rule){.reps = 6}, &t);
        mem_fail_at(0);
        CHECK(err == (n <= 3 ? OK : ERR_MEMORY) && !t.samples == (n > 3), "allocation %d: %d", n,
              err);
        if (!err) check_stream(&t);
        timing_free(&t);
    }
}

TESTS(test_graph, test_samples, test_change, test_lost_change, test_slow_change, test_stream,
      test_alone, test_nothing, test_errors)
