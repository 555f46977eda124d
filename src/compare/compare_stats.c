#include "compare/compare_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/student.h"

#define TRIM        5      // 1 / share of the values trimmed at either end
#define EFFECTS_DOF 5      // effects of processes are trimmed if as many dof remain
#define POOL_MIN    8      // least cases of a class; smaller classes use all cases
#define FIT_MIN     4      // least cases for fitting a spread
#define SHARED_MIN  4      // least cases that show the effects of their processes
#define LEAST       0.25   // share of the upper quartile of units that is the least unit
#define UNIT_LEAST  1e-10  // resolution of clocks: 0.001 % of a run
#define GUESS_CASES 10     // weight of `assumed`, in cases
#define GUESS_DOF   2.0    // see the header
#define T2_MEDIAN   0.8165 // median of |t| with 2 degrees of freedom
#define POWER_95    1.645  // standard errors between the mean and the 5 % quantile
#define FIRST_LOOK  8      // number of pairs
#define LEVEL_CASES 4.0    // least number of cases for which p is corrected
#define GRID_STEP   0.02   // of asinh(t) in an integral over t
#define GRID_LEAST  1e-7   // density of asinh(t) at the end of the integral

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

double stats_median(double *x, int64_t n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

// Does the same as stats_location(), but trims nothing if fewer than least_dof degrees of freedom
// would remain.
static double location(double *x, int n, int least_dof, double *variance, double *dof)
{
    int cut = n - 2 * (n / TRIM) - 1 < least_dof ? 0 : n / TRIM, left = n - 2 * cut;
    double sum = 0, winsorized = 0, squares = 0;
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int i = cut; i < n - cut; i++) sum += x[i];
    // A trimmed value counts as the nearest value kept.
    winsorized = (sum + cut * (x[cut] + x[n - 1 - cut])) / n;
    for (int i = 0; i < n; i++) {
        double at = x[i < cut ? cut : i >= n - cut ? n - 1 - cut : i];
        squares += (at - winsorized) * (at - winsorized);
    }
    *dof = left - 1;
    *variance = left > 1 ? squares / left / (left - 1) : 0;
    return sum / left;
}

double stats_location(double *x, int n, double *variance, double *dof)
{
    return location(x, n, 0, variance, dof);
}

int stats_class(double ms) { return ms < 0.02 ? 0 : ms < 0.2 ? 1 : ms < 2 ? 2 : 3; }

int stats_runs_needed(double unit, double percent, double threshold)
{
    double room = log1p(percent / 100) - log1p(threshold / 100);
    double pairs = ceil(unit * POWER_95 * POWER_95 / (room * room));
    return pairs > 3 ? pairs < 1e6 ? (int)pairs : 1000000 : 3;
}

// The number of pairs grows by half from look to look. Smaller steps need a stricter level. Larger
// steps measure more than needed.
int stats_look_pairs(int look)
{
    double pairs = FIRST_LOOK;
    for (int i = 0; i < look; i++) pairs *= 1.5;
    return (int)pairs;
}

int stats_look_factor(int pairs) { return pairs < FIRST_LOOK ? 1 : STATS_LOOKS; }

// Values of a case in some of the processes of a group; for paired sides differences of pairs.
struct series {
    double *x;          // size n, owned
    const int *process; // number in the group, size n
    int n;
    int corrected; // number of values from which an effect was subtracted
};

static int series_make(struct series *s, const struct times *t, int side)
{
    *s = (struct series){mem_alloc(t->n[side], sizeof *s->x), t->process[side], t->n[side], 0};
    if (!s->x) return ERR_MEMORY;
    for (int i = 0; i < s->n; i++) s->x[i] = t->y[side][i] - (t->paired ? t->y[!side][i] : 0);
    return OK;
}

// Subtracts from each value its deviation from the location of its series.
static int subtract_location(const struct series *list, int64_t count, int processes,
                             double *deviation)
{
    for (int64_t i = 0; i < count * processes; i++) deviation[i] = NAN;
    for (int64_t c = 0; c < count; c++) {
        const struct series *s = &list[2 * c];
        double variance, dof, *x = mem_alloc(s->n, sizeof *x);
        if (!x) return ERR_MEMORY;
        memcpy(x, s->x, (size_t)s->n * sizeof *x);
        double middle = stats_location(x, s->n, &variance, &dof);
        mem_free(x);
        for (int i = 0; i < s->n; i++) deviation[s->process[i] * count + c] = s->x[i] - middle;
    }
    return OK;
}

