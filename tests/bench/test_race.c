// Races of cases with made-up times: who gets a turn, by which rule, and what is emitted.
#include "bench/race.h"

#include <math.h>
#include <string.h>

#include "test.h"

#define CASES 5

static const struct algo own = {.cite = "own"}, vendor = {.cite = "vendor", .vendor = "Lib"},
                         chooser = {.cite = "chooser", .picks = {"slow"}};

// A case: its median, half of its interval in each turn as a share, and how it ends.
struct entrant {
    struct algo_entry entry;
    double ms, width[RACE_TURNS];
    const char *stop; // of all turns but the last; NULL: time
    enum status status;
    // Observed:
    int turns;
    double limits[RACE_TURNS];
    int reps[RACE_TURNS];
    int emitted; // place among the emitted results, from 1; 0: none
    bool dropped;
};

struct run {
    struct entrant *list;
    int emitted;
    int fails_at; // number of measurements before one that fails; -1: none
    int measured;
};

static int measure(void *arg, int i, const struct timing_rule *rule, struct result *r)
{
    struct run *run = arg;
    struct entrant *x = &run->list[i];
    if (run->measured++ == run->fails_at) return fail(ERR_INTERRUPTED, "interrupted");
    const int turn = x->turns++;
    const double half = x->ms * x->width[turn];
    *r = (struct result){.c = {.entry = &x->entry, .device = "cpu"},
                         .status = x->status,
                         .timed = x->status == STATUS_OK,
                         .checked = true};
    r->timing = (struct timing){.count = 10,
                                .stop = x->stop ? x->stop : "time",
                                .median = x->ms,
                                .min = x->ms - half,
                                .ci_lo = x->ms - half,
                                .ci_hi = x->ms + half};
    r->timing.samples = mem_alloc(1, sizeof *r->timing.samples);
    if (x->entry.algo == &chooser) {
        r->stats.count = 1;
        r->stats.list[0] = (struct algo_stat){.name = "picked", .text = "slow"};
    }
    x->limits[turn] = rule->limit_ms;
    x->reps[turn] = rule->reps;
    CHECK(rule->most_ms >= rule->limit_ms, "limits %g and %g", rule->limit_ms, rule->most_ms);
    return OK;
}

static int keep(const struct result *r, void *arg)
{
    struct run *run = arg;
    struct entrant *x = (struct entrant *)r->c.entry;
    CHECK(!x->emitted, "%s is emitted twice", x->entry.name);
    x->emitted = ++run->emitted;
    x->dropped = r->dropped;
    return OK;
}

static int race(struct entrant *list, int count, struct timing_rule rule, double end_ms,
                int fails_at)
{
    struct run run = {.list = list, .fails_at = fails_at};
    const struct race r = {.count = count,
                           .rule = &rule,
                           .end_ms = end_ms,
                           .measure = measure,
                           .emit = keep,
                           .arg = &run};
    return race_run(&r);
}

#define ENTRANT(a, label, median, ...)                                                             \
    {                                                                                              \
        .entry = {.name = label, .algo = &a}, .ms = median, .width = { __VA_ARGS__ }               \
    }

static const struct timing_rule usual = {.limit_ms = 640, .most_ms = 6400};

// The fastest, a case near it, and the fastest of a vendor get more turns, each with a longer
// limit. The others are dropped.
static void test_turns(void)
{
    struct entrant x[] = {
        ENTRANT(own, "far", 2, 0.2), ENTRANT(own, "best", 1, 0.1, 0.05, 0.02, 0.02),
        ENTRANT(own, "near", 1.2, 0.1, 0.02, 0.02), ENTRANT(vendor, "lib", 3, 0.2, 0.05, 0.005),
        ENTRANT(vendor, "lib2", 4, 0.2, 0.1)};
    int err = race(x, CASES, usual, 0, -1);
    const int turns[] = {1, 4, 2, 3, 2};
    CHECK(!err, "error %d", err);
    for (int i = 0; i < CASES; i++) {
        CHECK(x[i].turns == turns[i], "%s: %d turns, not %d", x[i].entry.name, x[i].turns,
              turns[i]);
        CHECK(x[i].emitted == i + 1, "%s: place %d", x[i].entry.name, x[i].emitted);
        CHECK(x[i].dropped == (i != 1 && i != 3), "%s: dropped %d", x[i].entry.name, x[i].dropped);
        for (int t = 0; t < x[i].turns; t++)
            CHECK(x[i].limits[t] == 640 / pow(RACE_GROWTH, 3 - t), "turn %d: limit %g", t,
                  x[i].limits[t]);
    }
}

// A slow chooser and its pick get turns, too. A precise case gets no second turn.
static void test_settled(void)
{
    struct entrant x[] = {ENTRANT(own, "best", 1, 0.005), ENTRANT(chooser, "auto", 5, 0.1, 0.005),
                          ENTRANT(own, "slow", 5, 0.1, 0.1, 0.005), ENTRANT(own, "far", 5, 0.005),
                          ENTRANT(own, "noisy", 1, 0.1)};
    x[4].stop = "noise";
    int err = race(x, CASES, usual, 0, -1);
    const int turns[] = {1, 2, 3, 1, 1};
    CHECK(!err, "error %d", err);
    for (int i = 0; i < CASES; i++)
        CHECK(x[i].turns == turns[i] && x[i].dropped == (i == 3), "%s: %d turns, dropped %d",
              x[i].entry.name, x[i].turns, x[i].dropped);
}

// A bad result is emitted at once, an unsupported case in its place. -reps gives turns of at least
// six samples.
static void test_bad(void)
{
    struct entrant x[] = {ENTRANT(own, "no", 1), ENTRANT(own, "best", 1, 0.1, 0.1, 0.1, 0.1),
                          ENTRANT(own, "wrong", 1)};
    const int reps[] = {6, 200};
    x[0].status = STATUS_UNSUPPORTED;
    x[2].status = STATUS_WRONG;
    int err = race(x, 3, (struct timing_rule){.reps = 200}, 0, -1);
    CHECK(!err && x[2].emitted == 1 && x[0].emitted == 2 && x[1].emitted == 3, "places %d, %d, %d",
          x[0].emitted, x[1].emitted, x[2].emitted);
    CHECK(x[0].turns == 1 && x[1].turns == 2 && x[2].turns == 1, "%d turns", x[1].turns);
    for (int t = 0; t < 2; t++)
        CHECK(x[1].reps[t] == reps[t] && x[1].limits[t] == 0, "turn %d: %d samples in %g ms", t,
              x[1].reps[t], x[1].limits[t]);
}

// A race whose time is over, or whose measurement fails, leaves cases out.
static void test_ends(void)
{
    struct entrant x[] = {ENTRANT(own, "a", 1, 0.1, 0.1, 0.1, 0.1), ENTRANT(own, "b", 1, 0.1)};
    struct entrant y[] = {ENTRANT(own, "a", 1, 0.1, 0.1, 0.1, 0.1), ENTRANT(own, "b", 2, 0.1)};
    int err = race(x, 2, usual, clock_ms() - 1, -1);
    CHECK(!err && !x[0].emitted && !x[1].emitted, "a turn after the end");
    err = race(y, 2, usual, 0, 2);
    CHECK(err == ERR_INTERRUPTED && y[0].turns == 1 && !y[0].emitted && !y[1].emitted, "error %d",
          err);
}

TESTS(test_turns, test_settled, test_bad, test_ends)
