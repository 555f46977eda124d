// Files of records compared: which cases are the same, which processes count, each verdict, the
// summary, histories, and who measures what when.
#include "compared.h"
#include "run/interleave.h"
#include "run/report.h"

static const struct compare_rule usual = {.threshold = 0.03, .consecutive = 2};

// Both files with `runs` processes by turns, of which put_case() writes the cases.
static int compare_runs(struct comparison *c, int runs, const struct compare_rule *rule,
                        void (*put_cases)(FILE *f, enum side side, const char *run, int i))
{
    for (int side = 0; side < SIDES; side++) {
        FILE *f = file_open(files[side], "w");
        for (int i = 0; i < runs; i++) {
            char run[16];
            snprintf(run, sizeof run, "r%d", i);
            put_environment(f, run, i);
            put_cases(f, (enum side)side, run, i);
        }
        fclose(f);
    }
    return comparison_files(c, files[0], files[1], rule);
}

// The same in all, up to half a percent.
static double wobble(int i, int of)
{
    return 1 + 0.005 * ((double)((i * 7 + of * 3) % 11) / 11 - 0.5);
}

static void put_verdicts(FILE *f, enum side side, const char *run, int i)
{
    bool now = side == SIDE_NEW;
    double ms = wobble(i, now);
    put(f, (struct line){.run = run, .name = "same", .ms = ms, .half = 0.002});
    put(f, (struct line){.run = run, .name = "slow", .ms = ms * (now ? 1.06 : 1), .half = 0.002});
    put(f, (struct line){.run = run, .name = "fast", .ms = ms * (now ? 0.5 : 1), .half = 0.002});
    put(f, (struct line){.run = run, .name = "small", .ms = ms * (now ? 1.02 : 1), .half = 0.002});
    // As far off as the threshold allows, give or take more than that.
    double wild = 1 + 0.2 * ((i + 3 * now) % 4);
    put(f, (struct line){.run = run, .name = "wild", .ms = wild, .half = 0.002});
    if (!now) put(f, (struct line){.run = run, .name = "gone", .ms = 1, .half = 0.01});
    if (now) put(f, (struct line){.run = run, .name = "more", .ms = 1, .half = 0.01});
    // One process in which it fails, or is wrong, is enough.
    bool last = i == 5 && now;
    put(f, (struct line){.run = run,
                         .name = "fails",
                         .ms = last ? 0 : 1,
                         .half = 0.01,
                         .status = last ? "failed" : NULL,
                         .reason = last ? "no luck" : NULL});
    put(f, (struct line){.run = run,
                         .name = "wrong",
                         .ms = last ? 0 : 1,
                         .half = 0.01,
                         .status = last ? "wrong" : NULL});
    put(f, (struct line){.run = run,
                         .name = "mended",
                         .ms = now ? 1 : 0,
                         .half = 0.01,
                         .status = now ? NULL : "wrong"});
    put(f, (struct line){.run = run, .name = "never", .status = "oom"});
    put(f, (struct line){.run = run,
                         .name = "hidden",
                         .ms = now ? 0 : 1,
                         .half = 0.01,
                         .status = now ? "unchecked" : NULL});
    put(f, (struct line){.run = run, .name = "worse", .status = now ? "wrong" : "failed"});
    put(f, (struct line){.run = run,
                         .name = "newer",
                         .ms = now ? 0.5 : 1,
                         .half = 0.01,
                         .library = now ? "2.0" : "1.0"});
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
    CHECK_VERDICT(&c, "hidden", VERDICT_MISSING);
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
            CHECK_TEXT(c.cases[i].why, old ? "NEW has it of Lib 2.0" : "OLD has it of Lib 1.0");
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

// What is planted in every other case, and nothing else, is found.
static void put_planted(FILE *f, enum side side, const char *run, int i)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int n = 0; n < COUNT(names); n++)
        put(f,
            (struct line){.run = run, .name = names[n], .ms = wobble(i + n, side), .half = 0.002});
}

