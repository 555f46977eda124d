// What else the machine does: from the text of /proc/stat, and beside processes that spin.
#include "measure/busy.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static const struct device cpu = {.kind = DEVICE_CPU}, gpu = {.kind = DEVICE_CUDA};

#define STAT "cpu  1000 200 300 90000 400 50 60 70 500 5\n"

static void test_parse(void)
{
    static const struct {
        const char *text;
        double used_s, steal_s;
        int processors; // 0: it is none
    } table[] = {
        {STAT "cpu0 1 2 3 4 5 6 7 8 9 0\ncpu1 1 2 3 4 5 6 7 8 9 0\nintr 5 0 cpu\n", 16.1, 0.7, 2},
        {"cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8\n", 0.19, 0.08, 1},
        {"cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n", 0, 0, 0},
        {STAT, 0, 0, 0},
        {"cpu  1 2 3 4 5 6\ncpu0 1 2 3 4 5 6\n", 0, 0, 0},
        {"intr 5 0 0\n", 0, 0, 0},
        {"", 0, 0, 0},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct cpu_clock c = {.processors = 0};
        bool is = machine_parse(table[i].text, 0.01, NULL, &c);
        CHECK(is == (table[i].processors > 0) && c.processors == table[i].processors,
              "row %d: %d processors", i, c.processors);
        CHECK(fabs(c.used_s - table[i].used_s) < 1e-9 && fabs(c.steal_s - table[i].steal_s) < 1e-9,
              "row %d: %g s, %g s", i, c.used_s, c.steal_s);
    }
    // Of some processors alone.
    static const char four[] = STAT "cpu0 100 0 0 9 0 0 0 0 0 0\ncpu1 200 0 0 9 0 0 0 1 0 0\n"
                                    "cpu2 400 0 0 9 0 0 0 2 0 0\ncpu13 800 0 0 9 0 0 0 4 0 0\n";
    static const struct {
        const char *which;
        double used_s, steal_s;
        int processors;
    } part[] = {{"1", 2, 0.01, 1}, {"0-1,13", 11, 0.05, 3}, {"3", 0, 0, 0}, {"", 0, 0, 0}};
    for (int i = 0; i < COUNT(part); i++) {
        struct cpu_clock c = {.processors = 0};
        struct cpus which;
        cpus_parse(part[i].which, &which);
        machine_parse(four, 0.01, &which, &c);
        CHECK(c.processors == part[i].processors && fabs(c.used_s - part[i].used_s) < 1e-9 &&
                  fabs(c.steal_s - part[i].steal_s) < 1e-9,
              "of %s: %d, %g s, %g s", part[i].which, c.processors, c.used_s, c.steal_s);
    }
}

// Over 100 s beside a process that has had 150 s.
static const struct machine_clock before = {
    .ms = 5000, .all = {1000, 10, 2}, .mine = {NAN, NAN, 0}, .own_s = 7, .ran_s = NAN,
    .waited_s = NAN, .switches = 3};

static void test_between(void)
{
    struct machine_clock after = before;
    after.ms = 105000, after.own_s = 157, after.switches = 45;
    after.all = (struct cpu_clock){1170, 15, 2};
    struct machine_load load = machine_between(&before, &after);
    CHECK(load.switches == 42, "%lld switches", (long long)load.switches);
    CHECK(fabs(load.others - 0.2) < 1e-9 && fabs(load.steal - 0.05) < 1e-9, "%g others, %g steal",
          load.others, load.steal);
    after.all.used_s = 1140; // its own time is known better than that of all
    CHECK(machine_between(&before, &after).others == 0, "less than nothing");
    after.all.used_s = after.all.steal_s = NAN;
    after.switches = -1;
    load = machine_between(&before, &after);
    CHECK(isnan(load.others) && isnan(load.steal) && load.switches == -1, "what is not known");
    CHECK(!machine_busy(&before, &after, &cpu, false), "busy, and nothing is known");
    load = machine_between(&before, &before);
    CHECK(isnan(load.others) && isnan(load.steal) && !load.switches, "no time has passed");
}

static void test_thresholds(void)
{
    static const struct {
        double ms, others, steal; // processors
        int processors;
        bool cpu, gpu; // busy
    } table[] = {
        {1000, 0, 0, 2, false, false},   {1000, 0.2, 0, 2, false, false},
        {1000, 0.3, 0, 2, true, false},  {1000, 1, 0, 2, true, false},
        {1000, 1.5, 0, 2, true, true},   {60, 0.3, 0, 2, false, false}, // ticks are no better
        {62, 1, 0, 2, true, false},      {1000, 6, 0, 64, false, false},
        {1000, 7, 0, 64, true, false},   {1000, 63, 0, 64, true, false},
        {1000, 64, 0, 64, true, true},   {1000, 0, 0.04, 64, false, false},
        {1000, 0, 0.09, 64, true, false}, {20, 0, 0.5, 2, false, false},
        {1000, 0, 0.74, 64, true, false}, {1000, 0, 6, 64, true, true},
    };
    for (int i = 0; i < COUNT(table); i++) {
        double s = table[i].ms * 1e-3;
        struct machine_clock after = before;
        after.ms += table[i].ms;
        after.own_s += 2 * s;
        after.all.used_s += (2 + table[i].others) * s;
        after.all.steal_s += table[i].steal * s;
        after.all.processors = table[i].processors;
        CHECK(machine_busy(&before, &after, &cpu, false) == table[i].cpu, "row %d on the CPU", i);
        CHECK(machine_busy(&before, &after, &gpu, false) == table[i].gpu, "row %d on a GPU", i);
    }
}