// Moves the values that are numbers to the front. Returns how many there are.
static int64_t keep_numbers(double *x, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(x[i])) x[kept++] = x[i];
    return kept;
}

// Fills in the effects of processes, whose mean is 0. NAN: too few cases show an effect.
static int find_effects(const struct series *list, int64_t count, int processes, double *effect)
{
    double *deviation = mem_alloc(count * processes, sizeof *deviation);
    double *known = mem_alloc(processes, sizeof *known), variance, dof;
    int err =
        deviation && known ? subtract_location(list, count, processes, deviation) : ERR_MEMORY;
    for (int i = 0; i < processes && !err; i++) {
        int64_t n = keep_numbers(deviation + i * count, count);
        known[i] = effect[i] = n < SHARED_MIN ? NAN : stats_median(deviation + i * count, n);
    }
    int n = err ? 0 : (int)keep_numbers(known, processes);
    double mean = n ? location(known, n, EFFECTS_DOF, &variance, &dof) : 0;
    for (int i = 0; i < processes && !err; i++) effect[i] -= mean;
    mem_free(deviation);
    mem_free(known);
    return err;
}

// Subtracts the effects of processes from the values of all series. `effects` gets the effects.
static int subtract_effects(struct series *list, int64_t count, int processes,
                            struct series *effects)
{
    double *effect = effects->x = mem_alloc(processes, sizeof *effect);
    int err = effect ? find_effects(list, count, processes, effect) : ERR_MEMORY;
    for (int64_t c = 0; c < count && !err; c++) {
        struct series *s = &list[2 * c];
        for (int i = 0; i < s->n; i++)
            if (!isnan(effect[s->process[i]])) s->x[i] -= effect[s->process[i]], s->corrected++;
    }
    effects->n = err ? 0 : (int)keep_numbers(effect, processes);
    return err;
}

// Estimates shift and unit from the series of both sides; of pairs s[1] has the differences. A
// series is trimmed if least_dof degrees of freedom remain.
static void estimate_series(struct estimate *e, const struct series s[2], bool paired,
                            int least_dof)
{
    double mean[2] = {0}, variance[2] = {0}, dof[2] = {0};
    for (int side = paired; side < 2; side++)
        mean[side] = location(s[side].x, s[side].n, least_dof, &variance[side], &dof[side]);
    e->shift = mean[1] - mean[0];
    e->dof = dof[0] + dof[1];
    e->weight = paired ? s[1].n : 2 / (1.0 / s[0].n + 1.0 / s[1].n);
    double squares = dof[0] * variance[0] * s[0].n + dof[1] * variance[1] * s[1].n;
    e->unit = e->dof > 0 ? (paired ? 1 : 2) * squares / e->dof : 0;
}

// Sets the estimate of a case. `shared` is that of the effects.
static void estimate_case(struct estimate *e, const struct series s[2], bool paired,
                          const struct estimate *shared)
{
    double share = 0; // of shared->unit
    estimate_series(e, s, paired, 0);
    for (int side = paired; side < 2; side++)
        share += (double)s[side].corrected / s[side].n / s[side].n / (paired ? 1 : 2);
    e->shared_variance = shared->dof > 0 ? shared->unit * share : 0;
    e->shared_dof = shared->dof;
}