static void test_planted(void)
{
    for (int which = 0; which < 2; which++) {
        struct comparison c;
        struct compare_rule rule = usual;
        rule.plant[which] = 1.05;
        CHECK(!compare_runs(&c, 6, &rule, put_planted), "%s", fail_text());
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
        put(f, (struct line){.run = run, .name = name, .ms = ms * clock, .half = 0.001});
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

// One process a side: 4 cases are 30 % slower, the others as heavy-tailed as an H200 is.
static void put_single(FILE *f, enum side side)
{
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        double t = sinh(4.0 * (i - MANY / 2 + 0.5) / MANY) * 0.002; // worst: 0.7 %
        double ms = side ? exp(t) * (i >= 18 && i < 22 ? 1.3 : 1) : 1;
        put(f,
            (struct line){.run = "r", .name = name, .ms = ms, .half = 0.001, .device = "cuda:0"});
    }
}

static void put_all_slower(FILE *f, enum side side)
{
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        put(f, (struct line){.run = "r",
                             .name = name,
                             .half = 0.001,
                             .device = "cuda:0",
                             .ms = side ? 1.08 * (1 + 0.003 * (i % 5 - 2)) : 1});
    }
}

static void test_single(void)
{
    struct comparison c;
    write_two(put_single);
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    CHECK(c.sum.guessed == MANY && !c.sum.paired, "%lld guessed", (long long)c.sum.guessed);
    CHECK(c.sum.of[VERDICT_SLOWER] == 4, "%lld slower", (long long)c.sum.of[VERDICT_SLOWER]);
    CHECK_VERDICT(&c, "m18", VERDICT_SLOWER);
    CHECK(!c.sum.of[VERDICT_FASTER], "%lld faster", (long long)c.sum.of[VERDICT_FASTER]);
    comparison_free(&c);
    write_two(put_all_slower);
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    CHECK(c.sum.of[VERDICT_SLOWER] == MANY, "%lld slower", (long long)c.sum.of[VERDICT_SLOWER]);
    comparison_free(&c);
}

// Times that are not to be believed make no verdict.
static void put_doubtful(FILE *f, enum side side)
{
    bool now = side == SIDE_NEW;
    double ms = now ? 3 : 1;
    put(f, (struct line){.run = "r", .name = "hot", .ms = ms, .half = 0.001, .throttled = now});
    put(f, (struct line){.run = "r", .name = "busy", .ms = ms, .half = 0.001, .busy = now});
    put(f, (struct line){.run = "r", .name = "few", .ms = ms, .samples = 3});
    put(f, (struct line){.run = "r", .name = "calm", .ms = 1, .half = 0.001});
    // Where others are calm, the busy one does not count.
    put(f, (struct line){.run = "r", .name = "other", .ms = 1, .half = 0.001});
    put(f, (struct line){.run = "s", .name = "other", .ms = 50, .half = 0.001, .busy = true});
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
    put(f, (struct line){.run = run,
                         .name = "a",
                         .half = 0.002,
                         .busy = true,
                         .ms = ms * (side == SIDE_NEW ? 1.05 : 1),
                         .throttled = i == 3 && side});
}

// Busy processes count where they took turns; a throttled one takes its partner with it.
static void test_turns(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 8, &usual, put_turns), "%s", fail_text());
    const struct compared *a = case_of(&c, "a");
    CHECK(a->paired && a->used[0] == 7 && a->used[1] == 7, "%d and %d used", a->used[0],
          a->used[1]);
    CHECK(a->throttled == 1 && a->busy == 16, "%d throttled, %d busy", a->throttled, a->busy);
    CHECK_VERDICT(&c, "a", VERDICT_SLOWER);
    comparison_free(&c);
}

// One file after the other: no pairs, and what was busy in all of NEW may be slower for that.
static void test_apart(void)
{
    struct comparison c;
    for (int side = 0; side < SIDES; side++) {
        FILE *f = file_open(files[side], "w");
        for (int i = 0; i < 5; i++) {
            char run[16];
            snprintf(run, sizeof run, "r%d", i);
            put_environment(f, run, 10 * side + i);
            put(f, (struct line){.run = run,
                                 .name = "calm",
                                 .half = 0.002,
                                 .ms = wobble(i, side) * (side ? 1.1 : 1)});
            put(f, (struct line){.run = run,
                                 .name = "busy",
                                 .half = 0.002,
                                 .busy = side,
                                 .ms = wobble(i, side) * (side ? 1.1 : 1)});
        }
        fclose(f);
    }
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    CHECK(!c.sum.paired && !case_of(&c, "calm")->paired, "pairs");
    CHECK_VERDICT(&c, "calm", VERDICT_SLOWER);
    CHECK_VERDICT(&c, "busy", VERDICT_UNCLEAR);
    CHECK_TEXT(case_of(&c, "busy")->why, "busy");
    comparison_free(&c);
}

