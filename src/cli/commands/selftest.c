// spbench selftest aa: compares this program with itself. Each reported change is false. A slowdown
// is then planted in every other case and must be found, then in the remaining cases. The output
// has a line per size of case, with the least detectable change.
#include "cli/commands/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "cli/commands/ab_run.h"

#define FALSE_MOST 0.01 // share of the cases
#define FOUND_MIN  0.95 // share of the cases above the smallest size

static const char *const standard[] = {"gen:stencil:100", "gen:fem:8", "gen:rmat:12:8",
                                       "gen:uniform:20000:8"};

// Counts for a size class of cases.
struct tally {
    int64_t cases, wrong, planted, found;
    double *floor; // least change that each case's interval excludes, size cases; owned
};

static bool has_changed(const struct compared *x)
{
    return x->verdict == VERDICT_SLOWER || x->verdict == VERDICT_FASTER;
}

static int count_false(const struct comparison *c, struct tally *t)
{
    for (int s = 0; s < STATS_CLASSES; s++)
        if (!(t[s].floor = mem_alloc(c->count, sizeof *t[s].floor))) return ERR_MEMORY;
    for (int64_t i = 0; i < c->count; i++) {
        const struct compared *x = &c->cases[i];
        if (!x->timed) continue;
        struct tally *of = &t[x->e.size_class];
        of->floor[of->cases++] = expm1((x->e.hi - x->e.lo) / 2);
        of->wrong += has_changed(x);
    }
    return OK;
}

// Counts planted slowdowns found. Every other timed case has one, from case `which` on.
static void count_found(const struct comparison *c, int which, struct tally *t)
{
    int64_t turn = 0;
    for (int64_t i = 0; i < c->count; i++) {
        const struct compared *x = &c->cases[i];
        if (!x->timed || turn++ % 2 != which) continue;
        t[x->e.size_class].planted++;
        t[x->e.size_class].found += x->verdict == VERDICT_SLOWER;
    }
}

static int judge_all(const struct ab_run *d, const struct options *o, struct tally *t,
                     int *runs_needed)
{
    int err = OK;
    for (int which = -1; which < 2 && !err; which++) {
        struct comparison c;
        struct compare_rule rule = {.threshold = o->compare.threshold / 100};
        if (which >= 0) rule.plant[which] = 1 + o->compare.plant / 100;
        err = comparison_files(&c, d->path[SIDE_OLD], d->path[SIDE_NEW], &rule);
        if (!err && which < 0) err = count_false(&c, t);
        if (!err && which < 0) *runs_needed = c.sum.runs_needed;
        if (!err && which >= 0) count_found(&c, which, t);
        comparison_free(&c);
    }
    return err;
}

static const char *percent_text(double share, char text[32])
{
    snprintf(text, 32, share < 10 ? "%.1f %%" : "> 999 %%", 100 * share);
    return text;
}

static void print_row(const char *name, struct tally *t)
{
    char middle[32] = "-", worst[32] = "-";
    if (t->cases && t->floor) {
        percent_text(stats_median(t->floor, t->cases), middle);
        percent_text(t->floor[t->cases - 1], worst); // the list is sorted
    }
    printf("%-14s %6lld %6lld  %12s %12s  %5lld of %lld\n", name, (long long)t->cases,
           (long long)t->wrong, middle, worst, (long long)t->found, (long long)t->planted);
}

static void print_bar(const char *what, double share, const char *bar, bool held)
{
    printf("%s: %.1f %% (%s): %s\n", what, 100 * share, bar, held ? "held" : "not held");
}

// Prints the results. Returns CONCLUSION_REGRESSION if too many verdicts are false, and
// CONCLUSION_CANNOT_TELL if too few slowdowns are found.
static enum conclusion print_all(const struct options *o, struct tally *t, int runs_needed)
{
    struct tally all = {0}, large = {0};
    char heading[64];
    snprintf(heading, sizeof heading, "%g %% found", o->compare.plant);
    printf("this program twice, %d process%s a side, alternating\n", o->runs,
           o->runs > 1 ? "es" : "");
    printf("%-14s %6s %6s  %12s %12s  %s\n", "size", "cases", "false", "noise floor", "worst",
           heading);
    for (int s = 0; s < STATS_CLASSES; s++) {
        if (t[s].cases) print_row(stats_class_name(s), &t[s]);
        all.cases += t[s].cases, all.wrong += t[s].wrong;
        if (s) large.planted += t[s].planted, large.found += t[s].found;
    }
    double wrong = (double)all.wrong / (double)all.cases;
    double found = large.planted ? (double)large.found / (double)large.planted : 0;
    print_bar("false verdicts", wrong, "at most 1 %", wrong <= FALSE_MOST);
    printf("planted slowdown: %g %%\n", o->compare.plant);
    print_bar("found, over 20 us", found, "at least 95 %", found >= FOUND_MIN);
    if (found < FOUND_MIN && runs_needed)
        printf("at this spread, 5 %% in 95 %% of cases takes -runs %d\n", runs_needed);
    return wrong > FALSE_MOST  ? CONCLUSION_REGRESSION
           : found < FOUND_MIN ? CONCLUSION_CANNOT_TELL
                               : CONCLUSION_FINE;
}

int cli_selftest(const struct request *q)
{
    const struct options *o = q->o;
    struct tally t[STATS_CLASSES] = {{0}};
    char self[PATH_MAX];
    int runs_needed = 0;
    int64_t cases = 0;
    if (!o->operand_count || strcmp(o->operands[0], "aa"))
        return fail(ERR_USAGE,
                    "%s: no such test; the test is aa: spbench selftest aa [OPTIONS] [MATRIX...]",
                    o->operand_count ? o->operands[0] : "selftest");
    if (o->runs < 2)
        return fail(ERR_USAGE, "-runs 1: at least 2 processes are needed for a spread");
    int err = child_self(self);
    if (err) return err;
    q->outcome->conclusion = CONCLUSION_CANNOT_TELL;
    struct ab_run run = {.o = o,
                         .program = {self, self},
                         .matrices = o->operands + 1,
                         .matrix_count = o->operand_count - 1};
    if (!run.matrix_count)
        run.matrices = (char *const *)standard, run.matrix_count = COUNT(standard);
    err = ab_run_measure(&run, NULL);
    if (!err) err = judge_all(&run, o, t, &runs_needed);
    for (int s = 0; s < STATS_CLASSES; s++) cases += t[s].cases;
    if (!err && !cases) err = fail(ERR_INPUT, "selftest: no case has a time on both sides");
    if (!err) q->outcome->conclusion = print_all(o, t, runs_needed);
    for (int s = 0; s < STATS_CLASSES; s++) mem_free(t[s].floor);
    ab_run_close(&run);
    return err;
}