int estimate_group(struct estimate *list, const struct times *times, int64_t count,
                   const int processes[2], int group)
{
    bool paired = times->paired;
    struct series *series = mem_zero_alloc(2 * count, sizeof *series), effects[2] = {{0}};
    struct estimate shared = {0};
    int err = series ? OK : ERR_MEMORY;
    for (int side = paired; side < 2 && !err; side++) {
        for (int64_t c = 0; c < count && !err; c++)
            err = series_make(&series[2 * c + side], &times[c], side);
        if (!err && count >= SHARED_MIN)
            err = subtract_effects(series + side, count, processes[side], &effects[side]);
    }
    if (!err && effects[1].n && (paired || effects[0].n))
        estimate_series(&shared, effects, paired, EFFECTS_DOF);
    for (int64_t c = 0; c < count && !err; c++) {
        estimate_case(&list[c], series + 2 * c, paired, &shared);
        list[c].group = group;
        if (shared.dof > 0) list[c].unit *= (double)count / (double)(count - 1);
    }
    for (int64_t i = 0; i < 2 * count && series; i++) mem_free(series[i].x);
    for (int side = 0; side < 2; side++) mem_free(effects[side].x);
    mem_free(series);
    return err;
}

static double digamma(double x)
{
    double sum = 0;
    for (; x < 10; x++) sum -= 1 / x;
    double s = 1 / (x * x);
    return sum + log(x) - 1 / (2 * x) - s * (1. / 12 - s * (1. / 120 - s / 252));
}

static double trigamma(double x)
{
    double sum = 0;
    for (; x < 10; x++) sum += 1 / (x * x);
    double s = 1 / (x * x);
    return sum + 1 / x + s / 2 + s / x * (1. / 6 - s * (1. / 30 - s / 42));
}

// Returns x with trigamma(x) = y. trigamma falls from infinity to 0.
static double trigamma_inverse(double y)
{
    double low = 1e-8, high = 1e8;
    for (int i = 0; i < 200; i++) {
        double middle = sqrt(low * high);
        if (trigamma(middle) > y)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}

// Distribution of the units of a size class, see the header.
struct prior {
    double unit, dof; // s0^2 and d0. dof = 0: unknown
    double least;     // smallest unit of a case
    double dof_most;  // degrees of freedom of all cases of the class
};

static bool in_pool(const struct estimate *e, int size_class)
{
    return size_class < 0 || e->size_class == size_class;
}

// Returns ln(unit) of a case, less the bias from its degrees of freedom.
static double ln_unit(const struct estimate *e)
{
    double half = e->dof / 2;
    return log(fmax(e->unit, UNIT_LEAST)) - digamma(half) + log(half);
}

// Units of the cases of a size class, or of all cases.
struct pool {
    double ln_mean, upper, dof; // mean of ln(unit), upper quartile of units, sum of dof
    int64_t n;
};

// Sets the pool of a size class; -1: all cases. x: room for `count` values.
static struct pool pool_of(const struct estimate *list, int64_t count, int size_class, double *x)
{
    struct pool pool = {0};
    for (int64_t i = 0; i < count; i++) {
        const struct estimate *e = &list[i];
        if (e->dof <= 0 || !in_pool(e, size_class)) continue;
        pool.ln_mean += ln_unit(e);
        pool.dof += e->dof;
        x[pool.n++] = e->unit;
    }
    if (!pool.n) return pool;
    pool.ln_mean /= (double)pool.n;
    stats_median(x, pool.n); // sorts
    pool.upper = x[(3 * pool.n - 1) / 4];
    return pool;
}

// Returns d0 of cases whose ln(unit) scatter around the means of their classes.
static double fit_dof(const struct estimate *list, int64_t count, const struct pool *pools,
                      int means)
{
    double squares = 0, noise = 0, n = 0;
    for (int64_t i = 0; i < count; i++) {
        if (list[i].dof <= 0) continue;
        double off = ln_unit(&list[i]) - pools[list[i].size_class].ln_mean;
        squares += off * off;
        noise += trigamma(list[i].dof / 2);
        n++;
    }
    double dof = fmax(1, n - means), error = sqrt(2 / dof);
    double excess = squares / dof * (1 + error) - noise / n;
    return excess > 1e-6 ? 2 * trigamma_inverse(excess) : INFINITY;
}

// Fits the priors of all size classes. x: room for `count` values.
static void fit_priors(const struct estimate *list, int64_t count,
                       struct prior prior[STATS_CLASSES], double *x)
{
    struct pool pools[STATS_CLASSES], all = pool_of(list, count, -1, x);
    int means = 0;
    for (int c = 0; c < STATS_CLASSES; c++) {
        prior[c] = (struct prior){0};
        pools[c] = pool_of(list, count, c, x);
        if (pools[c].n < POOL_MIN)
            pools[c] = all;
        else
            means++;
    }
    if (all.n < FIT_MIN) return;
    double dof = fit_dof(list, count, pools, means ? means : 1);
    double bias = isinf(dof) ? 0 : digamma(dof / 2) - log(dof / 2);
    for (int c = 0; c < STATS_CLASSES; c++)
        prior[c] = (struct prior){.unit = exp(pools[c].ln_mean + bias),
                                  .dof = dof,
                                  .least = LEAST * pools[c].upper,
                                  .dof_most = pools[c].dof};
}

// Returns the scale of the shifts of cases with one process per side, in a class or in all. Returns
// 0 if there are too few cases.
static double scatter_scale(const struct estimate *list, int64_t count, int size_class, double *x,
                            int64_t *m)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
        if (list[i].dof <= 0 && in_pool(&list[i], size_class)) x[n++] = list[i].shift;
    *m = n;
    if (n < (size_class < 0 ? 1 : POOL_MIN)) return 0;
    double middle = stats_median(x, n);
    for (int64_t i = 0; i < n; i++) x[i] = fabs(x[i] - middle);
    double scale = stats_median(x, n) / T2_MEDIAN;
    return fmax(scale, 1e-9);
}

