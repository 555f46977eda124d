// A case does not spoil the next: a state that a case leaves is its failure, and is restored.
#define _GNU_SOURCE // usleep
#include "data/gen.h"
#include "endings.h"
#include "bench/isolation.h"

#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int failing_prepare(struct task *t)
{
    (void)t;
    fesetround(FE_UPWARD);
    return fail(ERR_UNSUPPORTED, "not today");
}
static void handle_nothing(int number) { (void)number; }
static void set_handler(struct task *t)
{
    (void)t;
    signal(SIGPROF, handle_nothing);
}
static int handling_run(struct task *t) { return set_handler(t), own_run(t); }
#define ASLEEP_MS 400
static void *sleep_long(void *arg) { return usleep(ASLEEP_MS * 1000), arg; }
static void sleep_on(struct task *t)
{
    pthread_t thread;
    (void)t;
    if (!pthread_create(&thread, NULL, sleep_long, NULL)) pthread_detach(thread);
}
static const char *some_library(void) { return "Some 1.0"; }

// Runs an algorithm and then a right one. Returns how both ended.
static struct endings run_with(const struct algo *algo)
{
    const struct algo_entry entry = {"leaver", &own_op, DEVICE_CPU, algo};
    struct plan_parts x;
    parts_start(&x, &own_op);
    parts_one(&x);
    parts_add(&x, &entry);
    parts_add(&x, &csr_entry);
    return run(&x);
}

static void check_ends(const struct algo *algo, enum status status, const char *reason)
{
    struct endings o = run_with(algo);
    CHECK(o.list[0].status == status, "%s: %s", status_name(o.list[0].status), o.list[0].reason);
    CHECK(strstr(o.list[0].reason, reason), "\"%s\" is not \"%s\"", o.list[0].reason, reason);
    CHECK(o.list[1].status == STATUS_OK, "the next one: %s: %s", status_name(o.list[1].status),
          o.list[1].reason);
}

// A state that a failed preparation leaves is found, too.
static void test_failed_prepare(void)
{
    struct algo a = on_csr;
    a.prepare = failing_prepare;
    check_ends(&a, STATUS_FAILED, "it left rounding upward behind");
}

// A handler is found after runs, and after the teardown() that sets the handler.
static void test_handlers(void)
{
    struct algo a = on_csr;
    a.run = handling_run;
    check_ends(&a, STATUS_FAILED, "it set a handler of signal 27");
    a = on_csr;
    a.teardown = set_handler;
    check_ends(&a, STATUS_FAILED, "it left a handler of signal 27");
    CHECK(!isolation_spoiled(), "handlers were restored");
}

// Threads of a library may stay.
static void test_threads(void)
{
    struct algo a = on_csr;
    a.teardown = sleep_on;
    a.library = some_library;
    check_ends(&a, STATUS_OK, "");
    CHECK(!isolation_spoiled(), "a library may have threads");
    usleep(2 * ASLEEP_MS * 1000); // threads are counted: this one must not end beside the next
    a.library = NULL;
    check_ends(&a, STATUS_FAILED, "it left 1 thread behind");
    CHECK(isolation_spoiled(), "the thread is not stopped");
}

static void test_processors(void)
{
    const struct device cpu = {.kind = DEVICE_CPU, .units = 4};
    const struct device gpu = {.kind = (enum device_kind)(DEVICE_KINDS - 1), .units = 4};
    static const struct {
        double runs_ms, cpu_ms;
        bool good;
    } times[] = {{100, 400, true},   {100, 449, true},    {100, 451, false},
                 {1000, 4400, true}, {1000, 4411, false}, {1000, 8000, false},
                 {1, 14, true},      {1000, 10, true},    {0, 0, true}};
    for (int i = 0; i < COUNT(times); i++) {
        struct timing t = {.runs_ms = times[i].runs_ms, .runs_cpu_ms = times[i].cpu_ms};
        int err = isolation_processors(&cpu, &t, 8);
        CHECK(err == (times[i].good ? OK : ERR_STATE), "%g ms in %g", t.runs_cpu_ms, t.runs_ms);
        CHECK(!isolation_processors(&gpu, &t, 8), "of a GPU");
        CHECK(!isolation_processors(&cpu, &t, 4), "no processor is left for more threads");
    }
    struct timing t = {.runs_ms = 1000, .runs_cpu_ms = 8000};
    isolation_processors(&cpu, &t, 8);
    CHECK_TEXT(fail_text(), "it used 8 processors with 4 threads");
    t = (struct timing){.runs_ms = 1000, .runs_cpu_ms = 4000, .children_cpu_ms = 410};
    CHECK(!isolation_processors(&cpu, &t, 8), "%s", fail_text());
    t.children_cpu_ms = 420;
    isolation_processors(&cpu, &t, 8);
    CHECK_TEXT(fail_text(), "child processes used 0.42 s of processor time");
}

// Cost of isolation for a harmless case: the best of some rounds, because machines are busy.
static void test_cost(void)
{
    enum { ROUNDS = 20, CASES = 20 };
    double best = INFINITY;
    CHECK(!isolation_start(), "%s", fail_text());
    for (int round = 0; round < ROUNDS; round++) {
        double begin = clock_ms();
        for (int i = 0; i < CASES; i++) {
            isolation_begin();
            CHECK(!isolation_end(&places.cpu, &csr_entry), "%s", fail_text());
        }
        best = fmin(best, (clock_ms() - begin) / CASES);
    }
    printf("%.3f ms a case\n", best);
    CHECK(best < 2, "%g ms a case", best);
}

int main(void)
{
    int err = gen_matrix("uniform:80:5", 1, &M.A);
    CHECK(!err, "%s", fail_text());
    if (err || places_open(&places)) return TEST_END();
    RUN_ALL(test_cost, test_failed_prepare, test_handlers, test_processors, test_threads);
    csr_free(&M.A);
    device_close(&places.cpu);
    return TEST_END();
}
