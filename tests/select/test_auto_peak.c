// The peak of memory of a case of `auto`: that of who stays, as if it had been alone, whoever was
// tried beside it, before it or after it, or refused.
#include "select/trial.h"
#include "cases.h"
#include "data/gen.h"
#include "picker.h"

static struct device dev;

// The CPU as a device on which each allocation takes something else for a moment, one may be
// refused, and runs take as long as is said here, one trial after the other.
#define MOMENT     (1 << 20)
static bool in_moment;
static int refused_alloc; // the n-th from now; 0: none
static int trial_runs;
static int trials; // those after the last one take as long as the first ones again
static double trial_ms[3];
static int64_t room = INT64_MAX; // bytes of the device
static int64_t most_used;        // bytes at any time, whoever counts the peak anew

static int alloc_more(struct device *d, int64_t bytes, void **p)
{
    void *more;
    if (!in_moment && room == INT64_MAX) {
        in_moment = true;
        int err = device_alloc(d, MOMENT, 1, &more);
        device_free(d, more);
        in_moment = false;
        if (err) return err;
        if (refused_alloc && !--refused_alloc) return fail(ERR_MEMORY, "out of device memory");
    }
    if (d->used_bytes + bytes > room) return fail(ERR_MEMORY, "no more device memory");
    most_used = max64(most_used, d->used_bytes + bytes);
    return device_list[DEVICE_CPU].ops->alloc(d, bytes, p);
}

static int stop_timer(struct device *d, double *ms)
{
    int err = device_list[DEVICE_CPU].ops->timer_stop(d, ms);
    *ms = trial_ms[trial_runs++ / TRIAL_FEW % trials];
    return err;
}

static int64_t counting; // bytes that it takes to count

static int pick_now(struct task *t)
{
    const double start = clock_ms();
    void *scratch;
    int err = device_alloc(t->dev, counting, 1, &scratch);
    device_free(t->dev, scratch);
    return err ? err : pick_by_order(t, order_now, start);
}

// Prepares a task by this order, whose candidates are timed in turn.
static int prepare_by(struct inputs *in, const struct pick_order *order, struct task *t)
{
    static struct algo_entry entry;
    struct setup setup;
    entry = (struct algo_entry){"picker", in->p.op, dev.kind, &picker};
    *t = (struct task){.entry = &entry, .algo = &picker, .opt = {1}};
    order_now = order;
    most_used = trial_runs = 0;
    trials = 0;
    while (trials < PICKS_MAX && order->names[trials]) trials++;
    return task_prepare(t, &in->o, &setup);
}

static const char *picked_of(const struct task *t)
{
    const struct algo_stat *picked = algo_stats_find(&t->stats, "picked");
    return picked ? picked->text : "";
}

// Returns the peak when a task is prepared by this order, which comes to this candidate.
static int64_t peak_by(struct inputs *in, const struct pick_order *order, const char *want)
{
    struct task t;
    int err = prepare_by(in, order, &t);
    CHECK(!err, "%s", fail_text());
    if (err) return 0;
    CHECK_TEXT(picked_of(&t), want);
    const int64_t peak = dev.peak_bytes;
    CHECK(peak >= dev.used_bytes, "a peak of %lld, and %lld are used", (long long)peak,
          (long long)dev.used_bytes);
    task_teardown(&t);
    return peak;
}

static const struct pick_order merge_alone = {{"merge"}, false}, aspt_alone = {{"aspt"}, false},
                               sellp_alone = {{"sellp"}, false};

// Either one first, and either one the faster.
static void test_tried(struct inputs *in)
{
    const int64_t merge = peak_by(in, &merge_alone, "merge"), most_of_merge = most_used;
    const int64_t aspt = peak_by(in, &aspt_alone, "aspt"), most = max64(most_of_merge, most_used);
    const int64_t used = dev.used_bytes;
    CHECK(merge >= used + MOMENT && aspt > used && aspt < merge, "%lld, %lld and %lld",
          (long long)used, (long long)merge, (long long)aspt);
    for (int i = 0; i < 4; i++) {
        const bool merge_first = i % 2, first_wins = i / 2, merge_wins = merge_first == first_wins;
        const struct pick_order both = {
            {merge_first ? "merge" : "aspt", merge_first ? "aspt" : "merge"}, true};
        trial_ms[0] = first_wins ? 1 : 2;
        trial_ms[1] = first_wins ? 2 : 1;
        const int64_t peak = peak_by(in, &both, merge_wins ? "merge" : "aspt"),
                      want = merge_wins ? merge : aspt;
        CHECK(trial_runs == 2 * TRIAL_FEW, "%d runs", trial_runs);
        CHECK(peak == want, "merge is %s, %s stays: a peak of %lld, alone %lld",
              merge_first ? "first" : "second", merge_wins ? "and" : "aspt", (long long)peak,
              (long long)want);
        CHECK(most_used == most, "%lld bytes at a time, of one alone %lld", (long long)most_used,
              (long long)most);
        CHECK(dev.used_bytes == used, "%lld bytes are left", (long long)(dev.used_bytes - used));
    }
}

// Three, in each order, and each of them the fastest.
static void test_three_tried(struct inputs *in)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const char *const names[] = {"merge", "aspt", "sellp"};
    const int64_t alone[] = {peak_by(in, &merge_alone, "merge"), peak_by(in, &aspt_alone, "aspt"),
                             peak_by(in, &sellp_alone, "sellp")},
                  used = dev.used_bytes;
    for (int c = 0; c < 6 * 6; c++) {
        const int *turns = orders[c / 6], *places = orders[c % 6]; // places: when they are timed
        struct pick_order order = {{NULL}, true};
        int fastest = 0;
        for (int i = 0; i < 3; i++) {
            order.names[i] = names[turns[i]];
            trial_ms[i] = 1 + places[i];
            if (places[i] == 0) fastest = turns[i];
        }
        const int64_t peak = peak_by(in, &order, names[fastest]);
        CHECK(trial_runs == 3 * TRIAL_FEW, "%d runs", trial_runs);
        CHECK(peak == alone[fastest], "%s first, %s stays: a peak of %lld, alone %lld",
              names[turns[0]], names[fastest], (long long)peak, (long long)alone[fastest]);
        CHECK(dev.used_bytes == used, "%lld bytes are left", (long long)(dev.used_bytes - used));
    }
}

