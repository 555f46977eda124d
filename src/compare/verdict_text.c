#include "compare/verdict_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "base/words.h"
#include "report/cell.h"

#define MATRIX_MOST 28 // characters of a name in a text table; a longer name loses its middle

// Writes a ratio with three decimals, from 100 on without decimals.
static const char *factor_text(double x, char text[16])
{
    snprintf(text, 16, x < 100 ? "%.3f" : "%.0f", x);
    return text;
}

const char *verdict_ratio(const struct compared *x, char text[64])
{
    char ratio[16], lo[16], hi[16];
    if (x->timed)
        snprintf(text, 64, "%s (%s to %s)", factor_text(exp(x->e.shift), ratio),
                 factor_text(exp(x->e.lo), lo), factor_text(exp(x->e.hi), hi));
    else
        snprintf(text, 64, "-");
    return text;
}

const char *verdict_source(const struct comparison *c, enum side side, char text[SOURCE_MAX])
{
    const struct origin *of[] = {&c->read[side].revision, &c->read[side].device};
    int used = snprintf(text, SOURCE_MAX, "%s", c->name[side]);
    bool any = false;
    for (int i = 0; i < COUNT(of); i++) {
        if (!of[i]->text[0]) continue;
        used += snprintf(text + used, SOURCE_MAX - (size_t)used, "%s%s%s", any ? ", " : " (",
                         of[i]->text, of[i]->mixed ? " and others" : "");
        any = true;
    }
    if (any) snprintf(text + used, SOURCE_MAX - (size_t)used, ")");
    return text;
}

static void print_devices(FILE *out, const struct comparison *c)
{
    const struct origin *before = &c->read[SIDE_OLD].device, *now = &c->read[SIDE_NEW].device;
    if (!before->text[0] || !now->text[0]) return;
    if (before->mixed || now->mixed || strcmp(before->text, now->text))
        fprintf(out, "devices differ: OLD %s, NEW %s\n", before->text, now->text);
}

static void print_counts(FILE *out, const struct comparison *c)
{
    bool any = false;
    fprintf(out, "%lld case%s:", (long long)c->count, c->count == 1 ? "" : "s");
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (!c->sum.of[v]) continue;
        fprintf(out, "%s %lld %s", any ? "," : "", (long long)c->sum.of[v],
                verdict_name((enum verdict)v));
        any = true;
    }
    fprintf(out, "\n");
}

static void print_extreme(FILE *out, const struct comparison *c, const struct compared_names *names,
                          const char *what, int64_t i)
{
    char ratio[64], matrix[FAIL_TEXT_MAX];
    fprintf(out, "%s: %s, %s, %s\n", what, verdict_ratio(&c->cases[i], ratio),
            utf8_visible(compared_any(&c->cases[i])->matrix, matrix, sizeof matrix),
            names->text[i]);
}

static void print_processes(FILE *out, const struct comparison *c)
{
    const struct verdict_counts *s = &c->sum;
    fprintf(out, "processes of a case that count: ");
    for (int side = 0; side < SIDES; side++) {
        fprintf(out, "%s%d", side ? " and " : "", s->runs[side][0]);
        if (s->runs[side][1] > s->runs[side][0]) fprintf(out, " to %d", s->runs[side][1]);
    }
    fprintf(out, s->paired == s->timed ? ", alternating\n"
                 : s->paired           ? ", some alternating\n"
                                       : ", not alternating\n");
    if (s->guessed)
        fprintf(out,
                "guessed: %lld case%s with one process a side; the spread is taken from the "
                "scatter of all cases, and no case is slower or faster for sure\n",
                (long long)s->guessed, s->guessed == 1 ? "" : "s");
    if (s->runs_needed)
        fprintf(out,
                "at this spread, %d processes a side find a slowdown of 5 %% in 95 %% of cases\n",
                s->runs_needed);
}