// A process that launches on 4 of 64 processors, in a second: what others do on the other 60 does
// not hold a GPU up; what they do on the 4 does.
static void test_mine(void)
{
    static const struct {
        double others, steal; // on all
        double beside, taken; // on the 4
        bool cpu, gpu;        // busy
    } table[] = {{63.9, 0, 3.9, 0, true, true}, {60, 0, 0, 0, true, false},
                 {60, 0, 3, 0, true, false},    {3.9, 0, 3.9, 0, false, true},
                 {60, 2, 0, 0.04, true, false}, {0, 0.09, 0, 0.09, true, false},
                 {0, 0.5, 0, 0.5, true, true}};
    for (int i = 0; i < COUNT(table); i++) {
        struct machine_clock from = before, to;
        from.mine = (struct cpu_clock){100, 1, 4};
        to = from;
        to.ms += 1000;
        to.own_s += 1;
        to.all = (struct cpu_clock){1001 + table[i].others, 10 + table[i].steal, 64};
        to.mine = (struct cpu_clock){101 + table[i].beside, 1 + table[i].taken, 4};
        CHECK(machine_busy(&from, &to, &cpu, false) == table[i].cpu, "row %d on the CPU", i);
        CHECK(machine_busy(&from, &to, &gpu, false) == table[i].gpu, "row %d on a GPU", i);
    }
}

// A thread that launches on a GPU, with 0.4 s of work in a second. The host takes 0.74 of its 64
// processors, others use all that is left: times are right as long as the thread gets a processor.
static void test_launches(void)
{
    static const struct {
        double waited; // seconds that the thread had no processor
        bool one, graph; // busy: launches one by one, as a graph
    } table[] = {{0, false, false},  {0.02, false, false}, {0.03, true, false},
                 {0.3, true, false}, {0.5, true, true}};
    for (int i = 0; i < COUNT(table); i++) {
        struct machine_clock from = before, to;
        from.mine = from.all = (struct cpu_clock){100, 1, 64};
        from.ran_s = 2, from.waited_s = 5;
        to = from;
        to.ms += 1000, to.own_s += 1, to.ran_s += 0.4, to.waited_s += table[i].waited;
        to.mine = to.all = (struct cpu_clock){100 + 63.2, 1.74, 64};
        CHECK(machine_busy(&from, &to, &gpu, false) == table[i].one, "row %d, one by one", i);
        CHECK(machine_busy(&from, &to, &gpu, true) == table[i].graph, "row %d, a graph", i);
        CHECK(fabs(machine_between(&from, &to).delay - table[i].waited / (0.4 + table[i].waited)) <
                  1e-9,
              "row %d: delay", i);
    }
}

// A thread on a machine of 64 processors needs one processor: a loss of 0.74 costs 1 % of it.
static void test_few_threads(void)
{
    const struct device one = {.kind = DEVICE_CPU, .units = 1},
                        all = {.kind = DEVICE_CPU, .units = 64};
    struct machine_clock from = before, to;
    from.all.processors = 64;
    to = from;
    to.ms += 1000, to.all.steal_s += 0.74;
    CHECK(!machine_busy(&from, &to, &one, false), "one thread of 64 processors");
    CHECK(machine_busy(&from, &to, &all, false), "64 threads of 64 processors");
}

static void spin(double ms)
{
    double end = clock_ms() + ms;
    while (clock_ms() < end) {}
}

// A process for each processor that spins, beside this one that does.
static void test_spinning(void)
{
    enum { MOST = 64 };
    pid_t children[MOST];
    struct machine_clock from = machine_now(), to;
    int count = from.all.processors < MOST ? from.all.processors : MOST;
    if (isnan(from.all.used_s)) {
        SKIP("%s", "spinning processes: /proc/stat does not say");
        return;
    }
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        if (!children[i]) spin(60000), _exit(0);
        CHECK(children[i] > 0, "no process %d", i);
    }
    from = machine_now();
    spin(600);
    to = machine_now();
    for (int i = 0; i < count; i++) {
        if (children[i] <= 0) continue;
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    struct machine_load load = machine_between(&from, &to);
    // They and this process share the processors, as far as the host gives them.
    CHECK(load.others + load.steal > 0.4 * count, "%d processes had %g processors", count,
          load.others);
    CHECK(machine_busy(&from, &to, &cpu, false), "not busy: others %g, steal %g", load.others, load.steal);
    CHECK(to.mine.processors >= 1 && to.mine.processors <= to.all.processors &&
              to.mine.used_s - from.mine.used_s > 0.3,
          "on its own %d processors %g s", to.mine.processors, to.mine.used_s - from.mine.used_s);
    CHECK(isnan(to.ran_s) || (to.ran_s > from.ran_s && load.delay > 0.05),
          "this thread had no processor for %g of its time", load.delay);
    CHECK(to.own_s > from.own_s && load.switches >= 0, "%g s of its own", to.own_s - from.own_s);
}

TESTS(test_parse, test_between, test_thresholds, test_mine, test_launches, test_few_threads,
      test_spinning)
