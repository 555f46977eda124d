// Algorithms that go wrong, or too fast to be true, only where their runs follow each other
// directly: each is told. The device is the CPU with graphs, separators, late inversions, and a
// clock that knows of the runs and the separators.
#include "data/gen.h"
#include "endings.h"
#include "formats/coo.h"

#include <time.h>

#define RUN_MS       0.016
#define SEPARATOR_MS 0.001

static double clock_now, started; // of the device
static bool in_graph;             // elsewhere the host is too slow for runs to overlap
static bool follows;              // the last thing that was started is a run
static double follow_ms;          // what a run takes then

// What is captured is done again at each launch, by who gave it.
struct graph {
    int (*launch)(void *arg);
    void *arg;
};

static int back_make(struct device *d, int (*launch)(void *arg), void *arg, void **graph)
{
    (void)d;
    struct graph *g = mem_alloc(1, sizeof *g);
    if (!g) return ERR_MEMORY;
    *g = (struct graph){launch, arg};
    *graph = g;
    return OK;
}
static int back_launch(struct device *d, void *graph)
{
    const struct graph *g = graph;
    (void)d;
    in_graph = true;
    follows = false;
    int err = g->launch(g->arg);
    in_graph = false;
    return err;
}
static void back_free(struct device *d, void *graph) { (void)d, mem_free(graph); }
static int back_separate(struct device *d)
{
    (void)d;
    clock_now += SEPARATOR_MS;
    follows = false;
    return OK;
}
static int back_start(struct device *d)
{
    (void)d;
    started = clock_now;
    return OK;
}
static int back_stop(struct device *d, double *ms)
{
    (void)d;
    *ms = clock_now - started;
    return OK;
}

// A late inversion is put off until somebody looks at what is there.
static bool overtakes; // what runs
static struct device_block pending[DEVICE_FLIPS_MAX];
static int pending_count;

static void invert(const struct device_block *b)
{
    unsigned char *p = b->p;
    for (int64_t i = 0; i < b->bytes; i++) p[i] = (unsigned char)~p[i];
}
static int back_flip(struct device *d, const struct device_block *blocks, int count, bool late)
{
    (void)d;
    for (int i = 0; i < count; i++)
        if (late && overtakes)
            pending[pending_count++] = blocks[i];
        else
            invert(&blocks[i]);
    return OK;
}
static int back_digest(struct device *d, const struct device_view *v, uint64_t *bits)
{
    while (pending_count) invert(&pending[--pending_count]);
    return device_list[DEVICE_CPU].ops->digest(d, v, bits);
}

// Whether this run directly follows another one.
static bool begin_run(void)
{
    bool overlaps = in_graph && follows;
    clock_now += overlaps ? follow_ms : RUN_MS;
    follows = true;
    return overlaps;
}

static int right_run(struct task *t)
{
    begin_run();
    return own_run(t);
}

// What it keeps between runs is not yet as it should be where the next one begins too soon.
static int racing_run(struct task *t)
{
    bool overlaps = begin_run();
    int err = own_run(t);
    if (overlaps) type_store(t->prec, t->val, 3, 1e6);
    return err;
}

static struct ending outcome(int (*run_it)(struct task *t), double overlapped_ms,
                             enum check_mode mode)
{
    struct algo algo = on_csr;
    algo.run = run_it;
    const struct algo_entry entry = {"tested", &own_op, DEVICE_CPU, &algo};
    struct plan_parts x = PARTS(&own_op, &entry);
    follow_ms = overlapped_ms;
    struct plan plan = parts_plan(&x);
    plan.check = mode;
    plan.rule = (struct timing_rule){.reps = 8, .warmup = 3};
    got.count = 0;
    CHECK(!bench_matrix(&plan, &places.all, &M, keep_result, NULL), "%s", fail_text());
    plan_free(&plan);
    return got.list[0];
}

