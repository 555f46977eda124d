// Advice from cases made up by hand: the call, its default, the fastest algorithm of the program,
// and the choice for planned runs.
#include "cli/advice.h"

#include <math.h>
#include <string.h>

#include "test.h"

static struct advice a;

// Adds a case of an algorithm of SpMM on CUDA.
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
                                 .ms = ms,
                                 .ci_lo = 0.99 * ms,
                                 .ci_hi = 1.01 * ms,
                                 .prep_ms = prep_ms};
    return x;
}

static void start(void)
{
    a = (struct advice){.op = op_find("spmm"), .group_count = 1};
}

static void finish(void)
{
    a.groups[0].count = a.count;
    advice_make(&a);
}

static void test_call(void)
{
    start();
    struct advised *own = add("rowsplit", 2, 0), *slow = add("merge", 3, 0),
                   *mkl = add("mkl", 4, 10);
    finish();
    const struct advised_group *g = &a.groups[0];
    CHECK(g->call == mkl && g->standard == mkl && g->own == own && !g->chosen, "the call");
    own->rank.ms = 5;
    advice_make(&a);
    CHECK(g->own == slow, "the fastest of the program");
    mkl->rank.ms = NAN;
    advice_make(&a);
    CHECK(!g->call && !g->standard && g->own == slow, "no call");
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
        CHECK(a.groups[0].chosen == (runs[i] < 10 ? ready : fast), "%lld runs", (long long)runs[i]);
    }
}

// The first line of a vendor in the list of algorithms is the default call. Without its time, the
// default is unknown.
static void test_standard(void)
{
    start();
    a.op = op_find("spgemm");
    add("onepass", 2, 0);
    struct advised *mkl = add("mkl", 3, 0);
    finish();
    CHECK(a.groups[0].standard == mkl, "the only call is the default");
    for (const struct algo_entry *e = algos; e < algos + algo_count; e++)
        for (const struct algo_entry *f = e + 1; f < algos + algo_count && e->algo; f++)
            if (f->algo && f->op == e->op && f->device == e->device && e->algo->vendor &&
                !e->algo->dense && !f->algo->dense && f->algo->vendor &&
                !strcmp(e->algo->vendor, f->algo->vendor)) {
                start();
                a.op = e->op;
                a.list[a.count++] = (struct advised){
                    .c = {.entry = f}, .rank = {.alg = f->name, .vendor = f->algo->vendor, .ms = 1}};
                finish();
                CHECK(a.groups[0].call && !a.groups[0].standard, "%s is no default", f->name);
                return;
            }
}

int main(void)
{
    test_call();
    test_planned();
    test_standard();
    return TEST_END();
}