// Unclear how much faster, but not slower: that is no reason to stop anybody.
static void put_excused(FILE *f, enum side side, const char *run, int i)
{
    put(f, (struct line){.run = run,
                         .half = 0.002,
                         .ms = side == SIDE_NEW ? 0.98 * (1 + 0.02 * (i % 3 - 1)) : 1});
}

static void test_excused(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 6, &usual, put_excused), "%s", fail_text());
    CHECK_VERDICT(&c, "m", VERDICT_UNCLEAR);
    CHECK(c.sum.excused == 1 && comparison_conclude(&c) == CONCLUSION_FINE, "%s",
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
        put(f, (struct line){.run = run,
                             .name = name,
                             .ms = exp(off + (side && !n ? 0.045 : 0)),
                             .half = 0.002});
    }
}

static void test_chance(void)
{
    struct comparison c;
    CHECK(!compare_runs(&c, 6, &usual, put_chance), "%s", fail_text());
    const struct compared *x = case_of(&c, "m0");
    CHECK(x->e.p < 0.05 && x->e.p_of_all > 0.05, "p %g, of all %g", x->e.p, x->e.p_of_all);
    CHECK_VERDICT(&c, "m0", VERDICT_UNCLEAR);
    CHECK_TEXT(x->why, "among so many cases that may be chance");
    comparison_free(&c);
}

// The last record of a case and a process counts; a line that is none is left out and told.
static void test_reading(void)
{
    struct comparison c;
    FILE *f = file_open(files[0], "w");
    put_environment(f, "r", 1);
    put(f, (struct line){.run = "r", .name = "a", .ms = 7, .half = 0.001});
    fprintf(f, "{\"schema\":\"spbench/1\",\"kind\":\"res\n");
    put(f, (struct line){.run = "r", .name = "a", .ms = 2, .half = 0.001});
    fprintf(f, "\n{\"half\":");
    fclose(f);
    f = file_open(files[1], "w");
    put(f, (struct line){.run = "q", .name = "a", .ms = 2, .half = 0.001});
    fclose(f);
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    const struct compared *a = case_of(&c, "a");
    CHECK(c.count == 1 && a->count[0] == 1 && fabs(a->ms[0] - 2) < 1e-9, "%g ms", a->ms[0]);
    CHECK(c.read[0].bad_lines == 2 && strstr(c.read[0].bad_text, ":3: no record"), "%lld: %s",
          (long long)c.read[0].bad_lines, c.read[0].bad_text);
    comparison_free(&c);
    // What is no file of records.
    static const char *const bad[][2] = {{"", "has no results"},
                                         {"%%MatrixMarket matrix\n", "is no file of records"},
                                         {"{}\n{}\n", "has no results; "}};
    for (int i = 0; i < COUNT(bad); i++) {
        f = file_open(files[1], "w");
        fputs(bad[i][0], f);
        fclose(f);
        CHECK(comparison_files(&c, files[0], files[1], &usual) == ERR_INPUT &&
                  strstr(fail_text(), bad[i][1]),
              "row %d: %s", i, fail_text());
        comparison_free(&c);
    }
    CHECK(comparison_files(&c, "/no/such/file", files[1], &usual) == ERR_INPUT &&
              strstr(fail_text(), "cannot be read"),
          "%s", fail_text());
    comparison_free(&c);
}

