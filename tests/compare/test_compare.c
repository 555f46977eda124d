// Two files of records compared: which cases are the same, which processes count, each verdict, the
// summary.
#include "compared.h"

// Both files with `runs` processes by turns, of which put_case() writes the cases.
static int compare_runs(struct comparison *c, int runs, const struct compare_rule *rule,
                        void (*put_cases)(FILE *f, enum side side, const char *run, int i))
{
    for (int side = 0; side < SIDES; side++) {
        FILE *f = file_open(files[side], "w");
        for (int i = 0; i < runs; i++) {
            char run[RUN_MAX];
            put_process(f, i, i, run);
            put_cases(f, (enum side)side, run, i);
        }
        fclose(f);
    }
    return comparison_files(c, files[0], files[1], rule);
}

static void put_verdicts(FILE *f, enum side side, const char *run, int i)
{
    bool now = side == SIDE_NEW;
    double ms = wobble(i, now);
    PUT_IN(.name = "same", .ms = ms);
    PUT_IN(.name = "slow", .ms = ms * (now ? 1.06 : 1));
    PUT_IN(.name = "fast", .ms = ms * (now ? 0.5 : 1));
    PUT_IN(.name = "small", .ms = ms * (now ? 1.02 : 1));
    // As far off as the threshold allows, give or take more than that.
    double wild = 1 + 0.2 * ((i + 3 * now) % 4);
    PUT_IN(.name = "wild", .ms = wild);
    if (!now) PUT_IN(.name = "gone", .ms = 1);
    if (now) PUT_IN(.name = "more", .ms = 1);
    // One process in which it fails, or is wrong, is enough.
    bool last = i == 5 && now;
    PUT_IN(.name = "fails", .ms = last ? 0 : 1, .status = last ? "failed" : NULL,
           .reason = last ? "no luck" : NULL);
    PUT_IN(.name = "wrong", .ms = last ? 0 : 1, .status = last ? "wrong" : NULL);
    PUT_IN(.name = "mended", .ms = now ? 1 : 0, .status = now ? NULL : "wrong");
    PUT_IN(.name = "never", .status = "oom");
    PUT_IN(.name = "hidden", .ms = now ? 0 : 1, .status = now ? "unchecked" : NULL);
    PUT_IN(.name = "worse", .status = now ? "wrong" : "failed");
    PUT_IN(.name = "newer", .ms = now ? 0.5 : 1, .library = now ? "2.0" : "1.0");
}

static void test_verdicts(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 6, &usual, put_verdicts), "%s", fail_text());
    CHECK_VERDICT(&c, "same", VERDICT_SAME);
    CHECK_VERDICT(&c, "slow", VERDICT_SLOWER);
    CHECK_VERDICT(&c, "fast", VERDICT_FASTER);
    CHECK_VERDICT(&c, "small", VERDICT_SAME);
    CHECK_VERDICT(&c, "wild", VERDICT_UNCLEAR);
    CHECK_VERDICT(&c, "gone", VERDICT_MISSING);
    CHECK_VERDICT(&c, "more", VERDICT_ADDED);
    CHECK_VERDICT(&c, "fails", VERDICT_FAILING);
    CHECK_TEXT(case_of(&c, "fails")->why, "failed: no luck");
    CHECK_VERDICT(&c, "wrong", VERDICT_WRONG);
    CHECK_VERDICT(&c, "mended", VERDICT_MENDED);
    CHECK_VERDICT(&c, "never", VERDICT_NO_TIME);
    CHECK_VERDICT(&c, "hidden", VERDICT_UNCHECKED);
    CHECK_VERDICT(&c, "worse", VERDICT_WRONG);
    const struct compared *slow = case_of(&c, "slow");
    CHECK(slow->paired && slow->used[0] == 6 && slow->used[1] == 6, "%d and %d used", slow->used[0],
          slow->used[1]);
    CHECK(slow->e.lo < log(1.06) && slow->e.hi > log(1.06) && slow->e.hi < log(1.07),
          "from %g to %g", exp(slow->e.lo), exp(slow->e.hi));
    CHECK(c.sum.of[VERDICT_SLOWER] == 1 && c.sum.of[VERDICT_FASTER] == 1, "counts");
    CHECK(c.sum.worst >= 0 && !strcmp(compared_any(&c.cases[c.sum.worst])->matrix, "slow"),
          "the worst");
    CHECK(c.sum.best >= 0 && !strcmp(compared_any(&c.cases[c.sum.best])->matrix, "fast"),
          "the best");
    CHECK(comparison_conclude(&c) == CONCLUSION_REGRESSION, "no regression");
    // OLD has it of 1.0, NEW of 2.0, which is another case.
    int64_t apart = 0;
    for (int64_t i = 0; i < c.count; i++)
        if (!strcmp(compared_any(&c.cases[i])->matrix, "newer")) {
            bool old = c.cases[i].count[SIDE_OLD];
            CHECK(c.cases[i].verdict == (old ? VERDICT_MISSING : VERDICT_ADDED), "newer: %s",
                  verdict_name(c.cases[i].verdict));
            CHECK_TEXT(c.cases[i].why,
                       old ? "NEW has the case of Lib 2.0" : "OLD has the case of Lib 1.0");
            apart++;
        }
    CHECK(apart == 2, "%lld cases of two versions", (long long)apart);
    comparison_free(&c);
}