// What refuses when it is run gives back its memory before the next one is prepared: where there is
// room for one, `auto` does what that one does.
static void test_no_room(void)
{
    static const struct pick_order alone = {{"gustavson"}, false},
                                   both = {{"tile", "gustavson"}, true};
    const struct algo_entry entry = {"picker", op_find("spgemm"), dev.kind, &sparse_picker};
    int tight = 0, survived = 0;
    struct csr A;
    struct inputs in;
    CHECK(!gen_matrix("uniform:3000:6", 1, &A), "%s", fail_text());
    int err = inputs_make(&in, &dev, entry.op, &A, F32, (int64_t[AXES_MAX]){0}, true, 0);
    CHECK(!err, "%s", fail_text());
    int64_t base = 0;
    for (int64_t more = -1; more < 3000000 && !err; more += 100000) {
        int failed[2];
        for (int i = 0; i < 2; i++) {
            struct task t = {.entry = &entry, .algo = &sparse_picker, .opt = {1}};
            struct setup setup;
            order_now = i ? &both : &alone;
            trials = 3;
            room = more < 0 ? INT64_MAX : base + more; // the first turn makes the operands
            failed[i] = task_prepare(&t, &in.o, &setup);
            if (!failed[i]) failed[i] = task_run(&t);
            const struct algo_stat *refused = algo_stats_find(&t.stats, "tile_refused");
            if (i && refused && !failed[i]) tight++;
            task_release_result(&t);
            task_teardown(&t);
            room = INT64_MAX;
            if (more < 0) base = dev.used_bytes;
            CHECK(dev.used_bytes == base, "%lld bytes are left",
                  (long long)(dev.used_bytes - base));
        }
        CHECK(failed[0] || !failed[1], "%lld bytes are enough for one alone: %s", (long long)more,
              fail_text());
        survived += !failed[1];
    }
    CHECK(err || (tight > 3 && survived > 15), "%d went well, %d of them by one alone", survived,
          tight);
    if (!err) inputs_free(&in);
    csr_free(&A);
}

// One that has no memory for its format has had much of it before it said so.
static void test_refused(struct inputs *in)
{
    const struct pick_order order = {{"aspt", "merge"}, false};
    const int64_t merge = peak_by(in, &merge_alone, "merge");
    refused_alloc = 4; // the first is of what is counted
    const int64_t peak = peak_by(in, &order, "merge");
    CHECK(!refused_alloc && peak == merge, "a peak of %lld, alone %lld", (long long)peak,
          (long long)merge);
}

// The faster one is prepared anew after the trials. Where there is no memory for it then, the other
// one stays.
static void test_refused_anew(struct inputs *in)
{
    const struct pick_order both = {{"merge", "aspt"}, true};
    const int64_t used = dev.used_bytes;
    int anew = 0;
    trial_ms[0] = 1;
    trial_ms[1] = 2;
    for (int n = 2; n < 60; n++) { // the first is of what is counted
        struct task t;
        refused_alloc = n;
        int err = prepare_by(in, &both, &t);
        const bool timed = algo_stats_find(&t.stats, "merge_timed_us");
        CHECK(!err, "the allocation %d is refused: %s", n, fail_text());
        if (timed && algo_stats_find(&t.stats, "merge_refused")) {
            CHECK_TEXT(picked_of(&t), "aspt");
            anew++;
        } else if (timed && !err) {
            CHECK_TEXT(picked_of(&t), "merge");
        }
        task_teardown(&t);
        CHECK(dev.used_bytes == used, "%lld bytes are left", (long long)(dev.used_bytes - used));
    }
    refused_alloc = 0;
    CHECK(anew > 0, "merge was never refused after it had been timed");
}

// What `auto` takes by itself counts, whoever stays.
static void test_counting(struct inputs *in)
{
    counting = 4 * MOMENT;
    const int64_t want = dev.used_bytes + counting;
    const int64_t merge = peak_by(in, &merge_alone, "merge"),
                  aspt = peak_by(in, &aspt_alone, "aspt");
    CHECK(merge == want && aspt == want, "%lld and %lld, not %lld", (long long)merge,
          (long long)aspt, (long long)want);
    counting = 0;
}

int main(void)
{
    struct csr A;
    struct inputs in;
    CHECK(!device_open("cpu", &dev), "%s", fail_text());
    CHECK(!gen_matrix("uniform:300:6", 1, &A), "%s", fail_text());
    struct device_ops more = *dev.ops;
    int err = inputs_make(&in, &dev, op_find("spmm"), &A, F32, (int64_t[AXES_MAX]){3}, true, 0);
    CHECK(!err, "%s", fail_text());
    if (!err) {
        peak_by(&in, &merge_alone, "merge"); // makes the operands
        more.alloc = alloc_more;
        more.timer_stop = stop_timer;
        dev.ops = &more;
        test_tried(&in);
        test_three_tried(&in);
        test_refused(&in);
        test_refused_anew(&in);
        test_counting(&in);
        test_no_room();
        dev.ops = device_list[DEVICE_CPU].ops;
        inputs_free(&in);
    }
    csr_free(&A);
    device_close(&dev);
    return TEST_END();
}