static void test_names(void)
{
    static const char *const keys[][2] = {
        {"spmm merge cpu f32 k=4 cache=warm share=2 5x5:9 a", "merge k=4 Lib-1"},
        {"spmm merge cpu f32 k=8 cache=warm share=2 5x5:9 a", "merge k=8 Lib-1"},
        {"spmm rowsplit cpu f32 k=4 cache=warm launch=stream rows=1 5x5:9 a",
         "rowsplit k=4 launch=stream Lib-1"}};
    struct sighting seen[COUNT(keys)];
    struct compared cases[COUNT(keys)];
    char key[COUNT(keys)][128];
    struct comparison c = {.cases = cases, .count = COUNT(keys)};
    struct compared_names names;
    for (int i = 0; i < COUNT(keys); i++) {
        const char *size = strstr(keys[i][0], " 5x5");
        snprintf(key[i], sizeof key[i], "%.*s Lib-1%s", (int)(size - keys[i][0]), keys[i][0], size);
        seen[i] = (struct sighting){.key = key[i], .matrix = (char *)"a"};
        cases[i] = (struct compared){.seen = {&seen[i], NULL}, .count = {1, 0}};
    }
    CHECK(!compared_names_make(&names, &c), "%s", fail_text());
    for (int i = 0; i < COUNT(keys); i++) CHECK_TEXT(names.text[i], keys[i][1]);
    compared_names_free(&names);
}

// What else two cases differ in that would be the same.
static void test_differ(void)
{
    static const struct {
        const char *a, *b, *of_a, *of_b, *text; // NULL: they are no such cases
    } table[] = {
        {"spmm merge cpu f32 k=4 5x5:9 m", "spmm merge cpu f32 k=4 way=0 5x5:9 m", NULL, NULL,
         "with way=0"},
        {"spmm merge cpu f32 k=4 way=0 5x5:9 m", "spmm merge cpu f32 k=4 x=1 y=2 5x5:9 m", NULL,
         NULL, "with x=1, y=2, without way=0"},
        {"spmm merge cpu f32 k=4 L-1 5x5:9 m", "spmm merge cpu f32 k=4 x=1 L-2 5x5:9 m", "L 1",
         "L 2", "of L 2, with x=1"},
        {"spmm merge cpu f32 k=4 5x5:9 m", "spmm merge cpu f32 k=8 5x5:9 m", NULL, NULL, NULL},
        {"spmm merge cpu f32 k=4 5x5:9 m", "spmm merge cpu f64 k=4 5x5:9 m", NULL, NULL, NULL},
        {"spmm merge cpu f32 k=4 5x5:9 m", "spmm merge cpu f32 k=4 6x5:9 m", NULL, NULL, NULL},
        {"spmm merge cpu f32 k=4 5x5:9 m", "spmm merge cpu f32 k=4 L-2 5x5:9 m", NULL, "L 2", NULL},
    };
    for (int i = 0; i < COUNT(table); i++) {
        char text[WHY_MAX] = "", *m = (char *)"m", *alg = (char *)"merge";
        struct sighting a = {
            .key = (char *)table[i].a, .matrix = m, .alg = alg, .library = (char *)table[i].of_a};
        struct sighting b = {
            .key = (char *)table[i].b, .matrix = m, .alg = alg, .library = (char *)table[i].of_b};
        bool differ = compared_differ(&a, &b, text);
        CHECK(differ == !!table[i].text, "row %d: %d", i, differ);
        if (differ && table[i].text) CHECK_TEXT(text, table[i].text);
    }
}

#define POINTS 6

// Files of a history, of which `slow` at the end are slower.
static int history(struct comparison *c, int slow, int consecutive)
{
    static char path[POINTS][sizeof files[0] + 16];
    const char *paths[POINTS];
    struct compare_rule rule = {.threshold = 0.03, .consecutive = consecutive};
    for (int i = 0; i < POINTS; i++) {
        // Named so that only dates tell the order.
        snprintf(path[i], sizeof path[i], "%s.%d", files[0], (i * 5) % POINTS);
        FILE *f = file_open(path[i], "w");
        for (int run = 0; run < 2; run++) {
            char name[16];
            snprintf(name, sizeof name, "r%d", run);
            put_environment(f, name, 2 * i + run);
            put(f,
                (struct line){.run = name, .name = "steady", .ms = wobble(i, run), .half = 0.002});
            put(f, (struct line){.run = name,
                                 .name = "moves",
                                 .half = 0.002,
                                 .ms = wobble(i, 2 + run) * (i >= POINTS - slow ? 1.2 : 1)});
            put(f, (struct line){
                       .run = name, .name = "other", .ms = wobble(3 * i, run), .half = 0.002});
        }
        fclose(f);
        paths[(i + 2) % POINTS] = path[i];
    }
    int err = comparison_history(c, paths, POINTS, &rule);
    for (int i = 0; i < POINTS; i++) unlink(path[i]);
    return err;
}