// A program that broke off: what it has no record of is failing, not missing.
static void test_broken(void)
{
    struct comparison c;
    struct compare_rule rule = usual;
    rule.broken = "it broke off";
    CHECK(!compare_runs(&c, 2, &rule, put_verdicts), "%s", fail_text());
    CHECK_VERDICT(&c, "gone", VERDICT_FAILING);
    CHECK_TEXT(case_of(&c, "gone")->why, "it broke off");
    comparison_free(&c);
}

// A result that was not checked has no time, whatever the other side has.
static void put_unchecked(FILE *f, enum side side, const char *run, int i)
{
    bool now = side == SIDE_NEW;
    double ms = wobble(i, side);
    PUT_IN(.name = "new", .ms = ms, .unchecked = now);
    PUT_IN(.name = "old", .ms = ms, .unchecked = !now);
    PUT_IN(.name = "both", .ms = ms, .unchecked = true);
    PUT_IN(.name = "checked", .ms = ms);
    PUT_IN(.name = "hides", .ms = now ? 1 : 0, .status = now ? NULL : "wrong", .unchecked = now);
    PUT_IN(.name = "fails", .ms = now ? 0 : 1, .status = now ? "failed" : NULL, .unchecked = !now);
}

static void test_unchecked(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 6, &usual, put_unchecked), "%s", fail_text());
    CHECK_VERDICT(&c, "new", VERDICT_UNCHECKED);
    CHECK_TEXT(case_of(&c, "new")->why, "NEW unchecked: -check off");
    CHECK_VERDICT(&c, "old", VERDICT_UNCHECKED);
    CHECK_TEXT(case_of(&c, "old")->why, "OLD unchecked: -check off");
    CHECK_VERDICT(&c, "both", VERDICT_NO_TIME);
    CHECK_VERDICT(&c, "checked", VERDICT_SAME);
    CHECK_VERDICT(&c, "hides", VERDICT_UNCHECKED);
    CHECK_VERDICT(&c, "fails", VERDICT_FAILING);
    c.sum.of[VERDICT_FAILING] = 0;
    CHECK(comparison_conclude(&c) == CONCLUSION_CANNOT_TELL, "unchecked cases are fine");
    comparison_free(&c);
}

// A slowdown of every other case, from case `slow_from` on, is found, and nothing else.
static int slow_from;

static void put_planted(FILE *f, enum side side, const char *run, int i)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int n = 0; n < COUNT(names); n++) {
        double factor = side == SIDE_NEW && n % 2 == slow_from ? 1.05 : 1;
        PUT_IN(.name = names[n], .ms = wobble(i + n, side) * factor);
    }
}