// Returns the degrees of freedom of a sum of two variances (Welch and Satterthwaite); b may be 0.
static double sum_dof(double a, double dof_a, double b, double dof_b)
{
    double share = a / (a + b);
    return 1 / (share * share / dof_a + (b > 0 ? (1 - share) * (1 - share) / dof_b : 0));
}

static void finish(struct estimate *e, double variance, double dof)
{
    e->own_variance = fmax(variance, fmax(e->within, UNIT_LEAST));
    e->own_dof = dof;
    e->t_dof = sum_dof(e->own_variance, dof, e->shared_variance, e->shared_dof);
    e->error = sqrt(e->own_variance + e->shared_variance);
    double looks = e->looks ? e->looks : 1;
    double far = student_quantile(STATS_ALPHA / looks, e->t_dof) * e->error;
    e->lo = e->shift - far;
    e->hi = e->shift + far;
    e->p = fmin(1, looks * student_p(e->shift / e->error, e->t_dof));
}

static void estimate_moderated(struct estimate *e, const struct prior *prior)
{
    double dof = prior->dof + e->dof, unit = prior->unit;
    if (isfinite(dof)) unit = (prior->dof * prior->unit + e->dof * e->unit) / dof;
    if (prior->dof > 0) dof = fmin(dof, fmax(e->dof, prior->dof_most));
    unit = fmax(unit, prior->least);
    e->guessed = e->dof <= 0;
    finish(e, unit / e->weight, dof);
    e->spread = unit + e->shared_variance * e->weight;
}

static void estimate_guessed(struct estimate *e, double scale, int64_t m)
{
    e->spread = (GUESS_CASES * e->assumed * e->assumed + (double)m * scale * scale) /
                (double)(GUESS_CASES + m);
    e->guessed = true;
    finish(e, e->spread + e->within, GUESS_DOF);
}

// Returns P(t > x).
static double tail(double x, double dof)
{
    double p = student_p(x, dof) / 2;
    return x > 0 ? p : 1 - p;
}

static double student_density(double t, double dof)
{
    double front = exp(lgamma((dof + 1) / 2) - lgamma(dof / 2)) / sqrt(dof * M_PI);
    return front * pow(1 + t * t / dof, -(dof + 1) / 2);
}

// Returns the chance that at least one of n cases as noisy as `e` is off by |shift| or more. The
// integrand is even in u = sinh(s).
static double p_of_any(const struct estimate *e, double n)
{
    double own = sqrt(e->own_variance), x = fabs(e->shift) / own, sum = 0;
    if (e->shared_variance <= 0) return fmin(1, n * student_p(x, e->own_dof));
    for (double s = 0, weight = 1; weight > GRID_LEAST; s += GRID_STEP) {
        double u = sinh(s), at = u * sqrt(e->shared_variance) / own;
        double p = fmin(1, n * (tail(x - at, e->own_dof) + tail(x + at, e->own_dof)));
        weight = student_density(u, e->shared_dof) * cosh(s);
        sum += (s > 0 ? 2 : 1) * GRID_STEP * p * weight;
    }
    return fmin(1, sum);
}

