#include "compare/verdict_text.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

const char *verdict_number(double x, char text[32])
{
    int decimals = x > 0 && isfinite(x) ? 3 - (int)floor(log10(x)) : 3;
    if (isfinite(x))
        snprintf(text, 32, "%.*f", decimals < 0 ? 0 : decimals > 7 ? 7 : decimals, x);
    else
        snprintf(text, 32, "-");
    return text;
}

// Writes a ratio with three decimals, fewer if it is large.
static const char *factor_text(double x, char text[16])
{
    snprintf(text, 16, x < 100 ? "%.3f" : "%.2g", x);
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

static void print_devices(FILE *out, const struct comparison *c, const char *mark)
{
    const struct origin *before = &c->read[SIDE_OLD].device, *now = &c->read[SIDE_NEW].device;
    if (!before->text[0] || !now->text[0]) return;
    if (before->mixed || now->mixed || strcmp(before->text, now->text))
        fprintf(out, "%sdevices differ: OLD %s, NEW %s\n", mark, before->text, now->text);
}

static void print_counts(FILE *out, const struct comparison *c, const char *mark)
{
    bool any = false;
    fprintf(out, "%s%lld case%s:", mark, (long long)c->count, c->count == 1 ? "" : "s");
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (!c->sum.of[v]) continue;
        fprintf(out, "%s %lld %s", any ? "," : "", (long long)c->sum.of[v],
                verdict_name((enum verdict)v));
        any = true;
    }
    fprintf(out, "\n");
}

static void print_extreme(FILE *out, const struct comparison *c, const struct compared_names *names,
                          const char *mark, const char *what, int64_t i)
{
    char ratio[64], matrix[FAIL_TEXT_MAX];
    fprintf(out, "%s%s: %s, %s, %s\n", mark, what, verdict_ratio(&c->cases[i], ratio),
            utf8_visible(compared_any(&c->cases[i])->matrix, matrix, sizeof matrix),
            names->text[i]);
}

static void print_processes(FILE *out, const struct comparison *c, const char *mark)
{
    const struct verdict_counts *s = &c->sum;
    fprintf(out, "%sprocesses of a case that count: ", mark);
    for (int side = 0; side < SIDES; side++) {
        fprintf(out, "%s%d", side ? " and " : "", s->runs[side][0]);
        if (s->runs[side][1] > s->runs[side][0]) fprintf(out, " to %d", s->runs[side][1]);
    }
    fprintf(out, s->paired == s->timed ? ", alternating\n"
                 : s->paired           ? ", some alternating\n"
                                       : ", not alternating\n");
    if (s->guessed)
        fprintf(out,
                "%sguessed: %lld case%s with one process a side; the spread is taken from the "
                "scatter of all cases, and no case is slower or faster for sure\n",
                mark, (long long)s->guessed, s->guessed == 1 ? "" : "s");
    if (s->runs_needed)
        fprintf(out,
                "%sat this spread, %d processes a side find a slowdown of 5 %% in 95 %% of cases\n",
                mark, s->runs_needed);
}

static void print_left_out(FILE *out, const struct comparison *c, const char *mark)
{
    const struct verdict_counts *s = &c->sum;
    if (s->timed < c->count)
        fprintf(out, "%snot in the mean: %lld case%s without a time on both sides\n", mark,
                (long long)(c->count - s->timed), c->count - s->timed == 1 ? "" : "s");
    if (s->shared)
        fprintf(out, "%sin both files: the same processes of %lld case%s\n", mark,
                (long long)s->shared, s->shared == 1 ? "" : "s");
    if (s->throttled)
        fprintf(out, "%sleft out: processes with throttled clocks, of %lld cases\n", mark,
                (long long)s->throttled);
    if (s->busy)
        fprintf(out, "%sbusy: other programs used the processors during %lld case%s%s\n", mark,
                (long long)s->busy, s->busy == 1 ? "" : "s",
                s->low ? "; ms of busy pairs are first deciles, not medians" : "");
    for (int side = 0; side < SIDES; side++)
        if (c->read[side].bad_lines)
            fprintf(out, "%sleft out: %lld line%s, the first %s\n", mark,
                    (long long)c->read[side].bad_lines, c->read[side].bad_lines == 1 ? "" : "s",
                    c->read[side].bad_text);
}

void verdict_counts_print(FILE *out, const struct comparison *c, const struct compared_names *names,
                          const char *mark)
{
    const struct verdict_counts *s = &c->sum;
    print_counts(out, c, mark);
    if (c->rule.kind == TIMING_BACK_TO_BACK)
        fprintf(out, "%stimes are back to back if a case has such a time\n", mark);
    if (c->rule.kind == TIMING_BACK_TO_BACK && s->overtaking)
        fprintf(out, "%snot in order: runs of %lld case%s start before the work ahead has ended\n",
                mark, (long long)s->overtaking, s->overtaking == 1 ? "" : "s");
    if (s->timed) {
        if (s->paired)
            fprintf(out,
                    "%sold ms, new ms: means of the medians of processes; new / old: mean of the "
                    "ratios of pairs; geometric, trimmed\n",
                    mark);
        fprintf(out,
                "%sgeometric mean of %lld ratios, time of NEW over OLD: %.4f (95 %%: %.4f to "
                "%.4f)\n",
                mark, (long long)s->timed, s->ratio, s->lo, s->hi);
        print_extreme(out, c, names, mark, "worst", s->worst);
        print_extreme(out, c, names, mark, "best", s->best);
        print_processes(out, c, mark);
    }
    print_devices(out, c, mark);
    print_left_out(out, c, mark);
    fprintf(out, "%s%s%s\n", mark, conclusion_name(comparison_conclude(c)), comparison_remark(c));
}