static void test_planted(void)
{
    for (int which = 0; which < 2; which++) {
        struct comparison c;
        slow_from = which;
        CHECK(!compare_runs(&c, 6, &usual, put_planted), "%s", fail_text());
        for (int i = 0; i < 4; i++) {
            const struct compared *x = &c.cases[i];
            bool is_planted = i % 2 == which;
            CHECK(x->verdict == (is_planted ? VERDICT_SLOWER : VERDICT_SAME), "%d, %s: %s", which,
                  compared_any(x)->matrix, verdict_name(x->verdict));
            double want = is_planted ? 1.05 : 1;
            CHECK(fabs(x->ms[SIDE_NEW] * x->gflops[SIDE_NEW] - 1) < 1e-6 &&
                      fabs(x->ms[SIDE_NEW] / x->ms[SIDE_OLD] - want) < 0.005,
                  "%d, %d: %g ms", which, i, x->ms[SIDE_NEW]);
        }
        comparison_free(&c);
    }
}

static void put_mean(FILE *f, enum side side, const char *run, int i)
{
    double clock = 1 + 0.02 * (i % 3 - 1) * (side == SIDE_NEW); // of all cases of a process
    for (int n = 0; n < 10; n++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", n);
        double ms = side == SIDE_NEW && n % 2 ? 8 : 2;
        PUT_IN(.name = name, .ms = ms * clock, .half = 0.001);
    }
}

// What processes do to all of their cases is in the interval of the mean.
static void test_mean(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 6, &usual, put_mean), "%s", fail_text());
    CHECK(fabs(c.sum.ratio - 2) < 0.002, "%g", c.sum.ratio);
    double error = 0.02 * sqrt(2 / 3. * 6 / 5) / sqrt(6), far = error * 2.5706;
    CHECK(fabs(log(c.sum.hi / c.sum.ratio) - far) < 0.05 * far, "%g, want %g",
          log(c.sum.hi / c.sum.ratio), far);
    comparison_free(&c);
}

static void write_two(void (*put_cases)(FILE *f, enum side side))
{
    for (int side = 0; side < SIDES; side++) {
        FILE *f = file_open(files[side], "w");
        put_environment(f, "r", side);
        put_cases(f, (enum side)side);
        fclose(f);
    }
}

#define MANY 40

// A process a side: 4 cases are twice as slow, the others as heavy-tailed as an H200 is.
static void put_single(FILE *f, enum side side)
{
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        double t = sinh(4.0 * (i - MANY / 2 + 0.5) / MANY) * 0.002; // worst: 0.7 %
        double ms = side ? exp(t) * (i >= 18 && i < 22 ? 2 : 1) : 1;
        PUT(.name = name, .ms = ms, .half = 0.001, .device = "cuda:0");
    }
}

static void test_single(void)
{
    struct comparison c;
    write_two(put_single);
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    CHECK(c.sum.guessed == MANY && !c.sum.paired, "%lld guessed", (long long)c.sum.guessed);
    CHECK(!c.sum.of[VERDICT_SLOWER] && !c.sum.of[VERDICT_FASTER], "a guess is a verdict");
    CHECK_VERDICT(&c, "m18", VERDICT_UNCLEAR);
    CHECK_TEXT(case_of(&c, "m18")->why, "perhaps slower");
    CHECK(comparison_conclude(&c) == CONCLUSION_CANNOT_TELL, "%s",
          conclusion_name(comparison_conclude(&c)));
    comparison_free(&c);
}

// Times that are not to be believed make no verdict.
static void put_doubtful(FILE *f, enum side side)
{
    bool now = side == SIDE_NEW;
    double ms = now ? 3 : 1;
    PUT(.name = "hot", .ms = ms, .half = 0.001, .throttled = now);
    PUT(.name = "busy", .ms = ms, .half = 0.001, .busy = now);
    PUT(.name = "few", .ms = ms, .samples = 3);
    PUT(.name = "calm", .ms = 1, .half = 0.001);
    // Where others are calm, the busy one does not count.
    PUT(.name = "other", .ms = 1, .half = 0.001);
    PUT(.run = "s", .name = "other", .ms = 50, .half = 0.001, .busy = true);
}