static void print_left_out(FILE *out, const struct comparison *c)
{
    const struct verdict_counts *s = &c->sum;
    if (s->timed < c->count)
        fprintf(out, "not in the mean: %lld case%s without a time on both sides\n",
                (long long)(c->count - s->timed), c->count - s->timed == 1 ? "" : "s");
    if (s->shared)
        fprintf(out, "in both files: the same processes of %lld case%s\n", (long long)s->shared,
                s->shared == 1 ? "" : "s");
    if (s->throttled)
        fprintf(out, "left out: processes with throttled clocks, of %lld cases\n",
                (long long)s->throttled);
    if (s->busy)
        fprintf(out, "busy: other programs used the processors during %lld case%s%s\n",
                (long long)s->busy, s->busy == 1 ? "" : "s",
                s->low ? "; ms of busy pairs are first deciles, not medians" : "");
    for (int side = 0; side < SIDES; side++)
        if (c->read[side].bad_lines)
            fprintf(out, "left out: %lld line%s, the first %s\n",
                    (long long)c->read[side].bad_lines, c->read[side].bad_lines == 1 ? "" : "s",
                    c->read[side].bad_text);
}

int verdict_cases(FILE *out, const struct comparison *c, const struct compared_names *names,
                  bool (*wanted)(const struct compared *x), enum grid_style style)
{
    struct grid g = {0};
    char matrix[MATRIX_MOST + 1], number[32], ratio[64], text[FAIL_TEXT_MAX];
    grid_column(&g, "matrix", true);
    grid_column(&g, "case", true);
    grid_column(&g, "old ms", false);
    grid_column(&g, "new ms", false);
    grid_column(&g, "new / old (95 %)", true);
    grid_column(&g, "verdict", true);
    for (int64_t i = 0; i < c->count; i++) {
        const struct compared *x = &c->cases[i];
        const char *name = compared_any(x)->matrix;
        if (!wanted(x)) continue;
        grid_cell(&g, style == GRID_TEXT ? utf8_visible(name, matrix, sizeof matrix) : name);
        grid_cell(&g, names->text[i]);
        for (int side = 0; side < SIDES; side++)
            grid_cell(&g, cell_number(x->timed ? x->ms[side] : NAN, number));
        grid_cell(&g, verdict_ratio(x, ratio));
        snprintf(text, sizeof text, "%s%s%s", verdict_name(x->verdict), x->why[0] ? ": " : "",
                 x->why);
        if (x->timed && x->throttled)
            words_print(text, sizeof text, "; %d throttled", x->throttled);
        if (x->timed && x->e.guessed) words_print(text, sizeof text, "; guessed");
        grid_cell(&g, text);
    }
    return grid_print(&g, out, style);
}

void verdict_counts_print(FILE *out, const struct comparison *c, const struct compared_names *names)
{
    const struct verdict_counts *s = &c->sum;
    print_counts(out, c);
    if (c->rule.kind == TIMING_BACK_TO_BACK)
        fprintf(out, "times are back to back if a case has such a time\n");
    if (c->rule.kind == TIMING_BACK_TO_BACK && s->overtaking)
        fprintf(out, "not in order: runs of %lld case%s start before the work ahead has ended\n",
                (long long)s->overtaking, s->overtaking == 1 ? "" : "s");
    if (s->timed) {
        if (s->paired)
            fprintf(out,
                    "old ms, new ms: means of the medians of processes; new / old: mean of the "
                    "ratios of pairs; geometric, trimmed\n");
        fprintf(out,
                "geometric mean of %lld ratios, time of NEW over OLD: %.4f (95 %%: %.4f to "
                "%.4f)\n",
                (long long)s->timed, s->ratio, s->lo, s->hi);
        print_extreme(out, c, names, "worst", s->worst);
        print_extreme(out, c, names, "best", s->best);
        print_processes(out, c);
    }
    print_devices(out, c);
    print_left_out(out, c);
    fprintf(out, "%s%s\n", conclusion_name(comparison_conclude(c)), comparison_remark(c));
}