static int by_p(const void *x, const void *y)
{
    const struct estimate *a = *(const struct estimate *const *)x;
    const struct estimate *b = *(const struct estimate *const *)y;
    return (a->p > b->p) - (a->p < b->p);
}

// Returns p of the case that is the k-th by p, corrected for all cases, see the header.
// `of_group`: number of cases in its group.
static double p_corrected(const struct estimate *e, int64_t k, int64_t count, int64_t of_group)
{
    double factor = fmax(LEVEL_CASES, (double)count / (double)k), looks = e->looks ? e->looks : 1;
    double n = fmax(1, factor / LEVEL_CASES * (double)of_group / (double)count);
    if (LEVEL_CASES * e->p >= STATS_LEVEL) return factor * e->p; // saves the integral
    return looks * factor / n * p_of_any(e, n);
}

// Sets p_of_all: the k-th smallest is the minimum of the corrected p over all j >= k.
static int correct(struct estimate *list, int64_t count)
{
    struct estimate **sorted = mem_alloc(count, sizeof *sorted);
    int64_t groups = 1;
    for (int64_t i = 0; i < count; i++) groups = max64(groups, list[i].group + 1);
    int64_t *size = mem_zero_alloc(groups, sizeof *size);
    int err = sorted && size ? OK : ERR_MEMORY;
    for (int64_t i = 0; i < count && !err; i++) sorted[i] = &list[i], size[list[i].group]++;
    if (!err) qsort(sorted, (size_t)count, sizeof *sorted, by_p);
    double least = 1;
    for (int64_t i = count - 1; i >= 0 && !err; i--) {
        struct estimate *e = sorted[i];
        least = fmin(least, p_corrected(e, i + 1, count, size[e->group]));
        e->p_of_all = least;
    }
    mem_free(sorted);
    mem_free(size);
    return err;
}

int estimate_all(struct estimate *list, int64_t count)
{
    struct prior prior[STATS_CLASSES];
    double scale[STATS_CLASSES];
    int64_t m[STATS_CLASSES], m_all;
    double *x = mem_alloc(count, sizeof *x);
    if (!x) return ERR_MEMORY;
    fit_priors(list, count, prior, x);
    double scale_all = scatter_scale(list, count, -1, x, &m_all);
    for (int c = 0; c < STATS_CLASSES; c++) {
        scale[c] = scatter_scale(list, count, c, x, &m[c]);
        if (scale[c] <= 0) scale[c] = scale_all, m[c] = m_all;
    }
    mem_free(x);
    for (int64_t i = 0; i < count; i++) {
        struct estimate *e = &list[i];
        const struct prior *p = &prior[e->size_class];
        if (e->dof > 0 || p->dof > 0)
            estimate_moderated(e, p);
        else
            estimate_guessed(e, scale[e->size_class], m[e->size_class]);
    }
    return correct(list, count);
}

static bool may_have_changed(const struct estimate *e, int sign)
{
    return e->p < STATS_ALPHA && sign * e->shift > 0;
}

int estimate_changed(struct estimate *list, const struct times *times, int64_t count,
                     const int processes[2])
{
    struct estimate *again = mem_alloc(count, sizeof *again);
    struct times *own = mem_alloc(count, sizeof *own);
    int err = again && own ? OK : ERR_MEMORY;
    for (int sign = -1; sign <= 1 && !err; sign += 2) {
        int64_t n = 0;
        for (int64_t i = 0; i < count; i++)
            if (may_have_changed(&list[i], sign)) again[n] = list[i], own[n++] = times[i];
        if (n < SHARED_MIN) continue;
        err = estimate_group(again, own, n, processes, 0);
        if (!err) err = estimate_all(again, n);
        for (int64_t i = count - 1; i >= 0 && !err; i--)
            if (may_have_changed(&list[i], sign))
                list[i].p_of_all = fmax(list[i].p_of_all, again[--n].p_of_all);
    }
    mem_free(own);
    mem_free(again);
    return err;
}