static void test_faults(void)
{
    static const struct {
        const char *name;
        int (*run)(struct task *t);
        double follow_ms;
        bool overtakes;
        enum status status;
        const char *says;
    } table[] = {
        {"right", right_run, RUN_MS / 2, false, STATUS_OK, ""},
        {"races with itself", racing_run, RUN_MS / 2, false, STATUS_WRONG, "the result of sample "},
        {"takes no time", right_run, 0, false, STATUS_WRONG, "GFLOPS exceed the peak of cpu"},
        // Its time back to back is of no chain, and says nothing about the device.
        {"waits for nothing", right_run, 0, true, STATUS_OK, ""}};
    for (int i = 0; i < COUNT(table); i++) {
        overtakes = table[i].overtakes;
        struct ending x = outcome(table[i].run, table[i].follow_ms, CHECK_FULL);
        CHECK(x.in_order == (overtakes ? ORDER_BROKEN : ORDER_KEPT), "%s: order %d", table[i].name,
              (int)x.in_order);
        CHECK(x.status == table[i].status && strstr(x.reason, table[i].says), "%s: %s, %s",
              table[i].name, status_name(x.status), x.reason);
        CHECK(x.timed == (x.status == STATUS_OK), "%s has a time", table[i].name);
    }
    struct ending x = outcome(right_run, RUN_MS / 2, CHECK_OFF);
    CHECK(x.timed && x.in_order == ORDER_NOT_LOOKED, "unchecked, and order %d", (int)x.in_order);
    overtakes = false;
}

// The time that counts: of runs apart where they do not keep their order.
static void test_times(void)
{
    struct result r = {.timing = {.median = 2, .ci_lo = 1, .ci_hi = 3, .back_to_back = 0.5}};
    for (int order = ORDER_NOT_LOOKED; order <= ORDER_BROKEN; order++) {
        r.in_order = (enum in_order)order;
        CHECK(result_time(&r, TIMING_SEPARATE).ms == 2, "order %d", order);
        CHECK(result_time(&r, TIMING_BACK_TO_BACK).ms == (order == ORDER_BROKEN ? 2 : 0.5),
              "order %d: %g ms", order, result_time(&r, TIMING_BACK_TO_BACK).ms);
    }
}

// A result becomes a case to compare. Without a check, or for a part of the work, the case has no
// time.
static void test_rank(void)
{
    static const struct algo_option options[] = {{"share", 8, 1, 99, true, "of the work"}, {0}};
    struct algo algo = {.A = {&format_csr},
                        .options = options,
                        .vendor = "Lib",
                        .call = "lib_multiply",
                        .picks = {"fast", "slow"}};
    struct algo_entry entry = {.name = "both", .algo = &algo};
    struct result r = {.c = {.entry = &entry, .opt = {8}},
                       .checked = true,
                       .timed = true,
                       .prepared = true,
                       .setup = {.count = 2,
                                 .formats = {{.format = &format_csr, .cost = {.upload_ms = 1}},
                                             {.format = &format_coo, .cost = {.convert_ms = 2}}},
                                 .analyse_ms = 4},
                       .timing = {.count = 7, .median = 3, .min = 2, .ci_lo = 2.5, .ci_hi = 3.5}};
    algo_stats_text(&r.stats, "picked", "slow");
    struct rank_case x = result_rank(&r, TIMING_SEPARATE);
    CHECK_TEXT(x.alg, "both");
    CHECK(x.picked == algo.picks[1] && x.call == algo.call && x.vendor == algo.vendor, "names");
    CHECK(x.ms == 3 && x.min_ms == 2 && x.ci_lo == 2.5 && x.ci_hi == 3.5 && x.samples == 7,
          "times");
    CHECK(x.prep_ms == 6, "%g ms; upload is no preparation", x.prep_ms);
    CHECK(!x.own_values && !x.reference, "defaults");
    r.c.opt[0] = 9;
    CHECK(result_rank(&r, TIMING_SEPARATE).own_values, "an option of its own");
    algo.partial = "leaves out a half";
    CHECK(isnan(result_rank(&r, TIMING_SEPARATE).ms), "a part of the work");
    algo.partial = NULL;
    r.checked = false;
    CHECK(isnan(result_rank(&r, TIMING_SEPARATE).ms), "not checked");
}

int main(void)
{
    int err = gen_matrix("uniform:80:5", 1, &M.A);
    CHECK(!err, "%s", fail_text());
    if (err || places_open(&places)) return TEST_END();
    struct device_ops overlapping = *places.cpu.ops;
    overlapping.timer_start = back_start;
    overlapping.timer_stop = back_stop;
    overlapping.separate = back_separate;
    overlapping.graph_make = back_make;
    overlapping.graph_launch = back_launch;
    overlapping.graph_free = back_free;
    overlapping.flip = back_flip;
    overlapping.digest = back_digest;
    places.cpu.ops = &overlapping;
    // A run of 800 FLOPs may take 0.0008 ms at the least.
    struct roof *roof = &places.list[DEVICE_CPU].roof;
    roof->fma_measured[F32] = roof->fma_gflops[F32] = 1;
    roof->measured = (int64_t)time(NULL); // just now: it is not measured again
    RUN_ALL(test_faults, test_times, test_rank);
    csr_free(&M.A);
    device_close(&places.cpu);
    return TEST_END();
}
