// What a run takes, roughly: on a device of this test, whose clock moves by what is run.
#include "select/trial.h"

#include <math.h>

#include "test.h"

static const double start_us = 5, separator_us = 0.5; // of what the host starts one by one
static double clock_us, started_us, run_us;
static int runs, graphs, graph_launches, releases;
static int run_fails_at, launch_fails_at; // by number; 0: none
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
    if (++graph_launches == launch_fails_at) return fail(ERR_DEVICE, "it does not start");
    clock_us += kept_us + (graph_launches == 1 ? 70 : 0); // the first one warms up
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
    if (++runs == run_fails_at) return fail(ERR_DEVICE, "it fell over");
    // The first one warms up, and the others are held up.
    static const double late[] = {-1, 9, 4, 8};
    spend(capturing ? run_us : start_us + run_us + (runs <= 4 ? late[runs - 1] : 0));
    return OK;
}
static void release(struct task *t)
{
    (void)t;
    releases++;
}

static const struct op dense = {.result = RESULT_DENSE}, sparse = {.result = RESULT_SPARSE};
static const struct algo algo = {.run = run, .release = release};

static double enough = INFINITY;

static int time_it(const struct op *op, double run_takes, double *us)
{
    static struct device_ops fake = {.timer_start = fake_start,
                                     .timer_stop = fake_stop,
                                     .separate = fake_separate,
                                     .graph_make = fake_make,
                                     .graph_launch = fake_launch,
                                     .graph_free = fake_free};
    struct device dev = {.kind = DEVICE_CUDA, .ops = &fake};
    const struct algo_entry entry = {"of this test", op, DEVICE_CUDA, &algo};
    struct task t = {.entry = &entry, .algo = &algo, .dev = &dev};
    runs = graph_launches = releases = 0;
    run_us = run_takes;
    int err = trial_time(&t, enough, us);
    CHECK(!graphs, "%d graphs are left", graphs);
    return err;
}

static void expect(const char *what, const struct op *op, double takes, double want, int launches)
{
    double us;
    int err = time_it(op, takes, &us);
    CHECK(!err && fabs(us - want) < 1e-9, "%s: %g us, not %g", what, us, want);
    CHECK(graph_launches == launches, "%s: %d graphs launched", what, graph_launches);
    CHECK(releases == (op == &sparse ? runs : 0), "%s: %d results released", what, releases);
}

int main(void)
{
    const double late = 4 + 5;  // of the least that is started alone
    const double first = 9 + 5; // of the one that says whether there is to be a graph
    double us;
    capturable = true;
    expect("a short run", &dense, 2, 2 + separator_us, 4);
    CHECK(runs == 2 + TRIAL_MANY, "%d runs", runs);
    expect("a longer one", &dense, 236, 236 + separator_us, 4);
    CHECK(runs == 2 + 4, "%d runs", runs);
    expect("one just short enough", &dense, TRIAL_LONG_US - first - 1,
           TRIAL_LONG_US - first - 1 + separator_us, 4);
    CHECK(runs == 2 + 1, "%d runs", runs);
    expect("a long one", &dense, TRIAL_LONG_US - first, TRIAL_LONG_US - first + late, 0);
    CHECK(runs == 4, "%d runs", runs);
    expect("one that makes its result", &sparse, 2, 2 + late, 0);
    capturable = false;
    expect("one that is no graph", &dense, 2, 2 + late, 0);
    capturable = true;
    for (enough = 300 + first - 1; enough <= 300 + first; enough++) {
        const bool go_on = enough == 300 + first;
        expect("more than enough", &dense, 300, 300 + (go_on ? separator_us : first), 4 * go_on);
        CHECK(runs == (go_on ? 2 + 3 : 2), "%d runs", runs);
        expect("more than enough, with a result", &sparse, 300, 300 + (go_on ? late : first), 0);
        CHECK(runs == (go_on ? 4 : 2), "%d runs", runs);
    }
    enough = INFINITY;
    for (run_fails_at = 1; run_fails_at <= 4; run_fails_at++)
        CHECK(time_it(run_fails_at < 4 ? &dense : &sparse, 2, &us) == ERR_DEVICE,
              "run %d fails, and nobody says so", run_fails_at);
    run_fails_at = 0;
    for (launch_fails_at = 1; launch_fails_at <= 4; launch_fails_at++)
        CHECK(time_it(&dense, 2, &us) == ERR_DEVICE, "graph %d fails, and nobody says so",
              launch_fails_at);
    launch_fails_at = 0;
    CHECK(!time_it(&dense, 2, &us), "%s", fail_text());
    return TEST_END();
}