static void test_doubtful(void)
{
    struct comparison c;
    write_two(put_doubtful);
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    CHECK_VERDICT(&c, "hot", VERDICT_UNCLEAR);
    CHECK_TEXT(case_of(&c, "hot")->why, "throttled");
    CHECK_VERDICT(&c, "busy", VERDICT_UNCLEAR);
    CHECK_TEXT(case_of(&c, "busy")->why, "busy");
    CHECK_VERDICT(&c, "few", VERDICT_UNCLEAR);
    CHECK_TEXT(case_of(&c, "few")->why, "too few samples for an interval");
    const struct compared *other = case_of(&c, "other");
    CHECK(other->used[0] == 1 && other->used[1] == 1 && other->busy == 2, "%d and %d used",
          other->used[0], other->used[1]);
    CHECK(comparison_conclude(&c) == CONCLUSION_CANNOT_TELL, "%s",
          conclusion_name(comparison_conclude(&c)));
    comparison_free(&c);
}

static void put_turns(FILE *f, enum side side, const char *run, int i)
{
    // A neighbour comes and goes: it slows down both of a pair.
    double ms = (i % 2 ? 1.8 : 1) * wobble(i, side);
    PUT_IN(.name = "a", .busy = true, .ms = ms * (side == SIDE_NEW ? 1.05 : 1),
           .throttled = i == 3 && side);
}

// Busy processes count where they took turns; a throttled one takes its partner with it.
static void test_turns(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 8, &usual, put_turns), "%s", fail_text());
    const struct compared *a = case_of(&c, "a");
    CHECK(a->paired && a->used[0] == 7 && a->used[1] == 7, "%d and %d used", a->used[0],
          a->used[1]);
    CHECK_TEXT(comparison_remark(&c), "");
    CHECK(a->throttled == 1 && a->busy == 16, "%d throttled, %d busy", a->throttled, a->busy);
    CHECK_VERDICT(&c, "a", VERDICT_SLOWER);
    comparison_free(&c);
}

static const bool busy_one[] = {0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1};

static void put_some_busy(FILE *f, enum side side, const char *run, int i)
{
    bool busy = busy_one[i] && side == SIDE_NEW;
    PUT_IN(.name = "a", .busy = busy, .ms = wobble(i, side) * (busy ? 3 : 1));
}

// Pairs that were busy are left out where eight others are there.
static void test_some_busy(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 12, &usual, put_some_busy), "%s", fail_text());
    const struct compared *a = case_of(&c, "a");
    CHECK(a->used[0] == 8 && a->used[1] == 8 && !a->low, "%d and %d used", a->used[0], a->used[1]);
    CHECK_VERDICT(&c, "a", VERDICT_SAME);
    comparison_free(&c);
}

// The first decile of busy processes is steady where their median is not.
static void put_low(FILE *f, enum side side, const char *run, int i)
{
    double ms = wobble(i, side) * (side ? 1.06 : 1), wild = 1 + ((i * 5 + side * 3) % 7);
    PUT_IN(.half = 0.3, .busy = true, .ms = ms * wild, .low = ms);
}

static void test_low(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 8, &usual, put_low), "%s", fail_text());
    const struct compared *m = case_of(&c, "m");
    CHECK(m->low && c.sum.low == 1, "medians");
    CHECK(fabs(m->ms[SIDE_NEW] / 1.06 - 1) < 0.01, "%g ms", m->ms[SIDE_NEW]);
    CHECK_VERDICT(&c, "m", VERDICT_SLOWER);
    CHECK(m->e.looks == STATS_LOOKS, "%d looks", m->e.looks);
    comparison_free(&c);
}

