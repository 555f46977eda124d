// What a batch of runs starts on a CUDA device: behind each run a kernel of its own that is no part
// of it, or nothing. Kernels that may start before the one ahead of them has ended are kept apart
// by one that waits.
#include "emu.h"
extern "C" {
#include "measure/batch.h"
}
#include "device/cuda.cuh"
#include "test.h"

static struct device dev;
static int *counter; // on the device

static __global__ void add(int *to)
{
    wait_for_previous();
    start_next();
    *to += 1;
}

// A product that may overlap the one ahead of it.
static int run(void *)
{
    LAUNCH_EARLY(add, 1, 1, 0, dev.stream, counter);
    return launch_check("add");
}
static const struct timed_work work = {run, NULL, NULL, NULL, NULL, NULL, NULL};

static int count(void)
{
    int now = -1;
    CHECK(device_download(&dev, &now, counter, sizeof now) == OK, "%s", fail_text());
    return now;
}

// As many runs, and as many kernels besides, whether it is a graph or not.
static void check_chain(struct batch c, const char *what, int runs, int separators)
{
    CHECK(device_fill(&dev, counter, 0, sizeof *counter) == OK, "%s", fail_text());
    int64_t all = emu_launches(), early = emu_launches_early();
    CHECK(batch_start(&c) == OK, "%s: %s", what, fail_text());
    early = emu_launches_early() - early;
    all = emu_launches() - all;
    CHECK(count() == runs && early == runs, "%s: %d runs, %lld of them early", what, count(),
          (long long)early);
    CHECK(all - early == separators, "%s: %lld separators, not %d", what, (long long)(all - early),
          separators);
}

static void test_chains(void)
{
    static const struct {
        const char *what;
        bool works, separated;
        int runs, separators;
    } table[] = {{"apart", true, true, 7, 7},
                 {"back to back", true, false, 7, 0},
                 {"separators", false, false, 0, 7}};
    for (int i = 0; i < COUNT(table); i++) {
        struct batch c = {&dev, table[i].works ? &work : NULL, 7, table[i].separated, INPUTS_STAY,
                          NULL};
        check_chain(c, table[i].what, table[i].runs, table[i].separators);
        CHECK(batch_make_graph(&c) == OK && c.graph, "%s: %s", table[i].what, fail_text());
        check_chain(c, table[i].what, table[i].runs, table[i].separators);
        check_chain(c, table[i].what, table[i].runs, table[i].separators);
        batch_free_graph(&c);
        CHECK(!c.graph, "%s: the graph is left", table[i].what);
    }
}

// The whole of a timing: of each sample the batch is run twice, once with separators.
static void test_timing(void)
{
    const struct timing_rule rule = {6, 3, 0, 0, false, false};
    struct timing t;
    CHECK(device_fill(&dev, counter, 0, sizeof *counter) == OK, "%s", fail_text());
    int64_t all = emu_launches(), early = emu_launches_early();
    CHECK(timing_measure(&dev, &work, &rule, &t) == OK, "%s", fail_text());
    early = emu_launches_early() - early;
    all = emu_launches() - all;
    CHECK_TEXT(t.launch, "graph");
    CHECK(t.batch > 1 && t.count == 6 && t.warmup == 3, "%d samples of %d after %d", t.count,
          t.batch, t.warmup);
    // Each graph is started once before it counts; the separators alone nine times more.
    int64_t runs = t.warmup + 2 * 7 * t.batch, separators = (7 + 10) * t.batch;
    CHECK(count() == runs && early == runs, "%d runs, %lld of them early, not %lld", count(),
          (long long)early, (long long)runs);
    CHECK(all - early == separators, "%lld separators, not %lld", (long long)(all - early),
          (long long)separators);
    CHECK(t.back_samples && t.back_to_back > 0 && t.separator_ms > 0, "%g ms back to back",
          t.back_to_back);
    timing_free(&t);
}

int main(void)
{
    if (device_open("cuda", &dev) || device_alloc(&dev, 1, sizeof *counter, (void **)&counter))
        return 1;
    test_chains();
    test_timing();
    device_free(&dev, counter);
    device_close(&dev);
    return TEST_END();
}
