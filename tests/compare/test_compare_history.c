// A history of files compared; what cases are called in reports; who measures what when.
#include "compared.h"

static void test_names(void)
{
    static const char *const keys[][2] = {
        {"spmm merge cpu f32 k=4 cache=warm share=2 5x5:9 a", "merge k=4 share=2 Lib-1"},
        {"spmm merge cpu f32 k=8 cache=warm share=2 5x5:9 a", "merge k=8 share=2 Lib-1"},
        {"spmm rowsplit cpu f32 k=4 cache=warm launch=stream rows=1 5x5:9 a",
         "rowsplit k=4 launch=stream rows=1 Lib-1"}};
    struct observation seen[COUNT(keys)];
    struct compared cases[COUNT(keys)];
    char key[COUNT(keys)][128];
    struct comparison c = {.cases = cases, .count = COUNT(keys)};
    struct compared_names names;
    for (int i = 0; i < COUNT(keys); i++) {
        const char *size = strstr(keys[i][0], " 5x5");
        snprintf(key[i], sizeof key[i], "%.*s Lib-1%s", (int)(size - keys[i][0]), keys[i][0], size);
        seen[i] = (struct observation){.key = key[i], .matrix = (char *)"a"};
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
        struct observation a = {
            .key = (char *)table[i].a, .matrix = m, .alg = alg, .library = (char *)table[i].of_a};
        struct observation b = {
            .key = (char *)table[i].b, .matrix = m, .alg = alg, .library = (char *)table[i].of_b};
        bool differ = compared_differ(&a, &b, text);
        CHECK(differ == !!table[i].text, "row %d: %d", i, differ);
        if (differ && table[i].text) CHECK_TEXT(text, table[i].text);
    }
}

#define POINTS 6

static int64_t fail_at; // the allocation that fails; 0: none

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
            char name[RUN_MAX];
            put_process(f, run, 2 * i + run, name);
            PUT(.run = name, .name = "steady", .ms = wobble(i, run));
            PUT(.run = name, .name = "moves",
                .ms = wobble(i, 2 + run) * (i >= POINTS - slow ? 1.2 : 1));
            PUT(.run = name, .name = "other", .ms = wobble(3 * i, run));
        }
        fclose(f);
        paths[(i + 2) % POINTS] = path[i];
    }
    mem_fail_at(fail_at);
    int err = comparison_history(c, paths, POINTS, &rule);
    mem_fail_at(0);
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
    // Each of its two processes knows the time to 0.2 %: together they know it better.
    double one = log(1.002 / 0.998) / (2 * 1.959964), both = one / sqrt(2);
    const struct observation *s = case_of(&c, "moves")->seen[SIDE_NEW];
    CHECK(fabs(s->error - both) < 1e-6, "the error of two is %g, that of one %g", s->error, one);
    comparison_free(&c);
    CHECK(!history(&c, 1, 2), "%s", fail_text());
    CHECK_VERDICT(&c, "moves", VERDICT_UNCLEAR);
    CHECK_TEXT(case_of(&c, "moves")->why, "slower in 1 of 2 files in a row");
    CHECK(comparison_conclude(&c) == CONCLUSION_CANNOT_TELL, "it can be told");
    comparison_free(&c);
    CHECK(!history(&c, 1, 1), "%s", fail_text());
    CHECK_VERDICT(&c, "moves", VERDICT_SLOWER);
    comparison_free(&c);
    CHECK(history(&c, 1, POINTS) == ERR_INPUT && strstr(fail_text(), "needs at least 7"), "%s",
          fail_text());
    comparison_free(&c);
}

// Of the processes of a file the worst stands for all, in whatever order they come.
static void test_worst(void)
{
    static const char *const now[][3] = {
        {"failed", "wrong", "ok"}, {"wrong", "failed", "ok"}, {"ok", "failed", "failed"}};
    static const enum verdict want[] = {VERDICT_WRONG, VERDICT_WRONG, VERDICT_FAILING};
    const struct compare_rule rule = {.threshold = 0.03, .consecutive = 1};
    for (int i = 0; i < COUNT(now); i++) {
        struct comparison c;
        for (int side = 0; side < SIDES; side++) {
            FILE *f = file_open(files[side], "w");
            for (int run = 0; run < 3; run++) {
                char name[32];
                const char *status = side == SIDE_NEW ? now[i][run] : "ok";
                snprintf(name, sizeof name, "%d.%d", side, run);
                put_environment(f, name, 10 * side + run);
                PUT(.run = name, .status = status, .ms = strcmp(status, "ok") ? 0 : 1);
            }
            fclose(f);
        }
        const char *paths[SIDES] = {files[SIDE_OLD], files[SIDE_NEW]};
        CHECK(!comparison_history(&c, paths, SIDES, &rule), "%s", fail_text());
        CHECK_VERDICT(&c, "m", want[i]);
        comparison_free(&c);
    }
}

// Every allocation that can fail is looked at.
static void test_memory(void)
{
    struct comparison c;
    int err = ERR_MEMORY;
    for (fail_at = 1; err == ERR_MEMORY; fail_at += 7) { // they are many, and much the same
        err = history(&c, 2, 2);
        comparison_free(&c);
    }
    CHECK(!err && fail_at > 1000, "error %d at the %lldth allocation", err, (long long)fail_at);
    fail_at = 0;
}

int main(void)
{
    files_make();
    RUN_ALL(test_names, test_differ, test_history, test_worst, test_memory);
    files_remove();
    return TEST_END();
}