// Files measured one after the other have no pairs. A change that may be drift is no regression. A
// case that was busy in all of NEW is unclear.
static void test_apart(void)
{
    static const struct {
        const char *name, *device;
        double ratio;
        bool busy; // in NEW
        enum verdict verdict;
    } rows[] = {{"calm", NULL, 1.1, false, VERDICT_DRIFTED},
                {"far", NULL, 1.3, false, VERDICT_SLOWER},
                {"fast", NULL, 0.9, false, VERDICT_DRIFTED},
                {"gpu", "cuda:0", 1.1, false, VERDICT_SLOWER},
                {"busy", NULL, 1.1, true, VERDICT_UNCLEAR}};
    struct comparison c;
    for (int side = 0; side < SIDES; side++) {
        FILE *f = file_open(files[side], "w");
        for (int i = 0; i < 5; i++) {
            char run[RUN_MAX];
            put_process(f, i, 10 * side + i, run);
            for (int x = 0; x < COUNT(rows); x++)
                PUT_IN(.name = rows[x].name, .device = rows[x].device, .busy = side && rows[x].busy,
                       .ms = wobble(i, side) * (side ? rows[x].ratio : 1));
        }
        fclose(f);
    }
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    CHECK(!c.sum.paired && !case_of(&c, "calm")->paired, "pairs");
    for (int x = 0; x < COUNT(rows); x++) CHECK_VERDICT(&c, rows[x].name, rows[x].verdict);
    CHECK_TEXT(case_of(&c, "far")->why, "not alternating");
    CHECK_TEXT(comparison_remark(&c), ", not alternating");
    CHECK(c.sum.tolerated == 1, "%lld tolerated", (long long)c.sum.tolerated);
    CHECK_TEXT(case_of(&c, "busy")->why, "busy");
    comparison_free(&c);
    // "calm" alone: the comparison cannot tell.
    for (int side = 0; side < SIDES; side++) {
        FILE *f = file_open(files[side], "w");
        for (int i = 0; i < 5; i++) {
            char run[RUN_MAX];
            put_process(f, i, 10 * side + i, run);
            PUT_IN(.ms = wobble(i, side) * (side ? 1.1 : 1));
        }
        fclose(f);
    }
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    CHECK(comparison_conclude(&c) == CONCLUSION_CANNOT_TELL, "%s",
          conclusion_name(comparison_conclude(&c)));
    comparison_free(&c);
}

// Unclear how much faster, but not slower: that is no reason to stop anybody.
static void put_excused(FILE *f, enum side side, const char *run, int i)
{
    PUT_IN(.ms = side == SIDE_NEW ? 0.98 * (1 + 0.02 * (i % 3 - 1)) : 1);
}

static void test_excused(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 6, &usual, put_excused), "%s", fail_text());
    CHECK_VERDICT(&c, "m", VERDICT_UNCLEAR);
    CHECK(c.sum.tolerated == 1 && comparison_conclude(&c) == CONCLUSION_FINE, "%s",
          conclusion_name(comparison_conclude(&c)));
    comparison_free(&c);
}

// Among many that wander, one is off by more than its own interval allows: that is chance.
static void put_chance(FILE *f, enum side side, const char *run, int i)
{
    for (int n = 0; n < 60; n++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", n);
        double off = 0.05 * (double)(random_value(5, (uint64_t)(n * 12 + 2 * i + side)));
        PUT_IN(.name = name, .ms = exp(off + (side && !n ? 0.045 : 0)));
    }
}

static void test_chance(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 6, &usual, put_chance), "%s", fail_text());
    const struct compared *x = case_of(&c, "m0");
    CHECK(x->e.p < 0.05 && x->e.p_of_all > 0.05, "p %g, of all %g", x->e.p, x->e.p_of_all);
    CHECK_VERDICT(&c, "m0", VERDICT_UNCLEAR);
    char want[64];
    snprintf(want, sizeof want, "p = %.2g of 60 cases", x->e.p_of_all);
    CHECK_TEXT(x->why, want);
    comparison_free(&c);
}

int main(void)
{
    files_make();
    RUN_ALL(test_verdicts, test_broken, test_unchecked, test_planted, test_mean, test_single,
            test_doubtful, test_turns, test_some_busy, test_low, test_apart, test_excused,
            test_chance);
    files_remove();
    return TEST_END();
}
