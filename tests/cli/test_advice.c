// Tests advice on made-up cases: call, default call, fastest algorithm of the program, planned
// runs.
#include "cli/commands/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static struct advice a;

// Adds a case of a CPU algorithm of operation a.op, and returns the case.
static struct advised *add(const char *alg, double ms, double prep_ms)
{
    struct advised *x = &a.list[a.count++];
    const struct algo_entry *e = algo_find(a.op, alg, DEVICE_CPU);
    CHECK(e && e->algo, "%s", alg);
    *x = (struct advised){.c = {.entry = e}};
    x->rank = (struct rank_case){.alg = e->name,
                                 .vendor = e->algo->vendor,
                                 .call = e->algo->call,
                                 .dense = e->algo->dense,
                                 .samples = 20,
                                 .ms = ms,
                                 .ci_lo = 0.99 * ms,
                                 .ci_hi = 1.01 * ms,
                                 .prep_ms = prep_ms};
    return x;
}

static void start(void) { a = (struct advice){.op = op_find("spmm"), .axis = {64}}; }

static void finish(void)
{
    advice_make(&a);
}

static void test_call(void)
{
    start();
    struct advised *own = add("rowsplit", 2, 0), *slow = add("merge", 3, 0),
                   *mkl = add("mkl", 4, 10);
    finish();
    CHECK(a.call == mkl && a.standard == mkl && a.own == own && !a.chosen, "the call");
    own->rank.ms = 5;
    advice_make(&a);
    CHECK(a.own == slow, "the fastest of the program");
    mkl->rank.ms = NAN;
    advice_make(&a);
    CHECK(!a.call && !a.standard && a.own == slow, "no call");
}

static void test_planned(void)
{
    start();
    struct advised *ready = add("rowsplit", 2, 0), *fast = add("mkl", 1, 10);
    finish();
    const int64_t runs[] = {1, 9, 11, 1000};
    for (int i = 0; i < COUNT(runs); i++) {
        a.runs = runs[i];
        advice_make(&a);
        CHECK(a.chosen == (runs[i] < 10 ? ready : fast), "%lld runs", (long long)runs[i]);
    }
}

// If `auto` is the fastest, its pick is named, unless the pick itself is slower.
static void test_picked(void)
{
    for (int slower = 0; slower < 2; slower++) {
        start();
        struct advised *chooser = add("auto", 2, 27), *pick = add("merge", slower ? 2.2 : 2.05, 1);
        chooser->rank.picked = "merge";
        finish();
        CHECK(a.own == (slower ? chooser : pick), "slower %d: %s", slower, a.own->name);
    }
}

// Two ways to one product are compared in one group, and have names of their own.
static void test_ways(void)
{
    start();
    struct advised *flag = add("mkl", 3, 1), *copy = add("mkl", 2, 9);
    struct advised *own = add("rowsplit", 2.5, 8);
    flag->c.axis[2] = 1;
    copy->c.axis[2] = own->c.axis[2] = 2;
    finish();
    CHECK(a.call == copy && a.standard == flag && a.own == own, "the call");
    CHECK_TEXT(flag->rank.name, "mkl trans=flag");
    CHECK_TEXT(copy->rank.name, "mkl trans=copy");
    CHECK_TEXT(own->rank.name, "rowsplit trans=copy");
    // 9 + 9 * 2 < 1 + 9 * 3
    CHECK(copy->rank.pays_after == 9 && flag->rank.over_best == 1.5, "%g runs",
          copy->rank.pays_after);
}

// The default call at k = 1 is the product with a vector, which other k do not have.
static void test_one_column(void)
{
    start();
    a.axis[0] = 1;
    struct advised *mm = add("mkl", 3, 1);
    finish();
    CHECK(a.call == mm && !a.standard, "no time of the default call");
    struct advised *mv = add("mkl-mv", 4, 1);
    advice_make(&a);
    CHECK(a.call == mm && a.standard == mv, "the default call of one column");
}

static const struct algo calls[] = {
    {.vendor = "Lib", .partial = "the structure of C"}, {.vendor = "Lib"}, {.vendor = "Lib"}};
static const struct algo_entry entries[] = {
    {.name = "lib-part", .device = DEVICE_CPU, .algo = &calls[0]},
    {.name = "lib-first", .device = DEVICE_CPU, .algo = &calls[1]},
    {.name = "lib-second", .device = DEVICE_CPU, .algo = &calls[2]}};

// The first algorithm of a vendor that computes the whole result is the default call. Without its
// time, the default is unknown.
static void test_standard(void)
{
    start();
    for (int i = 0; i < COUNT(entries); i++) {
        struct algo_entry e = entries[i];
        e.op = a.op;
        CHECK(!algo_add(&e, "a call"), "%s", fail_text());
    }
    add("rowsplit", 2, 0);
    struct advised *second = add("lib-second", 3, 0), *first = add("lib-first", 4, 0);
    finish();
    CHECK(a.call == second && a.standard == first, "the default call");
    first->rank.ms = NAN;
    advice_make(&a);
    CHECK(a.call == second && !a.standard, "no default call");
}

// A case that other programs may have slowed is reported.
static void test_busy(void)
{
    static const struct matrix M = {.name = (char *)"m"};
    static const struct bench_device on = {.id = "cpu"};
    char *text = NULL;
    size_t size = 0;
    for (int busy = 0; busy < 2; busy++) {
        start();
        a.matrix = &M;
        a.device = &on;
        a.products = a.nnz_c = a.c_bytes = NAN;
        add("rowsplit", 2, 0)->busy = busy;
        add("merge", 3, 0);
        finish();
        FILE *out = open_memstream(&text, &size);
        advice_print(out, &a);
        fclose(out);
        CHECK((strstr(text,
                      "\n  busy         other programs used the processors during 1 of 2 cases") !=
               NULL) == busy,
              "busy %d: %s", busy, text);
        CHECK((strstr(text, " 2.000 ms (busy); ") != NULL) == busy, "busy %d: %s", busy, text);
        free(text);
    }
}

TESTS(test_call, test_planned, test_picked, test_ways, test_one_column, test_standard, test_busy)