static void test_history(void)
{
    struct comparison c;
    CHECK(!history(&c, 2, 2), "%s", fail_text());
    CHECK_VERDICT(&c, "moves", VERDICT_SLOWER);
    CHECK_VERDICT(&c, "steady", VERDICT_SAME);
    CHECK(case_of(&c, "moves")->used[SIDE_OLD] == 4 && case_of(&c, "moves")->used[SIDE_NEW] == 1,
          "a file is not one measurement");
    CHECK(comparison_conclude(&c) == CONCLUSION_REGRESSION, "no regression");
    comparison_free(&c);
    CHECK(!history(&c, 1, 2), "%s", fail_text());
    CHECK_VERDICT(&c, "moves", VERDICT_UNCLEAR);
    CHECK_TEXT(case_of(&c, "moves")->why, "slower in 1 of 2 files in a row");
    CHECK(comparison_conclude(&c) == CONCLUSION_CANNOT_TELL, "it can be told");
    comparison_free(&c);
    CHECK(!history(&c, 1, 1), "%s", fail_text());
    CHECK_VERDICT(&c, "moves", VERDICT_SLOWER);
    comparison_free(&c);
    CHECK(history(&c, 1, POINTS) == ERR_INPUT && strstr(fail_text(), "needs 7"), "%s", fail_text());
    comparison_free(&c);
}

// Every allocation that can fail is looked at.
static void test_memory(void)
{
    struct comparison c;
    write_two(put_doubtful);
    FILE *sink = file_open("/dev/null", "w");
    int err = ERR_MEMORY;
    int64_t n = 1, written = 0;
    for (; err == ERR_MEMORY; n++) {
        mem_fail_at(n);
        err = comparison_files(&c, files[0], files[1], &usual);
        for (const struct report_format *f = report_formats; f->name && !err; f++)
            err = f->write(sink, &c), written++;
        mem_fail_at(0);
        comparison_free(&c);
    }
    CHECK(!err && n > 100 && written > 6, "error %d at the %lldth allocation", err, (long long)n);
    fclose(sink);
}

// Each round each side has each matrix once; pairs stand together; who begins changes.
static void test_interleave(void)
{
    for (int sides = 2; sides <= 3; sides++) {
        const struct interleave s = {6, 5, sides};
        int seen[6][5][3] = {{{0}}}, begins[5][3] = {{0}};
        for (int64_t i = 0; i < interleave_count(&s); i++) {
            struct turn t = interleave_turn(&s, i), ahead = interleave_turn(&s, i - i % sides);
            seen[t.round][t.matrix][t.side]++;
            CHECK(t.matrix == ahead.matrix && t.round == ahead.round, "turn %lld", (long long)i);
            if (i % sides == 0) begins[t.matrix][t.side]++;
        }
        for (int r = 0; r < 6; r++)
            for (int m = 0; m < 5; m++)
                for (int side = 0; side < sides; side++)
                    CHECK(seen[r][m][side] == 1, "round %d, matrix %d, side %d", r, m, side);
        for (int m = 0; m < 5; m++)
            for (int side = 0; side < sides; side++)
                CHECK(begins[m][side] == 6 / sides, "matrix %d begins %d times with %d", m,
                      begins[m][side], side);
        CHECK(interleave_turn(&s, 0).matrix != interleave_turn(&s, 5 * sides).matrix,
              "rounds begin with the same matrix");
    }
}

int main(void)
{
    files_make();
    test_verdicts();
    test_broken();
    test_planted();
    test_mean();
    test_single();
    test_doubtful();
    test_turns();
    test_apart();
    test_excused();
    test_chance();
    test_reading();
    test_names();
    test_differ();
    test_history();
    test_memory();
    test_interleave();
    files_remove();
    return TEST_END();
}
