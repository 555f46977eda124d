// What a run takes, roughly: on a device of this test, whose clock moves by what is run.
#include "algos/trial.h"

#include <math.h>

#include "test.h"

static const double start_us = 5, separator_us = 0.5; // of what the host starts one by one
static double clock_us, started_us, run_us;
static int runs, graphs, graph_launches, fails_at; // the run of this number fails; 0: none
static bool capturing, capturable;
static double kept_us; // of the graph

static int fake_start(struct device *d)
{
    (void)d;
    started_us = clock_us;
    return OK;
}
static int fake_stop(struct device *d, double *ms)
{
    (void)d;
    *ms = 1e-3 * (clock_us - started_us);
    return OK;
}
static void spend(double us) { *(capturing ? &kept_us : &clock_us) += us; }

static int fake_separate(struct device *d)
{
    (void)d;
    spend(separator_us + (capturing ? 0 : start_us));
    return OK;
}
static int fake_make(struct device *d, int (*run)(void *arg), void *arg, void **graph)
{
    (void)d;
    if (!capturable) return fail(ERR_UNSUPPORTED, "no graph of that");
    capturing = true;
    kept_us = 0;
    int err = run(arg);
    capturing = false;
    if (err) return err;
    graphs++;
    *graph = &graphs;
    return OK;
}
static int fake_launch(struct device *d, void *graph)
{
    (void)d;
    CHECK(graph == &graphs, "another graph");
    graph_launches++;
    clock_us += kept_us;
    return OK;
}
static void fake_free(struct device *d, void *graph)
{
    (void)d;
    graphs -= graph == &graphs;
}

static int run(struct task *t)
{
    (void)t;
    if (++runs == fails_at) return fail(ERR_DEVICE, "it fell over");
    // Every other run is held up.
    spend(capturing ? run_us : start_us + run_us + (runs % 2 ? 0 : 7));
    return OK;
}

static const struct op dense = {.result = RESULT_DENSE}, sparse = {.result = RESULT_SPARSE};
static const struct algo algo = {.run = run};

static int time_it(const struct op *op, double run_takes, double *us)
{
    static struct device_ops fake = {.timer_start = fake_start,
                                     .timer_stop = fake_stop,
                                     .separate = fake_separate,
                                     .graph_make = fake_make,
                                     .graph_launch = fake_launch,
                                     .graph_free = fake_free};
    struct device dev = {.kind = DEVICE_CUDA, .ops = &fake};
    const struct algo_entry entry = {"of this test", op, DEVICE_CUDA, &algo, NULL};
    struct task t = {.entry = &entry, .algo = &algo, .dev = &dev};
    runs = graph_launches = 0;
    run_us = run_takes;
    int err = trial_time(&t, us);
    CHECK(!graphs, "%d graphs are left", graphs);
    return err;
}

static void expect(const char *what, const struct op *op, double takes, double want, int launches)
{
    double us;
    int err = time_it(op, takes, &us);
    CHECK(!err && fabs(us - want) < 1e-9, "%s: %g us, not %g", what, us, want);
    CHECK(graph_launches == launches, "%s: %d graphs launched", what, graph_launches);
}

int main(void)
{
    double us;
    capturable = true;
    expect("a short run", &dense, 2, 2 + separator_us, 4);
    expect("a long one", &dense, 60, 60 + start_us, 0);
    expect("one that makes its result", &sparse, 2, 2 + start_us, 0);
    capturable = false;
    expect("one that is no graph", &dense, 2, 2 + start_us, 0);
    capturable = true;
    // The first four are one by one, those of the graph come behind them.
    for (fails_at = 1; fails_at <= 4 + TRIAL_MANY; fails_at++)
        CHECK(time_it(&dense, 2, &us) == ERR_DEVICE, "run %d fails, and nobody says so", fails_at);
    CHECK(!time_it(&dense, 2, &us), "%s", fail_text());
    return TEST_END();
}
