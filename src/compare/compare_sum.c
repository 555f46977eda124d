// Counts over all cases: the number of each verdict, and the geometric mean of the ratios.
//
// A process shifts all of its cases together. The interval of the mean therefore comes from the
// spread of process means. Its least value is the spread that independent cases would give.
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/student.h"

#define PLANTED 5.0 // slowdown in percent that the advised number of runs can find

// Returns the mean of ln(ms) over all timed cases in the i-th process of a side.
static double mean_of(const struct comparison *c, enum side side, int i)
{
    double sum = 0;
    for (int64_t n = 0; n < c->count; n++)
        if (c->cases[n].timed) sum += c->cases[n].y[side][i];
    return sum / (double)c->sum.timed;
}

static double variance_of(const double *x, int n)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < n; i++) mean += x[i] / n;
    for (int i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
    return sum / (n - 1);
}

// Sets the variance of the mean shift, taken from process means, and its degrees of freedom.
static int common_variance(const struct comparison *c, int n, double *variance, double *dof)
{
    double *x[SIDES];
    x[SIDE_OLD] = mem_alloc(2 * (int64_t)n, sizeof *x[SIDE_OLD]);
    if (!x[SIDE_OLD]) return ERR_MEMORY;
    x[SIDE_NEW] = x[SIDE_OLD] + n;
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < n; i++) x[side][i] = mean_of(c, (enum side)side, i);
    bool paired = c->sum.paired == c->sum.timed;
    for (int i = 0; i < n && paired; i++) x[SIDE_OLD][i] -= x[SIDE_NEW][i];
    *variance = variance_of(x[SIDE_OLD], n);
    if (!paired) *variance += variance_of(x[SIDE_NEW], n);
    *variance /= n;
    *dof = paired ? n - 1 : 2 * n - 2;
    mem_free(x[SIDE_OLD]);
    return OK;
}

static int mean_ratio(struct comparison *c, int processes)
{
    struct verdict_counts *s = &c->sum;
    double shift = 0, variance = 0, common = 0, dof = INFINITY, m = (double)s->timed;
    for (int64_t i = 0; i < c->count; i++) {
        const struct compared *x = &c->cases[i];
        if (!x->timed) continue;
        shift += x->e.shift / m;
        variance += x->e.error * x->e.error / m / m;
        dof = fmin(dof, x->e.t_dof);
    }
    if (processes > 1) {
        double common_dof;
        int err = common_variance(c, processes, &common, &common_dof);
        if (err) return err;
        if (common > variance) variance = common, dof = common_dof;
    }
    double far = student_quantile(STATS_ALPHA, dof) * sqrt(variance);
    s->ratio = exp(shift);
    s->lo = exp(shift - far);
    s->hi = exp(shift + far);
    return OK;
}

// Returns true if case i changed more than case j (-1: none) in the direction of `sign`. A case
// with this verdict comes before a case without.
static bool changed_more(const struct comparison *c, int64_t i, int64_t j, enum verdict verdict,
                         double sign)
{
    if (j < 0) return true;
    const struct compared *a = &c->cases[i], *b = &c->cases[j];
    bool has = a->verdict == verdict, had = b->verdict == verdict;
    return has != had ? has : sign * a->e.shift > sign * b->e.shift;
}

// Returns true if a process is on both sides. Its times are equal on both.
static bool is_shared(const struct compared *x)
{
    for (int i = 0; i < x->count[SIDE_OLD]; i++)
        for (int j = 0; j < x->count[SIDE_NEW]; j++) {
            const char *run = x->seen[SIDE_OLD][i].run;
            if (run[0] && !strcmp(run, x->seen[SIDE_NEW][j].run)) return true;
        }
    return false;
}

static bool is_overtaking(const struct compared *x)
{
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < x->count[side]; i++)
            if (x->seen[side][i].overtakes) return true;
    return false;
}

static bool is_unclear(const struct compared *x)
{
    return x->verdict == VERDICT_UNCLEAR || x->verdict == VERDICT_DRIFTED;
}

static void count_case(struct comparison *c, int64_t i)
{
    const struct compared *x = &c->cases[i];
    struct verdict_counts *s = &c->sum;
    s->of[x->verdict]++;
    s->throttled += x->throttled > 0;
    s->busy += x->busy > 0;
    s->low += x->low;
    s->overtaking += is_overtaking(x);
    s->shared += is_shared(x);
    if (!x->timed) return;
    s->tolerated += is_unclear(x) && x->e.hi < log1p(c->rule.threshold);
    s->guessed += x->e.guessed;
    s->paired += x->paired;
    if (changed_more(c, i, s->worst, VERDICT_SLOWER, 1)) s->worst = i;
    if (changed_more(c, i, s->best, VERDICT_FASTER, -1)) s->best = i;
    for (int side = 0; side < SIDES; side++) {
        int *runs = s->runs[side], n = x->used[side];
        if (!s->timed || n < runs[0]) runs[0] = n;
        if (n > runs[1]) runs[1] = n;
    }
    s->timed++;
}

// Sets runs_needed from the 95 % quantile of the spread of cases.
static int set_runs_needed(struct comparison *c)
{
    int64_t n = 0;
    double *spread = mem_alloc(c->sum.timed, sizeof *spread), threshold = 100 * c->rule.threshold;
    if (!spread) return ERR_MEMORY;
    for (int64_t i = 0; i < c->count; i++)
        if (c->cases[i].timed) spread[n++] = c->cases[i].e.spread;
    stats_median(spread, n); // sorts the spreads
    if (threshold < PLANTED)
        c->sum.runs_needed = stats_runs_needed(spread[(n * 95 - 1) / 100], PLANTED, threshold);
    mem_free(spread);
    return OK;
}

int comparison_sum(struct comparison *c)
{
    c->sum = (struct verdict_counts){.ratio = NAN, .lo = NAN, .hi = NAN, .worst = -1, .best = -1};
    for (int64_t i = 0; i < c->count; i++) count_case(c, i);
    if (!c->sum.timed) return OK;
    int least = c->sum.runs[SIDE_OLD][0], least_new = c->sum.runs[SIDE_NEW][0];
    int err = mean_ratio(c, least < least_new ? least : least_new);
    return err ? err : set_runs_needed(c);
}

enum conclusion comparison_conclude(const struct comparison *c)
{
    const int64_t *of = c->sum.of;
    if (of[VERDICT_SLOWER] || of[VERDICT_FAILING] || of[VERDICT_WRONG])
        return CONCLUSION_REGRESSION;
    int64_t unclear = of[VERDICT_UNCLEAR] + of[VERDICT_DRIFTED];
    if (of[VERDICT_MISSING] || of[VERDICT_UNCHECKED] || unclear > c->sum.tolerated || !c->sum.timed)
        return CONCLUSION_CANNOT_TELL;
    return CONCLUSION_FINE;
}

const char *comparison_remark(const struct comparison *c)
{
    if (c->sum.paired == c->sum.timed || c->rule.sittings) return "";
    return c->sum.paired ? ", some cases not alternating" : ", not alternating";
}

const char *conclusion_name(enum conclusion conclusion)
{
    return conclusion == CONCLUSION_FINE         ? "no regression"
           : conclusion == CONCLUSION_REGRESSION ? "regression"
                                                 : "cannot tell";
}
